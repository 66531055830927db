/** Types of the kernel language by the precisions of a plan: the only place of this room that knows one from another. */
import type { NumberType, StorageType } from '../ir/index.ts';
import type { Rounding } from '../numeric/chirp.ts';
import type { Leaf, LeafSide, Stored } from '../plan/tree/leaf.ts';

const TYPES = { half: 'f16', single: 'f32', double: 'f64', 'double-double': 'dd' } as const;
const ROUNDINGS = { f32: 'single', f64: 'double', dd: 'double-double' } as const;

/** What numbers of a precision are in memory. */
export function typeOf(precision: Leaf['precision']): NumberType {
  return TYPES[precision];
}

/** What is stored so. */
export function storedType(stored: Stored): StorageType {
  return TYPES[stored];
}

/** What numbers of one side of a leaf are in memory. */
export function storageTypeOf({ storage }: LeafSide, precision: Leaf['precision']): StorageType {
  return storedType(storage ?? precision);
}

/** To what values of a table are rounded. */
export function roundingOf(type: NumberType): Rounding {
  return ROUNDINGS[type];
}
