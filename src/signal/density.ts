/** Spectral densities by Welch's method, as `scipy.signal.welch`, `csd` and `coherence`. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import {
  type ArrayInput,
  asArray,
  floatZeros,
  type NumpyArray,
  type ShapeOf,
  type Transformed,
} from '../numpy/array.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { excerpt, FftError } from '../problem/errors.ts';
import { type Average, type Averager, averages, newAverager } from './averages.ts';
import { checkInteger, checkWord } from './check.ts';
import type { Trend } from './detrend.ts';
import type { Floats } from './floats.ts';
import { binsOf, type FrameSpec, type FrameTransform, withFrames } from './frames.ts';
import { type Lines, linesAlong, newLines, readLine, writeLine } from './lines.ts';
import { eachPlane } from './planes.ts';
import {
  binFrequencies,
  framesIn,
  gainOf,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
} from './segments.ts';

export interface CoherenceOptions extends SegmentOptions, DeviceChoice {
  /** What is taken off each frame; default `constant`, its mean. */
  readonly detrend?: Trend | undefined;
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
}

export interface WelchOptions extends CoherenceOptions {
  /** Of real signals, the bins from 0 to half the rate only, with the power of both sides; default true. */
  readonly returnOnesided?: boolean | undefined;
  /** `density`: power per hertz, the default; `spectrum`: power. */
  readonly scaling?: 'density' | 'spectrum' | undefined;
  /** Of the frames; default `mean`. */
  readonly average?: Average | undefined;
}

type RealOf<X extends ArrayInput> = Transformed<X>['dtype'] extends 'complex64' ? 'float32' : 'float64';

/** A spectrum of real numbers: Python's `f, Pxx`. */
export interface Density<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Bins in the place of time. */
  readonly pxx: NumpyArray<RealOf<X>, ShapeOf<X>>;
}

/** Python's `f, Pxy`. */
export interface CrossDensity<X extends ArrayInput = ArrayInput> {
  readonly f: Float64Array;
  readonly pxy: Transformed<X>;
}

/** Python's `f, Cxy`. */
export interface Coherence<X extends ArrayInput = ArrayInput> {
  readonly f: Float64Array;
  readonly cxy: NumpyArray<RealOf<X>, ShapeOf<X>>;
}

const COHERENCE = [...SEGMENT_OPTIONS, 'device', 'detrend', 'axis'];
const WELCH = [...COHERENCE, 'returnOnesided', 'scaling', 'average'];

/**
 * Power spectral density: the average of the periodograms of overlapping frames (P. D. Welch, IEEE Transactions on Audio and
 * Electroacoustics 15 (1967)), with `scipy.signal.welch`'s options, defaults and results: in units² per hertz, or units² with
 * `scaling: 'spectrum'`.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) as `stft`
 */
export async function welch<X extends ArrayInput>(x: X, options: WelchOptions = {}): Promise<Density<X>> {
  const { f, products } = await averaged('welch', [x], readOptions(options, { works: WELCH }, 'welch', SEGMENT_LEVELS));
  return { f, pxx: realPartOf(products[0]!) as Density<X>['pxx'] };
}

/**
 * Cross spectral density of two signals, conj(X) · Y: options and errors as `welch`, results as `scipy.signal.csd`.
 *
 * @param y of the shape of x (SciPy repeats and fills up the smaller of the two)
 * @throws FftError (as a rejection) as `welch`, and `wrong-length` for arrays of different shapes
 */
export async function csd<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: WelchOptions = {},
): Promise<CrossDensity<X | Y>> {
  const own = readOptions(options, { works: WELCH }, 'csd', SEGMENT_LEVELS);
  const { f, products } = await averaged('csd', [x, y], own);
  return { f, pxy: products[0]!.array as unknown as Transformed<X | Y> };
}

/**
 * Magnitude-squared coherence |Pxy|² / (Pxx · Pyy), from 0 to 1, as `scipy.signal.coherence`. With a single frame it is 1.
 * @throws FftError (as a rejection) as `csd`
 */
export async function coherence<X extends ArrayInput, Y extends ArrayInput>(
  x: X,
  y: Y,
  options: CoherenceOptions = {},
): Promise<Coherence<X | Y>> {
  const own = readOptions(options, { works: COHERENCE }, 'coherence', SEGMENT_LEVELS);
  const { f, products } = await averaged('coherence', [x, y], own);
  const [xy, xx, yy] = products.map(({ array }) => array.data) as [Floats, Floats, Floats];
  const result = realPartOf(products[0]!);
  for (let k = 0; k < result.data.length; k++) {
    result.data[k] = (xy[2 * k]! ** 2 + xy[2 * k + 1]! ** 2) / xx[2 * k]! / yy[2 * k]!;
  }
  return { f, cxy: result as Coherence<X | Y>['cxy'] };
}

type What = 'welch' | 'csd' | 'coherence';

/** Which signals are multiplied with which. */
const PAIRS: Readonly<Record<What, readonly (readonly [0 | 1, 0 | 1])[]>> = {
  welch: [[0, 0]],
  csd: [[0, 1]],
  coherence: [
    [0, 1],
    [0, 0],
    [1, 1],
  ],
};

async function averaged(what: What, given: readonly ArrayInput[], own: WelchOptions) {
  const device = checkDevice(own.device);
  const signals = alike(given.map((x) => linesAlong(asArray(x), own.axis ?? -1)));
  const [first] = signals as [Lines];
  const segments = readSegments(own, first.n);
  const { detrend = 'constant', returnOnesided = true, scaling = 'density', average = 'mean' } = own;
  checkWord('detrend', detrend, [false, 'constant', 'linear']);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  checkWord('scaling', scaling, ['density', 'spectrum']);
  checkWord('average', average, averages);
  const { nperseg: size, hop, nfft, flat, window, fs } = segments;
  const spec: FrameSpec = {
    ...{ size, hop, nfft, flat, frames: framesIn(first.n, segments), trend: detrend },
    ...{ complex: first.complex, precision: first.precision },
    ...{
      twoSided: first.complex || !returnOnesided,
      scale: 1 / gainOf(window, fs, scaling === 'density' ? 'psd' : scaling),
    },
  };
  const products = await productsOf(what, signals, { spec, segments, average }, device ?? (await sharedDevice()));
  if (!spec.twoSided) for (const product of products) addOtherSide(product, nfft);
  return { f: binFrequencies(segments, spec.twoSided), products };
}

/** Of one shape, and of the wider type of both. @throws FftError `wrong-length` */
function alike(signals: readonly Lines[]): Lines[] {
  const shapes = signals.map(({ array }) => excerpt(array.shape.join(', ')));
  if (new Set(shapes).size > 1) {
    const message = `The signals have shapes [${shapes[0]}] and [${shapes[1]}]; two of the same shape are needed.`;
    throw new FftError('wrong-length', message, { path: 'y' });
  }
  const complex = signals.some((lines) => lines.complex);
  const precision = signals.some((lines) => lines.precision === 'double') ? 'double' : 'single';
  return signals.map((lines) => {
    if (lines.complex === complex && lines.precision === precision) return lines;
    const wider = newLines({ ...lines, precision }, lines.n, complex);
    const step = complex && !lines.complex ? 2 : 1;
    for (let k = 0; k < lines.array.data.length; k++) wider.array.data[k * step] = lines.array.data[k]!;
    return wider;
  });
}

interface DensityJob {
  readonly spec: FrameSpec;
  readonly segments: Segments;
  readonly average: Average;
}

/** Averages of the products of the spectra of all lines, as complex numbers. */
async function productsOf(what: What, signals: readonly Lines[], job: DensityJob, device: Device): Promise<Lines[]> {
  const { spec, segments, average } = job;
  const bins = binsOf(spec);
  const [first] = signals as [Lines];
  const pairs = PAIRS[what];
  const samples = signals.map(() => floatZeros(first.n * (spec.complex ? 2 : 1), spec.precision === 'single'));
  return withFrames(device, spec, segments.window, async (transform) => {
    // Only now: the device knows how many bins are too many.
    const averagers = pairs.map(() => newAverager(average, bins, spec.frames));
    const results = pairs.map(() => newLines(first, bins, true));
    const mean = floatZeros(2 * bins, false) as Float64Array;
    for (let l = 0; l < first.count; l++) {
      signals.forEach((lines, s) => readLine(lines, l, samples[s]!));
      await addLine(transform, samples, (spectra, frame, count) => {
        pairs.forEach(([a, b], p) => averagers[p]!.add(spectra[a]!, spectra[b]!, frame, count));
      });
      averagers.forEach((averager: Averager, p) => {
        averager.take(mean);
        writeLine(results[p]!, l, mean);
      });
    }
    return results;
  });
}

/** Blocks of one signal, or of two side by side: the first one's spectra are kept while the second one's are made. */
async function addLine(
  transform: FrameTransform,
  [x, y]: readonly Floats[],
  add: (spectra: readonly Floats[], frame: number, count: number) => void,
): Promise<void> {
  let kept: Floats | undefined;
  await transform.each(x!, async (spectra, frame, count) => {
    if (!y) return add([spectra], frame, count);
    const length = 2 * transform.bins * count;
    kept ??= spectra.slice(0, 2 * transform.bins * transform.batches);
    kept.set(spectra.subarray(0, length));
    // Where the block begins: the last one with frames that are done already.
    const begin = frame + count - transform.batches;
    const others = await transform.block(y, begin);
    add([kept, others.subarray(2 * transform.bins * (frame - begin))], frame, count);
  });
}

/** Power of negative frequencies; bin 0 and, of an even length, the last one have none. */
function addOtherSide({ array, n, inner }: Lines, nfft: number): void {
  const last = nfft % 2 === 0 ? n - 1 : n;
  for (let k = 0; k < array.data.length; k++) {
    const bin = Math.floor(Math.floor(k / 2) / inner) % n;
    if (bin > 0 && bin < last) array.data[k]! *= 2;
  }
}

function realPartOf(lines: Lines): NumpyArray {
  const { array } = newLines(lines, lines.n, false);
  for (let k = 0; k < array.data.length; k++) array.data[k] = lines.array.data[2 * k]!;
  return array;
}

export interface PeriodogramOptions
  extends Omit<WelchOptions, 'nperseg' | 'noverlap' | 'average' | 'nfft'>,
    DeviceChoice {
  /** Length of the transform; default that of the signal, which is cut off or filled up with zeros. */
  readonly nfft?: number | undefined;
}

const WORKS = ['fs', 'window', 'windowOptions', 'nfft', 'detrend', 'returnOnesided', 'scaling', 'axis', 'device'];

/**
 * Power spectral density by one transform of all samples, in units² per hertz (or units² with `scaling: 'spectrum'`): as exact in frequency as can be,
 * and as noisy. Options, defaults (a window of ones, the mean taken off) and results are those of `scipy.signal.periodogram`.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) as `welch`
 */
export async function periodogram<X extends ArrayInput>(x: X, options: PeriodogramOptions = {}): Promise<Density<X>> {
  const { nfft, window = 'boxcar', ...own } = readOptions(options, { works: WORKS }, 'periodogram', SEGMENT_LEVELS);
  const array = asArray(x);
  const lines = linesAlong(array, own.axis ?? -1);
  const length = nfft === undefined ? lines.n : checkInteger('nfft', nfft, 1);
  const nperseg = Math.min(length, lines.n);
  const cut =
    nperseg === lines.n
      ? array
      : eachPlane(lines, nperseg, (source, target) => target.set(source.subarray(0, nperseg)));
  return (await welch(cut, { ...own, window, nperseg, noverlap: 0, nfft: length })) as Density<X>;
}
