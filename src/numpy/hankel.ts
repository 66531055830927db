/**
 * SciPy's fast Hankel transforms (`scipy.fft.fht`, `ifht`, `fhtoffset`), Hamilton's FFTLog: on a logarithmic grid, a Hankel transform is a circular
 * convolution, computed here between a real transform and its inverse.
 * With xp = (μ + 1 + bias) / 2 and xm = (μ + 1 − bias) / 2, bin m is multiplied by u(m) = 2^bias · e^(2iy (ln 2 − offset)) · Γ(xp + iy) / Γ(xm − iy),
 * where y = π m / (n · dln).
 */
import { readOptions } from '../engine/arguments/options.ts';
import { isPoleOfGamma, logGamma } from '../numeric/special-functions/log-gamma.ts';
import { FftError, show } from '../problem/errors.ts';
import { hermitianLength } from '../problem/index.ts';
import { type ArrayInput, asArray, floatZeros, isComplex, isSingle, type NumpyArray } from './arrays/array.ts';
import { checkLength } from './calls/axes.ts';

/** Options of the fast Hankel transforms. */
export interface HankelOptions {
  /** ln(k·r) of the centres of both grids, which shifts the output's grid. Default 0; `fhtoffset` finds an offset with little ringing. */
  readonly offset?: number | undefined;
  /** Exponent of a power law that the input is multiplied by and the output divided by. Default 0. */
  readonly bias?: number | undefined;
}

/** Options of `fhtoffset`. */
export interface HankelOffsetOptions {
  /** The result is the admissible offset nearest to it. Default 0. */
  readonly initial?: number | undefined;
  /** The exponent `bias` of the transform. Default 0. */
  readonly bias?: number | undefined;
}

/** The work before, between and after the two transforms. */
export interface HankelRequest {
  readonly device: unknown;
  /** The input of `rfft`. */
  readonly reals: NumpyArray;
  /** Points along the last axis, for `irfft`. */
  readonly n: number;
  /** Multiplies the bins by the coefficients, in place. */
  readonly convolve: (bins: NumpyArray) => void;
  /** Turns the result of `irfft` into the final result, in place. */
  readonly finish: (lines: NumpyArray) => void;
}

/** The parameters of a transform. */
interface Hankel {
  readonly inverse: boolean;
  readonly n: number;
  readonly dln: number;
  readonly mu: number;
  readonly offset: number;
  readonly bias: number;
}

/**
 * The request of a call.
 * @param more names of options that the caller checks
 * @throws FftError `invalid-argument`, `unknown-field`, `invalid-size`; for the array `wrong-array-type`, `wrong-length`, `detached-array`,
 *   `out-of-memory`
 */
export function hankelRequest(
  name: 'fht' | 'ifht',
  input: ArrayInput,
  [dln, mu]: readonly [number, number],
  options: (HankelOptions & { readonly device?: unknown }) | undefined,
  more: readonly string[] = [],
): HankelRequest {
  const operand = asArray(input);
  if (isComplex(operand.dtype)) {
    const message = `${name} takes real numbers, and the array is of ${operand.dtype}.`;
    throw new FftError('wrong-array-type', message, { path: 'dtype' });
  }
  const own = readOptions(options === undefined ? {} : options, { works: ['offset', 'bias', ...more] }, name);
  const [offset, bias] = [finiteNumber(own.offset ?? 0, 'offset'), finiteNumber(own.bias ?? 0, 'bias')];
  if (operand.shape.length === 0) {
    throw new FftError('invalid-argument', `The array is a single number; ${name} takes an axis.`, { path: 'shape' });
  }
  const n = checkLength(operand.shape.at(-1)!, 'The length of the last axis');
  const hankel = {
    inverse: name === 'ifht',
    n,
    dln: checkSpacing(dln),
    mu: finiteNumber(mu, 'mu'),
    offset,
    bias,
  };
  const { before, after } = biasFactors(hankel);
  const factors = coefficients(hankel);
  return {
    device: own.device,
    reals: bias === 0 ? operand : { ...operand, data: scaledElements(operand, before) },
    n,
    convolve: ({ data }) => multiplyLines(data, factors),
    finish: ({ data }) => {
      for (let start = 0; start < data.length; start += n) data.subarray(start, start + n).reverse();
      if (bias !== 0) for (let k = 0; k < data.length; k++) data[k] = data[k]! * after(k % n);
    },
  };
}

/**
 * The offset for `fht` and `ifht` nearest to `initial` with which the transform rings least: the highest bin's coefficient is real.
 * @param dln the logarithm of the ratio of neighbouring points
 * @param mu order of the Bessel function
 * @throws FftError `invalid-argument`, `unknown-field`
 */
export function fhtoffset(dln: number, mu: number, options: HankelOffsetOptions = {}): number {
  const own = readOptions(options, { works: ['initial', 'bias'] }, 'fhtoffset');
  const [initial, bias] = [finiteNumber(own.initial ?? 0, 'initial'), finiteNumber(own.bias ?? 0, 'bias')];
  const y = Math.PI / (2 * checkSpacing(dln));
  const order = finiteNumber(mu, 'mu');
  const angle = logGamma({ re: (order + 1 + bias) / 2, im: y }).im + logGamma({ re: (order + 1 - bias) / 2, im: y }).im;
  const turns = (Math.LN2 - initial) / dln + angle / Math.PI;
  return initial + (turns - Math.round(turns)) * dln;
}

/** The powers of the grid points by which the bias multiplies element j before and after the transforms. */
function biasFactors({ inverse, n, dln, offset, bias }: Hankel) {
  const input = (j: number) => Math.exp(-bias * (j - (n - 1) / 2) * dln);
  const output = (j: number) => Math.exp(-bias * ((j - (n - 1) / 2) * dln + offset));
  if (!inverse) return { before: input, after: output };
  return { before: (j: number) => 1 / output(j), after: (j: number) => 1 / input(j) };
}

function scaledElements({ data, shape, dtype }: NumpyArray, power: (j: number) => number): NumpyArray['data'] {
  const n = shape.at(-1)!;
  const result = floatZeros(data.length, isSingle(dtype));
  for (let k = 0; k < data.length; k++) result[k] = data[k]! * power(k % n);
  return result;
}

/** The complex factors of the bins of every line: u(m), or 1 / conj u(m) for the inverse. */
function coefficients(hankel: Hankel): Float64Array {
  const { inverse, n, dln, mu, offset, bias } = hankel;
  const [plus, minus] = [(mu + 1 + bias) / 2, (mu + 1 - bias) / 2];
  const bins = hermitianLength(n);
  const factors = new Float64Array(2 * bins);
  for (let m = 1; m < bins; m++) {
    const y = (Math.PI * m) / (n * dln);
    const [upper, lower] = [logGamma({ re: plus, im: y }), logGamma({ re: minus, im: y })];
    const modulus = Math.exp((inverse ? -1 : 1) * (upper.re - lower.re + Math.LN2 * bias));
    const angle = upper.im + lower.im + 2 * y * (Math.LN2 - offset);
    factors.set([modulus * Math.cos(angle), modulus * Math.sin(angle)], 2 * m);
    // Of the highest bin of an even length, the transform keeps the real part of u only.
    if (2 * m === n && inverse) factors[2 * m] = modulus / Math.cos(angle);
  }
  factors[0] = firstCoefficient(hankel);
  return factors;
}

/** u(0) = 2^bias Γ(xp) / Γ(xm), a real number that may be 0 or infinite; the transform replaces infinity by 0, and warns. */
function firstCoefficient({ inverse, mu, bias }: Hankel): number {
  const [plus, minus] = [(mu + 1 + bias) / 2, (mu + 1 - bias) / 2];
  const u = 2 ** bias * gammaRatio(plus, minus);
  if (Number.isFinite(inverse ? 1 / u : u)) return inverse ? 1 / u : u;
  const what = inverse ? 'ifht: this inverse Hankel transform' : 'fht: this Hankel transform';
  console.warn(`omnifft: ${what} is singular (mu ${mu}, bias ${bias}): its mean is taken as 0. Change the bias.`);
  return 0;
}

/** Γ(a) / Γ(b) for real numbers, as a limit where both have poles. */
function gammaRatio(a: number, b: number): number {
  const [above, below] = [isPoleOfGamma({ re: a, im: 0 }), isPoleOfGamma({ re: b, im: 0 })];
  // Where both are poles, Γ(a) / Γ(b) is (−1)^(a − b) Γ(1 − b) / Γ(1 − a).
  if (above && below) return (-1) ** Math.abs(a - b) * gammaRatio(1 - b, 1 - a);
  if (above) return Number.POSITIVE_INFINITY;
  if (below) return 0;
  const [upper, lower] = [logGamma({ re: a, im: 0 }), logGamma({ re: b, im: 0 })];
  return Math.sign(Math.cos(upper.im - lower.im)) * Math.exp(upper.re - lower.re);
}

/** Multiplies lines of complex numbers by one line of factors, in place. */
function multiplyLines(data: NumpyArray['data'], factors: Float64Array): void {
  for (let k = 0; k < data.length; k += 2) {
    const at = k % factors.length;
    const [re, im, cos, sin] = [data[k]!, data[k + 1]!, factors[at]!, factors[at + 1]!];
    data[k] = re * cos - im * sin;
    data[k + 1] = re * sin + im * cos;
  }
}

function finiteNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new FftError('invalid-argument', `${path} is ${show(value)}; it must be a finite number.`, { path });
}

function checkSpacing(dln: unknown): number {
  if (finiteNumber(dln, 'dln') !== 0) return dln as number;
  throw new FftError('invalid-argument', 'dln is 0; the points of a logarithmic grid differ.', { path: 'dln' });
}
