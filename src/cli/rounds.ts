/** Transforms arrays that are too large for a device, in parts. */

import { FftError } from '../index.ts';
import { elementCount, floatZeros, isComplex, isSingle, type NumpyArray } from '../numpy/arrays/array.ts';

/**
 * Transforms an array at once or, if it is too large for the device, in halves of its first axis, recursively. The first axis must not be transformed
 * itself.
 * @param transform keeps the length of the first axis
 * @throws FftError errors of `transform`; `device-limit` only if the first axis is transformed or a single row is too large; `out-of-memory`
 */
export async function inRounds(
  array: NumpyArray,
  axes: readonly number[],
  transform: (part: NumpyArray) => Promise<NumpyArray>,
): Promise<NumpyArray> {
  let target: NumpyArray | undefined;
  try {
    return await transform(array);
  } catch (error) {
    const [rows = 1] = array.shape;
    if (!isTooMuch(error) || axes.includes(0) || rows < 2) throw error;
    await fill(0, rows);
    return target!;
  }

  /** Transforms the rows from `first` to `end`, recursively in halves. */
  async function fill(first: number, end: number): Promise<void> {
    const { data, shape, dtype } = array;
    const [rows = 1, ...others] = shape;
    const middle = Math.ceil((first + end) / 2);
    for (const [from, to] of [
      [first, middle],
      [middle, end],
    ] as const) {
      const part = data.subarray((from * data.length) / rows, (to * data.length) / rows);
      try {
        const result = await transform({ data: part, shape: [to - from, ...others], dtype });
        // The first part shows the shape of a transformed row.
        target ??= emptyLike(result, rows);
        target.data.set(result.data, (from * target.data.length) / rows);
      } catch (error) {
        if (!isTooMuch(error) || to - from < 2) throw error;
        await fill(from, to);
      }
    }
  }
}

function isTooMuch(error: unknown): boolean {
  return error instanceof FftError && error.code === 'device-limit';
}

/** A new array with `rows` rows like the rows of another array. */
function emptyLike({ shape: [, ...others], dtype }: NumpyArray, rows: number): NumpyArray {
  const shape = [rows, ...others];
  return { data: floatZeros(elementCount(shape) * (isComplex(dtype) ? 2 : 1), isSingle(dtype)), shape, dtype };
}
