/**
 * A pass Kernel → Kernel that writes out short folds round by round. The scheduling of vector code needs straight-line code, and most folds
 * in kernels are short.
 */
import {
  Expressions,
  type FoldLoop,
  type Index,
  index,
  type Kernel,
  type Phase,
  type Real,
  reachable,
  Substitution,
  type Var,
} from '../ir/index.ts';

/** The most rounds of a fold that is written out. */
const MOST_ROUNDS = 64;

export function withoutShortFolds(kernel: Kernel): Kernel {
  const written = (phases: readonly Phase[]) => phases.map((phase) => (hasShort(phase) ? writtenOut(phase) : phase));
  const phases = written(kernel.phases);
  if (!kernel.reverse) return phases.every((phase, n) => phase === kernel.phases[n]) ? kernel : { ...kernel, phases };
  // A phase that both directions share stays one object.
  const reverse = kernel.reverse.map((phase, n) =>
    phase === kernel.phases[n] ? phases[n]! : hasShort(phase) ? writtenOut(phase) : phase,
  );
  return { ...kernel, phases, reverse };
}

function hasShort({ stores }: Phase): boolean {
  return reachable(stores.map(({ value }) => value)).some((node) => node.op === 'fold' && isShortFold(node.loop));
}

function isShortFold({ over }: FoldLoop): boolean {
  return over.count <= MOST_ROUNDS;
}

function writtenOut(phase: Phase): Phase {
  const x = new Expressions();
  const made = new Map<Real, Real>();
  const top = maker(x, new Map(), new Map(), made);
  const stores = phase.stores.map((store) => ({ ...store, value: top(store.value) }));
  const steps = phase.steps?.map((step) => step.flatMap((value) => made.get(value) ?? []));
  return { ...phase, stores, ...(steps ? { steps } : {}) };
}

/** A function that rebuilds values for given values of fold variables and carried values. */
function maker(
  x: Expressions,
  given: ReadonlyMap<Var, Index>,
  carried: ReadonlyMap<Var, readonly Real[]>,
  made: Map<Real, Real>,
): (node: Real) => Real {
  const at = new Substitution(given);
  const ends = new Map<FoldLoop, readonly Real[]>();
  const make = (node: Real): Real => {
    let value = made.get(node);
    if (!value) made.set(node, (value = rebuilt(node)));
    return value;
  };
  const rebuilt = (node: Real): Real => {
    if (node.op === 'carried') return carried.get(node.over)?.[node.slot] ?? x.rebuilt(node, make, at);
    if (node.op !== 'fold' || !isShortFold(node.loop)) return x.rebuilt(node, make, at);
    let values = ends.get(node.loop);
    if (!values) ends.set(node.loop, (values = allRounds(node.loop)));
    return values[node.slot]!;
  };
  const allRounds = ({ over, first, next }: FoldLoop): readonly Real[] => {
    let values: readonly Real[] = first.map(make);
    for (let n = 0; n < over.count; n++) {
      const inRound = new Map(given).set(over, index(n));
      values = next.map(maker(x, inRound, new Map(carried).set(over, values), new Map()));
    }
    return values;
  };
  return make;
}
