/** What a language adds to the common lowering: its words for types, declarations, indices and barriers. */
import type { ElementType } from '../../ir/index.ts';

/** Who waits, and for what. */
export interface Barrier {
  readonly scope: 'subgroup' | 'group' | 'cluster';
  /** What was written to globals has to be seen as well. */
  readonly globals: boolean;
  /** Nobody has written since the last barrier: that everybody has read is enough. */
  readonly readsOnly?: boolean;
}

/** A value of a kernel: a real, or two of them that lie side by side. */
export interface ValueType {
  readonly type: ElementType;
  readonly pair: boolean;
}

export interface Dialect {
  /** Whether there are integers of 64 bits. Without them, indices are unsigned and end at 2³² − 1. */
  readonly wideIntegers: boolean;
  /** Whether a name may point into the middle of a binding. */
  readonly pointers: boolean;
  /** Names that arrays cannot have. */
  readonly reserved: ReadonlySet<string>;
  integer(value: number, wide: boolean): string;
  /** Widens an integer operand. */
  widen(operand: string): string;
  /** ⌊of / by⌋ or the remainder, of an operand that is not negative. `narrow`: 64 bits in, 32 bits out. */
  quotient(kind: 'div' | 'mod', of: string, by: number, wide: boolean, narrow: boolean): string;
  declareInteger(name: string, value: string, wide: boolean): string;
  declareValue(name: string, value: string, type: ValueType): string;
  /** A variable that holds zero until it is assigned to. */
  declareVariable(name: string, type: ValueType): string;
  literal(value: number, type: ElementType): string;
  pair(re: string, im: string, type: ElementType): string;
  /**
   * The root e^{−2πi·p/q} as a pair, from an integer p that is not negative and fits, four times, into 32 bits without a
   * sign, or into 63 where it is wide. Missing where no function of the language is exact enough.
   */
  root?(p: string, wide: boolean, q: number, type: ElementType): string;
  /** The head of a loop with a known number of rounds. */
  loop(counter: string, rounds: number): string;
  barrier(barrier: Barrier): string;
  /** A shared array as another block of the cluster has it. Missing where there are no clusters. */
  blockCopy?(name: string, block: string): string;
  /**
   * That a block of a cluster has begun, so that others may write into its memory: it says so first of all, and waits for
   * the others when it has something for them. Meanwhile it reads and computes. Missing where there are no clusters.
   */
  readonly begun?: { readonly say: string; readonly wait: string };
  /** How a place in a global is read and written, where not as any variable. `streamed`: caches need not keep it. */
  readonly global?: {
    load(place: string, streamed: boolean): string;
    store(place: string, value: string, streamed: boolean): string;
  };
  /** How an element of a shared array is read, where not as one of any array. */
  sharedLoad?(array: string, at: string, type: ValueType): string;
}

/**
 * A decimal that reads back as the same number.
 * @throws RangeError where there is none, because the number is not finite.
 */
export function decimal(value: number, type: ElementType): string {
  if (!Number.isFinite(value)) throw new RangeError(`a constant of the kernel does not fit into ${type}`);
  // Nine digits name a single uniquely; a double prints as the shortest that does.
  const text = String(type === 'f32' ? Number(value.toPrecision(9)) : value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
