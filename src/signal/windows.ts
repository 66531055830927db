/**
 * Window functions for short-time transforms.
 *
 * Periodic form: w[k] = w[size − k], with k = 0 … size − 1 one full period. It is the form for spectral analysis (the
 * symmetric one, with period size − 1, is for designing filters), and hann and hamming at half overlap add up to a constant.
 * Source: F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform",
 * Proceedings of the IEEE 66 (1978).
 */

import { zeros } from '../numpy/array.ts';
import { FftError, show } from '../problem/errors.ts';
import type { NewFloat64Array } from '../problem/index.ts';

/** Coefficients a of w[k] = a₀ − a₁ cos φ + a₂ cos 2φ with φ = 2πk/size. */
const COSINE_SUMS = {
  rectangular: [1],
  hann: [0.5, 0.5],
  hamming: [0.54, 0.46],
  blackman: [0.42, 0.5, 0.08],
} as const satisfies Record<string, readonly number[]>;

export type WindowName = keyof typeof COSINE_SUMS;

/** All window functions, by the names that `windowFunction` takes. */
export const windowNames = Object.freeze(Object.keys(COSINE_SUMS)) as readonly WindowName[];

/**
 * The values of a window. That of a single value is [1] by every name, as SciPy has it: a period of one would be its
 * edge alone, which for most is 0.
 *
 * @param size Number of values, at least 1.
 * @throws FftError `invalid-argument` for an unknown name or a size that is not a positive integer; `out-of-memory`
 */
export function windowFunction(name: WindowName, size: number): NewFloat64Array {
  if (typeof name !== 'string' || !Object.hasOwn(COSINE_SUMS, name)) {
    throw new FftError('invalid-argument', `Unknown window ${show(name)}; known are ${windowNames.join(', ')}.`, {
      path: 'window',
    });
  }
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new FftError('invalid-argument', `A window's size is a positive integer; ${show(size)} was given.`, {
      path: 'size',
    });
  }
  const coefficients: readonly number[] = COSINE_SUMS[name];
  const values = zeros(size, false) as NewFloat64Array;
  if (size === 1) return values.fill(1);
  for (let k = 0; k < size; k++) {
    values[k] = coefficients.reduce(
      (sum, a, order) => sum + (order % 2 === 0 ? a : -a) * Math.cos((2 * Math.PI * order * k) / size),
      0,
    );
  }
  return values;
}
