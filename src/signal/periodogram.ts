/** The power spectrum of a whole signal, as `scipy.signal.periodogram`. */
import { readOptions } from '../engine/arguments/options.ts';
import { type ArrayInput, asArray } from '../numpy/array.ts';
import type { DeviceChoice } from '../numpy/choice.ts';
import { checkInteger } from './check.ts';
import { type Density, type WelchOptions, welch } from './density.ts';
import { linesOf } from './lines.ts';
import { eachPlane } from './planes.ts';
import { SEGMENT_LEVELS } from './segments.ts';

export interface PeriodogramOptions
  extends Omit<WelchOptions, 'nperseg' | 'noverlap' | 'average' | 'nfft'>,
    DeviceChoice {
  /** Length of the transform; default that of the signal, which is cut off or filled up with zeros. */
  readonly nfft?: number | undefined;
}

const WORKS = ['fs', 'window', 'windowOptions', 'nfft', 'detrend', 'returnOnesided', 'scaling', 'axis', 'device'];

/**
 * Power spectral density by one transform of all samples, in units² per hertz (or units² with `scaling: 'spectrum'`): as exact in frequency as can be,
 * and as noisy. Options, defaults (a window of ones, the mean taken off) and results are those of `scipy.signal.periodogram`.
 *
 * @param x real or complex, of any shape; it must stay as it is until the promise resolves
 * @throws FftError (as a rejection) as `welch`
 */
export async function periodogram<X extends ArrayInput>(x: X, options: PeriodogramOptions = {}): Promise<Density<X>> {
  const { nfft, window = 'boxcar', ...own } = readOptions(options, { works: WORKS }, 'periodogram', SEGMENT_LEVELS);
  const array = asArray(x);
  const lines = linesOf(array, own.axis ?? -1);
  const length = nfft === undefined ? lines.n : checkInteger('nfft', nfft, 1);
  const nperseg = Math.min(length, lines.n);
  const cut =
    nperseg === lines.n
      ? array
      : eachPlane(lines, nperseg, (source, target) => target.set(source.subarray(0, nperseg)));
  return (await welch(cut, { ...own, window, nperseg, noverlap: 0, nfft: length })) as Density<X>;
}
