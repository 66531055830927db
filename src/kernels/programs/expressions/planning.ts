/** The interface between a kernel that is being built and the decisions about the program as a whole. */
import type { ElementType, Index } from '../../../ir/index.ts';
import type { Program } from '../../../patterns/language/program.ts';
import type { Sizes } from '../../../patterns/language/sizing.ts';
import type { Type } from '../../../patterns/language/types.ts';
import type { Value } from '../../../patterns/language/values.ts';
import type { Environment } from './environment.ts';
import type { LoopProfile } from './loop-profile.ts';
import type { KnownNumbers, Leaf, Pulled } from './pulled.ts';
import type { Shorter } from './reductions.ts';

/** Makes arrays in buffers usable as values of a kernel. */
export interface Leaves {
  leafOf(buffer: string, type: Type, outer?: readonly number[], at?: readonly Index[]): Leaf;
}

export interface Planning {
  readonly program: Program;
  readonly sizes: Sizes;
  readonly precision: ElementType;
  /** The buffer that the present kernel writes. */
  readonly target: string;
  /** The most operations of one kernel. */
  readonly mostOperations: number;
  readonly device: LoopProfile;
  /** Whether the program has arrays of known numbers. */
  readonly hasKnownArrays: boolean;
  /** Long reductions, each with its shorter form. */
  readonly shorter: Map<Value, Shorter>;
  /** A fresh number at each call. */
  nextNumber(): number;
  /** The rough number of operations for one element of a value. */
  workOf(value: Value): number;
  numbersOf(value: Value): KnownNumbers;
  /** Whether a value only rearranges arrays, without computing. */
  onlyRearranges(value: Value): boolean;
  /** Whether an array may be stored in memory: not where it depends on the partial result of a reduction. */
  canStore(value: Value, env: Environment): boolean;
  isStored(value: Value, env: Environment): boolean;
  /** Whether a work-group's array lies in shared memory: the program asks for it, and it has not been found too large. */
  isShared(value: Value, env: Environment): boolean;
  /** A key for a value inside maps over certain arrays. */
  keyOf(value: Value, needed: readonly Environment[]): string;
  /** Notes that a map's function is called for an element, inside loops with this number of iterations. */
  noteRead(value: Value, env: Environment, iterations: number): void;
  /** An array in memory, stored by an earlier launch. */
  stored(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** The result of a planned transform, in memory, computed by an earlier launch. */
  transformed(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** The result of an `iterate` over arrays or tuples of arrays, in memory, computed by earlier launches. */
  iterated(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** The state of an `iterate` in one of its steps. */
  stateOf(leaves: Leaves, value: Value, buffers: readonly string[], env: Environment): Pulled;
}
