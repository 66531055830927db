/**
 * Phase reconstruction: signals from the absolute values of short-time transforms (D. Griffin and J. Lim, "Signal estimation from modified short-time
 * Fourier transform", IEEE Transactions on Acoustics, Speech and Signal Processing 32 (1984); N. Perraudin, P. Balazs and P. L. Søndergaard, "A fast
 * Griffin-Lim algorithm", WASPAA 2013).
 */
import { readOptions } from '../../engine/arguments/options.ts';
import {
  type ArrayInput,
  asArray,
  type ComplexArray,
  floatZeros,
  isComplex,
  isSingle,
} from '../../numpy/arrays/array.ts';
import type { DeviceChoice } from '../../numpy/calls/choice.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';
import type { CenterOptions } from '../frames/framing.ts';
import { SEGMENT_LEVELS, SEGMENT_OPTIONS, type SegmentOptions } from '../frames/segments.ts';
import { type Istft, istft } from './istft.ts';
import { stft } from './stft.ts';

export interface GriffinLimOptions extends SegmentOptions, CenterOptions, DeviceChoice {
  /** Number of iterations; default 32. */
  readonly nIter?: number | undefined;
  /** Momentum: how far each step goes beyond the last one, from 0, the method of 1984, on; default 0.99. */
  readonly momentum?: number | undefined;
  /** Initial phases: `random`, the default, or `null`, zeros. */
  readonly init?: 'random' | null | undefined;
  /** Seed of the random phases: the same number gives the same signal; default 0. */
  readonly seed?: number | undefined;
  /** Samples of the result; default as for `istft`. */
  readonly length?: number | undefined;
}

const WORKS = [...SEGMENT_OPTIONS, 'center', 'padMode', 'device', 'nIter', 'momentum', 'init', 'seed', 'length'];
/** The absolute value below which a bin has no phase. */
const TINY = 1e-30;

/**
 * A signal whose short-time transform has given absolute values, as nearly as the iterations find one. Options are those of the `stft` that made
 * them, with `center: true` as default and `scaling: null`, and those of `librosa.griffinlim`.
 *
 * @param magnitudes real, of shape `[bins, frames]`
 * @returns `{ t, x }`: times of the samples in seconds, and the samples
 * @throws FftError (as a rejection) as `stft` and `istft`, and `wrong-array-type` for complex arrays or arrays with other axes
 */
export async function griffinLim(magnitudes: ArrayInput, options: GriffinLimOptions = {}): Promise<Istft> {
  const own = readOptions(options, { works: WORKS }, 'griffinLim', SEGMENT_LEVELS);
  const { nIter = 32, momentum = 0.99, init = 'random', seed = 0, length, padMode, ...frames } = own;
  const wanted = asArray(magnitudes);
  if (isComplex(wanted.dtype) || wanted.shape.length !== 2) {
    const message = `magnitudes are ${wanted.dtype} with ${wanted.shape.length} axes; real ones of two axes, bins and frames, are needed.`;
    throw new FftError('wrong-array-type', message, { path: 'magnitudes' });
  }
  checkInteger('nIter', nIter, 0);
  check('momentum', momentum, Number.isFinite(momentum) && momentum >= 0, 'a number from 0 on');
  checkWord('init', init, ['random', null]);
  checkInteger('seed', seed, 0, 2 ** 32 - 1);
  const { center = true } = frames;
  const [bins, count] = wanted.shape as [number, number];
  const nfft = frames.nfft ?? Math.max(1, 2 * (bins - 1));
  const common = { nperseg: nfft, ...frames, nfft, center, scaling: null } as const;
  const forward = { ...common, ...(center ? { padMode: padMode ?? 'constant' } : {}) } as const;
  const single = isSingle(wanted.dtype);
  const data = floatZeros(2 * bins * count, single);
  const zxx = { data, shape: [bins, count], dtype: single ? 'complex64' : 'complex128' } as ComplexArray;
  const phases = init === 'random' ? randomPhases(bins * count, seed) : undefined;
  for (let k = 0; k < bins * count; k++) {
    const [size, phase] = [wanted.data[k] as number, phases ? phases[k]! : 0];
    data[2 * k] = size * Math.cos(phase);
    data[2 * k + 1] = size * Math.sin(phase);
  }
  let before: Floats | undefined;
  for (let step = 0; step < nIter; step++) {
    const { x } = await istft(zxx, { ...common, ...(length === undefined ? {} : { length }) });
    const { zxx: rebuilt } = await stft(x as never, forward);
    const found = fitFrameCount(rebuilt as ComplexArray, count);
    refit(data, found, before, wanted.data as Floats, momentum / (1 + momentum));
    before = found;
  }
  return istft(zxx, { ...common, ...(length === undefined ? {} : { length }) });
}

/** Spectra with exactly `frames` frames: a signal of another length may have one frame more or less. */
function fitFrameCount({ data, shape }: ComplexArray, frames: number): Floats {
  const [bins, found] = shape as readonly [number, number];
  if (found === frames) return data as Floats;
  const result = floatZeros(2 * bins * frames, data instanceof Float32Array);
  const each = 2 * Math.min(frames, found);
  for (let bin = 0; bin < bins; bin++) {
    result.set((data as Floats).subarray(2 * bin * found, 2 * bin * found + each), 2 * bin * frames);
  }
  return result;
}

/** Spectra with the wanted absolute values and the phases of the present estimate, extrapolated by the momentum. */
function refit(target: Floats, found: Floats, before: Floats | undefined, wanted: Floats, beyond: number): void {
  for (let k = 0; k < wanted.length; k++) {
    const re = found[2 * k]! - (before ? beyond * before[2 * k]! : 0);
    const im = found[2 * k + 1]! - (before ? beyond * before[2 * k + 1]! : 0);
    const size = Math.sqrt(re * re + im * im);
    const gain = size > TINY ? wanted[k]! / size : 0;
    target[2 * k] = gain > 0 ? re * gain : wanted[k]!;
    target[2 * k + 1] = im * gain;
  }
}

/** Angles from 0 to 2π by a 32-bit generator (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003)). */
function randomPhases(count: number, seed: number): Float64Array {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const phases = floatZeros(count, false) as Float64Array;
  for (let k = 0; k < count; k++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    phases[k] = (2 * Math.PI * state) / 2 ** 32;
  }
  return phases;
}
