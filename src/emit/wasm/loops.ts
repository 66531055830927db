/** Loops of WebAssembly: their ends, and the pointers that advance with them. */
import { type ArrayRef, type Index, storageBytes, type Var } from '../../ir/index.ts';
import { type Base, pointerKey } from './accesses.ts';
import type { Addresses, PointerLocals } from './addresses.ts';
import type { FunctionAssembler } from './encoder.ts';

/** The variables and values in scope at one place in the loop tree. */
export interface LoopScope {
  readonly level: number;
  /** The innermost loop's counter. */
  readonly counter: number;
  readonly pointers: PointerLocals;
  /** Loaded or computed values that do not change within the scope. */
  readonly values: ReadonlyMap<string, number>;
}

export interface Prefix {
  readonly array: ArrayRef;
  readonly index: Index;
}

/** A pointer and the bytes that it advances by in each round. */
export interface Walking {
  readonly local: number;
  readonly bytes: number;
}

/** Base addresses with their terms up to a level of the loop tree, each once. */
export function prefixesOf(bases: Iterable<Base>, addresses: Addresses, level: number): Prefix[] {
  const found = new Map<string, Prefix>();
  for (const { array, terms } of bases) {
    const index = { constant: 0, terms: terms.filter(({ atom }) => addresses.levelOfAtom(atom) <= level) };
    found.set(pointerKey(array, index), { array, index });
  }
  return [...found.values()];
}

/**
 * Sets the pointers that advance by equal steps, before a loop begins.
 * @param pointers to which they are added
 * @param needed prefixes that change in the loop
 * @returns these pointers, and the prefixes that have to be computed anew in each round
 */
export function beginWalking(
  asm: FunctionAssembler,
  addresses: Addresses,
  pointers: Map<string, number>,
  needed: readonly Prefix[],
  { variable, level }: { readonly variable: Var; readonly level: number },
): { readonly walking: readonly Walking[]; readonly jumping: readonly Prefix[] } {
  const walking: Walking[] = [];
  const jumping: Prefix[] = [];
  for (const { array, index } of needed) {
    const inner = index.terms.filter(({ atom }) => addresses.levelOfAtom(atom) === level);
    if (!inner.every(({ atom }) => atom === variable)) {
      jumping.push({ array, index });
      continue;
    }
    const local = asm.local('i32');
    const outer = index.terms.filter((term) => !inner.includes(term));
    addresses.pointer(pointers, array, { constant: 0, terms: outer });
    asm.set(local);
    walking.push({ local, bytes: inner[0]!.factor * storageBytes(array.type) });
    pointers.set(pointerKey(array, index), local);
  }
  return { walking, jumping };
}

export function advance(asm: FunctionAssembler, walking: readonly Walking[]): void {
  for (const { local, bytes } of walking) {
    asm.get(local);
    asm.i32(bytes);
    asm.op('i32.add');
    asm.set(local);
  }
}

/** The end of a loop: increments its counter, and repeats the loop if the counter is below `end`. */
export function endLoop(asm: FunctionAssembler, counter: number, end: number | { readonly local: number }): void {
  asm.get(counter);
  asm.i32(1);
  asm.op('i32.add');
  asm.tee(counter);
  if (typeof end === 'number') asm.i32(end);
  else asm.get(end.local);
  asm.op('i32.lt_s');
  asm.branchIf(0);
  asm.end();
}
