/**
 * Short-time Fourier transform: how the power of a signal spreads over time and frequency.
 */

import { readOptions } from '../engine/options.ts';
import type { Device, Plan } from '../index.ts';
import { zeros } from '../numpy/array.ts';
import { checkDevice, sharedDevice } from '../numpy/choice.ts';
import { FftError, show } from '../problem/errors.ts';
import type { NewFloat32Array } from '../problem/index.ts';
import { areSingles, type Floats, isFloats, liveSamples } from './floats.ts';
import { type FrameSpec, FrameTransform, frameProblem } from './frames.ts';
import type { WindowName } from './window-kinds.ts';
import { isFlat, type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';

export interface SpectrogramOptions {
  /** Samples a second, in hertz; 1 when left out: frequencies are in parts of it then. */
  readonly sampleRate?: number;
  /** Where to transform: a CPU device that all calls share when left out. It stays open. */
  readonly device?: Device;
  /** Window function; `hann` when left out. */
  readonly window?: WindowName;
  /** Its parameters, where it has any: `{ beta: 8 }` for kaiser. */
  readonly windowOptions?: WindowOptions;
  /** Samples in a frame, which is the length of each transform; 1024 when left out. */
  readonly size?: number;
  /** Samples from the start of one frame to the start of the next; a quarter of `size` when left out. */
  readonly hop?: number;
  /** Told how many frames out of how many are done, after each batch. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Power over time and frequency. */
export interface Spectrogram {
  /** `frames × bins` levels in decibels, frame by frame; 0 dB is the power of a sine of amplitude 1. */
  readonly levels: NewFloat32Array;
  readonly frames: number;
  /** ⌊size/2⌋ + 1: bin k stands for the frequency k · sampleRate / size, in hertz. */
  readonly bins: number;
  /** Samples a second, in hertz. */
  readonly sampleRate: number;
  readonly window: WindowName;
  /** Samples in a frame. */
  readonly size: number;
  /** Samples from frame to frame. */
  readonly hop: number;
  /** Transforms that ran in one go: the batches of the plan. */
  readonly batches: number;
  /** What the device says about the plan that ran. */
  readonly plan: string;
}

const OPTIONS: readonly (keyof SpectrogramOptions)[] = [
  'sampleRate',
  'device',
  'window',
  'windowOptions',
  'size',
  'hop',
  'onProgress',
];

/** Options, those of the window, and a list among them. */
const LEVELS = 3;

/** Power below which nothing is told apart: −200 dB. */
const SILENCE = 1e-20;

/**
 * Computes a spectrogram.
 *
 * Frame f covers the samples f·hop … f·hop + size − 1; there are as many frames as fit, or one padded with zeros when the
 * signal is shorter than a frame. All frames go through one plan of real transforms whose batches are frames; long signals
 * take several rounds of it, so that memory beyond the result does not grow with their length. Without a window
 * (`rectangular`) frames of single precision are read where they lie.
 *
 * @param given One channel; full scale is −1 to 1.
 * @throws FftError `invalid-argument` for options out of range or an empty signal, `unknown-field` for options that there
 *   are not, `detached-array`, `out-of-memory`, and whatever planning for `size` throws (`unsupported-length` for one).
 */
export async function spectrogram(
  given: Float32Array | Float64Array,
  options: SpectrogramOptions = {},
): Promise<Spectrogram> {
  if (!isFloats(given)) {
    throw new FftError('invalid-argument', 'samples takes a Float32Array or a Float64Array.', { path: 'samples' });
  }
  const samples = liveSamples(given, 'samples');
  const own = readOptions(options ?? {}, { works: OPTIONS }, 'spectrogram', LEVELS);
  const { sampleRate = 1, window = 'hann', size = 1024, onProgress } = own;
  const chosen = checkDevice(own.device);
  check('size', size, Number.isSafeInteger(size) && size >= 1, 'a positive integer');
  const hop = own.hop ?? Math.max(1, Math.floor(size / 4));
  check('hop', hop, Number.isSafeInteger(hop) && hop >= 1, 'a positive integer');
  check('sampleRate', sampleRate, Number.isFinite(sampleRate) && sampleRate > 0, 'a positive number');
  if (samples.length === 0) {
    throw new FftError('invalid-argument', 'samples has no sample; at least one is needed.', { path: 'samples' });
  }
  check('onProgress', onProgress, onProgress === undefined || typeof onProgress === 'function', 'a function');
  const taperOf = (length: number) =>
    windowFunction(window, length, ...([own.windowOptions] as WindowArguments<WindowName>));
  // Refuses an unknown name or parameter before there is a plan.
  taperOf(1);
  const frames = 1 + Math.max(0, Math.floor((samples.length - size) / hop));
  const spec: FrameSpec = {
    ...{ size, hop, nfft: size, frames, trend: false, scale: 1, flat: isFlat(window) && areSingles(samples) },
    ...{ complex: false, twoSided: false, precision: 'single' },
  };
  const device = chosen ?? (await sharedDevice());
  const plan = await device.plan(frameProblem(spec));
  let transform: FrameTransform | undefined;
  try {
    // Only now: the device knows which sizes are too long.
    const taper = taperOf(size);
    transform = new FrameTransform(device, plan as Plan, spec, taper);
    const { bins, batches } = transform;
    const levels = zeros(frames * bins, true) as NewFloat32Array;
    await transform.each(atLeast(samples, size), (spectra, first, count) => {
      measure(levels.subarray(first * bins, (first + count) * bins), spectra, taper);
      onProgress?.(first + count, frames);
    });
    return { levels, frames, bins, sampleRate, window, size, hop, batches, plan: plan.explain() };
  } finally {
    transform?.free();
    plan.destroy();
  }
}

/** Samples, and zeros where there are too few of them. */
function atLeast(samples: Floats, length: number): Floats {
  if (samples.length >= length) return samples;
  const longer = zeros(length, areSingles(samples));
  longer.set(samples);
  return longer;
}

/** Powers of the bins in decibels; `levels` says how many frames of `spectra` count. */
function measure(levels: Float32Array, spectra: Floats, taper: Float64Array): void {
  const size = taper.length;
  const bins = Math.floor(size / 2) + 1;
  const gain = taper.reduce((sum, value) => sum + value, 0);
  // A sine's power is shared by a positive and a negative frequency; bin 0 and the Nyquist bin have no partner.
  const paired = (2 / gain) ** 2;
  const alone = (1 / gain) ** 2;
  for (let i = 0; i < levels.length; i++) {
    const bin = i % bins;
    const re = spectra[2 * i]!;
    const im = spectra[2 * i + 1]!;
    const scale = bin === 0 || 2 * bin === size ? alone : paired;
    levels[i] = 10 * Math.log10(Math.max((re * re + im * im) * scale, SILENCE));
  }
}

function check(path: string, given: unknown, valid: boolean, accepted: string): void {
  if (!valid) throw new FftError('invalid-argument', `${path} takes ${accepted}; ${show(given)} was given.`, { path });
}
