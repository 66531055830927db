/** Spectrograms in decibels, frame by frame, as images need them; and the result of `spectrogram` with the option names before 0.1.0. */

import { readOptions } from '../../engine/arguments/options.ts';
import type { Device, Plan } from '../../index.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { checkDevice, sharedDevice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import type { Callback, Callbacks, NewFloat32Array, ProblemInput } from '../../problem/index.ts';
import { check } from '../arguments/check.ts';
import { areSingles, type Floats, isFloats, liveSamples } from '../arguments/floats.ts';
import { batchesOf } from '../frames/frames.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import { isFlat, type WindowArguments, type WindowOptions, windowFunction } from '../windows/windows.ts';

export interface LevelSpectrogramOptions {
  /** Sampling rate, in hertz; default 1, so that frequencies are fractions of it. */
  readonly sampleRate?: number;
  /** Device for the transforms; default a CPU device that all calls share. It stays open. */
  readonly device?: Device;
  /** Window function; default `hann`. */
  readonly window?: WindowName;
  /** Parameters of the window, where it has any: `{ beta: 8 }` for kaiser. */
  readonly windowOptions?: WindowOptions;
  /** Samples in a frame, and the length of each transform; default 1024. */
  readonly size?: number;
  /** Samples from the start of one frame to the start of the next; default a quarter of `size`. */
  readonly hop?: number;
  /** Progress callback: gets the number of frames done and of all frames, after each batch. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Power over time and frequency. */
export interface LevelSpectrogram {
  /** Levels in decibels, `frames × bins`, frame by frame; 0 dB is the power of a sine of amplitude 1. */
  readonly levels: NewFloat32Array;
  readonly frames: number;
  /** Number of bins, ⌊size/2⌋ + 1: bin k has the frequency k · sampleRate / size, in hertz. */
  readonly bins: number;
  /** Sampling rate, in hertz. */
  readonly sampleRate: number;
  readonly window: WindowName;
  /** Samples in a frame. */
  readonly size: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** Number of transforms that ran at once: the batches of the plan. */
  readonly batches: number;
  /** Description of the plan that ran, from the device. */
  readonly plan: string;
}

const OPTIONS: readonly (keyof LevelSpectrogramOptions)[] = [
  'sampleRate',
  'device',
  'window',
  'windowOptions',
  'size',
  'hop',
  'onProgress',
];

/** Options together with those of a window. */
const LEVELS = 3;

/** The most samples in a frame: callbacks count positions up to this number. */
const LONGEST = 2 ** 31 - 1;

/** The least power that is distinguished: −200 dB. */
const SILENCE = 1e-20;

/**
 * Computes a spectrogram.
 *
 * Frame f covers the samples f·hop … f·hop + size − 1; there are as many frames as fit, or one padded with zeros when the
 * signal is shorter than a frame. All frames go through one plan of real transforms whose batches are frames, read where they
 * lie in the signal: its callbacks multiply by the window and leave powers. Long signals take several rounds of it, so that
 * memory beyond the result does not grow with their length.
 *
 * @param given One channel; full scale is −1 to 1.
 * @throws FftError `invalid-argument` for options out of range or an empty signal, `unknown-field` for options that there
 *   are not, `detached-array`, `out-of-memory`, and whatever planning for `size` throws (`unsupported-length` for one).
 */
export async function levelSpectrogram(
  given: Float32Array | Float64Array,
  options: LevelSpectrogramOptions = {},
): Promise<LevelSpectrogram> {
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
  // An unknown window or parameter is refused before a plan is made.
  taperOf(1);
  if (size > LONGEST) throw new FftError('device-limit', `size is ${size}; ${LONGEST} is the most.`, { path: 'size' });
  const frames = 1 + Math.max(0, Math.floor((samples.length - size) / hop));
  const batches = batchesOf({ frames, nfft: size });
  const bins = Math.floor(size / 2) + 1;
  const flat = isFlat(window);
  const device = chosen ?? (await sharedDevice());
  const problem: ProblemInput = {
    ...{ size: [size], transform: 'r2c', batches, directions: 'forward', strides: { input: [1, 1, hop] } },
    callbacks: powerCallbacks(size, bins, flat),
  };
  const plan = (await device.plan(problem)) as Plan;
  try {
    // The window is made after the plan: the device refuses sizes that are too long.
    const taper = taperOf(size);
    const levels = floatZeros(frames * bins, true) as NewFloat32Array;
    const arrays = { ...(flat ? {} : { window: Float32Array.from(taper) }), weights: powerWeights(taper) };
    const signal = atLeast(samples, size);
    for (let done = 0; done < frames; done += batches) {
      // The last round has the same length as the others, so that it begins with frames that are done already.
      const first = Math.min(done, frames - batches);
      const round = signal.subarray(first * hop, first * hop + (batches - 1) * hop + size);
      const read = areSingles(round) ? round : Float32Array.from(round);
      const powers = (await plan.forward(read as never, undefined, { arrays })) as Float32Array;
      powersToDecibels(levels.subarray(done * bins, (first + batches) * bins), powers.subarray((done - first) * bins));
      onProgress?.(first + batches, frames);
    }
    return { levels, frames, bins, sampleRate, window, size, hop, batches, plan: plan.explain() };
  } finally {
    plan.destroy();
  }
}

/** Callbacks: the window on the input, where there is one, and the weighted power of each bin on the output. */
function powerCallbacks(size: number, bins: number, flat: boolean): Callbacks {
  const power: Callback = (x, { re, im }, at) =>
    x.mul(x.load('weights', at.axis[0]!), x.add(x.mul(re, re), x.mul(im, im)));
  const weights = { type: 'f32', length: bins } as const;
  if (flat) return { forward: { store: power }, arrays: { weights } };
  const windowed: Callback = (x, value, at) => x.mul(x.load('window', at.axis[0]!), value);
  return { forward: { load: windowed, store: power }, arrays: { weights, window: { type: 'f32', length: size } } };
}

/** Samples, padded with zeros where there are too few. */
function atLeast(samples: Floats, length: number): Floats {
  if (samples.length >= length) return samples;
  const longer = floatZeros(length, areSingles(samples));
  longer.set(samples);
  return longer;
}

/** Factors of the bins' powers by which a sine of amplitude 1 has power 1. */
function powerWeights(taper: Float64Array): Float32Array {
  const size = taper.length;
  const gain = taper.reduce((sum, value) => sum + value, 0);
  // A sine's power is shared by a positive and a negative frequency; bin 0 and the Nyquist bin have no partner.
  return Float32Array.from({ length: Math.floor(size / 2) + 1 }, (_, bin) =>
    bin === 0 || 2 * bin === size ? (1 / gain) ** 2 : (2 / gain) ** 2,
  );
}

/** Converts `levels.length` powers into decibels. */
function powersToDecibels(levels: Float32Array, powers: Float32Array): void {
  for (let i = 0; i < levels.length; i++) levels[i] = 10 * Math.log10(Math.max(powers[i]!, SILENCE));
}
