/** Signals from short-time Fourier transforms, as `scipy.signal.istft`: by overlapping and adding up. */

import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import {
  asArray,
  type ComplexArray,
  elementCount,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
  type ShapeOf,
} from '../numpy/array.ts';
import { checkLength, resolveAxis } from '../numpy/axes.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { FftError } from '../problem/errors.ts';
import type { ProblemInput } from '../problem/index.ts';
import { checkWord } from './check.ts';
import { type Floats, isFloats } from './floats.ts';
import { batchesOf, binsOf } from './frames.ts';
import { centered } from './framing.ts';
import { withPlan } from './plans.ts';
import {
  gainOf,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
  type StftScaling,
  stftScalings,
} from './segments.ts';
import { workOn } from './work.ts';

export interface IstftOptions extends SegmentOptions, DeviceChoice {
  /** Whether bins are those from 0 to half the rate, and the signal real; default true. */
  readonly inputOnesided?: boolean | undefined;
  /** Whether the signal was extended by half a frame at both ends, which is cut off; default true. `null` is like false. */
  readonly boundary?: boolean | null | undefined;
  /** That of `stft`, in the place of `boundary`: true cuts off half a transform at both ends. */
  readonly center?: boolean | undefined;
  /** Samples of the result: what is behind them is cut off, what there is no frame for is 0. Default: all that frames reach. */
  readonly length?: number | undefined;
  /** The axis of frames; default −1. */
  readonly timeAxis?: number | undefined;
  /** The axis of bins; default −2. */
  readonly freqAxis?: number | undefined;
  /** That of `stft`; default `spectrum`. */
  readonly scaling?: StftScaling | undefined;
}

/** What `istft` gives: Python's `t, x`. */
export interface Istft<Z extends ComplexArray = ComplexArray> {
  /** Times of the samples, in seconds. */
  readonly t: Float64Array;
  /** Real, or complex where `inputOnesided` is false; time in the place of its axis. */
  readonly x: NumpyArray<
    Z['dtype'] extends 'complex64' ? 'float32' | 'complex64' : 'float64' | 'complex128',
    WithoutOne<ShapeOf<Z>>
  >;
  /**
   * Samples at the beginning and at the end that no frame determines, and that are 0: from an index up to another one, which
   * is not included. There are none but without a boundary, where the window begins or ends with 0, and beyond the last frame.
   */
  readonly undetermined: readonly SampleRange[];
}

/** One axis less: bins and frames become time. */
type WithoutOne<S extends readonly number[]> = S extends readonly [number, ...infer Rest extends number[]]
  ? readonly [...Rest]
  : readonly number[];

/** Samples from an index up to another one, which is not included. */
export type SampleRange = readonly [from: number, to: number];

const WORKS = [
  ...SEGMENT_OPTIONS,
  'device',
  'inputOnesided',
  'boundary',
  'center',
  'length',
  'timeAxis',
  'freqAxis',
  'scaling',
];
/** Squares of a window that sum up to no more are taken for none, as in SciPy. */
const NOTHING = 1e-10;

/** An array of bins and frames, and what it is the transform of. */
export interface IstftJob {
  readonly given: NumpyArray;
  readonly time: number;
  readonly frequency: number;
  readonly frames: number;
  readonly segments: Segments;
  readonly onesided: boolean;
  /** Of each sample that frames reach, the sum of the squares of the window. */
  readonly norm: Float64Array;
  readonly scale: number;
  /** Samples to leave out before the first one. */
  readonly edge: number;
  /** Samples of the result. */
  readonly length: number;
  /** Those of them that frames reach. */
  readonly reached: number;
  readonly undetermined: readonly SampleRange[];
}

/**
 * The signal of a short-time Fourier transform, with `scipy.signal.istft`'s meaning, options and defaults: window, `noverlap`,
 * `nfft`, `fs` and `scaling` are those that `stft` had. What it returns may be longer than the signal was, by the zeros that
 * `padded` added. A changed transform becomes the signal whose own one is nearest (Griffin and Lim, 1984).
 *
 * @param zxx complex, `[…, bins, …, frames]`; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) `invalid-argument` where window and overlap leave samples between others that no frame
 *   says anything about (SciPy warns, and returns what is no signal), and for options out of range; `wrong-length` where `nfft` has another
 *   number of bins; `unknown-field`, `invalid-size`, `wrong-array-type`, `detached-array`, `out-of-memory`, and those of
 *   `device.plan`
 */
export async function istft<Z extends ComplexArray>(zxx: Z, options: IstftOptions = {}): Promise<Istft<Z>> {
  const own = readOptions(options, { works: WORKS }, 'istft', SEGMENT_LEVELS);
  const device = checkDevice(own.device);
  const job = jobOf(asArray(zxx), own);
  const x = await overlapAdded(job, device ?? (await sharedDevice()));
  // A loop: there may be millions, and `from` takes longer than the transforms.
  const t = floatZeros(x.shape[timeAfter(job)]!, false) as Float64Array;
  for (let k = 0; k < t.length; k++) t[k] = k / job.segments.fs;
  return { t, x: x as Istft<Z>['x'], undetermined: job.undetermined };
}

function jobOf(given: NumpyArray, own: IstftOptions): IstftJob {
  const { inputOnesided = true, boundary = true, scaling = 'spectrum' } = own;
  if (!isComplex(given.dtype) || given.shape.length < 2) {
    const message = `zxx is ${given.dtype} with ${given.shape.length} axes; bins and frames are complex64 or complex128, of two axes or more.`;
    throw new FftError('wrong-array-type', message, { path: 'zxx' });
  }
  checkWord('inputOnesided', inputOnesided, [true, false]);
  checkWord('boundary', boundary, [true, false, null]);
  checkWord('scaling', scaling, stftScalings);
  const time = resolveAxis(own.timeAxis ?? -1, given.shape.length, 'timeAxis');
  const frequency = resolveAxis(own.freqAxis ?? -2, given.shape.length, 'freqAxis');
  if (time === frequency) {
    const message = `timeAxis and freqAxis are both axis ${time}; they are two axes.`;
    throw new FftError('invalid-argument', message, { path: 'timeAxis' });
  }
  const bins = checkLength(given.shape[frequency]!, `The length of axis ${frequency}`);
  const frames = checkLength(given.shape[time]!, `The length of axis ${time}`);
  const { center } = own;
  if (center !== undefined && own.boundary !== undefined) {
    const message = "boundary is of SciPy's frames, and center of librosa's; give the one or the other.";
    throw new FftError('invalid-argument', message, { path: 'boundary' });
  }
  checkWord('center', center, [true, false, undefined]);
  const cut = inverseSegments(own, bins, inputOnesided);
  const segments = center === undefined ? cut : centered(cut);
  const { window, hop, nperseg } = segments;
  const norm = floatZeros((frames - 1) * hop + nperseg, false) as Float64Array;
  for (let frame = 0; frame < frames; frame++) {
    for (let k = 0; k < nperseg; k++) norm[frame * hop + k]! += window[k]! * window[k]!;
  }
  const edge = (center ?? boundary) ? Math.floor(nperseg / 2) : 0;
  const inside = norm.length - 2 * edge;
  const length = own.length === undefined ? inside : checkLength(own.length, 'length');
  // Where frames lie by their middles, the last one may reach what it has not been filled up for.
  const reached = Math.min(length, center ? norm.length - edge : inside);
  const undetermined = undeterminedIn(norm.subarray(edge, edge + reached), length);
  const scale = gainOf(window, segments.fs, scaling) / segments.nfft;
  const ends = { edge, length, reached, undetermined };
  return { given, time, frequency, frames, segments, onesided: inputOnesided, norm, scale, ...ends };
}

/** Without `nfft`, bins are taken for those of an even length, as in SciPy, unless frames are longer by one. */
function inverseSegments(own: IstftOptions, bins: number, onesided: boolean): Segments {
  const usual = onesided ? Math.max(1, 2 * (bins - 1)) : bins;
  const nperseg = own.nperseg ?? (isFloats(own.window) ? own.window.length : usual);
  const nfft = own.nfft ?? (onesided && nperseg === usual + 1 ? nperseg : usual);
  // Before the window is made, which may be asked for in any length.
  if (Number.isSafeInteger(nfft) && nfft >= 1 && bins !== binsOf({ nfft, twoSided: !onesided })) {
    const wanted = binsOf({ nfft, twoSided: !onesided });
    const message = `zxx has ${bins} bins; a transform of nfft ${nfft} has ${wanted}.`;
    throw new FftError('wrong-length', message, { path: 'zxx' });
  }
  return readSegments({ ...own, nperseg, nfft }, nperseg);
}

/**
 * What lies before the first and behind the last sample that frames determine.
 * @param norm of the samples of the result that frames reach
 * @param length of the result
 * @throws FftError `invalid-argument` where the condition of nonzero overlap-add (NOLA) fails in between
 */
function undeterminedIn(norm: Float64Array, length: number): SampleRange[] {
  const first = norm.findIndex((weight) => weight > NOTHING);
  let end = norm.length;
  while (end > 0 && !(norm[end - 1]! > NOTHING)) end--;
  if (first < 0) return [[0, length]];
  for (let k = first; k < end; k++) {
    if (norm[k]! > NOTHING) continue;
    const message = `window and noverlap do not determine sample ${k}: the squares of the windows over it sum up to ${norm[k]}, which is not invertible. Let frames overlap more.`;
    throw new FftError('invalid-argument', message, { path: 'window' });
  }
  const ranges: SampleRange[] = [
    [0, first],
    [end, length],
  ];
  return ranges.filter(([from, to]) => from < to);
}

/** Where time is in the result. */
function timeAfter({ time, frequency }: Pick<IstftJob, 'time' | 'frequency'>): number {
  return frequency < time ? time - 1 : time;
}

/** Frames of an array, transformed, windowed and added up. */
export async function overlapAdded(job: IstftJob, device: Device): Promise<NumpyArray> {
  const { given, time, frequency, segments, onesided, norm, scale, frames } = job;
  const single = isSingle(given.dtype);
  const precision = single ? 'single' : 'double';
  const parts = onesided ? 1 : 2;
  const batches = batchesOf({ frames, nfft: segments.nfft });
  const problem: ProblemInput = {
    ...{ size: [segments.nfft], transform: onesided ? 'r2c' : 'c2c', batches, precision },
    ...{ directions: 'inverse', scale: { inverse: scale } },
  };
  const { length } = job;
  const shape = given.shape.map((count, d) => (d === time ? length : count)).filter((_, d) => d !== frequency);
  const data = floatZeros(elementCount(shape) * parts, single);
  const inner = elementCount(shape.slice(timeAfter(job) + 1));
  const sum = floatZeros(norm.length * parts, false) as Float64Array;
  await withPlan(device, problem, async (plan) => {
    const bins = given.shape[frequency]!;
    const spectra = workOn(device, 2 * bins * batches, precision);
    const waves = workOn(device, parts * segments.nfft * batches, precision);
    try {
      for (const [line, start] of linesOfPlanes(given.shape, time, frequency).entries()) {
        sum.fill(0);
        for (let done = 0; done < frames; done += batches) {
          const first = Math.min(done, frames - batches);
          loadFrames(job, start, first, spectra.array(), batches);
          await plan.inverse(spectra.array(), waves.array());
          addFrames(sum, waves.array(), segments, { first, done, batches, parts });
        }
        const at = Math.floor(line / inner) * inner * length + (line % inner);
        write(job, sum, data, { at, step: inner, parts });
      }
    } finally {
      spectra.free();
      waves.free();
    }
  });
  return { data, shape, dtype: onesided ? (single ? 'float32' : 'float64') : given.dtype } as NumpyArray;
}

/** Writes the samples of one line that there are: sums over what they count, without the edges. */
function write(
  { norm, edge, reached }: IstftJob,
  sum: Float64Array,
  target: Floats,
  { at, step, parts }: { at: number; step: number; parts: 1 | 2 },
): void {
  for (let k = 0; k < reached; k++) {
    const weight = norm[edge + k]!;
    if (weight <= NOTHING) continue;
    for (let part = 0; part < parts; part++) {
      target[(at + k * step) * parts + part] = sum[(edge + k) * parts + part]! / weight;
    }
  }
}

/** Where each plane of bins and frames begins, in elements: all other axes, the last one fastest. */
function linesOfPlanes(shape: readonly number[], time: number, frequency: number): number[] {
  let starts = [0];
  shape.forEach((count, axis) => {
    if (axis === time || axis === frequency) return;
    const stride = elementCount(shape.slice(axis + 1));
    starts = starts.flatMap((start) => Array.from({ length: count }, (_, k) => start + k * stride));
  });
  return starts;
}

/** Bins of some frames of a plane, frame by frame. */
function loadFrames(
  { given, time, frequency }: IstftJob,
  start: number,
  first: number,
  target: Floats,
  count: number,
): void {
  const { data, shape } = given;
  const [perFrame, perBin] = [elementCount(shape.slice(time + 1)), elementCount(shape.slice(frequency + 1))];
  const bins = shape[frequency]!;
  for (let frame = 0; frame < count; frame++) {
    for (let bin = 0; bin < bins; bin++) {
      const from = 2 * (start + (first + frame) * perFrame + bin * perBin);
      const to = 2 * (frame * bins + bin);
      target[to] = data[from]!;
      target[to + 1] = data[from + 1]!;
    }
  }
}

/** Adds windowed frames from `done` on; a block begins at `first`, with some that have been added. */
function addFrames(
  sum: Float64Array,
  waves: Floats,
  { window, hop, nfft, nperseg }: Segments,
  { first, done, batches, parts }: { first: number; done: number; batches: number; parts: 1 | 2 },
): void {
  for (let frame = done; frame < first + batches; frame++) {
    const [from, to] = [(frame - first) * nfft * parts, frame * hop * parts];
    for (let k = 0, at = 0; k < nperseg; k++) {
      for (let part = 0; part < parts; part++, at++) sum[to + at]! += waves[from + at]! * window[k]!;
    }
  }
}
