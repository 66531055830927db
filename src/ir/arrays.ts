/** The arrays that kernels access: arrays of reals in memory, tables of constants, and tables of integers for indices. */
import type { RootRun } from '../numeric/nearest-roots.ts';

/** Number types that devices compute in. */
export type ElementType = 'f32' | 'f64';

/**
 * The number type that a kernel computes in. A `dd` (double-double) is the sum hi + lo of two doubles, about 106 bits. No language has
 * that type: a kernel in a type that the device lacks is rewritten into one of pairs before it is printed (emit/double-word/).
 */
export type NumberType = ElementType | 'dd';

/**
 * The type of an array's elements. Reals of another type than the kernel's are converted at each load, and rounded to nearest even at
 * each store; halves follow IEEE 754, with infinities and subnormals. Integers (`u32`) are read by `lookup` only.
 */
export type StorageType = NumberType | 'f16' | 'u32';

/**
 * An array that a kernel accesses. `global`: bound at launch. `shared`: one per group, of known length. `table`: constants that the
 * engine computes before the launch.
 */
export interface ArrayRef {
  readonly name: string;
  readonly space: 'global' | 'shared' | 'table';
  readonly type: StorageType;
  /** Only for a global: it is one plane of complex numbers. It may begin at any real, so neighbours are never read as a pair. */
  readonly plane?: true;
  /**
   * Only for a global: it is an operand, neither the input nor the output of the transform. The kernel only reads it, and no other
   * array of the kernel is the same memory.
   */
  readonly operand?: true;
  /**
   * Only for a shared array: guards keep accesses inside it, although ranges of indices do not always show that, because programs of
   * patterns compose their guards freely.
   */
  readonly guarded?: true;
  /** Elements; required for `shared`. */
  readonly length?: number;
  /**
   * Only for a shared array: it consists of two or four parts of this many elements, which use the same memory one after the other
   * (rocFFT's "half LDS", VkFFT's register overutilization). An exchange passes on the first part, then the next one, which waits in
   * registers until then. Each access lies in one part, whatever its variables are.
   */
  readonly partLength?: number;
}

/** Bytes of an element. */
export function storageBytes(type: StorageType): 2 | 4 | 8 | 16 {
  return type === 'f16' ? 2 : type === 'f64' ? 8 : type === 'dd' ? 16 : 4;
}

/** Whether kernels compute in a storage type; other types are converted at each load and store. */
export function isComputed(type: StorageType): type is NumberType {
  return type !== 'f16' && type !== 'u32';
}

/** Narrows a number type to one that devices have. @throws RangeError for double-doubles */
export function elementTypeOf(type: NumberType): ElementType {
  if (type === 'dd') throw new RangeError('double-doubles have to be made pairs before they are printed');
  return type;
}

/** Whether an array is a table of integers. */
export function isIntegers(array: ArrayRef): array is IntegerTable {
  return array.type === 'u32';
}

/** Integers that indices are looked up in. */
export interface IntegerTable extends Table {
  readonly type: 'u32';
  /** An upper bound: every entry is non-negative and below this. */
  readonly below: number;
  readonly entries: ArrayLike<number>;
  /**
   * The table is filled before each launch and `entries` is empty. Whoever fills it guarantees what `verify` cannot check: that no group,
   * and no item of a slice, accesses what another one writes at the places that entries lead to.
   */
  readonly filledLater?: true;
}

/** An array of constants. Two tables with equal keys have equal contents, whichever kernels read them. */
export interface Table extends ArrayRef {
  readonly space: 'table';
  readonly length: number;
  readonly key: string;
  /** Each number takes two elements, hi and lo. Runs and values count numbers. */
  readonly pairs?: true;
  /** The roots of unity in the table, described exactly. Elements outside these runs and `values` are never read. */
  runs(): RootRun[];
  /** Other values in the table; missing if there are none. */
  values?(): ValueRun[];
}

/** Reals in a table from element `start` on; double-doubles as hi, lo, hi, lo … */
export interface ValueRun {
  readonly start: number;
  readonly values: ArrayLike<number> | ValueWriter;
}

/** Writes values to a table from an element on, so that long ones lie nowhere else. */
export type ValueWriter = (table: { [element: number]: number }, start: number) => void;
