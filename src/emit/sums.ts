/**
 * A pass Kernel → Kernel that writes out sums term by term. The scheduling of vector code needs straight-line code, and sums in kernels
 * are short.
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
  // A phase that both directions share stays one object.
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

/** Rebuilds values for given values of the variables of sums. */
function maker(x: Expressions, given: ReadonlyMap<Var, Index>, made: Map<Real, Real>): (node: Real) => Real {
  const at = new Substitution(given);
  const make = (node: Real): Real => {
    let value = made.get(node);
    if (!value) made.set(node, (value = node.op === 'sum' ? terms(node) : x.rebuilt(node, make, at)));
    return value;
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
