/**
 * Passes that remove exchanges between the lanes of a vector. Each item then also computes its neighbour's value, from the data that the
 * neighbour reads. Devices whose items cannot exchange values need this, and so do loops that do not fill a vector.
 */

import {
  add,
  Expressions,
  type Index,
  type Kernel,
  mod,
  type Phase,
  type Real,
  reachable,
  Substitution,
  scale,
  sub,
  type Var,
} from '../ir/index.ts';

/** The phase without `swap` and `conj`; the same object if it has none. */
export function itemwise(phase: Phase): Phase {
  if (!reachable(phase.stores.map(({ value }) => value)).some(isOfLanes)) return phase;
  const { own } = new Items(phase.lanes);
  const stores = phase.stores.map((store) => ({ ...store, value: own.make(store.value) }));
  const steps = phase.steps?.map((step) => step.flatMap((value) => own.made.get(value) ?? []));
  return { ...phase, stores, ...(steps ? { steps } : {}) };
}

function isOfLanes({ op }: Real): boolean {
  return op === 'swap' || op === 'conj';
}

/** Expressions that compute the values of one item of a pair of neighbouring lanes: the item itself, or its neighbour. */
interface Values {
  readonly made: Map<Real, Real>;
  readonly make: (node: Real) => Real;
}

class Items {
  readonly own: Values;
  private readonly neighbour: Values;

  constructor(lanes: Var) {
    const x = new Expressions();
    const part = mod(lanes, 2);
    const other: Index = sub(add(lanes, 1), scale(part, 2));
    this.own = itemValues(x, part, new Substitution(new Map()), (node) => this.neighbour.make(node));
    this.neighbour = itemValues(x, sub(1, part), new Substitution(new Map([[lanes, other]])), (node) =>
      this.own.make(node),
    );
  }
}

/**
 * Rebuilds values for one of two neighbouring items.
 * @param part 0 for the first item, 1 for the second
 * @param at substitution of the item's variables
 * @param other rebuilds a value for the neighbouring item
 */
function itemValues(x: Expressions, part: Index, at: Substitution, other: (node: Real) => Real): Values {
  const made = new Map<Real, Real>();
  const rebuilt = (node: Real): Real => {
    if (node.op === 'swap') return other(node.a);
    if (node.op !== 'conj') return x.rebuilt(node, make, at);
    const constant = x.constant(node.value);
    return x.where([{ index: part, from: 0, to: 1 }], constant, x.neg(constant));
  };
  const make = (node: Real): Real => {
    let value = made.get(node);
    if (!value) made.set(node, (value = rebuilt(node)));
    return value;
  };
  return { made, make };
}

/** A kernel for vectors as a kernel for threads; the same object if nothing in it depends on vectors. */
export function forThreads(kernel: Kernel): Kernel {
  const phases = kernel.phases.map(phaseForThreads);
  return phases.every((phase, n) => phase === kernel.phases[n]) ? kernel : { ...kernel, phases };
}

/**
 * A phase for threads. In a phase in place, the items of a vector load together before any of them stores. Threads do not run such
 * items together, so all items of the phase load first.
 */
function phaseForThreads(phase: Phase): Phase {
  const single = itemwise(phase);
  const { inPlace = 1, ...others } = single;
  return inPlace > 1 ? { ...others, readsFirst: true } : single;
}
