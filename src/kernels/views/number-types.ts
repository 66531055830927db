/** The types of the kernel language for the precisions and storage types of a plan. */
import type { NumberType, StorageType } from '../../ir/index.ts';
import type { Rounding } from '../../numeric/large-primes/chirp.ts';
import type { Leaf, LeafSide, Stored } from '../../plan/tree/leaf.ts';

const TYPES = { half: 'f16', single: 'f32', double: 'f64', 'double-double': 'dd' } as const;
const ROUNDINGS = { f32: 'single', f64: 'double', dd: 'double-double' } as const;

/** The number type for a precision. */
export function numberTypeOf(precision: Leaf['precision']): NumberType {
  return TYPES[precision];
}

/** The storage type for a plan's storage. */
export function storedType(stored: Stored): StorageType {
  return TYPES[stored];
}

/** The storage type of one side of a leaf. */
export function storageTypeOf({ storage }: LeafSide, precision: Leaf['precision']): StorageType {
  return storedType(storage ?? precision);
}

/** The precision to which values of a table are rounded. */
export function roundingOf(type: NumberType): Rounding {
  return ROUNDINGS[type];
}

/** Numbers as a table of a type takes them: for double-doubles, each with a low part of zero. */
export function wordsOfNumber(values: readonly number[], type: NumberType): readonly number[] {
  return type === 'dd' ? values.flatMap((value) => [value, 0]) : values;
}
