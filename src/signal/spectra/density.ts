/** Spectral densities by Welch's method, as `scipy.signal.welch`, `csd` and `coherence`. */

import type { Device } from '../../engine/index.ts';
import {
  type ArrayInput,
  floatZeros,
  type NumpyArray,
  type ShapeOf,
  type Transformed,
} from '../../numpy/arrays/array.ts';
import { copyOfFloats } from '../../numpy/arrays/memory.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import { checkInteger, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import {
  geometryOf,
  type LineGeometry,
  type Lines,
  linesAlong,
  linesOfArray,
  newLines,
  writeLine,
} from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import { afterwards, oneByOne } from '../calls/plans.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import type { Trend } from '../filters/detrend.ts';
import { type FrameRequest, type FrameSpec, type FrameTransform, frameRequest, withFrames } from '../frames/frames.ts';
import {
  binFrequencies,
  framesIn,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  spectrumDivisor,
} from '../frames/segments.ts';
import { type Average, type Averager, averages, newAverager } from './averages.ts';

export interface CoherenceOptions extends SegmentOptions, DeviceChoice {
  /** Trend that is subtracted from each frame; default `constant`, its mean. */
  readonly detrend?: Trend | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
}

export interface WelchOptions extends CoherenceOptions {
  /** Whether only bins from 0 to half the rate are given, for real signals, with the power of both sides; default true. */
  readonly returnOnesided?: boolean | undefined;
  /** Scaling. `density`: power per hertz, the default; `spectrum`: power. */
  readonly scaling?: 'density' | 'spectrum' | undefined;
  /** Average over the frames; default `mean`. */
  readonly average?: Average | undefined;
}

type RealOf<X extends ArrayInput> = Transformed<X>['dtype'] extends 'complex64' ? 'float32' : 'float64';

/** A spectrum of real numbers: Python's `f, Pxx`. */
export interface Density<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Density, in which the axis of bins replaces the time axis. */
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
  const { arrays, job, device } = calls.welch.read([x], options);
  const pxx = averagedPowers(arrays[0]!, job, device ?? (await sharedDevice()));
  return { f: job.f.slice(), pxx: (pxx instanceof Promise ? await pxx : pxx) as Density<X>['pxx'] };
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
  const { arrays, job, device } = calls.csd.read([x, y], options);
  const pxy = crossPowers(signalsOf(arrays, job), job, device ?? (await sharedDevice()));
  return { f: job.f.slice(), pxy: (pxy instanceof Promise ? await pxy : pxy) as unknown as Transformed<X | Y> };
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
  const { arrays, job, device } = calls.coherence.read([x, y], options);
  const signals = signalsOf(arrays, job);
  const cxy = coherenceOf(signals, job, device ?? (await sharedDevice()));
  return { f: job.f.slice(), cxy: (cxy instanceof Promise ? await cxy : cxy) as Coherence<X | Y>['cxy'] };
}

type What = 'welch' | 'csd' | 'coherence';

interface DensityJob {
  /** The lines of the result, which has the wider type of both signals. */
  readonly lines: LineGeometry;
  readonly signals: readonly LineGeometry[];
  readonly f: Float64Array;
  readonly spec: FrameSpec;
  readonly requests: Readonly<Record<'power' | 'complex' | 'second' | 'product', FrameRequest>>;
  readonly average: Average;
}

const densityCalls = (what: What, works: readonly string[]) =>
  /* @__PURE__ */ new PreparedCalls<WelchOptions, DensityJob>({
    ...{ name: what, works, levels: SEGMENT_LEVELS },
    prepare: prepareDensity,
    bytesOf: densityBytes,
  });
const calls: Readonly<Record<What, PreparedCalls<WelchOptions, DensityJob>>> = {
  welch: /* @__PURE__ */ densityCalls('welch', WELCH),
  csd: /* @__PURE__ */ densityCalls('csd', WELCH),
  coherence: /* @__PURE__ */ densityCalls('coherence', COHERENCE),
};

function densityBytes({ f, requests }: DensityJob): number {
  return 8 * (f.length + 3 * (requests.power.taper?.length ?? 0));
}

/** @throws FftError as `welch` */
function prepareDensity(arrays: readonly NumpyArray[], own: WelchOptions): DensityJob {
  const signals = arrays.map((x) => linesAlong(x, own.axis ?? -1));
  const [first] = signals as [Lines];
  refuseUnlike(signals);
  const segments = readSegments(own, first.n);
  const { detrend = 'constant', returnOnesided = true, scaling = 'density', average = 'mean' } = own;
  checkWord('detrend', detrend, [false, 'constant', 'linear']);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  checkWord('scaling', scaling, ['density', 'spectrum']);
  checkWord('average', average, averages);
  const { nperseg: size, hop, nfft, flat, window, fs } = segments;
  // Both signals get the wider type of the two.
  const complex = signals.some((lines) => lines.complex);
  const precision = signals.some((lines) => lines.precision === 'double') ? 'double' : 'single';
  const twoSided = complex || !returnOnesided;
  const scale = 1 / spectrumDivisor(window, fs, scaling === 'density' ? 'psd' : scaling);
  const spec: FrameSpec = {
    ...{ size, hop, nfft, flat, frames: framesIn(first.n, segments), trend: detrend, complex, precision, twoSided },
    ...{ scale, part: 'power', doubled: !twoSided, turned: false, binsFirst: false },
  };
  // The memory behind the signal keeps its zeros.
  const request = (changed: Partial<FrameSpec>): FrameRequest => {
    const { plan, ...others } = frameRequest({ ...spec, ...changed }, window);
    return { ...others, plan: { ...plan, key: `${plan.key} of ${first.n} samples` } };
  };
  const complexRequest = request({ part: 'complex', doubled: false });
  // Two transforms of one call have memory of their own.
  const { plan } = complexRequest;
  const second = { ...complexRequest, plan: { ...plan, key: `${plan.key}, the second signal` } };
  const requests = { power: request({}), complex: complexRequest, second, product: request({ part: 'product' }) };
  const lines = { ...geometryOf(first), complex, precision } as const;
  return { lines, signals: signals.map(geometryOf), f: binFrequencies(segments, twoSided), spec, requests, average };
}

/** @throws FftError `wrong-length` for signals of different shapes */
function refuseUnlike(signals: readonly Lines[]): void {
  const shapes = signals.map(({ array }) => excerpt(array.shape.join(', ')));
  if (new Set(shapes).size === 1) return;
  const message = `The signals have shapes [${shapes[0]}] and [${shapes[1]}]; two of the same shape are needed.`;
  throw new FftError('wrong-length', message, { path: 'y' });
}

/** The lines of two signals, each of its own type. */
function signalsOf([x, y]: readonly NumpyArray[], { signals }: DensityJob): [Lines, Lines] {
  return [linesOfArray(signals[0]!, x!), linesOfArray(signals[1]!, y!)];
}

/** Averages of the powers of all lines, with the axis of bins in place of the time axis. */
function averagedPowers(array: NumpyArray, job: DensityJob, device: Device): NumpyArray | Promise<NumpyArray> {
  const { spec, requests, average } = job;
  const lines = linesOfArray(job.lines, array);
  // Averages are allocated after the plan: the device refuses transforms that are too long.
  return withFrames(device, requests.power, (transform) => {
    const { bins } = transform;
    if (spec.frames === 1 && lines.count === 1) {
      // A single frame is its own average.
      transform.read(lines, 0);
      return afterwards(transform.run(0), () => newLines(lines, bins, false, copyOfFloats(transform.values)).array);
    }
    const averager = transform.keep(() => newAverager(average, bins, spec.frames));
    return averagesOf(newLines(lines, bins, false), averager, (l) => {
      transform.read(lines, l);
      return transform.each(averager.add);
    });
  });
}

/** Averages of all lines. @param add adds the rows of a line */
function averagesOf(
  result: Lines,
  averager: Pick<Averager, 'take'>,
  add: (line: number) => Promise<unknown> | undefined,
): NumpyArray | Promise<NumpyArray> {
  const { array, count, n, complex } = result;
  // The averages of the only line are the result.
  const row = count === 1 ? (array.data as Floats) : new Float64Array(n * (complex ? 2 : 1));
  const waiting = oneByOne(count, (l) =>
    afterwards(add(l), () => {
      averager.take(row);
      if (count > 1) writeLine(result, l, row);
      return undefined;
    }),
  );
  return afterwards(waiting, () => array);
}

/** Averages of the products conj(X) · Y of all lines: the transform of y multiplies with the spectra of x. */
function crossPowers([x, y]: readonly [Lines, Lines], job: DensityJob, device: Device) {
  const { spec, requests, average } = job;
  return withFrames(device, requests.complex, (first) =>
    withFrames(device, requests.product, (second) => {
      const { bins } = first;
      const averager = first.keep(() => newAverager(average, 2 * bins, spec.frames));
      return averagesOf(newLines(linesOfArray(job.lines, x.array), bins, true), averager, (l) => {
        first.read(x, l);
        second.read(y, l);
        return inBlocks(first, (from, skip, count) =>
          afterwards(first.run(from), () =>
            afterwards(second.run(from, first.spectra), () => {
              averager.add(second.values, from + skip, count, skip);
              return undefined;
            }),
          ),
        );
      });
    }),
  );
}

/** Calls a function for each block of a line with the block's first frame, its frames that an earlier block has had already, and the others. */
function inBlocks(
  { spec, batches }: FrameTransform,
  act: (from: number, skip: number, count: number) => Promise<undefined> | undefined,
): Promise<unknown> | undefined {
  return oneByOne(Math.ceil(spec.frames / batches), (block) => {
    const from = Math.min(block * batches, spec.frames - batches);
    const skip = block * batches - from;
    return act(from, skip, batches - skip);
  });
}

/** |Σ conj(X) · Y|² / (Σ |X|² · Σ |Y|²) over the frames of each pair of lines. */
function coherenceOf([x, y]: readonly [Lines, Lines], job: DensityJob, device: Device) {
  const { requests } = job;
  return withFrames(device, requests.complex, (first) =>
    withFrames(device, requests.second, (second) => {
      const { bins } = first;
      const sums = first.keep(() => coherenceSums(bins));
      return averagesOf(newLines(linesOfArray(job.lines, x.array), bins, false), sums, (l) => {
        first.read(x, l);
        second.read(y, l);
        return inBlocks(first, (from, skip) =>
          afterwards(first.run(from), () =>
            afterwards(second.run(from), () => {
              sums.add(first.values, second.values, 2 * bins * skip);
              return undefined;
            }),
          ),
        );
      });
    }),
  );
}

/** The number of sums for each bin of the coherence: the powers of both spectra, and both parts of their product. */
const SUMS = 4;

function coherenceSums(bins: number) {
  const sums = floatZeros(SUMS * bins, false);
  return {
    /** Adds |x|², |y|² and conj(x)·y of two blocks of spectra, from number `start` on. */
    add(x: Floats, y: Floats, start: number): void {
      const end = x.length;
      for (let bin = 0, to = 0; bin < bins; bin++, to += SUMS) {
        let xx = 0;
        let yy = 0;
        let re = 0;
        let im = 0;
        for (let at = start + 2 * bin; at < end; at += 2 * bins) {
          const a = x[at]!;
          const b = x[at + 1]!;
          const c = y[at]!;
          const d = y[at + 1]!;
          xx += a * a + b * b;
          yy += c * c + d * d;
          re += a * c + b * d;
          im += a * d - b * c;
        }
        sums[to]! += xx;
        sums[to + 1]! += yy;
        sums[to + 2]! += re;
        sums[to + 3]! += im;
      }
    },
    take(target: Floats): void {
      for (let bin = 0, at = 0; bin < bins; bin++, at += SUMS) {
        const re = sums[at + 2]!;
        const im = sums[at + 3]!;
        target[bin] = (re * re + im * im) / sums[at]! / sums[at + 1]!;
      }
      sums.fill(0);
    },
  };
}

export interface PeriodogramOptions
  extends Omit<WelchOptions, 'nperseg' | 'noverlap' | 'average' | 'nfft'>,
    DeviceChoice {
  /** Length of the transform; default the signal's length. The signal is cut off or zero-padded to it. */
  readonly nfft?: number | undefined;
}

const WORKS = ['fs', 'window', 'windowOptions', 'nfft', 'detrend', 'returnOnesided', 'scaling', 'axis', 'device'];

/**
 * Power spectral density by one transform of all samples, in units² per hertz (or units² with `scaling: 'spectrum'`): as exact in frequency as can
 * be, and as noisy. Options, defaults (a window of ones, the mean taken off) and results are those of `scipy.signal.periodogram`.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) as `welch`
 */
export async function periodogram<X extends ArrayInput>(x: X, options: PeriodogramOptions = {}): Promise<Density<X>> {
  const { arrays, job, device } = periodogramCalls.read([x], options);
  const { axis, cut, whole } = job;
  const given = cut === undefined ? arrays[0]! : cutAlong(linesAlong(arrays[0]!, axis), cut);
  const pxx = averagedPowers(given, whole, device ?? (await sharedDevice()));
  return { f: whole.f.slice(), pxx: (pxx instanceof Promise ? await pxx : pxx) as Density<X>['pxx'] };
}

interface PeriodogramJob {
  readonly axis: number;
  /** The options of `welch` for a single frame. */
  readonly whole: DensityJob;
  /** Samples that are used, where there are fewer than the signal has. */
  readonly cut: number | undefined;
}

const periodogramCalls = /* @__PURE__ */ new PreparedCalls<PeriodogramOptions, PeriodogramJob>({
  ...{ name: 'periodogram', works: WORKS, levels: SEGMENT_LEVELS, bytesOf: ({ whole }) => densityBytes(whole) },
  prepare: ([x], { nfft, window = 'boxcar', device: _, ...own }) => {
    const { n, axis } = linesAlong(x!, own.axis ?? -1);
    const length = nfft === undefined ? n : checkInteger('nfft', nfft, 1);
    const nperseg = Math.min(length, n);
    const shape = x!.shape.map((extent, d) => (d === axis ? nperseg : extent));
    const whole = prepareDensity([{ ...x!, shape }], { ...own, window, nperseg, noverlap: 0, nfft: length });
    return { axis, whole, cut: nperseg < n ? nperseg : undefined };
  },
});

function cutAlong(lines: Lines, length: number): NumpyArray {
  return eachPlane(lines, length, (source, target) => target.set(source.subarray(0, length)));
}
