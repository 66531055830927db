/** Resampling by a ratio of integers, in the time domain, as `scipy.signal.resample_poly`. */
import { readOptions } from '../../engine/arguments/options.ts';
import { gcd } from '../../numeric/primes.ts';
import { type ArrayInput, asArray } from '../../numpy/arrays/array.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { realCoefficients } from '../arguments/coefficients.ts';
import { type Extension, extensions } from '../arguments/extension.ts';
import { linesAlong } from '../arguments/lines.ts';
import { eachPlane } from '../arguments/planes.ts';
import { firwin } from '../filter-design/fir-design.ts';
import type { Filtered } from '../filters/lfilter.ts';
import { polyphase } from '../filters/polyphase.ts';
import type { WindowName } from '../windows/window-kinds.ts';
import type { WindowOptions } from '../windows/windows.ts';
import { MOST_RATE } from './upfirdn.ts';

/** Extension of the signal by a constant level, computed from its samples. */
type Level = 'mean' | 'median' | 'maximum' | 'minimum';
const levels: readonly Level[] = ['mean', 'median', 'maximum', 'minimum'];

export interface ResamplePolyOptions {
  /** Time axis; default −1. */
  readonly axis?: number | undefined;
  /** Window that the filter is designed with (`firwin`), by its name; or the filter itself, at the higher rate. Default `kaiser` with a beta of 5. */
  readonly window?: WindowName | Float32Array | Float64Array | undefined;
  /** Parameters of a window given by name. */
  readonly windowOptions?: WindowOptions | undefined;
  /** Extension of the signal beyond its ends; default `constant`. */
  readonly padtype?: Extension | Level | undefined;
  /** The value of `constant`; default 0. */
  readonly cval?: number | undefined;
}

const WORKS = ['axis', 'window', 'windowOptions', 'padtype', 'cval'];

/**
 * Resamples by up/down with a polyphase filter: upsampling with zeros, a low-pass filter of linear phase, and downsampling. Options, defaults and
 * results are those of `scipy.signal.resample_poly`. Unlike resampling by transforms it does not make the ends of the signal run into one another,
 * and any length is equally fast.
 *
 * @param x real or complex, of any shape. Single precision stays single
 * @param up samples of the result for each `down` samples of the signal: ⌈n · up/down⌉ in all
 * @throws FftError `invalid-argument` for rates or options out of range, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`,
 *   `detached-array`, `out-of-memory`, and the errors of windows
 */
export function resamplePoly<X extends ArrayInput>(
  x: X,
  up: number,
  down: number,
  options: ResamplePolyOptions = {},
): Filtered<X> {
  const own = readOptions(options, { works: WORKS }, 'resamplePoly', 3);
  checkInteger('up', up, 1, MOST_RATE);
  checkInteger('down', down, 1, MOST_RATE);
  const { padtype = 'constant', cval = 0 } = own;
  checkWord<Extension | Level>('padtype', padtype, [...extensions, ...levels]);
  check('cval', cval, Number.isFinite(cval), 'a finite number');
  const lines = linesAlong(asArray(x), own.axis ?? -1);
  const divisor = gcd(up, down);
  const rates = { up: up / divisor, down: down / divisor };
  if (rates.up === 1 && rates.down === 1)
    return eachPlane(lines, lines.n, (source, target) => target.set(source)) as Filtered<X>;
  const h = filterFor(own, rates).map((value) => value * rates.up);
  const count = Math.ceil((lines.n * rates.up) / rates.down);
  const level = levels.includes(padtype as Level) ? levelOf[padtype as Level] : undefined;
  const middle = { ...rates, start: Math.floor((h.length - 1) / 2), count };
  const { run } = polyphase(h, lines.n, middle, level ? 'constant' : (padtype as Extension), cval);
  const change = (source: Float64Array, target: Float64Array) => {
    const height = level ? level(source) : 0;
    run(level ? source.map((value) => value - height) : source, target);
    if (level) for (let k = 0; k < target.length; k++) target[k]! += height;
  };
  return eachPlane(lines, count, change) as Filtered<X>;
}

/** The filter at the higher rate: the given one, or a design that reaches ten periods of the lower rate to either side, as in SciPy. */
function filterFor(options: ResamplePolyOptions, { up, down }: { up: number; down: number }): Float64Array {
  const { window = 'kaiser', windowOptions } = options;
  if (arrayClass(window) !== undefined) return realCoefficients(window as Float64Array, 'window');
  const rate = Math.max(up, down);
  const parameters = options.window === undefined ? ({ beta: 5 } as WindowOptions) : windowOptions;
  return firwin(20 * rate + 1, 1 / rate, { window: window as WindowName, windowOptions: parameters });
}

const levelOf: Readonly<Record<Level, (x: Float64Array) => number>> = {
  mean: (x) => x.reduce((sum, value) => sum + value, 0) / x.length,
  maximum: (x) => x.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  minimum: (x) => x.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  median: (x) => {
    const sorted = x.slice().sort();
    const middle = (x.length - 1) / 2;
    return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  },
};
