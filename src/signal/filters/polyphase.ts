/**
 * Zeros between samples, a filter, and samples left out, without computing what is multiplied by zeros or left out: the filter falls apart
 * into phases (R. E. Crochiere and L. R. Rabiner, "Multirate Digital Signal Processing" (1983), chapter 3).
 */
import { floatZeros } from '../../numpy/array.ts';
import { type Extension, extendLine } from '../arguments/extension.ts';

/** How a line is resampled. */
export interface Rates {
  /** Zeros and a sample, together. */
  readonly up: number;
  /** Of so many, one is kept. */
  readonly down: number;
  /** Where the filter stands at the first output, in samples with zeros between them. */
  readonly start: number;
  /** How many outputs. */
  readonly count: number;
}

/** A filter that is ready for lines of some length. */
export interface Polyphase {
  /** Filters one line. */
  readonly run: (source: Float64Array, target: Float64Array) => void;
}

/**
 * @param h the filter
 * @param length samples of a line
 * @param mode what a line is beyond its ends
 * @throws FftError `out-of-memory`
 */
export function polyphase(h: Float64Array, length: number, rates: Rates, mode: Extension, cval = 0): Polyphase {
  const { up, down, start, count } = rates;
  const taps = Math.ceil(h.length / up);
  // Of each phase, its taps one after another, for samples in their order.
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
