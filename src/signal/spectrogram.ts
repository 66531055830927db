/** How the power of a signal spreads over time and frequency, as `scipy.signal.spectrogram`. */
import { readOptions } from '../engine/arguments/options.ts';
import { type ArrayInput, asArray, type NumpyArray, type ShapeOf, type Transformed } from '../numpy/array.ts';
import { checkDevice, type DeviceChoice, sharedDevice } from '../numpy/choice.ts';
import { FftError } from '../problem/errors.ts';
import { check, checkWord } from './check.ts';
import { type DecibelOptions, powersToDb, readDecibels } from './decibels.ts';
import type { Trend } from './detrend.ts';
import type { Floats } from './floats.ts';
import { type CenterOptions, centerOf, framingOf } from './framing.ts';
import { type LevelSpectrogram, type LevelSpectrogramOptions, levelSpectrogram } from './level-spectrogram.ts';
import { type Lines, linesAlong } from './lines.ts';
import { warnOnce } from './renamed.ts';
import {
  binFrequencies,
  gainOf,
  hopOf,
  readSegments,
  SEGMENT_LEVELS,
  SEGMENT_OPTIONS,
  type SegmentOptions,
  type Segments,
} from './segments.ts';
import { type ShortTimeJob, shortTimeSpectra } from './short-time.ts';

/**
 * What is given of each bin: its power, the complex number itself, its absolute value, its angle, or its angle without jumps of 2π from bin
 * to bin (`phase`).
 */
export type SpectrogramMode = 'psd' | 'complex' | 'magnitude' | 'angle' | 'phase';
const modes: readonly SpectrogramMode[] = ['psd', 'complex', 'magnitude', 'angle', 'phase'];

export interface SpectrogramOptions extends SegmentOptions, CenterOptions, DeviceChoice {
  /** What is taken off each frame; default `constant`, its mean; with `center`, false, nothing. */
  readonly detrend?: Trend | undefined;
  /** Of real signals, the bins from 0 to half the rate only, powers with those of the other side; default true. */
  readonly returnOnesided?: boolean | undefined;
  /** `density`: power per hertz, the default; `spectrum`: power; `null`: |X|² as it is, unscaled and of one side. */
  readonly scaling?: 'density' | 'spectrum' | null | undefined;
  /** Default `psd`. */
  readonly mode?: SpectrogramMode | undefined;
  /** Powers as levels, with `mode: 'psd'`: how; true is librosa's way: 0 dB is a power of 1, and 80 dB are shown. Default false. */
  readonly decibels?: boolean | DecibelOptions | undefined;
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
  /** Told how many frames out of how many are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Python's `f, t, Sxx`. */
export interface Spectrogram<X extends ArrayInput = ArrayInput> {
  /** Frequencies of the bins, in hertz. */
  readonly f: Float64Array;
  /** Times of the middles of the frames, in seconds. */
  readonly t: Float64Array;
  /** Shape `[…, bins, …, frames]`: real, or complex with `mode: 'complex'`. */
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
  const own = readOptions(options as SpectrogramOptions, { works: [...WORKS, ...OLD] }, 'spectrogram', SEGMENT_LEVELS);
  if (OLD.some((name) => (own as LevelSpectrogramOptions)[name] !== undefined)) {
    warnOnce(
      'spectrogram: sampleRate, size and hop are fs, nperseg and hopLength now, and what comes is { f, t, sxx }; ' +
        "{ decibels: true, scaling: 'spectrum' } makes levels. The old names go with the next version.",
    );
    return levelSpectrogram(x as Float32Array, own as LevelSpectrogramOptions);
  }
  const { onProgress } = own;
  check('onProgress', onProgress, onProgress === undefined || typeof onProgress === 'function', 'a function');
  const device = checkDevice(own.device);
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const center = centerOf(own);
  const segments = segmentsOf(own, lines, center);
  const { mode = 'psd', returnOnesided = true } = own;
  checkWord('mode', mode, modes);
  checkWord('returnOnesided', returnOnesided, [true, false]);
  const decibels = decibelsOf(own, mode);
  const usual = center === undefined ? 'constant' : false;
  const trend = checkWord<Trend>('detrend', own.detrend ?? usual, [false, 'constant', 'linear']);
  const framing = framingOf({ center, padMode: own.padMode }, segments, lines.n);
  const twoSided = lines.complex || !returnOnesided;
  const { scale, part } = partOf(own, mode, framing.segments, twoSided);
  const sxx = await shortTimeSpectra(
    lines,
    { framing, trend, twoSided, scale, part, onProgress },
    device ?? (await sharedDevice()),
  );
  if (mode === 'phase') unwrapBins(sxx, lines);
  if (decibels) powersToDb(sxx.data as Floats, decibels);
  return { f: binFrequencies(framing.segments, twoSided), t: framing.t, sxx: sxx as Spectrogram['sxx'] };
}

function segmentsOf(own: SpectrogramOptions, lines: Lines, center: boolean | undefined): Segments {
  const longest = center ? Number.POSITIVE_INFINITY : lines.n;
  const isUsual = own.window === undefined;
  const window = isUsual ? ({ window: 'tukey', windowOptions: { alpha: 0.25, ...own.windowOptions } } as const) : {};
  const segments = readSegments({ ...own, ...window }, lines.n, longest);
  const { nperseg } = segments;
  return { ...segments, hop: hopOf(own, nperseg, Math.floor(nperseg / 8)) };
}

/** Levels that are asked for, or undefined. @throws FftError `invalid-argument`, `unknown-field` */
function decibelsOf({ decibels = false }: SpectrogramOptions, mode: SpectrogramMode): DecibelOptions | undefined {
  if (decibels === false) return undefined;
  if (mode !== 'psd') {
    const message = `decibels are levels of powers, which are there with mode: 'psd'; mode is '${mode}'.`;
    throw new FftError('invalid-argument', message, { path: 'decibels' });
  }
  return readDecibels(decibels === true ? {} : decibels, 'decibels');
}

/** What spectra are multiplied by, and what is kept of them. */
function partOf(
  { scaling = 'density' }: SpectrogramOptions,
  mode: SpectrogramMode,
  { window, fs, nfft }: Segments,
  twoSided: boolean,
): Pick<ShortTimeJob, 'scale' | 'part'> {
  checkWord('scaling', scaling, ['density', 'spectrum', null]);
  const scale = 1 / gainOf(window, fs, scaling === 'density' ? 'psd' : scaling);
  if (mode === 'complex') return { scale };
  if (mode === 'magnitude') return { scale, part: (re, im) => Math.hypot(re, im) };
  if (mode !== 'psd') return { scale, part: (re, im) => Math.atan2(im, re) };
  // Bin 0 and, of an even length, the last one have no partner on the other side.
  const last = nfft % 2 === 0 ? nfft / 2 : nfft;
  const doubled = !twoSided && scaling !== null;
  return {
    scale,
    part: (re, im, bin) => (doubled && bin > 0 && bin < last ? 2 : 1) * (re * re + im * im),
  };
}

/** Adds multiples of 2π, so that from bin to bin no angle changes by more than half of it. */
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
