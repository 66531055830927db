/** How far results are from the reference, and how far they may be. */
import { largestPrimeFactor } from '../../src/numeric/primes.ts';

export type AccuracyPrecision = 'half' | 'single' | 'double' | 'double-double' | 'single-pair';

/** Unit roundoff by precision; `single-pair` is a double made of two singles. */
export const unitRoundoff: Readonly<Record<AccuracyPrecision, number>> = {
  half: 2 ** -11,
  single: 2 ** -24,
  double: 2 ** -53,
  'double-double': 2 ** -104,
  'single-pair': 2 ** -44,
};

/**
 * The relative L2 error that a transform over `points` points may have: 1.2·u·√(1 + log2 N).
 * @param points product of the transformed lengths
 * @param factor 5 for Rader's and Bluestein's schemes
 */
export function tolerance(precision: AccuracyPrecision, points: number, factor = 1): number {
  return factor * 1.2 * unitRoundoff[precision] * Math.sqrt(1 + Math.log2(points));
}

/** A plan on trial: how far it was off and how far it may be, and what it did to memory that is not its own. */
export interface Tried {
  readonly what: string;
  readonly error: number;
  readonly allowed: number;
  readonly damage: readonly string[];
}

/** Whether some axis has large primes, whose schemes may be five times as far off. */
export function hasLargePrimes(size: readonly number[]): boolean {
  return size.some((length) => largestPrimeFactor(length) > 13);
}

/**
 * ‖actual − reference‖ / ‖reference‖ in the L2 norm over all numbers, real and imaginary parts alike. The reference
 * is the double-double hi + lo. Any NaN or infinity in `actual`, a poisoned element for one, makes it Infinity;
 * against a reference that is zero everywhere only zeros have a finite error, which is then 0.
 */
export function relativeError(
  actual: ArrayLike<number>,
  referenceHi: ArrayLike<number>,
  referenceLo?: ArrayLike<number>,
): number {
  if (actual.length !== referenceHi.length || (referenceLo ?? actual).length !== actual.length) {
    throw new RangeError(`${actual.length} numbers cannot be compared with ${referenceHi.length}`);
  }
  // Squares of tiny or huge numbers would leave the range of doubles: both norms are taken of scaled numbers.
  let largest = 0;
  for (let i = 0; i < actual.length; i++) {
    if (!Number.isFinite(actual[i] as number)) return Number.POSITIVE_INFINITY;
    largest = Math.max(largest, Math.abs(referenceHi[i] as number));
  }
  if (!Number.isFinite(largest)) throw new RangeError('the reference is not finite');
  const unit = largest === 0 ? 1 : largest;
  let error = 0;
  let norm = 0;
  for (let i = 0; i < actual.length; i++) {
    const high = referenceHi[i] as number;
    // Where `actual` is close the subtraction is exact (Sterbenz), and where it is not, exactness does not matter.
    const difference = ((actual[i] as number) - high - (referenceLo?.[i] ?? 0)) / unit;
    error += difference * difference;
    norm += (high / unit) * (high / unit);
  }
  if (error === 0) return 0;
  return norm === 0 ? Number.POSITIVE_INFINITY : Math.sqrt(error / norm);
}
