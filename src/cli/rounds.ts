/** Arrays that a device cannot hold as a whole. */

import { FftError } from '../index.ts';
import { type ComplexArray, isSingle, type NumpyArray, product, zeros } from '../numpy/array.ts';

/**
 * Transforms an array at once or, where that is too much for the device, in halves of its first axis, and in halves of
 * these. It has to be one that is not transformed.
 *
 * @param transform keeps the shape
 * @throws FftError what `transform` throws; `device-limit` only where the first axis is transformed or a single step along
 *   it is too much; `out-of-memory`
 */
export async function inRounds(
  array: NumpyArray,
  axes: readonly number[],
  transform: (part: NumpyArray) => Promise<ComplexArray>,
): Promise<ComplexArray> {
  try {
    return await transform(array);
  } catch (error) {
    const [rows = 1] = array.shape;
    if (!(error instanceof FftError && error.code === 'device-limit') || axes.includes(0) || rows < 2) throw error;
    const single = isSingle(array.dtype);
    const { shape } = array;
    const data = zeros(2 * product(shape), single);
    await fill(data, array, 0, rows);
    return { data, shape: [...shape], dtype: single ? 'complex64' : 'complex128' };
  }

  /** The rows from `first` to `end`, in halves. */
  async function fill(target: NumpyArray['data'], { data, shape, dtype }: NumpyArray, first: number, end: number) {
    const [rows = 1, ...others] = shape;
    const middle = Math.ceil((first + end) / 2);
    for (const [from, to] of [
      [first, middle],
      [middle, end],
    ] as const) {
      const part = data.subarray((from * data.length) / rows, (to * data.length) / rows);
      try {
        const result = await transform({ data: part, shape: [to - from, ...others], dtype });
        target.set(result.data, (from * target.length) / rows);
      } catch (error) {
        if (!(error instanceof FftError && error.code === 'device-limit') || to - from < 2) throw error;
        await fill(target, { data, shape, dtype }, from, to);
      }
    }
  }
}
