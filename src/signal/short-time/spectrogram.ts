/** Spectrograms, the power of a signal over time and frequency, as `scipy.signal.spectrogram`. */
import { readOptions } from '../../engine/arguments/options.ts';
import {
  type ArrayInput,
  floatZeros,
  type NumpyArray,
  type ShapeOf,
  type Transformed,
} from '../../numpy/arrays/array.ts';
import { type DeviceChoice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import { geometryOf, type LineGeometry, type Lines, linesAlong, linesOfArray } from '../arguments/lines.ts';
import { PreparedCalls } from '../calls/prepared-calls.ts';
import type { Trend } from '../filters/detrend.ts';
import { type CenterOptions, framePadding, framingOf } from '../frames/framing.ts';
import {
  binFrequencies,
  hopOf,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
  spectrumDivisor,
  warnOnce,
} from '../frames/segments.ts';
import { type DecibelOptions, powersToDb, readDecibels } from '../spectra/decibels.ts';
import { type LevelSpectrogram, type LevelSpectrogramOptions, levelSpectrogram } from './level-spectrogram.ts';
import { bytesOfShortTime, type ShortTimeJob, shortTimeJob, shortTimeSpectra } from './short-time.ts';

/**
 * Output of each bin: its power, the complex number itself, its absolute value, its angle, or its angle unwrapped along the bins, without jumps of 2π
 * (`phase`).
 */
export type SpectrogramMode = 'psd' | 'complex' | 'magnitude' | 'angle' | 'phase';
const modes: readonly SpectrogramMode[] = ['psd', 'complex', 'magnitude', 'angle', 'phase'];

export interface SpectrogramOptions extends SegmentOptions, CenterOptions, DeviceChoice {
  /** Trend that is subtracted from each frame; default `constant`, its mean; with `center`, false, none. */
  readonly detrend?: Trend | undefined;
  /** Whether only bins from 0 to half the rate are given, for real signals, with the power of the negative side added; default true. */
  readonly returnOnesided?: boolean | undefined;
  /** Scaling. `density`: power per hertz, the default; `spectrum`: power; `null`: |X|² unscaled and of one side. */
  readonly scaling?: 'density' | 'spectrum' | null | undefined;
  /** Output of each bin; default `psd`. */
  readonly mode?: SpectrogramMode | undefined;
  /**
   * Conversion of powers to levels, with `mode: 'psd'`: options, or true for librosa's way, in which 0 dB is a power of 1 and the range is 80 dB.
   * Default false.
   */
  readonly decibels?: boolean | DecibelOptions | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Progress callback: gets the number of frames done and of all frames. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Python's `f, t, Sxx`. */
export interface Spectrogram<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Times of the frames' middles, in seconds. */
  readonly t: Float64Array;
  /** Spectrogram, shape `[…, bins, …, frames]`: real, or complex with `mode: 'complex'`. */
  readonly sxx: NumpyArray<
    Transformed<X>['dtype'] extends 'complex64' ? 'float32' | 'complex64' : 'float64' | 'complex128',
    readonly [...ShapeOf<X>, number]
  >;
}

const OLD = ['sampleRate', 'size', 'hop'] as const;
const MORE = ['detrend', 'returnOnesided', 'scaling', 'mode', 'decibels', 'axis', 'onProgress', 'device'];
const WORKS = [...SEGMENT_OPTIONS, 'center', 'padMode', ...MORE];

/**
 * A spectrogram: the power in each bin of each frame. Options, defaults (a window of Tukey, an eighth of a frame in common with the next) and results
 * are those of `scipy.signal.spectrogram`; with `center`, frames are those of librosa.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves. Single precision stays single
 * @throws FftError (as a rejection) as `stft`
 */
export async function spectrogram<X extends ArrayInput>(x: X, options?: SpectrogramOptions): Promise<Spectrogram<X>>;
/** @deprecated with `sampleRate`, `size` and `hop`, which are `fs`, `nperseg` and `hopLength`: levels as they were in 0.1.0, frame by frame. */
export async function spectrogram(
  samples: Float32Array | Float64Array,
  options: LevelSpectrogramOptions,
): Promise<LevelSpectrogram>;
export async function spectrogram(
  x: ArrayInput,
  options: SpectrogramOptions | LevelSpectrogramOptions = {},
): Promise<Spectrogram | LevelSpectrogram> {
  if (isOld(options)) {
    const own = readOptions(options as object, { works: [...WORKS, ...OLD] }, 'spectrogram', SEGMENT_LEVELS);
    warnOnce(
      'spectrogram: sampleRate, size and hop are fs, nperseg and hopLength now, and what comes is { f, t, sxx }; ' +
        "{ decibels: true, scaling: 'spectrum' } makes levels. The old names go with the next version.",
    );
    return levelSpectrogram(x as Float32Array, own as LevelSpectrogramOptions);
  }
  const { arrays, job, device } = calls.read([x], options);
  const { shortTime, f, angles, decibels, onProgress } = job;
  const lines: Lines = linesOfArray(job.lines, arrays[0]!);
  const spectra = shortTimeSpectra(lines, shortTime, device ?? (await sharedDevice()), onProgress);
  const found = spectra instanceof Promise ? await spectra : spectra;
  const sxx = angles ? anglesOf(found) : found;
  if (angles === 'phase') unwrapBins(sxx, lines);
  if (decibels) powersToDb(sxx.data as Floats, decibels);
  return { f: f.slice(), t: shortTime.framing.t.slice(), sxx: sxx as Spectrogram['sxx'] };
}

/** Whether options have their former names. */
function isOld(options: SpectrogramOptions | LevelSpectrogramOptions): boolean {
  try {
    const { sampleRate, size, hop } = options as LevelSpectrogramOptions;
    return sampleRate !== undefined || size !== undefined || hop !== undefined;
  } catch {
    // The caller's own code has thrown; the full check reports it.
    return false;
  }
}

interface SpectrogramJob extends Pick<SpectrogramOptions, 'onProgress'> {
  readonly lines: LineGeometry;
  readonly f: Float64Array;
  readonly shortTime: ShortTimeJob;
  readonly angles: 'angle' | 'phase' | undefined;
  readonly decibels: DecibelOptions | undefined;
}

const calls = /* @__PURE__ */ new PreparedCalls<SpectrogramOptions, SpectrogramJob>({
  ...{ name: 'spectrogram', works: WORKS, levels: SEGMENT_LEVELS, prepare: prepareSpectrogram },
  bytesOf: ({ f, shortTime }) => 8 * f.length + bytesOfShortTime(shortTime),
});

function prepareSpectrogram([x]: readonly NumpyArray[], own: SpectrogramOptions): SpectrogramJob {
  const { onProgress, mode = 'psd', returnOnesided = true } = own;
  check('onProgress', onProgress, onProgress === undefined || typeof onProgress === 'function', 'a function');
  const lines = linesAlong(x!, own.axis ?? -1);
  const center = framePadding(own);
  const segments = spectrogramSegments(own, lines, center);
  checkWord('mode', mode, modes);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  const decibels = decibelsOf(own, mode);
  const usual = center === undefined ? 'constant' : false;
  const trend = checkWord<Trend>('detrend', own.detrend ?? usual, [false, 'constant', 'linear']);
  const framing = framingOf({ center, padMode: own.padMode }, segments, lines.n);
  const twoSided = lines.complex || !returnOnesided;
  const { scaling = 'density' } = own;
  checkWord('scaling', scaling, ['density', 'spectrum', null]);
  const { window, fs } = framing.segments;
  const scale = 1 / spectrumDivisor(window, fs, scaling === 'density' ? 'psd' : scaling);
  const part = mode === 'psd' ? 'power' : mode === 'magnitude' ? 'magnitude' : 'complex';
  const doubled = part === 'power' && !twoSided && scaling !== null;
  const shortTime = shortTimeJob(lines, framing, { trend, twoSided, scale, part, doubled });
  const angles = mode === 'angle' || mode === 'phase' ? mode : undefined;
  return {
    lines: geometryOf(lines),
    f: binFrequencies(framing.segments, twoSided),
    shortTime,
    angles,
    decibels,
    onProgress,
  };
}

function spectrogramSegments(own: SpectrogramOptions, lines: Lines, center: boolean | undefined): Segments {
  const longest = center ? Number.POSITIVE_INFINITY : lines.n;
  const isUsual = own.window === undefined;
  const window = isUsual ? ({ window: 'tukey', windowOptions: { alpha: 0.25, ...own.windowOptions } } as const) : {};
  const segments = readSegments({ ...own, ...window }, lines.n, longest);
  const { nperseg } = segments;
  return { ...segments, hop: hopOf(own, nperseg, Math.floor(nperseg / 8)) };
}

/** Options of levels, or undefined. @throws FftError `invalid-argument`, `unknown-field` */
function decibelsOf({ decibels = false }: SpectrogramOptions, mode: SpectrogramMode): DecibelOptions | undefined {
  if (decibels === false) return undefined;
  if (mode !== 'psd') {
    const message = `decibels are levels of powers, which are there with mode: 'psd'; mode is '${mode}'.`;
    throw new FftError('invalid-argument', message, { path: 'decibels' });
  }
  return readDecibels(decibels === true ? {} : decibels, 'decibels');
}

function anglesOf({ data, shape, dtype }: NumpyArray): NumpyArray {
  const angles = floatZeros(data.length / 2, dtype === 'complex64');
  for (let k = 0; k < angles.length; k++) angles[k] = Math.atan2(data[2 * k + 1]!, data[2 * k]!);
  return { data: angles, shape, dtype: dtype === 'complex64' ? 'float32' : 'float64' } as NumpyArray;
}

/** Unwraps angles: adds multiples of 2π so that no angle differs by more than π from the bin before. */
function unwrapBins({ data, shape }: NumpyArray, { axis }: Lines): void {
  const bins = shape[axis]!;
  const stride = shape.slice(axis + 1).reduce((product, length) => product * length, 1);
  for (let start = 0; start < data.length; start += bins * stride) {
    for (let column = start; column < start + stride; column++) {
      for (let bin = 1; bin < bins; bin++) {
        const at = column + bin * stride;
        const before = data[at - stride]!;
        data[at]! -= 2 * Math.PI * Math.round((data[at]! - before) / (2 * Math.PI));
      }
    }
  }
}
