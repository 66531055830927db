/**
 * Tables that a chirp z-transform multiplies by. With j·k = (j² + k² − (k − j)²)/2 the sum over j of x(j)·a^−j·w^(j·k) becomes
 *
 *   X(k) = w^(k²/2) · Σ [x(j)·a^−j·w^(j²/2)] · w^(−(k − j)²/2),
 *
 * a convolution of n points with n + m − 1 points of a chirp. Of its result m points are wanted, so that a circular convolution of n + m − 1 or more
 * points suffices: a transform, a product with the chirp's spectrum, and the inverse transform.
 *
 * Sources: L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform" (1970); L. R. Rabiner, R. W. Schafer and
 * C. M. Rader, "The chirp z-transform algorithm", IEEE Transactions on Audio and Electroacoustics 17 (1969).
 */
import { nextFastLength } from '../../engine/fast-length.ts';
import { transformComplexDds } from '../../numeric/double-double/complex-dd.ts';
import { roundComplexDds } from '../../numeric/double-double/complex-dd-powers.ts';
import { ddMulComplex } from '../../numeric/double-double/doubledouble.ts';
import { FftError } from '../../problem/errors.ts';
import { type ChirpPowers, type Curve, chirpPowers, doublings } from './curve.ts';

/** The parameters of a chirp z-transform, as plain data. */
export interface ChirpProblem {
  /** Number of input points n and of output points m. */
  readonly n: number;
  readonly m: number;
  readonly curve: Curve;
  readonly precision: 'single' | 'double';
  /** Number of transforms that run at once. */
  readonly batches: number;
}

/** Tables of interleaved complex doubles, computed in double-double and rounded once. */
export interface ChirpTables {
  /** Factors of the n input points. */
  readonly before: Float64Array;
  /** Factors of the `length` bins of the spectrum. */
  readonly spectrum: Float64Array;
  /** Factors of the first m points of the result. */
  readonly after: Float64Array;
}

/** The longest convolution: the spectrum of a longer one would take seconds of plan time, and much memory. */
const LONGEST = 2 ** 24;

/** The length of the circular convolution. @throws FftError `unsupported-length` where its preparation would take too long */
export function circleOf({ n, m }: Pick<ChirpProblem, 'n' | 'm'>): number {
  if (n + m <= LONGEST) return nextFastLength(n + m - 1);
  const message = `${n} points in and ${m} out are too many for a chirp z-transform: together they may be ${LONGEST}.`;
  throw new FftError('unsupported-length', message, { path: 'm' });
}

/** The most binary orders of magnitude between 1 and the largest or the least factor: beyond them sums would overflow. */
const MOST_DOUBLINGS = { single: 60, double: 400 } as const;

/**
 * Refuses a spiral whose factors differ by more than the range of numbers allows.
 * @throws FftError `invalid-argument`
 */
export function checkSpiral({ n, m, curve, precision }: ChirpProblem): void {
  const [w, a] = [Math.abs(doublings(curve.w)), Math.abs(doublings(curve.a))];
  const inChirp = w * Math.max(1, (Math.max(n, m) - 1) ** 2 / 2);
  const found = inChirp + a * Math.max(1, n - 1);
  if (found <= MOST_DOUBLINGS[precision]) return;
  const path = inChirp > found / 2 ? 'w' : 'a';
  const message =
    `${path} is too far from the unit circle: for ${n} points in and ${m} out the algorithm would multiply by powers up to ` +
    `2^±${Math.ceil(found)}; with ${precision} precision it takes 2^±${MOST_DOUBLINGS[precision]} at most.`;
  throw new FftError('invalid-argument', message, { path });
}

export function chirpTables(problem: ChirpProblem): ChirpTables {
  const { n, m, curve } = problem;
  const powers = chirpPowers(curve, n, m);
  const before = powers.starts;
  for (let j = 0; j < n; j++) ddMulComplex(before, 4 * j, before, 4 * j, powers.chirp, 4 * j);
  return {
    before: roundComplexDds(before),
    spectrum: roundComplexDds(chirpZSpectrum(problem, powers)),
    after: roundComplexDds(powers.chirp.subarray(0, 4 * m)),
  };
}

/** The spectrum of w^(−i²/2) for −n < i < m, around the circle. */
function chirpZSpectrum({ n, m }: ChirpProblem, { inverse }: ChirpPowers): Float64Array {
  const length = circleOf({ n, m });
  const circle = new Float64Array(4 * length);
  for (let i = 0; i < Math.max(n, m); i++) {
    const value = inverse.subarray(4 * i, 4 * i + 4);
    if (i < m) circle.set(value, 4 * i);
    if (i > 0 && i < n) circle.set(value, 4 * (length - i));
  }
  transformComplexDds(circle);
  return circle;
}
