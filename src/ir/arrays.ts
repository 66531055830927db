/** The arrays that kernels touch: of reals, in memory or in tables, and of integers that indices are looked up in. */
import type { IntegerTable } from './tables.ts';

/** What kernels compute in. */
export type ElementType = 'f32' | 'f64';

/**
 * What arrays hold. Reals of another type than the kernel's are converted where they are loaded and rounded to nearest even
 * where they are stored; halves as IEEE 754 has them, with infinities and subnormals. Integers are for `lookup` alone.
 */
export type StorageType = ElementType | 'f16' | 'u32';

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
  readonly half?: number;
}

/** Bytes of an element. */
export function bytesOf(type: StorageType): 2 | 4 | 8 {
  return type === 'f16' ? 2 : type === 'f64' ? 8 : 4;
}

/** Whether an array holds integers, and what they are. */
export function isIntegers(array: ArrayRef): array is IntegerTable {
  return array.type === 'u32';
}
