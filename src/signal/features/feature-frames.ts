/** Frames of a signal for features: their positions, and the extension of the signal beyond its ends. */
import { FftError } from '../../problem/errors.ts';
import type { Floats } from '../arguments/floats.ts';
import { windowFunction } from '../windows/windows.ts';
import type { FeatureSpec, FramePadding } from './feature-presets.ts';

/** Samples of a signal, of which the first ones may have been dropped. */
export interface Samples {
  readonly data: Floats;
  /** Number of the first sample that is kept. */
  readonly base: number;
  /** Samples of the signal so far, dropped samples and zeros behind the signal included. */
  readonly length: number;
}

/** Samples that a frame needs: those behind the window are multiplied by zeros. */
export function frameLength({ frames, nFft, winLength }: FeatureSpec): number {
  return frames === 'center' || frames === 'whole' ? nFft : winLength;
}

/** Writes the mean of each frame of samples that begin with the first frame. */
export function fillMeans(means: Floats, samples: Floats, spec: FeatureSpec): void {
  const [length, hop] = [frameLength(spec), spec.hopLength];
  for (let frame = 0; frame < means.length; frame++) {
    let sum = 0;
    for (let k = frame * hop; k < frame * hop + length; k++) sum += samples[k]!;
    means[frame] = sum / length;
  }
}

/** The number of samples by which the first frame begins before the signal. */
export function paddingOf({ frames, nFft, winLength, hopLength }: FeatureSpec): number {
  if (frames === 'center') return Math.floor(nFft / 2);
  return frames === 'round' ? Math.floor(winLength / 2) - Math.floor(hopLength / 2) : 0;
}

/** The number of frames of a whole signal. */
export function framesOf(spec: FeatureSpec, length: number): number {
  const { frames, hopLength, dropLast } = spec;
  if (frames === 'round') return Math.floor((length + Math.floor(hopLength / 2)) / hopLength);
  const whole = length + 2 * paddingOf(spec) - frameLength(spec);
  return Math.max(0, 1 + Math.floor(whole / hopLength) - (dropLast ? 1 : 0));
}

/** The number of frames that are complete, whatever follows. */
export function completeFrames(spec: FeatureSpec, length: number): number {
  const whole = length + paddingOf(spec) - frameLength(spec);
  // A frame before the signal's beginning needs the samples that are mirrored there.
  if (whole < 0 || length < leastLength(spec)) return 0;
  return 1 + Math.floor(whole / spec.hopLength);
}

/** The least number of samples of a signal. */
export function leastLength(spec: FeatureSpec): number {
  const { frames, padMode, winLength } = spec;
  if (frames === 'whole') return frameLength(spec);
  const padding = Math.max(0, paddingOf(spec));
  const mirrored = padMode === 'symmetric' ? padding : padMode === 'reflect' ? padding + 1 : 0;
  return Math.max(winLength, padding > 0 ? mirrored : 0);
}

/** Refuses a signal that is too short. @throws FftError `invalid-argument` for signals shorter than a window */
export function requireLength(spec: FeatureSpec, length: number): void {
  const least = leastLength(spec);
  if (length >= least) return;
  const message =
    `The signal has ${length} samples; windows of ${spec.winLength}${least > spec.winLength ? ` and what is mirrored at its ends` : ''} need ${least}. ` +
    `Take a shorter winLength${spec.nFft > spec.winLength ? ' and nFft' : ''}, or append zeros to it.`;
  throw new FftError('invalid-argument', message, { path: 'x' });
}

/** The window padded with zeros to the length of the transform: on both sides where frames are centred. */
export function windowOf({ window, winLength, nFft, sym, frames }: FeatureSpec): Float64Array {
  const values = windowOfSpec(window, winLength, sym);
  const padded = new Float64Array(nFft);
  const isCentred = frames === 'center' || frames === 'whole';
  padded.set(values, isCentred ? Math.floor((nFft - winLength) / 2) : 0);
  return padded;
}

function windowOfSpec(window: FeatureSpec['window'], length: number, sym: boolean): Float64Array {
  if (typeof window !== 'string') return window;
  // Povey's window of Kaldi, between Hann's and Hamming's and zero at both ends.
  if (window === 'povey') return windowFunction('hann', length, { sym: true }).map((value) => value ** 0.85);
  return windowFunction(window as 'hann', length, { sym });
}

/**
 * Writes samples into a buffer.
 * @param from number of the first sample; it may be negative
 */
export function fillFrom(target: Floats, samples: Samples, from: number, spec: FeatureSpec): void {
  const { data, base, length } = samples;
  const end = from + target.length;
  // Samples of surplus frames and of zeros behind windows may lie farther away.
  const reach = frameLength(spec) + 1;
  target.fill(0);
  for (let at = Math.max(from, -reach); at < Math.min(end, 0); at++)
    target[at - from] = beyond(samples, at, spec.padMode);
  const first = Math.max(from, base);
  const last = Math.min(end, length, base + data.length);
  if (last > first) target.set(data.subarray(first - base, last - base), first - from);
  for (let at = Math.max(from, length); at < Math.min(end, length + reach); at++) {
    target[at - from] = beyond(samples, at, spec.padMode);
  }
}

export function beyond({ data, base, length }: Samples, at: number, mode: FramePadding): number {
  if (mode === 'constant') return 0;
  if (mode === 'edge') return data[(at < 0 ? 0 : length - 1) - base] ?? 0;
  const again = mode === 'reflect' ? 0 : 1;
  const mirrored = at < 0 ? -at - again : 2 * length - 2 - at + again;
  return data[mirrored - base] ?? 0;
}
