/** Savitzky–Golay smoothing by least-squares polynomials, as `scipy.signal.savgol_filter` and `savgol_coeffs`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray } from '../../numpy/arrays/array.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { check, checkInteger, checkPositive, checkWord } from '../arguments/check.ts';
import { type Extension, extendLine } from '../arguments/extension.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import type { Filtered } from './lfilter.ts';
import { polyphase } from './polyphase.ts';

export interface SavgolCoeffsOptions {
  /** Order of the derivative; default 0, the smoothed signal. */
  readonly deriv?: number | undefined;
  /** Distance between samples, for derivatives; default 1. */
  readonly delta?: number | undefined;
  /** Position in the window at which the polynomial is evaluated; default the middle, (windowLength − 1)/2. */
  readonly pos?: number | undefined;
  /** Order of the coefficients. `conv`, the default: as `lfilter` and `fftconvolve` take them; `dot`: as the samples. */
  readonly use?: 'conv' | 'dot' | undefined;
}

/** Values near the ends: from the polynomials of the first and last window (`interp`), or from an extension of the signal. */
export type SavgolMode = 'interp' | 'mirror' | 'nearest' | 'constant' | 'wrap';

export interface SavgolOptions {
  readonly deriv?: number | undefined;
  readonly delta?: number | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Values near the ends; default `interp`. */
  readonly mode?: SavgolMode | undefined;
  /** The value of `constant`; default 0. */
  readonly cval?: number | undefined;
}

/** The most samples in a window, because the fit needs a matrix of samples and powers. */
const LONGEST = 2 ** 20;

/**
 * The coefficients of a Savitzky–Golay filter: the value, or a derivative, of the polynomial nearest to the samples of a window (A. Savitzky and
 * M. J. E. Golay, "Smoothing and differentiation of data by simplified least squares procedures", Analytical Chemistry 36
 * (1964)). As `scipy.signal.savgol_coeffs`.
 *
 * @param windowLength samples in the window
 * @param polyorder of the polynomial, less than `windowLength`
 * @throws FftError `invalid-argument` for what is out of range, `unknown-field`
 */
export function savgolCoeffs(
  windowLength: number,
  polyorder: number,
  options: SavgolCoeffsOptions = {},
): NewFloat64Array {
  const own = readOptions(options, { works: ['deriv', 'delta', 'pos', 'use'] }, 'savgolCoeffs');
  const { deriv = 0, delta = 1, use = 'conv' } = own;
  checkWindow(windowLength, polyorder, deriv, delta);
  const { pos = (windowLength - 1) / 2 } = own;
  check('pos', pos, pos >= 0 && pos < windowLength, `a number from 0 to ${windowLength}, which it does not reach`);
  checkWord('use', use, ['conv', 'dot']);
  const coefficients = weightsAt(basisOf(windowLength, polyorder), pos, deriv, delta);
  return use === 'conv' ? coefficients.reverse() : coefficients;
}

function checkWindow(windowLength: number, polyorder: number, deriv: number, delta: number): void {
  checkInteger('windowLength', windowLength, 1, LONGEST);
  checkInteger('polyorder', polyorder, 0, windowLength - 1);
  checkInteger('deriv', deriv, 0);
  checkPositive('delta', delta);
}

/**
 * Polynomials that are orthonormal over the samples of a window, by their three-term recurrence (J. P. Gram): unlike powers they can be fitted to the
 * last digits.
 */
interface Basis {
  readonly length: number;
  /** Coefficients of the recurrence x · p_k = below[k + 1] · p_{k+1} + below[k] · p_{k−1}, with x counted from the middle. */
  readonly below: Float64Array;
}

function basisOf(length: number, order: number): Basis {
  const below = Float64Array.from({ length: order + 1 }, (_, k) =>
    k === 0 ? 0 : (k / 2) * Math.sqrt((length * length - k * k) / (4 * k * k - 1)),
  );
  return { length, below };
}

/** Values p_k^(d)(x) for all k, one derivative d after another. */
function derivativesAt({ length, below }: Basis, x: number, deriv: number): Float64Array {
  const count = below.length;
  let values = new Float64Array(count);
  let lower = new Float64Array(count);
  for (let d = 0; d <= deriv; d++) {
    [values, lower] = [new Float64Array(count), values];
    if (d === 0) values[0] = 1 / Math.sqrt(length);
    for (let k = 1; k < count; k++) {
      const rest = k > 1 ? below[k - 1]! * values[k - 2]! : 0;
      values[k] = (x * values[k - 1]! + d * lower[k - 1]! - rest) / below[k]!;
    }
  }
  return values;
}

/** Weights of the samples for a derivative at a position of the window. */
function weightsAt(basis: Basis, pos: number, deriv: number, delta: number): NewFloat64Array {
  const middle = (basis.length - 1) / 2;
  const there = derivativesAt(basis, pos - middle, deriv);
  return Float64Array.from({ length: basis.length }, (_, k) => {
    const here = derivativesAt(basis, k - middle, 0);
    return here.reduce((sum, value, order) => sum + value * there[order]!, 0) / delta ** deriv;
  });
}

/**
 * Smooths along an axis by polynomials of least squares over a window that moves, or takes their derivatives. Options, defaults and results are those
 * of `scipy.signal.savgol_filter`.
 *
 * @param x real or complex, of any shape. Single precision stays single
 * @param windowLength samples in the window; with the mode `interp` no more than there are
 * @param polyorder less than `windowLength`
 * @throws FftError `invalid-argument` for what is out of range, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`,
 *   `detached-array`, `out-of-memory`
 */
export function savgolFilter<X extends ArrayInput>(
  x: X,
  windowLength: number,
  polyorder: number,
  options: SavgolOptions = {},
): Filtered<X> {
  const own = readOptions(options, { works: ['deriv', 'delta', 'axis', 'mode', 'cval'] }, 'savgolFilter');
  const { deriv = 0, delta = 1, mode = 'interp', cval = 0 } = own;
  checkWindow(windowLength, polyorder, deriv, delta);
  checkWord<SavgolMode>('mode', mode, ['interp', 'mirror', 'nearest', 'constant', 'wrap']);
  check('cval', cval, Number.isFinite(cval), 'a finite number');
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  if (mode === 'interp') {
    const accepted = `at most the length of the signal, ${lines.n}, with the mode 'interp'`;
    check('windowLength', windowLength, windowLength <= lines.n, accepted);
  }
  const basis = basisOf(windowLength, polyorder);
  const h = weightsAt(basis, (windowLength - 1) / 2, deriv, delta).reverse();
  const half = Math.floor(windowLength / 2);
  const rates = { up: 1, down: 1, start: windowLength - 1, count: lines.n };
  // Samples by which a window reaches beyond either end.
  const line = new Float64Array(lines.n + windowLength - 1);
  const { run } = polyphase(h, line.length, rates, 'constant');
  const edges = mode === 'interp' ? edgeWeights(basis, half, deriv, delta) : [];
  const change = (source: Float64Array, target: Float64Array) => {
    line.set(source, windowLength - 1 - half);
    extendLine(line.subarray(0, line.length), windowLength - 1 - half, source.length, extensionOf[mode], cval);
    run(line, target);
    if (mode === 'interp') fitEdges(source, target, edges);
  };
  return eachPlane(lines, lines.n, change) as Filtered<X>;
}

const extensionOf: Readonly<Record<SavgolMode, Extension>> = {
  ...({ interp: 'constant', mirror: 'reflect', nearest: 'edge', constant: 'constant', wrap: 'wrap' } as const),
};

/** Weights of the first window's samples, for each sample whose own window would reach beyond the beginning; by symmetry also for the end. */
function edgeWeights(basis: Basis, half: number, deriv: number, delta: number) {
  return Array.from({ length: half }, (_, k) => ({
    first: weightsAt(basis, k, deriv, delta),
    last: weightsAt(basis, basis.length - half + k, deriv, delta),
  }));
}

function fitEdges(
  source: Float64Array,
  target: Float64Array,
  edges: readonly { readonly first: Float64Array; readonly last: Float64Array }[],
): void {
  const n = source.length;
  const dot = (weights: Float64Array, from: number) =>
    weights.reduce((sum, value, k) => sum + value * source[from + k]!, 0);
  edges.forEach(({ first, last }, k) => {
    target[k] = dot(first, 0);
    target[n - edges.length + k] = dot(last, n - last.length);
  });
}
