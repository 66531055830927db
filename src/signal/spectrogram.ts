/**
 * Short-time Fourier transform: how the power of a signal spreads over time and frequency.
 */

import { isDevice } from '../engine/is-device.ts';
import { readOptions } from '../engine/options.ts';
import type { Device } from '../index.ts';
import { zeros } from '../numpy/array.ts';
import { FftError, show } from '../problem/errors.ts';
import type { NewFloat32Array } from '../problem/index.ts';
import { isFloats, liveSamples } from './floats.ts';
import type { WindowName } from './window-kinds.ts';
import { type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';

export interface SpectrogramOptions {
  /** Samples a second, in hertz. */
  readonly sampleRate: number;
  /** Where to transform. It stays open. */
  readonly device: Device;
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

/** Complex numbers in one batched transform, at most: 16 MiB of single-precision input and output together. */
const POINTS_AT_ONCE = 2 ** 20;

/** Power below which nothing is told apart: −200 dB. */
const SILENCE = 1e-20;

/**
 * Computes a spectrogram.
 *
 * Frame f covers the samples f·hop … f·hop + size − 1; there are as many frames as fit, or one padded with zeros when the
 * signal is shorter than a frame. All frames go through one plan whose batches are frames; long signals take several
 * rounds of it, so that memory beyond the result does not grow with their length.
 *
 * @param given One channel; full scale is −1 to 1.
 * @throws FftError `invalid-argument` for options out of range or an empty signal, `unknown-field` for options that there
 *   are not, `detached-array`, `out-of-memory`, and whatever planning for `size` throws (`unsupported-length` for one).
 */
export async function spectrogram(
  given: Float32Array | Float64Array,
  options: SpectrogramOptions,
): Promise<Spectrogram> {
  if (!isFloats(given)) {
    throw new FftError('invalid-argument', 'samples takes a Float32Array or a Float64Array.', { path: 'samples' });
  }
  const samples = liveSamples(given, 'samples');
  const own = readOptions(options ?? {}, { works: OPTIONS }, 'spectrogram', LEVELS);
  const { sampleRate, device, window = 'hann', size = 1024, onProgress } = own;
  if (!isDevice(device)) {
    throw new FftError('invalid-argument', 'device takes an open device, as openDevice() gives it.', {
      path: 'device',
    });
  }
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
  const bins = Math.floor(size / 2) + 1;
  const frames = 1 + Math.max(0, Math.floor((samples.length - size) / hop));

  // Rounds of nearly equal size: the last one wastes fewer transforms than there are rounds.
  const rounds = Math.ceil(frames / Math.max(1, Math.floor(POINTS_AT_ONCE / size)));
  const batches = Math.ceil(frames / rounds);
  const plan = await device.plan({ size: [size], batches, precision: 'single', directions: 'forward' });
  try {
    // Only now: the device knows which sizes are too long.
    const taper = taperOf(size);
    const array = (length: number) => zeros(length, true) as NewFloat32Array;
    const levels = array(frames * bins);
    const signal = array(2 * size * batches);
    const spectrum = array(2 * size * batches);
    for (let first = 0; first < frames; first += batches) {
      const count = Math.min(batches, frames - first);
      fillFrames(signal, samples, taper, { first, count, hop });
      await plan.forward(signal, spectrum);
      measure(levels.subarray(first * bins, (first + count) * bins), spectrum, taper);
      onProgress?.(first + count, frames);
    }
    return { levels, frames, bins, sampleRate, window, size, hop, batches, plan: plan.explain() };
  } finally {
    plan.destroy();
  }
}

/** Windowed frames as the real parts of a complex batch. */
function fillFrames(
  target: Float32Array,
  samples: Float32Array | Float64Array,
  taper: Float64Array,
  { first, count, hop }: { first: number; count: number; hop: number },
): void {
  const size = taper.length;
  for (let frame = 0; frame < count; frame++) {
    const start = (first + frame) * hop;
    const base = 2 * frame * size;
    for (let k = 0; k < size; k++) target[base + 2 * k] = (samples[start + k] ?? 0) * (taper[k] ?? 0);
  }
}

/** Powers of the non-negative frequencies in decibels; `levels` says how many frames of `spectrum` count. */
function measure(levels: Float32Array, spectrum: Float32Array, taper: Float64Array): void {
  const size = taper.length;
  const bins = Math.floor(size / 2) + 1;
  const gain = taper.reduce((sum, value) => sum + value, 0);
  // A sine's power is shared by a positive and a negative frequency; bin 0 and the Nyquist bin have no partner.
  const paired = (2 / gain) ** 2;
  const alone = (1 / gain) ** 2;
  for (let i = 0; i < levels.length; i++) {
    const bin = i % bins;
    const at = 2 * (((i - bin) / bins) * size + bin);
    const re = spectrum[at] ?? 0;
    const im = spectrum[at + 1] ?? 0;
    const scale = bin === 0 || 2 * bin === size ? alone : paired;
    levels[i] = 10 * Math.log10(Math.max((re * re + im * im) * scale, SILENCE));
  }
}

function check(path: string, given: unknown, valid: boolean, accepted: string): void {
  if (!valid) throw new FftError('invalid-argument', `${path} takes ${accepted}; ${show(given)} was given.`, { path });
}
