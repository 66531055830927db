/** Convolution and correlation, as `scipy.signal.fftconvolve`, `oaconvolve` and `correlate`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { nextFastLength } from '../../engine/fast-length.ts';
import {
  type ArrayInput,
  asArray,
  type ComplexDtype,
  type DtypeOf,
  floatZeros,
  isComplex,
  type NumpyArray,
} from '../../numpy/arrays/array.ts';
import { checkLength } from '../../numpy/calls/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import { checkWord } from '../arguments/check.ts';
import { overAxes } from './convolve-axes.ts';
import { type BlockCut, type ConvolvedArrays, convolved, type Region } from './overlap-save.ts';

/**
 * The part of the convolution that is returned. `full`: all of it; `same`: the middle, of the shape of the first array; `valid`: only elements that
 * depend on no zeros beyond the ends, for which one array has to be at least as long as the other along each axis.
 */
export type ConvolutionMode = 'full' | 'same' | 'valid';

export interface ConvolutionOptions extends DeviceChoice {
  /** Default `full`. */
  readonly mode?: ConvolutionMode | undefined;
}

export interface AxesConvolutionOptions extends ConvolutionOptions {
  /** Axes to convolve over; default all. Along the other axes the arrays have equal lengths, or one has length 1 and is repeated. */
  readonly axes?: number | readonly number[] | undefined;
}

/** The type of a result: complex if one of the arrays is complex, single if both are single. */
export type Convolved<X extends ArrayInput, Y extends ArrayInput> = NumpyArray<
  Extract<DtypeOf<X> | DtypeOf<Y>, ComplexDtype> extends never
    ? 'float64' extends DtypeOf<X> | DtypeOf<Y>
      ? 'float64'
      : 'float32'
    : Extract<DtypeOf<X> | DtypeOf<Y>, 'float64' | 'complex128'> extends never
      ? 'complex64'
      : 'complex128'
>;

/**
 * Convolution of two arrays over all their axes, or over `axes`, by transforms of their whole lengths, as `scipy.signal.fftconvolve`: full[k] = Σ
 * x[j] · y[k − j].
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves
 * @param y real or complex, with as many axes as x
 * @returns lengths x + y − 1 along each convolved axis for `full`; complex where x or y is, single where both are
 * @throws FftError (as a rejection) `invalid-argument` for another mode, for arrays with different numbers of axes, for `valid` where neither array
 *   holds the other, for axes that do not exist, or for lengths that differ along the other axes; `unknown-field`, `invalid-size` for axes without
 *   elements, `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function fftconvolve<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: AxesConvolutionOptions = {},
): Promise<Convolved<X, Y>> {
  return (await convolve('fftconvolve', asArray(x), asArray(y), options, inOneBlock)) as Convolved<X, Y>;
}

/**
 * Convolution by overlapping blocks of the longer array, as `scipy.signal.oaconvolve`: faster than `fftconvolve`, and in less memory, where one array
 * is much longer than the other along an axis. Arguments, results and errors are those of `fftconvolve`.
 */
export async function oaconvolve<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: AxesConvolutionOptions = {},
): Promise<Convolved<X, Y>> {
  return (await convolve('oaconvolve', asArray(x), asArray(y), options, blockwise)) as Convolved<X, Y>;
}

/**
 * Cross-correlation over all axes, as `scipy.signal.correlate`, or over `axes`: full[k] = Σ x[j] · conj(y[j − k + n − 1]) for y of n samples;
 * `correlationLags` gives the lag of each element, by how much y is behind. Arguments and errors are those of `fftconvolve`.
 */
export async function correlate<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: AxesConvolutionOptions = {},
): Promise<Convolved<X, Y>> {
  return (await convolve('correlate', asArray(x), asArray(y), options, correlating)) as Convolved<X, Y>;
}

/**
 * The lag of each element of a correlation of two signals, as `scipy.signal.correlation_lags` (which is off by one for `same` where x is odd and y
 * even).
 *
 * @param x samples of the first signal
 * @param y samples of the second signal
 * @throws FftError `invalid-size`, `invalid-argument` for another mode, `out-of-memory`
 */
export function correlationLags(x: number, y: number, mode: ConvolutionMode = 'full'): Float64Array {
  checkLength(x, 'x');
  checkLength(y, 'y');
  const { origin, shape } = regionOf(checkMode(mode), [x], [y]);
  // For `valid` the shorter signal moves along the longer one, whichever argument it is.
  const first = origin[0]! - y + 1;
  const lags = floatZeros(shape[0]!, false) as Float64Array;
  for (let k = 0; k < lags.length; k++) lags[k] = first + k;
  return lags;
}

async function convolve(
  what: string,
  x: NumpyArray,
  y: NumpyArray,
  options: AxesConvolutionOptions,
  by: (x: NumpyArray, y: NumpyArray) => Omit<ConvolvedArrays, 'region'>,
): Promise<NumpyArray> {
  const own = readOptions(options, { works: ['mode', 'device', 'axes'] }, what, 2);
  const device = checkDevice(own.device);
  const mode = checkMode(own.mode ?? 'full');
  if (x.shape.length !== y.shape.length || x.shape.length === 0) {
    const message = `The arrays have ${x.shape.length} and ${y.shape.length} axes; both need as many, at least one.`;
    throw new FftError('invalid-argument', message, { path: 'y' });
  }
  for (const { shape } of [x, y]) shape.forEach((length, d) => checkLength(length, `The length of axis ${d}`));
  if (own.axes !== undefined) {
    const some = overAxes(x, y, typeof own.axes === 'number' ? [own.axes] : own.axes);
    const region = regionOf(mode, some.x.shape, some.y.shape);
    const how = what === 'correlate' ? correlatingSlices(some.x, some.y) : by(some.x, some.y);
    return some.convolved(how, region, device ?? (await sharedDevice()));
  }
  const region = regionOf(mode, x.shape, y.shape);
  return convolved({ ...by(x, y), region }, device ?? (await sharedDevice()));
}

function checkMode(mode: ConvolutionMode): ConvolutionMode {
  return checkWord('mode', mode, ['full', 'same', 'valid']);
}

/** The box of the whole convolution that a mode returns. @throws FftError `invalid-argument` for `valid` */
export function regionOf(mode: ConvolutionMode, x: readonly number[], y: readonly number[]): Region {
  const full = x.map((length, d) => length + y[d]! - 1);
  if (mode === 'full') return { origin: full.map(() => 0), shape: full };
  if (mode === 'same') return { origin: full.map((length, d) => Math.floor((length - x[d]!) / 2)), shape: x };
  if (!x.every((length, d) => length >= y[d]!) && !x.every((length, d) => length <= y[d]!)) {
    const shapes = `[${excerpt(x.join(', '))}] and [${excerpt(y.join(', '))}]`;
    const message = `The shapes ${shapes} have no 'valid' convolution: one array must be at least as long as the other along every axis.`;
    throw new FftError('invalid-argument', message, { path: 'mode' });
  }
  const origin = x.map((length, d) => Math.min(length, y[d]!) - 1);
  return { origin, shape: x.map((length, d) => Math.abs(length - y[d]!) + 1) };
}

function inOneBlock(signal: NumpyArray, kernel: NumpyArray): Omit<ConvolvedArrays, 'region'> {
  return { signal, kernel, cut: { axis: 0, step: Number.POSITIVE_INFINITY }, correlates: false };
}

function blockwise(x: NumpyArray, y: NumpyArray): Omit<ConvolvedArrays, 'region'> {
  const { swap, ...cut } = cutOf(x, y);
  return { signal: swap ? y : x, kernel: swap ? x : y, cut, correlates: false };
}

/** The correlation of two arrays. The second array is reversed and conjugated, whichever of the two is cut into blocks. */
function correlating(x: NumpyArray, y: NumpyArray): Omit<ConvolvedArrays, 'region'> {
  const { swap, ...cut } = cutOf(x, y);
  return swap
    ? { signal: reversed(y), kernel: x, cut, correlates: false }
    : { signal: x, kernel: y, cut, correlates: true };
}

/** The correlation of slices; the second array's slices are not moved. */
function correlatingSlices(x: NumpyArray, y: NumpyArray): Omit<ConvolvedArrays, 'region'> {
  const { swap, axis, step } = cutOf(x, y);
  return { signal: x, kernel: y, cut: { axis, step: swap ? Number.POSITIVE_INFINITY : step }, correlates: true };
}

/** Cuts the longer array along the axis where blocks save most. */
function cutOf(x: NumpyArray, y: NumpyArray): BlockCut & { readonly swap: boolean } {
  const ratio = (d: number) => Math.max(x.shape[d]! / y.shape[d]!, y.shape[d]! / x.shape[d]!);
  const axis = x.shape.reduce((best, _, d) => (ratio(d) > ratio(best) ? d : best), 0);
  const swap = y.shape[axis]! > x.shape[axis]!;
  const [long, short] = swap ? [y.shape[axis]!, x.shape[axis]!] : [x.shape[axis]!, y.shape[axis]!];
  const step = blockLength(long, short);
  return { axis, step: step < long ? step : Number.POSITIVE_INFINITY, swap };
}

/** The array reversed along all axes, and conjugated. */
export function reversed({ data, shape, dtype }: NumpyArray): NumpyArray {
  const reversed = data.slice().reverse();
  if (!isComplex(dtype)) return { data: reversed, shape, dtype };
  // In reverse order an imaginary part comes before its real part.
  for (let k = 0; k < reversed.length; k += 2) {
    const im = reversed[k]!;
    reversed[k] = reversed[k + 1]!;
    reversed[k + 1] = -im;
  }
  return { data: reversed, shape, dtype };
}

/** The number of transform steps that take as long as copying a block in and out, however short the block is. */
const BLOCK_STEPS = 2048;

/**
 * The best number of samples in a block, for a signal and a kernel of these lengths. A transform of L points takes about L · log₂ L steps and yields
 * L − kernel + 1 new samples: the choice is the power of two, or the single block for the whole signal, with the fewest steps in all, those for
 * copying blocks included.
 */
export function blockLength(signal: number, kernel: number): number {
  const costOf = (points: number) => points * Math.log2(2 * points) + BLOCK_STEPS;
  let best = signal;
  let least = costOf(nextFastLength(signal + kernel - 1));
  for (let points = 2; points < 2 * (signal + kernel); points *= 2) {
    const step = points - kernel + 1;
    if (step < 1 || step >= signal) continue;
    const cost = Math.ceil(signal / step) * costOf(points);
    if (cost < least) [best, least] = [step, cost];
  }
  return best;
}
