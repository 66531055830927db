/** The coloured area of a spectrogram: levels over time and frequency, resampled to pixels. */

import type { LevelSpectrogram } from '../../signal/index.ts';
import { frequencyScale } from './frequency-scale.ts';
import { coloursOf, type PictureStyle } from './style.ts';

/** RGBA pixels, row by row from the top, 8 bits a channel. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The levels, in decibels, at the dark and at the bright end of the colours. */
export interface LevelRange {
  readonly low: number;
  readonly high: number;
}

/** The least level of the bright end, in decibels: below it there is silence, which has to look dark. */
const FAINTEST = -100;

/**
 * The range of a recording: up to the loudest level, and down to the noise floor, at least 40 and at most 100 dB, in steps of 10.
 * @param dynamicRange decibels below the loudest level, instead of the noise floor
 */
export function levelRange(
  { levels, bins }: Pick<LevelSpectrogram, 'levels' | 'bins'>,
  dynamicRange?: number,
): LevelRange {
  // Some ten thousand levels suffice for the floor; the loudest level has to be exact.
  const stride = coprime(Math.max(1, Math.floor(levels.length / 20_000)), bins);
  const count = Math.ceil(levels.length / stride);
  const sample = Float32Array.from({ length: count }, (_, index) => levels[index * stride] ?? 0).sort();
  const floor = sample[Math.floor(sample.length * 0.1)] ?? 0;
  const loudest = levels.reduce((most, level) => Math.max(most, level), FAINTEST);
  const high = Math.ceil(loudest / 10) * 10;
  if (dynamicRange !== undefined) return { high, low: high - dynamicRange };
  const low = Math.floor(floor / 10) * 10;
  return { high, low: Math.min(Math.max(low, high - 100), high - 40) };
}

/** The least number from `least` up that is coprime to `bins`: steps of it visit all bins equally often. */
function coprime(least: number, bins: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let step = least;
  while (divisor(step, bins) > 1) step++;
  return step;
}

/** Draws a spectrogram over its whole duration (left to right) and all frequencies of the scale (upwards). */
export function heatmap(
  spectrogram: LevelSpectrogram,
  range: LevelRange,
  width: number,
  height: number,
  { frequencies = 'linear', colours = 'magma' }: PictureStyle = {},
): Pixels {
  const { levels, frames, bins, size, hop, sampleRate } = spectrogram;
  const duration = (frames - 1) * hop + size;
  // A frame is shown at its middle: sample t lies in frame (t − size/2) / hop.
  const frameAt = (x: number) => ((x / width) * duration - size / 2) / hop;
  const { hertzAt } = frequencyScale(frequencies, spectrogram);
  const binAt = (y: number) => (hertzAt(y / height) * size) / sampleRate;
  const rows = pixelRows(levels, { frames, bins, width, height, frameAt, binAt });
  const palette = coloursOf(colours);
  const data = new Uint8Array(4 * width * height).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const step = 3 * colourIndex(rows[(height - 1 - y) * width + x] ?? range.low, range);
      const at = 4 * (y * width + x);
      for (let channel = 0; channel < 3; channel++) data[at + channel] = palette[step + channel]!;
    }
  }
  return { width, height, data };
}

/**
 * Resamples levels, which lie frame by frame, to rows of pixels from the lowest frequency up. Frequencies are resampled first if there are so many
 * that rows over time would exceed the size of an array.
 */
function pixelRows(
  levels: Float32Array,
  {
    frames,
    bins,
    width,
    height,
    frameAt,
    binAt,
  }: Readonly<Record<'frames' | 'bins' | 'width' | 'height', number>> &
    Readonly<Record<'frameAt' | 'binAt', (pixel: number) => number>>,
): Float32Array {
  if (width * bins <= MOST_LEVELS || height * frames > width * bins) {
    const columns = resampleRows(levels, frames, bins, width, frameAt);
    return resampleRows(transposeMatrix(columns, width, bins), bins, width, height, binAt);
  }
  const rows = resampleRows(transposeMatrix(levels, frames, bins), bins, frames, height, binAt);
  const columns = resampleRows(transposeMatrix(rows, height, frames), frames, height, width, frameAt);
  return transposeMatrix(columns, width, height);
}

/** The most levels between the two steps of resampling. */
const MOST_LEVELS = 2 ** 28;

/** The index of a level's colour among 256. */
function colourIndex(level: number, { low, high }: LevelRange): number {
  return Math.round(Math.min(Math.max((level - low) / (high - low), 0), 1) * 255);
}

/**
 * Resamples the rows of a matrix. Output row i covers the input rows from `position(i)` to `position(i + 1)`. If that is more than one row, their
 * maximum is taken, because a mean would hide short sounds; otherwise neighbouring rows are blended.
 */
function resampleRows(
  matrix: Float32Array,
  rows: number,
  columns: number,
  count: number,
  position: (index: number) => number,
): Float32Array {
  const result = new Float32Array(count * columns);
  const clamp = (row: number) => Math.min(Math.max(row, 0), rows - 1);
  for (let i = 0; i < count; i++) {
    const from = clamp(position(i));
    const to = clamp(position(i + 1));
    const out = result.subarray(i * columns, (i + 1) * columns);
    const row = (index: number) => matrix.subarray(index * columns, (index + 1) * columns);
    if (to - from > 1) {
      out.fill(Number.NEGATIVE_INFINITY);
      for (let k = Math.ceil(from); k <= Math.floor(to); k++) {
        row(k).forEach((level, column) => {
          if (level > (out[column] ?? 0)) out[column] = level;
        });
      }
    } else {
      const middle = (from + to) / 2;
      const below = row(Math.floor(middle));
      const above = row(Math.ceil(middle));
      const weight = middle - Math.floor(middle);
      below.forEach((level, column) => {
        out[column] = level + weight * ((above[column] ?? level) - level);
      });
    }
  }
  return result;
}

function transposeMatrix(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = matrix[row * columns + column] ?? 0;
    }
  }
  return result;
}
