/** The lengths that this library transforms fast. */
import { nextSmooth, previousSmooth } from '../numeric/primes.ts';
import { LARGEST_LISTED_PRIME } from '../plan/group/butterflies.ts';
import { FftError, show } from '../problem/errors.ts';
import { readOptions } from './arguments/options.ts';

export interface FastLengthOptions {
  /**
   * Whether the length is for real data, two samples of which make a complex number: the result is even then, except 1.
   * Default: false.
   */
  readonly real?: boolean | undefined;
}

/**
 * The smallest length of at least `target` that has a butterfly for each of its primes (at most 13), and with `real` is even.
 * It serves the purpose of `scipy.fft.next_fast_len`, but for the lengths that are fast in this library.
 * @throws FftError `invalid-size` when `target` is not a positive integer, or none follows below 2^53; `invalid-argument`,
 *   `unknown-field`
 */
export function nextFastLength(target: number, options: FastLengthOptions = {}): number {
  const real = checkFastLength(target, options, 'nextFastLength');
  const smooth = (length: number) => nextSmooth(length, LARGEST_LISTED_PRIME);
  const length = real && target > 1 ? 2 * smooth(Math.ceil(target / 2)) : smooth(target);
  if (Number.isSafeInteger(length)) return length;
  throw new FftError('invalid-size', `The next length from ${target} on is ${length}; it must be below 2^53.`, {
    path: 'target',
  });
}

/**
 * The largest length of at most `target` that is fast in the same sense, for data that is cropped instead of filled with zeros.
 * @throws FftError as `nextFastLength`, except that such a length always exists
 */
export function prevFastLength(target: number, options: FastLengthOptions = {}): number {
  const real = checkFastLength(target, options, 'prevFastLength');
  if (real && target > 1) return 2 * previousSmooth(Math.floor(target / 2), LARGEST_LISTED_PRIME);
  return previousSmooth(target, LARGEST_LISTED_PRIME);
}

/** @returns whether the length is for real data. @throws FftError `invalid-argument`, `unknown-field`, `invalid-size` */
function checkFastLength(target: number, options: FastLengthOptions, name: string): boolean {
  const { real = false } = readOptions(options, { works: ['real'] }, name);
  if (typeof real !== 'boolean') {
    throw new FftError('invalid-argument', `real is ${show(real)}; it takes true or false.`, { path: 'real' });
  }
  if (!(Number.isSafeInteger(target) && target >= 1)) {
    throw new FftError('invalid-size', `The length is ${show(target)}; it must be a positive integer below 2^53.`, {
      path: 'target',
    });
  }
  return real;
}
