import { describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { randomFor } from '../../test/support/random.ts';
import { FftError } from '../index.ts';
import { isSingle, type NumpyArray } from '../numpy/arrays/array.ts';
import { fftn, irfft, rfft } from '../numpy/index.ts';
import { inRounds } from './rounds.ts';

const random = randomFor('rounds');

/** A transform that refuses more than `most` numbers at a time, and a record of the numbers in each of its calls. */
function limited(most: number, axes: readonly number[]) {
  const done: number[] = [];
  const transform = (part: NumpyArray) => {
    if (part.data.length > most) return Promise.reject(new FftError('device-limit', 'This problem is too large.'));
    done.push(part.data.length);
    return fftn(part, { axes });
  };
  return { done, transform };
}

describe('inRounds', () => {
  it.each(['float32', 'float64', 'complex64', 'complex128'] as const)('is the same as at once: %s', async (dtype) => {
    const parts = dtype.startsWith('complex') ? 2 : 1;
    for (const rows of [1, 2, 7, 16]) {
      const values = Float64Array.from({ length: parts * rows * 15 }, () => random.unit());
      const data = dtype === 'float32' || dtype === 'complex64' ? Float32Array.from(values) : values;
      const array: NumpyArray = { data, shape: [rows, 3, 5], dtype };
      const { done, transform } = limited(parts * 2 * 15, [2]);
      const { data: given, ...kind } = await inRounds(array, [2], transform);
      const { data: wanted, ...expected } = await fftn(array, { axes: [2] });
      expect(kind).toEqual(expected);
      expect(given.constructor).toBe(wanted.constructor);
      // Another number of transforms at once may round differently.
      expect(relativeError(given, wanted)).toBeLessThan(2 * tolerance(isSingle(dtype) ? 'single' : 'double', 5));
      expect(done.reduce((sum, count) => sum + count, 0)).toBe(data.length);
      expect(done.length).toBeGreaterThanOrEqual(rows / 2);
    }
  });

  it('takes and gives rows of other lengths and kinds', async () => {
    const array: NumpyArray<'float32'> = {
      data: new Float32Array(7 * 9).map(random.unit),
      shape: [7, 9],
      dtype: 'float32',
    };
    const few = (transform: (part: NumpyArray) => Promise<NumpyArray>) => (part: NumpyArray) =>
      part.shape[0]! > 2 ? Promise.reject(new FftError('device-limit', 'Too many rows.')) : transform(part);
    const bins = await inRounds(
      array,
      [1],
      few((part) => rfft(part)),
    );
    expect(bins).toMatchObject({ shape: [7, 5], dtype: 'complex64' });
    const back = await inRounds(
      bins,
      [1],
      few((part) => irfft(part, { n: 9 })),
    );
    expect(back).toMatchObject({ shape: [7, 9], dtype: 'float32' });
    expect(relativeError(back.data, array.data)).toBeLessThan(1e-6);
  });

  it.each([
    ['an axis that all rounds would need', 20, [0]],
    ['a row that is too much', 14, [1]],
  ])('refuses %s', async (_name, most, axes) => {
    const array: NumpyArray = { data: new Float64Array(60), shape: [4, 15], dtype: 'float64' };
    const { transform } = limited(most, axes);
    await expect(inRounds(array, axes, transform)).rejects.toMatchObject({ code: 'device-limit' });
  });

  it('passes on what else goes wrong', async () => {
    const array: NumpyArray = { data: new Float64Array(6), shape: [2, 3], dtype: 'float64' };
    const lost = () => Promise.reject(new FftError('device-lost', 'It went away.'));
    await expect(inRounds(array, [1], lost)).rejects.toMatchObject({ code: 'device-lost' });
  });
});
