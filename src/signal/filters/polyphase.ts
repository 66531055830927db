/**
 * Polyphase filtering: upsampling with zeros, a filter, and downsampling, without computing products with zeros or samples that are dropped: the
 * filter is divided into phases (R. E. Crochiere and L. R. Rabiner, "Multirate Digital Signal Processing" (1983), chapter 3).
 */
import { floatZeros } from '../../numpy/arrays/array.ts';
import { type Extension, extendLine } from '../arguments/extension.ts';

/** The rates, offset and length of a resampled line. */
export interface Rates {
  /** Upsampling factor: one sample and up − 1 zeros. */
  readonly up: number;
  /** Downsampling factor: one of `down` samples is kept. */
  readonly down: number;
  /** Position of the filter at the first output, in samples of the upsampled line. */
  readonly start: number;
  /** Number of outputs. */
  readonly count: number;
}

/** A filter prepared for lines of one length. */
export interface Polyphase {
  /** Filters one line. */
  readonly run: (source: Float64Array, target: Float64Array) => void;
}

/**
 * A prepared polyphase filter.
 * @param h coefficients of the filter
 * @param length samples of a line
 * @param mode extension of a line beyond its ends
 * @throws FftError `out-of-memory`
 */
export function polyphase(h: Float64Array, length: number, rates: Rates, mode: Extension, cval = 0): Polyphase {
  const { up, down, start, count } = rates;
  const taps = Math.ceil(h.length / up);
  // The taps of each phase, one phase after another, in the order of the samples.
  const phases = floatZeros(up * taps, false);
  for (let k = 0; k < h.length; k++) phases[(k % up) * taps + taps - 1 - Math.floor(k / up)] = h[k]!;
  const furthest = Math.floor((start + (count - 1) * down) / up);
  const before = taps - 1;
  const line = floatZeros(before + Math.max(length, furthest + 1), false) as Float64Array;
  const run = (source: Float64Array, target: Float64Array) => {
    line.set(source, before);
    extendLine(line, before, length, mode, cval);
    let place = Math.floor(start / up);
    let phase = start - place * up;
    const [whole, rest] = [Math.floor(down / up), down % up];
    for (let k = 0; k < count; k++) {
      target[k] = dot(line, place, phases as Float64Array, phase * taps, taps);
      place += whole;
      phase += rest;
      if (phase >= up) {
        phase -= up;
        place++;
      }
    }
  };
  return { run };
}

function dot(x: Float64Array, at: number, h: Float64Array, from: number, taps: number): number {
  const whole = taps - (taps % 4);
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  for (let k = 0; k < whole; k += 4) {
    s0 += x[at + k]! * h[from + k]!;
    s1 += x[at + k + 1]! * h[from + k + 1]!;
    s2 += x[at + k + 2]! * h[from + k + 2]!;
    s3 += x[at + k + 3]! * h[from + k + 3]!;
  }
  for (let k = whole; k < taps; k++) s0 += x[at + k]! * h[from + k]!;
  return s0 + s1 + (s2 + s3);
}
