/** Signals without their mean or their slope, as `scipy.signal.detrend`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray } from '../../numpy/arrays/array.ts';
import { check, checkWord } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';
import type { Floats } from '../arguments/floats.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import type { Filtered } from './lfilter.ts';

export interface DetrendOptions {
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Trend to subtract. `linear`: the least-squares straight line, the default; `constant`: the mean. */
  readonly type?: 'linear' | 'constant' | undefined;
  /** Samples at which a new line begins; default none. */
  readonly bp?: number | readonly number[] | undefined;
}

/**
 * Subtracts the least-squares straight line, or the mean, from a signal. Options, defaults and results are those of `scipy.signal.detrend`.
 *
 * @param x real or complex, of any shape
 * @returns an array of x's shape; single precision stays single
 * @throws FftError `invalid-argument` for options out of range, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`,
 *   `detached-array`, `out-of-memory`
 */
export function detrend<X extends ArrayInput>(x: X, options: DetrendOptions = {}): Filtered<X> {
  const own = readOptions(options, { works: ['axis', 'type', 'bp'] }, 'detrend', 2);
  const type = checkWord<'linear' | 'constant'>('type', own.type ?? 'linear', ['linear', 'constant']);
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const given =
    own.bp === undefined || (Array.isArray(own.bp) && own.bp.length === 0)
      ? []
      : realCoefficients(own.bp as number[], 'bp');
  for (const place of given) {
    const isInside = Number.isInteger(place) && place >= 0 && place <= lines.n;
    check('bp', place, isInside, `places in the signal, integers from 0 to ${lines.n}`);
  }
  // The mean is taken over the whole signal, without breakpoints, as in SciPy.
  const breaks = [...new Set([0, ...(type === 'linear' ? given : []), lines.n])].sort((a, b) => a - b);
  const fit = new Float64Array(2);
  return eachPlane(lines, lines.n, (source, target) => {
    for (let piece = 0; piece + 1 < breaks.length; piece++) {
      const [start, end] = [breaks[piece]!, breaks[piece + 1]!];
      fitTrend(source, { start, length: end - start, step: 1 }, type, fit);
      const [level, slope] = fit as unknown as [number, number];
      for (let k = start; k < end; k++) target[k] = source[k]! - (level + slope * (k - start));
    }
  }) as Filtered<X>;
}

/** SciPy's `detrend`. */
export type Trend = 'constant' | 'linear' | false;

/**
 * The least-squares straight line through every `step`-th of some samples; without slope for a constant trend.
 *
 * @param start index of the first of `length` samples, which lie `step` apart
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
