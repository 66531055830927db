/** Resampling with a given filter, as `scipy.signal.upfirdn`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray } from '../../numpy/arrays/array.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';
import { type Extension, extensions } from '../arguments/extension.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import type { Filtered } from '../filters/lfilter.ts';
import { polyphase } from '../filters/polyphase.ts';

export interface UpfirdnOptions {
  /** Upsampling factor: each sample is followed by up − 1 zeros; default 1. */
  readonly up?: number | undefined;
  /** Downsampling factor: one of `down` samples is kept; default 1. */
  readonly down?: number | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Extension of the signal beyond its ends; default `constant`. */
  readonly mode?: Extension | undefined;
  /** The value of `constant`; default 0. */
  readonly cval?: number | undefined;
}

/** The largest rates, and products of rates with lengths, that are exact. */
export const MOST_RATE = 2 ** 24;

/**
 * Upsamples with zeros, filters, and downsamples. The result has ⌈((n − 1)·up + h.length)/down⌉ samples along the axis; at the first one the filter
 * meets the signal's first sample.
 *
 * @param h coefficients of the filter, real
 * @param x real or complex, of any shape. Single precision stays single
 * @throws FftError `invalid-argument` for options out of range, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`,
 *   `detached-array`, `out-of-memory`
 */
export function upfirdn<X extends ArrayInput>(h: ArrayInput, x: X, options: UpfirdnOptions = {}): Filtered<X> {
  const own = readOptions(options, { works: ['up', 'down', 'axis', 'mode', 'cval'] }, 'upfirdn');
  const kernel = realCoefficients(h, 'h');
  const { mode = 'constant', cval = 0 } = own;
  const [up, down] = [checkInteger('up', own.up ?? 1, 1, MOST_RATE), checkInteger('down', own.down ?? 1, 1, MOST_RATE)];
  checkWord('mode', mode, extensions);
  check('cval', cval, Number.isFinite(cval), 'a finite number');
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const count = Math.ceil(((lines.n - 1) * up + kernel.length) / down);
  const { run } = polyphase(kernel, lines.n, { up, down, start: 0, count }, mode, cval);
  return eachPlane(lines, count, run) as Filtered<X>;
}
