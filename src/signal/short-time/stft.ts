/** Short-time Fourier transform, as `scipy.signal.stft`. */

import type { ArrayInput, NumpyArray, ShapeOf, Transformed } from '../../numpy/arrays/array.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import type { Boundary } from '../arguments/boundary.ts';
import { checkWord } from '../arguments/check.ts';
import { geometryOf, type LineGeometry, type Lines, linesAlong, linesOfArray } from '../arguments/lines.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import type { Trend } from '../filters/detrend.ts';
import { type CenterOptions, framePadding, framingOf } from '../frames/framing.ts';
import {
  binFrequencies,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type StftScaling,
  spectrumDivisor,
  stftScalings,
} from '../frames/segments.ts';
import { bytesOfShortTime, type ShortTimeJob, shortTimeJob, shortTimeSpectra } from './short-time.ts';

export interface StftOptions extends SegmentOptions, CenterOptions, DeviceChoice {
  /** Trend that is subtracted from each frame; default false, none. */
  readonly detrend?: Trend | undefined;
  /** Whether only bins from 0 to half the rate are given, for real signals; default true. Complex signals have all bins. */
  readonly returnOnesided?: boolean | undefined;
  /** Extension of the signal by half a frame at either end; default `zeros`. */
  readonly boundary?: Boundary | undefined;
  /** Whether zeros complete the last frame, so that all samples are in a frame; default true. */
  readonly padded?: boolean | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Scaling; default `spectrum`. */
  readonly scaling?: StftScaling | undefined;
}

/** The result of `stft`: Python's `f, t, Zxx`. */
export interface Stft<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Times of the frames' middles, in seconds. */
  readonly t: Float64Array;
  /** Spectra, shape `[…, bins, …, frames]`: bins replace the time axis of x, frames are last. */
  readonly zxx: Transformed<X, readonly [...ShapeOf<X>, number]>;
}

const FRAMING = ['center', 'padMode', 'boundary', 'padded'];
const WORKS = [...SEGMENT_OPTIONS, ...FRAMING, 'device', 'detrend', 'returnOnesided', 'axis', 'scaling'];
/**
 * Short-time Fourier transform: the spectra of overlapping frames of a signal, with `scipy.signal.stft`'s meaning, options,
 * defaults and results.
 *
 * Frames are those of the signal with half a frame of `boundary` before and after it; with `center`, those of librosa and PyTorch. `istft` undoes it.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single.
 * @throws FftError (as a rejection) `invalid-argument` for options out of range, a frame longer than the signal (SciPy warns
 *   and shortens it) or a mirrored boundary longer than the signal, `unknown-field`, `invalid-size` for no samples,
 *   `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`, and the errors of `device.plan`
 */
export async function stft<X extends ArrayInput>(x: X, options: StftOptions = {}): Promise<Stft<X>> {
  const { arrays, job, device } = calls.read([x], options);
  const { shortTime, f } = job;
  const lines: Lines = linesOfArray(job.lines, arrays[0]!);
  const spectra = shortTimeSpectra(lines, shortTime, device ?? (await sharedDevice()));
  const zxx = spectra instanceof Promise ? await spectra : spectra;
  return { f: f.slice(), t: shortTime.framing.t.slice(), zxx: zxx as unknown as Stft<X>['zxx'] };
}

interface StftJob {
  readonly lines: LineGeometry;
  readonly f: Float64Array;
  readonly shortTime: ShortTimeJob;
}

const calls = /* @__PURE__ */ new PreparedCalls<StftOptions, StftJob>({
  ...{ name: 'stft', works: WORKS, levels: SEGMENT_LEVELS, prepare: prepareStft },
  bytesOf: ({ f, shortTime }) => 8 * f.length + bytesOfShortTime(shortTime),
});

function prepareStft([x]: readonly NumpyArray[], own: StftOptions): StftJob {
  const lines = linesAlong(x!, own.axis ?? -1);
  const center = framePadding(own);
  const given = readSegments(own, lines.n, center ? Number.POSITIVE_INFINITY : lines.n);
  const { boundary = 'zeros', padded = true, detrend = false, returnOnesided = true, scaling = 'spectrum' } = own;
  checkWord('detrend', detrend, [false, 'constant', 'linear']);
  checkWord('scaling', scaling, stftScalings);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  const usual = center === undefined ? { boundary, padded } : {};
  const framing = framingOf({ center, padMode: own.padMode, ...usual }, given, lines.n);
  const { window, fs } = framing.segments;
  const twoSided = lines.complex || !returnOnesided;
  const shortTime = shortTimeJob(lines, framing, {
    trend: detrend,
    twoSided,
    scale: 1 / spectrumDivisor(window, fs, scaling),
  });
  return { lines: geometryOf(lines), f: binFrequencies(framing.segments, twoSided), shortTime };
}
