/** What is taken off the frames of a line before they are transformed: the mean of each, or its straight line of least squares. */

import type { Floats } from '../arguments/floats.ts';
import { fitTrend, type Trend } from '../filters/detrend.ts';

/** Frames of a line. */
export interface TrendFrames {
  readonly size: number;
  readonly hop: number;
  readonly frames: number;
  readonly trend: Trend;
  /** Whether numbers are complex, whose parts have trends of their own. */
  readonly twoSided: boolean;
}

/**
 * @param start of the first frame, in numbers of `line`
 * @param level gets the value at the middle of each frame (of complex ones, re and im)
 * @param slope gets what it rises from sample to sample, of linear trends
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

/** Frames are whole hops and a rest: samples that several frames share are summed up once. */
function frameMeans(
  line: Floats,
  start: number,
  { size, hop, frames, twoSided }: TrendFrames,
  level: Floats,
  part: number,
): void {
  const step = twoSided ? 2 : 1;
  const whole = Math.floor(size / hop);
  const rest = size - whole * hop;
  // Of the hops that the next frame begins with; sums of frames are made of them, not of one another, so that no rounding adds up.
  const hops = new Float64Array(whole);
  const sumOfHop = (hopNumber: number) => sumOf(line, start + hopNumber * hop * step, hop, step);
  for (let k = 0; k < whole - 1; k++) hops[k] = sumOfHop(k);
  for (let frame = 0; frame < frames; frame++) {
    if (whole > 0) hops[(frame + whole - 1) % whole] = sumOfHop(frame + whole - 1);
    let sum = rest > 0 ? sumOf(line, start + (frame + whole) * hop * step, rest, step) : 0;
    for (let k = 0; k < whole; k++) sum += hops[k]!;
    level[frame * step + part] = sum / size;
  }
}

/** Four sums side by side: a processor adds them at once. */
function sumOf(line: Floats, from: number, count: number, step: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
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
