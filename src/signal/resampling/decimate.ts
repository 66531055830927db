/** Decimation: fewer samples, after a low-pass filter, as `scipy.signal.decimate`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { type ArrayInput, asArray, type NumpyArray } from '../../numpy/arrays/array.ts';
import { checkInteger, checkWord } from '../arguments/check.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import { firwin } from '../filter-design/fir-design.ts';
import { cheby1 } from '../filter-design/iir-design.ts';
import { sectionsBothWays } from '../filters/filtfilt.ts';
import type { Filtered } from '../filters/lfilter.ts';
import { sosfilt } from '../filters/sosfilt.ts';
import { resamplePoly } from './resample-poly.ts';
import { upfirdn } from './upfirdn.ts';

export interface DecimateOptions {
  /** Order of the filter; default 8 for a recursive filter, 20 q for one of finite impulse response. */
  readonly n?: number | undefined;
  /** Type of the filter. `iir`: Chebyshev type I, the default; `fir`: the window method with Hamming's window. */
  readonly ftype?: 'iir' | 'fir' | undefined;
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Whether the filter has zero phase, by running forwards and backwards; default true. */
  readonly zeroPhase?: boolean | undefined;
}

/**
 * Low-pass filters a signal and keeps every q-th sample: ⌈n/q⌉ of them. Options, defaults and results are those of `scipy.signal.decimate`. For
 * factors over 13, several calls are better than one.
 *
 * @param x real or complex, of any shape. Single precision stays single
 * @param q an integer from 1 on
 * @throws FftError `invalid-argument` for options out of range, and for signals of fewer samples than the filter's padding (27 for order 8),
 *   `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`
 */
export function decimate<X extends ArrayInput>(x: X, q: number, options: DecimateOptions = {}): Filtered<X> {
  const own = readOptions(options, { works: ['n', 'ftype', 'axis', 'zeroPhase'] }, 'decimate');
  checkInteger('q', q, 1, 2 ** 20);
  const { ftype = 'iir', axis = -1, zeroPhase = true } = own;
  checkWord('ftype', ftype, ['iir', 'fir']);
  checkWord('zeroPhase', zeroPhase, [true, false]);
  const order = checkInteger('n', own.n ?? (ftype === 'iir' ? 8 : 20 * q), ftype === 'iir' ? 1 : 0, 2 ** 24);
  const array = asArray(x);
  if (ftype === 'iir') {
    const sos = cheby1(order, 0.05, 0.8 / q, { output: 'sos' });
    const smooth = zeroPhase ? sectionsBothWays(sos.data, array, { axis }) : sosfilt(sos, array, { axis });
    return everyQth(smooth, axis, q) as Filtered<X>;
  }
  const h = firwin(order + 1, 1 / q, { window: 'hamming' });
  if (zeroPhase) return resamplePoly(array, 1, q, { axis, window: h }) as Filtered<X>;
  const lines = linesAlong(array, axis);
  return leadingSamples(upfirdn(h, array, { down: q, axis }), axis, Math.ceil(lines.n / q)) as Filtered<X>;
}

function everyQth(x: NumpyArray, axis: number, q: number): NumpyArray {
  const lines = linesAlong(x, axis);
  return eachPlane(lines, Math.ceil(lines.n / q), (source, target) => {
    for (let k = 0; k < target.length; k++) target[k] = source[k * q]!;
  });
}

function leadingSamples(x: NumpyArray, axis: number, count: number): NumpyArray {
  return eachPlane(linesAlong(x, axis), count, (source, target) => target.set(source.subarray(0, target.length)));
}
