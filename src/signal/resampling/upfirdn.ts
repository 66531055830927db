/** Resampling by a filter of one's own, as `scipy.signal.upfirdn`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray } from '../../numpy/array.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';
import { type Extension, extensions } from '../arguments/extension.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import type { Filtered } from '../filters/lfilter.ts';
import { polyphase } from '../filters/polyphase.ts';

export interface UpfirdnOptions {
  /** One sample becomes so many, the others being zeros; default 1. */
  readonly up?: number | undefined;
  /** Of so many samples one is kept; default 1. */
  readonly down?: number | undefined;
  /** The axis of time; default −1. */
  readonly axis?: number | undefined;
  /** What the signal is beyond its ends; default `constant`. */
  readonly mode?: Extension | undefined;
  /** The value of `constant`; default 0. */
  readonly cval?: number | undefined;
}

/** Rates, and products of them with lengths, that are still exact. */
export const MOST_RATE = 2 ** 24;

/**
 * Puts zeros between samples, filters, and leaves samples out: ⌈((n − 1)·up + h.length)/down⌉ of them are left, the first one where the filter
 * begins.
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
