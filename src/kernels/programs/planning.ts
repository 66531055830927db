/** What a kernel of a program asks while it is built: what is decided for the program as a whole. */
import type { ElementType, Index } from '../../ir/index.ts';
import type { Program } from '../../patterns/program.ts';
import type { Sizes } from '../../patterns/sizing.ts';
import type { Type } from '../../patterns/types.ts';
import type { Value } from '../../patterns/values.ts';
import type { Environment } from './environment.ts';
import type { LoopProfile } from './loop-profile.ts';
import type { Leaf, Pulled } from './pulled.ts';
import type { Shorter } from './reductions.ts';
import type { KnownNumbers } from './tables.ts';

/** Arrays in buffers, as a kernel has them. */
export interface Leaves {
  leafOf(buffer: string, type: Type, outer?: readonly number[], at?: readonly Index[]): Leaf;
}

export interface Planning {
  readonly program: Program;
  readonly sizes: Sizes;
  readonly precision: ElementType;
  /** The buffer that the kernel which is being built writes. */
  readonly target: string;
  /** Of one kernel. */
  readonly mostOperations: number;
  readonly device: LoopProfile;
  /** Whether the program has arrays of known numbers. */
  readonly hasKnownArrays: boolean;
  /** Long reductions as shorter ones, once for each. */
  readonly shorter: Map<Value, Shorter>;
  /** Another one each time. */
  nextNumber(): number;
  /** Operations for one element, roughly. */
  workOf(value: Value): number;
  numbersOf(value: Value): KnownNumbers;
  /** Whether a value is nothing but a rearrangement of arrays. */
  onlyRearranges(value: Value): boolean;
  /** Whether an array may have a place in memory: not where it depends on what a reduction has come to. */
  canStore(value: Value, env: Environment): boolean;
  isStored(value: Value, env: Environment): boolean;
  /** Whether an array of a work-group lies in its own memory: it is to, and has not been found too large. */
  isShared(value: Value, env: Environment): boolean;
  /** A name for a value in functions of certain arrays. */
  keyOf(value: Value, needed: readonly Environment[]): string;
  /** Notes that a map's function is called for an element, in so many iterations of loops. */
  noteRead(value: Value, env: Environment, iterations: number): void;
  /** An array in memory, which is computed before. */
  stored(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** What a planned transform gives, likewise. */
  transformed(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** What an `iterate` of arrays comes to, likewise. */
  iterated(leaves: Leaves, value: Value, env: Environment): Pulled;
  /** What the symbol of an `iterate` is in one of its steps. */
  stateLeaf(leaves: Leaves, value: Value, buffer: string, env: Environment): Leaf;
}
