/**
 * A pass Kernel → Kernel: reducing loops written out, term by term. Straight-line code is what vectors are scheduled for, and
 * loops that are worth a kernel are short.
 */
import {
  Expressions,
  type Index,
  index,
  type Kernel,
  type Phase,
  type Real,
  reachable,
  Substitution,
  type Var,
} from '../ir/index.ts';

export function withoutSums(kernel: Kernel): Kernel {
  const written = (phases: readonly Phase[]) => phases.map((phase) => (hasSums(phase) ? writtenOut(phase) : phase));
  const phases = written(kernel.phases);
  if (!kernel.reverse) return phases.every((phase, n) => phase === kernel.phases[n]) ? kernel : { ...kernel, phases };
  // Phases that both ways have in common stay one.
  const reverse = kernel.reverse.map((phase, n) =>
    phase === kernel.phases[n] ? phases[n]! : hasSums(phase) ? writtenOut(phase) : phase,
  );
  return { ...kernel, phases, reverse };
}

function hasSums({ stores }: Phase): boolean {
  return reachable(stores.map(({ value }) => value)).some(({ op }) => op === 'sum');
}

function writtenOut(phase: Phase): Phase {
  const x = new Expressions();
  const made = new Map<Real, Real>();
  const top = maker(x, new Map(), made);
  const stores = phase.stores.map((store) => ({ ...store, value: top(store.value) }));
  const steps = phase.steps?.map((step) => step.flatMap((value) => made.get(value) ?? []));
  return { ...phase, stores, ...(steps ? { steps } : {}) };
}

/** Makes values again where some variables of sums are given. */
function maker(x: Expressions, given: ReadonlyMap<Var, Index>, made: Map<Real, Real>): (node: Real) => Real {
  const at = new Substitution(given);
  const make = (node: Real): Real => {
    let known = made.get(node);
    if (!known) made.set(node, (known = node.op === 'sum' ? terms(node) : x.rebuilt(node, make, at)));
    return known;
  };
  const terms = ({ over, a }: Extract<Real, { op: 'sum' }>): Real => {
    let total = x.constant(0);
    for (let n = 0; n < over.count; n++) {
      total = x.add(total, maker(x, new Map(given).set(over, index(n)), new Map())(a));
    }
    return total;
  };
  return make;
}
