/** Host arrays by what they hold. */
import type { StorageType } from '../ir/index.ts';
import type { RealArray } from './device.ts';

/** A double-double is two doubles: arrays of them are taken for arrays of doubles. */
const TYPES = { f32: Float32Array, f64: Float64Array, dd: Float64Array, f16: Uint16Array, u32: Uint32Array } as const;

/** What a host array holds. (Arrays of a user's may be of another window or context; tables are ours.) */
export function typeOfArray(array: RealArray): StorageType {
  const { BYTES_PER_ELEMENT: bytes } = array;
  if (bytes === 4) return array instanceof Uint32Array ? 'u32' : 'f32';
  return bytes === 8 ? 'f64' : 'f16';
}

/** Zeros. @throws RangeError where there is no memory for them. */
export function arrayFor(type: StorageType, length: number): RealArray {
  return new TYPES[type](length);
}

/** A view of memory. */
export function arrayOver(type: StorageType, buffer: ArrayBuffer, byteOffset: number, length: number): RealArray {
  return new TYPES[type](buffer, byteOffset, length);
}

/** Bytes of an element of such an array. */
export function bytesOfArray(type: StorageType): number {
  return TYPES[type].BYTES_PER_ELEMENT;
}

/** What the array class of a type is called. */
export function arrayNameOf(type: StorageType): string {
  return TYPES[type].name;
}
