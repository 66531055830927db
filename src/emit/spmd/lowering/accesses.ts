/** The arrays that a kernel reads and writes, and which of them can be declared as arrays of pairs: a complex number is then one access. */
import {
  type ArrayRef,
  type Guard,
  guardKey,
  type Index,
  indexKey,
  isIntegers,
  type Kernel,
  type LoadNode,
  type Phase,
  range,
  reachable,
} from '../../../ir/index.ts';

export function loadsOfPhase(phase: Phase): LoadNode[] {
  const nodes = reachable(phase.stores.map((store) => store.value));
  return nodes.filter((node) => node.op === 'load') as LoadNode[];
}

/** The arrays that some phases read. */
export function readBy(phases: readonly Phase[]): Set<ArrayRef> {
  return new Set(phases.flatMap((phase) => loadsOfPhase(phase).map((load) => load.array)));
}

/** The arrays that some phases write. */
export function writtenBy(phases: readonly Phase[]): Set<ArrayRef> {
  return new Set(phases.flatMap((phase) => phase.stores.map((store) => store.array)));
}

/** The arrays in which every access to an element 2e has an access to 2e + 1 under the same guard in the same phase, and vice versa. Planes are excluded. */
export function pairedArrays(kernel: Kernel): Set<ArrayRef> {
  const all = new Set<ArrayRef>([...kernel.globals, ...kernel.tables, ...kernel.shared]);
  for (const array of kernel.globals) if (array.plane) all.delete(array);
  for (const array of kernel.shared) if (array.partLength !== undefined || array.length! % 2 !== 0) all.delete(array);
  for (const array of kernel.tables) if (isIntegers(array)) all.delete(array);
  for (const phase of kernel.phases) {
    for (const accesses of [loadsOfPhase(phase), phase.stores]) {
      const keys = new Set(accesses.map((access) => accessKey(access)));
      for (const access of accesses) {
        const { array, index } = access;
        if (!hasHalves(index) || !keys.has(accessKey({ ...access, index: otherHalf(index) }))) all.delete(array);
      }
    }
  }
  return all;
}

interface ArrayAccess {
  readonly array: ArrayRef;
  readonly index: Index;
  readonly guard?: Guard;
}

/** A key that is equal for accesses to the same place under the same guard. */
export function accessKey({ array, index, guard }: ArrayAccess): string {
  return `${array.name}|${indexKey(index)}${guard?.length ? `?${guardKey(guard)}` : ''}`;
}

function hasHalves({ terms }: Index): boolean {
  return terms.every(({ factor }) => factor % 2 === 0);
}

export function isSecond({ constant }: Index): boolean {
  return constant % 2 !== 0;
}

export function otherHalf(index: Index): Index {
  return { constant: index.constant + (isSecond(index) ? -1 : 1), terms: index.terms };
}

/** The index of the pair that holds an element. */
export function pairIndex({ constant, terms }: Index): Index {
  return {
    constant: Math.floor(constant / 2),
    terms: terms.map(({ atom, factor }) => ({ atom, factor: factor / 2 })),
  };
}

/**
 * The number of the part that holds an element of a shared array whose parts use the same memory one after the other; undefined if the
 * array has memory for all of its elements.
 */
export function sharedPart({ partLength }: ArrayRef, index: Index): number | undefined {
  return partLength === undefined ? undefined : Math.floor(range(index)[0] / partLength);
}
