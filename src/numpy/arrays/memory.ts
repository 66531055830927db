/** New host arrays, and conversion to floating point. */

import { FftError } from '../../problem/errors.ts';
import { arrayLength } from '../../problem/input/bytes.ts';
import type { Floats } from '../../signal/arguments/floats.ts';

export type { Floats } from '../../signal/arguments/floats.ts';

/** An array of zeros for `length` numbers. @throws FftError `out-of-memory` */
export function floatZeros(length: number, single: boolean): Floats {
  return allocated(length, () => (single ? new Float32Array(length) : new Float64Array(length)));
}

/** Makes an array of `length` entries. @throws FftError `out-of-memory` if the engine cannot */
export function allocated<T>(length: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new FftError('out-of-memory', `An array of ${length} entries does not fit in host memory.`, { cause });
  }
}

/**
 * The numbers in floating point. (`Float64Array.from` collects them in a list before it converts them, and V8 ends the process if the list gets too
 * long.)
 * @throws FftError `out-of-memory`
 */
export function converted(values: ArrayLike<number | bigint>, single = false): Floats {
  const floats = floatZeros(arrayLength(values), single);
  // `set` converts numbers faster than a loop, but refuses the entries of 64-bit arrays.
  if (typeof values[0] === 'number') floats.set(values as ArrayLike<number>);
  else for (let k = 0; k < floats.length; k++) floats[k] = Number(values[k]);
  return floats;
}

/** A new array of the same numbers. @throws FftError `out-of-memory` */
export function copyOfFloats(array: Floats): Floats {
  try {
    // The engine copies a typed array without zeroing the new memory first.
    return array instanceof Float32Array ? new Float32Array(array) : new Float64Array(array);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `A result of ${array.length} numbers does not fit in host memory.`;
    throw new FftError('out-of-memory', message, { cause });
  }
}
