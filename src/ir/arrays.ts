/** The arrays that kernels touch: of reals, in memory or in tables, and of integers that indices are looked up in. */
import type { RootRun } from '../numeric/nearest-roots.ts';

/** Number types that devices compute in. */
export type ElementType = 'f32' | 'f64';

/**
 * What kernels compute in. A `dd` (double-double) is the sum hi + lo of two doubles, some 106 bits. No language has it: kernels of
 * numbers that a device has not are made kernels of pairs before they are printed (emit/double-word/).
 */
export type NumberType = ElementType | 'dd';

/**
 * What arrays hold. Reals of another type than the kernel's are converted where they are loaded and rounded to nearest even
 * where they are stored; halves as IEEE 754 has them, with infinities and subnormals. Integers are for `lookup` alone.
 */
export type StorageType = NumberType | 'f16' | 'u32';

/**
 * An array that a kernel touches. `global`: bound at launch. `shared`: one per group, of known length.
 * `table`: constants that the plan fills in.
 */
export interface ArrayRef {
  readonly name: string;
  readonly space: 'global' | 'shared' | 'table';
  readonly type: StorageType;
  /** Of a global: one plane of complex numbers. It may begin at any real, so its neighbours are never read as pairs. */
  readonly plane?: true;
  /**
   * Of a global: an operand beside the two sides of a transform. It is only read, and no other array of the kernel is the same
   * memory.
   */
  readonly operand?: true;
  /** Elements; required for `shared`. */
  readonly length?: number;
  /**
   * Of a shared array: its two halves, of so many elements each, share one memory, one after the other (rocFFT's "half LDS"). An
   * exchange hands over first what was stored in the lower half, then the upper one, which waits in registers until then.
   */
  readonly halfLength?: number;
}

/** Bytes of an element. */
export function bytesOf(type: StorageType): 2 | 4 | 8 | 16 {
  return type === 'f16' ? 2 : type === 'f64' ? 8 : type === 'dd' ? 16 : 4;
}

/** Whether kernels compute in a storage type; other types are converted at each load and store. */
export function isComputed(type: StorageType): type is NumberType {
  return type !== 'f16' && type !== 'u32';
}

/** A number type as one that a device computes in. @throws RangeError for double-doubles, which no language has */
export function elementOf(type: NumberType): ElementType {
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
  /** Every entry is below this, and none is negative. */
  readonly below: number;
  readonly entries: ArrayLike<number>;
}

/** An array of constants. Two tables with equal keys have equal contents, whichever kernels read them. */
export interface Table extends ArrayRef {
  readonly space: 'table';
  readonly length: number;
  readonly key: string;
  /** Each number is two elements, hi and lo; runs and values are about numbers. */
  readonly pairs?: true;
  /** The roots of unity that it holds, exactly; what lies between the runs is never read. */
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
