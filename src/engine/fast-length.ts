/** Which lengths are fast here. */
import { nextSmooth } from '../numeric/primes.ts';
import { LARGEST_LISTED_PRIME } from '../plan/butterflies.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';

/**
 * The smallest length of at least `target` that has a butterfly for each of its primes (at most 13).
 * @throws FftError `invalid-size` when `target` is not a positive integer, or none follows below 2^53
 */
export function nextFastLength(target: number): number {
  if (!(Number.isSafeInteger(target) && target >= 1)) {
    throw new FftError('invalid-size', `The length is ${show(target)}; it must be a positive integer below 2^53.`, {
      path: 'target',
    });
  }
  const length = nextSmooth(target, LARGEST_LISTED_PRIME);
  if (Number.isSafeInteger(length)) return length;
  throw new FftError('invalid-size', `The next length from ${target} on is ${length}; it must be below 2^53.`, {
    path: 'target',
  });
}
