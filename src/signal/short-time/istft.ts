/** Inverse short-time Fourier transforms by overlap-add, as `scipy.signal.istft`. */

import type { Device } from '../../engine/index.ts';
import {
  type ComplexArray,
  elementCount,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
  type ShapeOf,
} from '../../numpy/arrays/array.ts';
import { copyOfFloats } from '../../numpy/arrays/memory.ts';
import { checkLength, resolveAxis } from '../../numpy/calls/axes.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { checkWord } from '../arguments/check.ts';
import { type Floats, isFloats } from '../arguments/floats.ts';
import { afterwards, oneByOne } from '../calls/plans.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import { batchesOf, binsOf } from '../frames/frames.ts';
import { centered } from '../frames/framing.ts';
import { type OverlapAddRequest, overlapAddRequest, withOverlapAdd } from '../frames/overlap-add.ts';
import {
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
  type StftScaling,
  spectrumDivisor,
  stftScalings,
} from '../frames/segments.ts';

export interface IstftOptions extends SegmentOptions, DeviceChoice {
  /** Whether bins cover frequencies from 0 to half the rate only, and the signal is real; default true. */
  readonly inputOnesided?: boolean | undefined;
  /** Whether the signal was extended by half a frame at both ends, which is cut off; default true. `null` is like false. */
  readonly boundary?: boolean | null | undefined;
  /** The `center` option of the `stft`, instead of `boundary`: true cuts off half a transform at both ends. */
  readonly center?: boolean | undefined;
  /** Samples of the result: further samples are cut off, samples without a frame are 0. Default: all samples that frames reach. */
  readonly length?: number | undefined;
  /** Axis of frames; default −1. */
  readonly timeAxis?: number | undefined;
  /** Axis of bins; default −2. */
  readonly freqAxis?: number | undefined;
  /** Scaling of the `stft`; default `spectrum`. */
  readonly scaling?: StftScaling | undefined;
}

/** The result of `istft`: Python's `t, x`. */
export interface Istft<Z extends ComplexArray = ComplexArray> {
  /** Times of the samples, in seconds. */
  readonly t: Float64Array;
  /** The signal: real, or complex where `inputOnesided` is false; the time axis replaces those of bins and frames. */
  readonly x: NumpyArray<
    Z['dtype'] extends 'complex64' ? 'float32' | 'complex64' : 'float64' | 'complex128',
    WithoutOne<ShapeOf<Z>>
  >;
  /**
   * Ranges of samples at the beginning and at the end that no frame determines, and that are 0; the range's end is not included. They are empty but
   * without a boundary, where the window begins or ends with 0, and beyond the last frame.
   */
  readonly undetermined: readonly SampleRange[];
}

/** The result's type, with one axis less: bins and frames become time. */
type WithoutOne<S extends readonly number[]> = S extends readonly [number, ...infer Rest extends number[]]
  ? readonly [...Rest]
  : readonly number[];

/** A range of samples, its end not included. */
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
/** The sum of squared window values below which a sample counts as not covered, as in SciPy. */
const NOTHING = 1e-10;

/** The shape of bins and frames, with the parameters of the inverse transform. */
export interface IstftJob {
  readonly shape: readonly number[];
  readonly time: number;
  readonly frequency: number;
  readonly adding: OverlapAddRequest;
  /** Samples that are left out before the first one. */
  readonly edge: number;
  /** Samples of the result. */
  readonly length: number;
  /** Samples of the result that frames reach. */
  readonly reached: number;
}

interface KnownIstft extends IstftJob {
  readonly t: Float64Array;
  readonly undetermined: readonly SampleRange[];
}

/**
 * The signal of a short-time Fourier transform, with `scipy.signal.istft`'s meaning, options and defaults: window, `noverlap`, `nfft`, `fs` and
 * `scaling` are those of the `stft`. The result may be longer than the original signal, by the zeros that `padded` added. A modified transform
 * becomes the signal whose own transform is nearest (Griffin and Lim, 1984).
 *
 * @param zxx complex, `[…, bins, …, frames]`; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) `invalid-argument` where window and overlap leave samples between others that no frame determines (SciPy warns,
 *   and returns meaningless samples), and for options out of range; `wrong-length` where `nfft` has another number of bins; `unknown-field`,
 *   `invalid-size`, `wrong-array-type`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function istft<Z extends ComplexArray>(zxx: Z, options: IstftOptions = {}): Promise<Istft<Z>> {
  const { arrays, job, device } = calls.read([zxx], options);
  const found = overlapAdded(arrays[0]!, job, device ?? (await sharedDevice()));
  const x = found instanceof Promise ? await found : found;
  const { t, undetermined } = job;
  return { t: t.slice(), x: x as Istft<Z>['x'], undetermined: undetermined.map(([from, to]) => [from, to]) };
}

const calls = /* @__PURE__ */ new PreparedCalls<IstftOptions, KnownIstft>({
  ...{ name: 'istft', works: WORKS, levels: SEGMENT_LEVELS, prepare: ([zxx], own) => istftJob(zxx!, own) },
  bytesOf: ({ t, adding }) => 8 * (t.length + adding.taper.length + adding.weights.length),
});

function istftJob({ shape, dtype }: NumpyArray, own: IstftOptions): KnownIstft {
  const { inputOnesided = true, boundary = true, scaling = 'spectrum' } = own;
  if (!isComplex(dtype) || shape.length < 2) {
    const message = `zxx is ${dtype} with ${shape.length} axes; bins and frames are complex64 or complex128, of two axes or more.`;
    throw new FftError('wrong-array-type', message, { path: 'zxx' });
  }
  checkWord('inputOnesided', inputOnesided, [true, false]);
  checkWord('boundary', boundary, [true, false, null]);
  checkWord('scaling', scaling, stftScalings);
  const time = resolveAxis(own.timeAxis ?? -1, shape.length, 'timeAxis');
  const frequency = resolveAxis(own.freqAxis ?? -2, shape.length, 'freqAxis');
  if (time === frequency) {
    const message = `timeAxis and freqAxis are both axis ${time}; they are two axes.`;
    throw new FftError('invalid-argument', message, { path: 'timeAxis' });
  }
  const bins = checkLength(shape[frequency]!, `The length of axis ${frequency}`);
  const frames = checkLength(shape[time]!, `The length of axis ${time}`);
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
  // The last centred frame may reach beyond the signal that it was made from.
  const reached = Math.min(length, center ? norm.length - edge : inside);
  const undetermined = undeterminedIn(norm.subarray(edge, edge + reached), length);
  const scale = spectrumDivisor(window, segments.fs, scaling) / segments.nfft;
  // A loop: there may be millions of samples, and `from` would take longer than the transforms.
  const t = floatZeros(length, false) as Float64Array;
  for (let k = 0; k < length; k++) t[k] = k / segments.fs;
  const weights = norm.map((weight) => (weight > NOTHING ? 1 / weight : 0));
  const spec = {
    ...{ size: nperseg, hop, nfft: segments.nfft, frames, onesided: inputOnesided },
    precision: isSingle(dtype) ? 'single' : 'double',
  } as const;
  const adding = overlapAddRequest(
    spec,
    window.map((value) => value * scale),
    weights,
  );
  return { shape, time, frequency, adding, edge, length, reached, t, undetermined };
}

/** The length of the transforms. Without `nfft` it is even, as in SciPy, unless frames are longer by one. */
function inverseSegments(own: IstftOptions, bins: number, onesided: boolean): Segments {
  const usual = onesided ? Math.max(1, 2 * (bins - 1)) : bins;
  const nperseg = own.nperseg ?? (isFloats(own.window) ? own.window.length : usual);
  const nfft = own.nfft ?? (onesided && nperseg === usual + 1 ? nperseg : usual);
  // The length is checked before the window is made, because a window of any length could be asked for.
  if (Number.isSafeInteger(nfft) && nfft >= 1 && bins !== binsOf({ nfft, twoSided: !onesided })) {
    const wanted = binsOf({ nfft, twoSided: !onesided });
    const message = `zxx has ${bins} bins; a transform of nfft ${nfft} has ${wanted}.`;
    throw new FftError('wrong-length', message, { path: 'zxx' });
  }
  return readSegments({ ...own, nperseg, nfft }, nperseg);
}

/**
 * The uncovered samples before the first and behind the last sample that frames determine.
 * @param norm sums of squared windows, for the samples of the result that frames reach
 * @param length samples of the result
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

/**
 * Transforms, windows and adds up the frames of an array.
 * @returns no promise where there is nothing to wait for
 */
export function overlapAdded(given: NumpyArray, job: IstftJob, device: Device): NumpyArray | Promise<NumpyArray> {
  const { time, frequency, adding, length, edge, reached } = job;
  const single = isSingle(given.dtype);
  const { onesided, frames } = adding.spec;
  const parts = onesided ? 1 : 2;
  const shape = given.shape.map((count, d) => (d === time ? length : count)).filter((_, d) => d !== frequency);
  // The position of the time axis in the result.
  const axis = frequency < time ? time - 1 : time;
  const inner = elementCount(shape.slice(axis + 1));
  const planes = linesOfPlanes(given.shape, time, frequency);
  const skipped = edge * parts;
  const numbers = length * parts;
  // Sums of one block that are the whole result are copied, which spares memory that is filled with zeros first.
  const isWhole = planes.length === 1 && reached === length && batchesOf(adding.spec) === frames;
  let data = isWhole ? undefined : floatZeros(elementCount(shape) * parts, single);
  return withOverlapAdd(device, adding, (adder) => {
    const waiting = oneByOne(planes.length, (line) => {
      const start = Math.floor(line / inner) * inner * length + (line % inner);
      const plane = planes[line]!;
      return adder.line(
        (target, first, count) =>
          loadFrames(given, job, plane + first * strideOfAxis(given.shape, time), target, count),
        (sums, from, begun) => {
          if (isWhole) data = copyOfFloats(sums.subarray(skipped, skipped + numbers));
          else write(sums, data!, { from: from - skipped, begun, start, inner, reached: reached * parts, parts });
        },
      );
    });
    return afterwards(waiting, () => {
      const dtype = onesided ? (single ? 'float32' : 'float64') : given.dtype;
      return { data: data!, shape, dtype } as NumpyArray;
    });
  });
}

/** The destination of a block's sums. */
interface SumPlace {
  /** The index of the first number, counted from the result's first one. */
  readonly from: number;
  /** The number of sums to be added to the numbers that are already there. */
  readonly begun: number;
  /** The line's first element in the result, and the distance between its samples, in elements. */
  readonly start: number;
  readonly inner: number;
  /** The length of the line in numbers. */
  readonly reached: number;
  readonly parts: 1 | 2;
}

/** Writes those sums of one line that lie inside the result. */
function write(sums: Floats, target: Floats, { from, begun, start, inner, reached, parts }: SumPlace): void {
  const first = Math.max(0, -from);
  const end = Math.min(sums.length, reached - from);
  if (inner === 1) {
    const at = start * parts + from;
    const last = Math.min(end, begun);
    for (let k = first; k < last; k++) target[at + k]! += sums[k]!;
    const fresh = Math.max(first, last);
    if (fresh < end) target.set(sums.subarray(fresh, end), at + fresh);
    return;
  }
  for (let k = first; k < end; k++) {
    const number = from + k;
    const at = (start + Math.floor(number / parts) * inner) * parts + (number % parts);
    target[at] = k < begun ? target[at]! + sums[k]! : sums[k]!;
  }
}

function strideOfAxis(shape: readonly number[], axis: number): number {
  return elementCount(shape.slice(axis + 1));
}

/** The first element of each plane of bins and frames; all other axes are counted, the last one fastest. */
function linesOfPlanes(shape: readonly number[], time: number, frequency: number): number[] {
  let starts = [0];
  shape.forEach((count, axis) => {
    if (axis === time || axis === frequency) return;
    const stride = strideOfAxis(shape, axis);
    starts = starts.flatMap((start) => Array.from({ length: count }, (_, k) => start + k * stride));
  });
  return starts;
}

/** Copies the bins of `count` frames from element `start` on: a row of frames for each bin. */
function loadFrames(
  { data, shape }: NumpyArray,
  { time, frequency }: IstftJob,
  start: number,
  target: Floats,
  count: number,
): void {
  const [perFrame, perBin] = [strideOfAxis(shape, time), strideOfAxis(shape, frequency)];
  const bins = shape[frequency]!;
  if (perFrame === 1 && perBin === count) {
    target.set(data.subarray(2 * start, 2 * (start + bins * count)));
    return;
  }
  for (let bin = 0; bin < bins; bin++) {
    const from = start + bin * perBin;
    if (perFrame === 1) target.set(data.subarray(2 * from, 2 * (from + count)), 2 * bin * count);
    else
      for (let frame = 0; frame < count; frame++) {
        target[2 * (bin * count + frame)] = data[2 * (from + frame * perFrame)]!;
        target[2 * (bin * count + frame) + 1] = data[2 * (from + frame * perFrame) + 1]!;
      }
  }
}
