/** Averages of the periodograms of frames: the mean, or the median corrected for its bias. */
import { floatZeros } from '../../numpy/arrays/array.ts';
import type { Floats } from '../arguments/floats.ts';

export type Average = 'mean' | 'median';
export const averages: readonly Average[] = ['mean', 'median'];

/** Accumulates rows of numbers, one for each frame of a line, and averages them. */
export interface Averager {
  /** @param rows one after another, for `count` frames from `frame` on, behind `skip` rows of frames that are there already */
  readonly add: (rows: Floats, frame: number, count: number, skip: number) => void;
  /** Writes the average and begins a new one. */
  readonly take: (target: Floats) => void;
}

/**
 * An average of rows.
 * @param numbers numbers in a row
 * @param frames frames of each line
 * @throws FftError `out-of-memory`
 */
export function newAverager(average: Average, numbers: number, frames: number): Averager {
  return average === 'mean' ? meanAverager(numbers, frames) : medianAverager(numbers, frames);
}

function meanAverager(numbers: number, frames: number): Averager {
  const sum = floatZeros(numbers, false) as Float64Array;
  return {
    add(rows, _frame, count, skip) {
      const start = skip * numbers;
      const end = start + count * numbers;
      let k = 0;
      // All rows are added for four neighbours at once, so that sums stay in registers.
      for (; k + 4 <= numbers; k += 4) {
        let a = 0;
        let b = 0;
        let c = 0;
        let d = 0;
        for (let at = start + k; at < end; at += numbers) {
          a += rows[at]!;
          b += rows[at + 1]!;
          c += rows[at + 2]!;
          d += rows[at + 3]!;
        }
        sum[k]! += a;
        sum[k + 1]! += b;
        sum[k + 2]! += c;
        sum[k + 3]! += d;
      }
      for (; k < numbers; k++) {
        let a = 0;
        for (let at = start + k; at < end; at += numbers) a += rows[at]!;
        sum[k]! += a;
      }
    },
    take(target) {
      for (let k = 0; k < numbers; k++) target[k] = sum[k]! / frames;
      sum.fill(0);
    },
  };
}

/** Real and imaginary parts have separate medians. */
function medianAverager(numbers: number, frames: number): Averager {
  // The values of each number in all frames: as many as spectra hold, so that they are not kept between calls.
  let all: Floats | undefined;
  const bias = medianBias(frames);
  return {
    add(rows, frame, count, skip) {
      all ??= floatZeros(numbers * frames, false);
      for (let f = 0; f < count; f++) {
        for (let k = 0; k < numbers; k++) all![k * frames + frame + f] = rows[(skip + f) * numbers + k]!;
      }
    },
    take(target) {
      for (let k = 0; k < numbers; k++) {
        const sorted = all!.subarray(k * frames, (k + 1) * frames).sort();
        const middle = (frames - 1) / 2;
        target[k] = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2 / bias;
      }
      all = undefined;
    },
  };
}

/** The ratio of the median to the mean of the powers of n frames of noise: B. Allen et al., “FINDCHIRP”, Physical Review D 85 (2012), appendix B. */
function medianBias(n: number): number {
  let bias = 1;
  for (let k = 2; k <= n - 1; k += 2) bias += 1 / (k + 1) - 1 / k;
  return bias;
}
