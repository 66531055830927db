/**
 * Poisoned buffers: filled with one particular NaN before a run, they show afterwards which elements were written.
 * Only bits are compared, through 32-bit views, since engines may change the payload of a NaN that passes a variable.
 */

/** Any typed array. */
export type AnyTypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;

/** As a single, as a half (twice) and, repeated, as a double this is a quiet NaN that no arithmetic produces. */
const POISON = 0x7ff57ff5;
const POISON_BYTES = [0xf5, 0x7f, 0xf5, 0x7f];

function bytesOf(array: AnyTypedArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Fills an array with poison and returns it. */
export function poison<T extends AnyTypedArray>(array: T): T {
  if (array.byteOffset % 4 === 0 && array.byteLength % 4 === 0) {
    new Uint32Array(array.buffer, array.byteOffset, array.byteLength / 4).fill(POISON);
  } else {
    bytesOf(array).forEach((_, i, bytes) => {
      bytes[i] = POISON_BYTES[i % 4] as number;
    });
  }
  return array;
}

/** Whether one element still holds poison. */
export function isPoisoned(array: AnyTypedArray, index: number): boolean {
  const size = array.BYTES_PER_ELEMENT;
  const start = index * size;
  const bytes = bytesOf(array);
  for (let i = start; i < start + size; i++) if (bytes[i] !== POISON_BYTES[i % 4]) return false;
  return true;
}

/** A copy of an array's bits, to compare with later. */
export function snapshot(array: AnyTypedArray): Uint8Array {
  return bytesOf(array).slice();
}

/**
 * Indices of elements whose bits differ from a snapshot although `allowed` does not permit it: empty when all gaps
 * and guards are untouched. At most `limit` are listed.
 */
export function changedOutside(
  array: AnyTypedArray,
  before: Uint8Array,
  allowed: (index: number) => boolean = () => false,
  limit = 8,
): number[] {
  // Compared in singles where elements consist of them: long arrays are looked through often.
  const wide = array.BYTES_PER_ELEMENT % 4 === 0 && before.byteOffset % 4 === 0;
  const words = (bytes: Uint8Array) =>
    wide ? new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4)) : bytes;
  const now = words(bytesOf(array));
  const then = words(before);
  if (array.byteLength !== before.length) throw new RangeError('the snapshot is of an array of another length');
  const size = array.BYTES_PER_ELEMENT / now.BYTES_PER_ELEMENT;
  const changed: number[] = [];
  let last = -1;
  for (let i = 0; i < now.length && changed.length < limit; i++) {
    if (now[i] === then[i]) continue;
    const index = Math.floor(i / size);
    if (index !== last && !allowed(index)) changed.push(index);
    last = index;
  }
  return changed;
}
