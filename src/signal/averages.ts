/** Averages of the periodograms of frames: their mean, or the median freed of its bias. */
import { floatZeros } from '../numpy/array.ts';
import type { Floats } from './floats.ts';

export type Average = 'mean' | 'median';
export const averages: readonly Average[] = ['mean', 'median'];

/** Products of spectra, conj(X) · Y, of one line; `result` is their average over its frames, as pairs. */
export interface Averager {
  /** @param frame of the line, for the first of `count` frames */
  readonly add: (x: Floats, y: Floats, frame: number, count: number) => void;
  /** Writes the average and begins anew. */
  readonly take: (target: Float64Array) => void;
}

/**
 * @param frames of each line
 * @throws FftError `out-of-memory`
 */
export function newAverager(average: Average, bins: number, frames: number): Averager {
  return average === 'mean' ? meanAverager(bins, frames) : medianOf(bins, frames);
}

function meanAverager(bins: number, frames: number): Averager {
  const sum = floatZeros(2 * bins, false);
  return {
    add(x, y, _frame, count) {
      for (let at = 0, k = 0; at < 2 * bins * count; at += 2, k = k + 2 === 2 * bins ? 0 : k + 2) {
        const [a, b, c, d] = [x[at]!, x[at + 1]!, y[at]!, y[at + 1]!];
        sum[k]! += a * c + b * d;
        sum[k + 1]! += a * d - b * c;
      }
    },
    take(target) {
      for (let k = 0; k < sum.length; k++) target[k] = sum[k]! / frames;
      sum.fill(0);
    },
  };
}

/** Real and imaginary parts have medians of their own. */
function medianOf(bins: number, frames: number): Averager {
  // Of each part of each bin, the values of all frames.
  const all = floatZeros(2 * bins * frames, false);
  const bias = medianBias(frames);
  return {
    add(x, y, frame, count) {
      for (let f = 0; f < count; f++) {
        for (let k = 0; k < bins; k++) {
          const at = 2 * (f * bins + k);
          const [a, b, c, d] = [x[at]!, x[at + 1]!, y[at]!, y[at + 1]!];
          all[2 * k * frames + frame + f] = a * c + b * d;
          all[(2 * k + 1) * frames + frame + f] = a * d - b * c;
        }
      }
    },
    take(target) {
      for (let k = 0; k < 2 * bins; k++) {
        const sorted = all.subarray(k * frames, (k + 1) * frames).sort();
        const middle = (frames - 1) / 2;
        target[k] = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2 / bias;
      }
    },
  };
}

/**
 * What the median of the powers of n frames of noise is, in their mean: B. Allen et al., “FINDCHIRP”, Physical Review D 85
 * (2012), appendix B.
 */
function medianBias(n: number): number {
  let bias = 1;
  for (let k = 2; k <= n - 1; k += 2) bias += 1 / (k + 1) - 1 / k;
  return bias;
}
