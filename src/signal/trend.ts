/** What is taken off a frame before its window: nothing, its mean, or the straight line nearest to it. */
import type { Floats } from './floats.ts';

/** SciPy's `detrend`. */
export type Trend = 'constant' | 'linear' | false;

/**
 * The straight line of least squares through every `step`-th of some samples; for a constant, one without slope.
 *
 * @param start of the first sample; there are `length` of them, `step` apart
 * @param into gets the level at sample 0 and the slope from sample to sample
 */
export function fitTrend(
  samples: Floats,
  { start, length, step }: { readonly start: number; readonly length: number; readonly step: number },
  trend: Trend,
  into: Float64Array,
): void {
  into[0] = into[1] = 0;
  if (trend === false) return;
  const middle = (length - 1) / 2;
  let sum = 0;
  let moment = 0;
  for (let k = 0; k < length; k++) {
    const sample = samples[start + k * step]!;
    sum += sample;
    moment += (k - middle) * sample;
  }
  // The sum of (k − middle)² over all k.
  const spread = (length * (length * length - 1)) / 12;
  const slope = trend === 'linear' && length > 1 ? moment / spread : 0;
  into[0] = sum / length - slope * middle;
  into[1] = slope;
}
