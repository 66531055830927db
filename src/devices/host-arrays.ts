/** Typed arrays of the host by the storage type of their elements. */
import type { StorageType } from '../ir/index.ts';
import type { RealArray } from './device.ts';

/** Array classes by storage type. A double-double is two doubles, so its arrays are arrays of doubles. */
const TYPES = { f32: Float32Array, f64: Float64Array, dd: Float64Array, f16: Uint16Array, u32: Uint32Array } as const;

/**
 * The storage type of a host array, told by its element size: a caller's array may come from another window or context, where classes differ. Arrays
 * of `u32` are tables, which this module makes itself.
 */
export function typeOfArray(array: RealArray): StorageType {
  const { BYTES_PER_ELEMENT: bytes } = array;
  if (bytes === 4) return array instanceof Uint32Array ? 'u32' : 'f32';
  return bytes === 8 ? 'f64' : 'f16';
}

/** A new array of zeros. @throws RangeError if there is not enough memory. */
export function arrayFor(type: StorageType, length: number): RealArray {
  return new TYPES[type](length);
}

/** A view of memory as an array of a storage type. */
export function arrayOver(type: StorageType, buffer: ArrayBuffer, byteOffset: number, length: number): RealArray {
  return new TYPES[type](buffer, byteOffset, length);
}

/** Bytes of one element of the array class of a storage type. */
export function bytesOfArray(type: StorageType): number {
  return TYPES[type].BYTES_PER_ELEMENT;
}

/** The name of the array class of a storage type. */
export function arrayNameOf(type: StorageType): string {
  return TYPES[type].name;
}
