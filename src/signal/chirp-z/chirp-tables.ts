/**
 * What a chirp z-transform multiplies by. With j·k = (j² + k² − (k − j)²)/2 the sum over j of x(j)·a^−j·w^(j·k) becomes
 *
 *   X(k) = w^(k²/2) · Σ [x(j)·a^−j·w^(j²/2)] · w^(−(k − j)²/2),
 *
 * a convolution of n points with n + m − 1 of a chirp, of which m are wanted: on a circle of so many points or more it is
 * a transform, a product with the chirp's spectrum, and the way back.
 *
 * Sources: L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform" (1970);
 * L. R. Rabiner, R. W. Schafer and C. M. Rader, "The chirp z-transform algorithm", IEEE Transactions on Audio and
 * Electroacoustics 17 (1969).
 */
import { nextFastLength } from '../../engine/fast-length.ts';
import { transformComplexDds } from '../../numeric/complex-dd.ts';
import { roundComplexDds } from '../../numeric/complex-dd-powers.ts';
import { ddMulComplex } from '../../numeric/doubledouble.ts';
import { FftError } from '../../problem/errors.ts';
import { type ChirpPowers, type Curve, chirpPowers, doublings } from './curve.ts';

/** What is asked for: plain data. */
export interface ChirpProblem {
  /** Points that are read, and points that come out. */
  readonly n: number;
  readonly m: number;
  readonly curve: Curve;
  readonly precision: 'single' | 'double';
  /** Transforms that run at once. */
  readonly batches: number;
}

/** Pairs of doubles, computed in double-double and rounded once. */
export interface ChirpTables {
  /** What the n points are multiplied by. */
  readonly before: Float64Array;
  /** What the spectrum of `length` points is multiplied by. */
  readonly spectrum: Float64Array;
  /** What the first m points of the result are multiplied by. */
  readonly after: Float64Array;
}

/** Longer ones would take plan time more than seconds to know the spectrum of, and much memory. */
const LONGEST = 2 ** 24;

/** The length of the circle. @throws FftError `unsupported-length` where it would take too long to prepare */
export function circleOf({ n, m }: Pick<ChirpProblem, 'n' | 'm'>): number {
  if (n + m <= LONGEST) return nextFastLength(n + m - 1);
  const message = `${n} points in and ${m} out are too many for a chirp z-transform: together they may be ${LONGEST}.`;
  throw new FftError('unsupported-length', message, { path: 'm' });
}

/** Binary orders of magnitude between 1 and the largest or the least factor: beyond, sums would leave what numbers can be. */
const MOST_DOUBLINGS = { single: 60, double: 400 } as const;

/**
 * A wide spiral needs factors that differ by more than numbers can.
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
