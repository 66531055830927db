/** Spectra of samples at arbitrary times, as `scipy.signal.lombscargle`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, type ComplexArray, floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkWord } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';

/**
 * Normalisation. `power`: A²·n/4 for a sine of amplitude A; `normalize`: a fraction of the signal's own power, from 0 to 1; `amplitude`: A and its
 * phase.
 */
export type LombScargleNorm = boolean | 'power' | 'normalize' | 'amplitude';

export interface LombScargleOptions<Norm extends LombScargleNorm = LombScargleNorm> {
  /** Whether the mean of y is subtracted first; default false. */
  readonly precenter?: boolean | undefined;
  /** Normalisation; default `power`, also written false; true is `normalize`. */
  readonly normalize?: Norm | undefined;
  /** Weights of the samples, from 0 on; default equal weights. */
  readonly weights?: ArrayInput | undefined;
  /** Whether a constant is fitted together with each sine; default false. */
  readonly floatingMean?: boolean | undefined;
}

export type LombScargle<Norm extends LombScargleNorm> = [Norm] extends ['amplitude']
  ? ComplexArray<'complex128', readonly [number]>
  : NumpyArray<'float64', readonly [number]>;

const WORKS = ['precenter', 'normalize', 'weights', 'floatingMean'];

/**
 * The periodogram of Lomb and Scargle: of each frequency the sine that is nearest to the samples in the sense of least squares (J. D. Scargle,
 * "Studies in astronomical time series analysis II", The Astrophysical Journal 263 (1982); M. Zechmeister and M. Kürster, "The
 * generalised Lomb-Scargle periodogram", Astronomy & Astrophysics 496 (2009), for weights and a level). Options, defaults and
 * results are those of `scipy.signal.lombscargle`. By sums over all samples: n steps for each frequency.
 *
 * @param x times of the samples
 * @param y the samples, as many
 * @param freqs angular frequencies, in radians for each unit of x
 * @throws FftError `wrong-length` for lists of different lengths, `invalid-argument` for options out of range, `unknown-field`,
 *   `wrong-array-type`, `detached-array`, `out-of-memory`
 */
export function lombscargle<Norm extends LombScargleNorm = false>(
  x: ArrayInput,
  y: ArrayInput,
  freqs: ArrayInput,
  options: LombScargleOptions<Norm> = {},
): LombScargle<Norm> {
  const own = readOptions(options, { works: WORKS }, 'lombscargle');
  const { precenter = false, floatingMean = false } = own;
  const norm = checkWord<LombScargleNorm>('normalize', own.normalize ?? false, [
    ...([false, true, 'power', 'normalize', 'amplitude'] as const),
  ]);
  checkWord('precenter', precenter, [true, false]);
  checkWord('floatingMean', floatingMean, [true, false]);
  const [times, given, frequencies] = [
    realCoefficients(x, 'x'),
    realCoefficients(y, 'y'),
    realCoefficients(freqs, 'freqs'),
  ];
  const weights =
    own.weights === undefined
      ? times.map(() => 1 / times.length)
      : normalizedWeights(realCoefficients(own.weights, 'weights'));
  for (const [path, list] of [
    ['y', given],
    ['weights', weights],
  ] as const) {
    if (list.length === times.length) continue;
    const message = `${path} has ${list.length} numbers; x has ${times.length}, each of which takes one.`;
    throw new FftError('wrong-length', message, { path });
  }
  const mean = precenter ? given.reduce((sum, value) => sum + value, 0) / given.length : 0;
  const samples = given.map((value) => value - mean);
  const fits = fitterOf(times, samples, weights, floatingMean);
  return (norm === 'amplitude' ? amplitudes : periodogramPowers)(
    frequencies,
    fits,
    norm,
    times.length,
  ) as unknown as LombScargle<Norm>;
}

/** Weights scaled to the sum 1. */
function normalizedWeights(weights: Float64Array): Float64Array {
  for (const weight of weights) check('weights', weight, weight >= 0, 'numbers from 0 on');
  const total = weights.reduce((sum, value) => sum + value, 0);
  check('weights', total, total > 0, 'numbers that are not all 0');
  return weights.map((weight) => weight / total);
}

/** The least-squares sine a cos ωx + b sin ωx, its share of the power, and the whole power. */
interface SineFit {
  readonly a: number;
  readonly b: number;
  readonly explained: number;
  readonly whole: number;
}

function fitterOf(x: Float64Array, y: Float64Array, w: Float64Array, floating: boolean): (omega: number) => SineFit {
  const total = (of: (k: number) => number) => x.reduce((sum, _, k) => sum + w[k]! * of(k), 0);
  const level = floating ? total((k) => y[k]!) : 0;
  const whole = total((k) => y[k]! * y[k]!) - level * level;
  return (omega) => {
    let [c, s, cc, cs, yc, ys] = [0, 0, 0, 0, 0, 0];
    for (let k = 0; k < x.length; k++) {
      const [cos, sin, weight] = [Math.cos(omega * x[k]!), Math.sin(omega * x[k]!), w[k]!];
      c += weight * cos;
      s += weight * sin;
      cc += weight * cos * cos;
      cs += weight * cos * sin;
      yc += weight * y[k]! * cos;
      ys += weight * y[k]! * sin;
    }
    let ss = 1 - cc;
    if (floating) {
      [cc, ss, cs] = [cc - c * c, ss - s * s, cs - c * s];
      [yc, ys] = [yc - level * c, ys - level * s];
    }
    // A rotation by this angle makes cosine and sine orthogonal.
    const tau = Math.atan2(2 * cs, cc - ss) / 2;
    const [cos, sin] = [Math.cos(tau), Math.sin(tau)];
    const [p, q] = [yc * cos + ys * sin, ys * cos - yc * sin];
    const pp = cc * cos * cos + 2 * cs * cos * sin + ss * sin * sin;
    const qq = cc * sin * sin - 2 * cs * cos * sin + ss * cos * cos;
    // At frequency 0 one of the two is only rounding error.
    const [alpha, beta] = [pp > TINY ? p / pp : 0, qq > TINY ? q / qq : 0];
    return { a: alpha * cos - beta * sin, b: alpha * sin + beta * cos, explained: alpha * p + beta * q, whole };
  };
}

const TINY = 4 * 2 ** -52;

function periodogramPowers(
  frequencies: Float64Array,
  fitAt: (omega: number) => SineFit,
  norm: LombScargleNorm,
  n: number,
) {
  const data = floatZeros(frequencies.length, false) as NewFloat64Array;
  const isNormalised = norm === true || norm === 'normalize';
  frequencies.forEach((omega, k) => {
    const { explained, whole } = fitAt(omega);
    data[k] = isNormalised ? explained / whole : (explained * n) / 2;
  });
  return { data, shape: [frequencies.length], dtype: 'float64' };
}

function amplitudes(frequencies: Float64Array, fitAt: (omega: number) => SineFit) {
  const data = floatZeros(2 * frequencies.length, false) as NewFloat64Array;
  frequencies.forEach((omega, k) => {
    const { a, b } = fitAt(omega);
    data.set([a, b], 2 * k);
  });
  return { data, shape: [frequencies.length], dtype: 'complex128' };
}
