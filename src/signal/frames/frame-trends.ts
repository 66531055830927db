/** Trends that are subtracted from the frames of a line before they are transformed: each frame's mean, or its least-squares straight line. */

import type { Floats } from '../arguments/floats.ts';
import { fitTrend, type Trend } from '../filters/detrend.ts';

/** The frames of a line. */
export interface TrendFrames {
  readonly size: number;
  readonly hop: number;
  readonly frames: number;
  readonly trend: Trend;
  /** Whether numbers are complex; real and imaginary parts have separate trends. */
  readonly twoSided: boolean;
  /** Memory for the sums of the hops in a frame. */
  readonly hops: Float64Array;
}

/**
 * Computes the trends of frames.
 * @param start index of the first frame's first number in `line`
 * @param level gets the value at the middle of each frame (re and im for complex frames)
 * @param slope gets the rise from sample to sample, for linear trends
 */
export function fillTrends(
  line: Floats,
  start: number,
  frames: TrendFrames,
  level: Floats,
  slope: Floats | undefined,
): void {
  const parts = frames.twoSided ? 2 : 1;
  for (let part = 0; part < parts; part++) {
    if (slope) fitFrames(line, start + part, frames, level, slope, part);
    else frameMeans(line, start + part, frames, level, part);
  }
}

function fitFrames(
  line: Floats,
  start: number,
  { size, hop, frames, trend, twoSided }: TrendFrames,
  level: Floats,
  slope: Floats,
  part: number,
): void {
  const step = twoSided ? 2 : 1;
  const fit = new Float64Array(2);
  for (let frame = 0; frame < frames; frame++) {
    fitTrend(line, { start: start + frame * hop * step, length: size, step }, trend, fit);
    const [first, rise] = fit as unknown as [number, number];
    level[frame * step + part] = first + (rise * (size - 1)) / 2;
    slope[frame * step + part] = rise;
  }
}

/** Sums over frames. A frame is divided into whole hops and a remainder, so that samples shared by several frames are summed once. */
function frameMeans(
  line: Floats,
  start: number,
  { size, hop, frames, twoSided, hops }: TrendFrames,
  level: Floats,
  part: number,
): void {
  const step = twoSided ? 2 : 1;
  const whole = Math.floor(size / hop);
  const rest = size - whole * hop;
  // Sums of the hops at the beginning of the next frame. A frame's sum is made of hop sums and not of the previous frame's sum, so that rounding
  // errors do not accumulate.
  for (let k = 0; k < whole - 1; k++) hops[k] = lineSum(line, start + k * hop * step, hop, step);
  for (let frame = 0; frame < frames; frame++) {
    const last = frame + whole - 1;
    if (whole > 0) hops[last % whole] = lineSum(line, start + last * hop * step, hop, step);
    let sum = rest > 0 ? lineSum(line, start + (frame + whole) * hop * step, rest, step) : 0;
    for (let k = 0; k < whole; k++) sum += hops[k]!;
    level[frame * step + part] = sum / size;
  }
}

/** Four independent sums, which a processor adds in parallel. */
function lineSum(line: Floats, from: number, count: number, step: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = from;
  const four = from + (count - (count % 4)) * step;
  for (; at < four; at += 4 * step) {
    a += line[at]!;
    b += line[at + step]!;
    c += line[at + 2 * step]!;
    d += line[at + 3 * step]!;
  }
  for (const end = from + count * step; at < end; at += step) a += line[at]!;
  return a + b + (c + d);
}
