/** NumPy's helper functions: frequencies of bins, the order of bins, lengths worth padding to. */

import { readOptions } from '../engine/arguments/options.ts';
import { FftError, show } from '../problem/errors.ts';
import type { NewFloat64Array } from '../problem/index.ts';
import { snapshot } from '../problem/input/snapshot.ts';
import { hermitianLength } from '../problem/layout/layout.ts';
import {
  type ArrayInput,
  allocated,
  asArray,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
  type SameArray,
} from './arrays/array.ts';
import { checkLength, resolveAxes } from './calls/axes.ts';

export { type FastLengthOptions, nextFastLength, prevFastLength } from '../engine/fast-length.ts';

/** The sample spacing, as a number or as an option. */
export type Spacing = number | { readonly d?: number | undefined };

/** Axes for `fftshift` and `ifftshift`: one, several, or as an option. Default, also for `null`: all. */
export type ShiftAxes =
  | number
  | readonly number[]
  | null
  | { readonly axes?: number | readonly number[] | null | undefined };

/**
 * The frequency of each of `n` bins, in cycles per unit of the sample spacing `d`: 0, 1, … , −2, −1 times 1/(d·n).
 *
 * @param d sample spacing, also as `{ d }`; default 1
 * @returns float64 of shape `[n]`
 * @throws FftError `invalid-size`, `invalid-argument`, `unknown-field`, `out-of-memory`
 */
export function fftfreq(n: number, d: Spacing = 1): NumpyArray<'float64'> {
  const step = binSpacing(n, d, 'fftfreq');
  const data = floatZeros(n, false) as NewFloat64Array;
  const negative = Math.ceil(n / 2);
  for (let k = 0; k < n; k++) data[k] = (k < negative ? k : k - n) * step;
  return { data, shape: [n], dtype: 'float64' };
}

/**
 * The frequency of each bin that `rfft` of `n` samples gives, in cycles per unit of the sample spacing `d`:
 * 0, 1, … ⌊n/2⌋ times 1/(d·n). All are positive, that of the last bin of an even length too.
 *
 * @param d sample spacing, also as `{ d }`; default 1
 * @returns float64 of shape `[⌊n/2⌋ + 1]`
 * @throws FftError as `fftfreq`
 */
export function rfftfreq(n: number, d: Spacing = 1): NumpyArray<'float64'> {
  const step = binSpacing(n, d, 'rfftfreq');
  const bins = hermitianLength(n);
  const data = floatZeros(bins, false) as NewFloat64Array;
  for (let k = 0; k < bins; k++) data[k] = k * step;
  return { data, shape: [bins], dtype: 'float64' };
}

/** The distance of neighbouring bins. @throws FftError `invalid-size`, `invalid-argument`, `unknown-field` */
function binSpacing(n: number, d: Spacing, name: string): number {
  checkLength(n, 'n');
  const spacing = typeof d === 'object' ? (readOptions(d, { works: ['d'] }, name).d ?? 1) : d;
  if (typeof spacing !== 'number' || !Number.isFinite(spacing) || spacing === 0) {
    throw new FftError('invalid-argument', `d is ${show(spacing)}; a sample spacing is a finite number other than 0.`, {
      path: 'd',
    });
  }
  // One division, as in NumPy, so that the last bits agree too.
  return 1 / (n * spacing);
}

/**
 * Moves bin 0 from the start of each axis to its middle, index ⌊n/2⌋.
 *
 * @returns a new array of the same shape; integers become float64
 * @throws FftError `invalid-argument`, `unknown-field`, `out-of-memory`, and those for arrays that are none
 */
export function fftshift<X extends ArrayInput>(x: X, axes: ShiftAxes = {}): SameArray<X> {
  return roll(x, axes, 'fftshift', (length) => Math.floor(length / 2));
}

/**
 * Undoes `fftshift`; for odd lengths the two differ.
 *
 * @returns a new array of the same shape; integers become float64
 * @throws FftError as `fftshift`
 */
export function ifftshift<X extends ArrayInput>(x: X, axes: ShiftAxes = {}): SameArray<X> {
  return roll(x, axes, 'ifftshift', (length) => Math.ceil(length / 2));
}

/** Rolls axes: element k goes to k + shift, modulo the length. */
function roll<X extends ArrayInput>(
  x: X,
  given: ShiftAxes,
  name: string,
  shiftOf: (length: number) => number,
): SameArray<X> {
  const array = asArray(x);
  const { shape, dtype } = array;
  let data: NumpyArray['data'] = allocated(array.data.length, () => array.data.slice());
  let inner = isComplex(dtype) ? 2 : 1;
  const axes = shiftAxes(given, shape.length, name);
  for (let axis = shape.length - 1; axis >= 0; inner *= shape[axis--]!) {
    const block = shape[axis]! * inner;
    // An axis that is named several times is shifted several times.
    const times = axes.filter((named) => named === axis).length;
    const head = block - ((times * shiftOf(shape[axis]!)) % shape[axis]!) * inner;
    // Lengths of 0 make `head` NaN.
    if (times === 0 || block === 0 || head === block) continue;
    const rolled = floatZeros(data.length, isSingle(dtype));
    for (let start = 0; start < data.length; start += block) {
      rolled.set(data.subarray(start + head, start + block), start);
      rolled.set(data.subarray(start, start + head), start + block - head);
    }
    data = rolled;
  }
  return { data, shape, dtype } as SameArray<X>;
}

function shiftAxes(given: ShiftAxes, dimensions: number, name: string): readonly number[] {
  const all = () => Array.from({ length: dimensions }, (_, axis) => axis);
  if (given === null) return all();
  if (typeof given === 'number') return resolveAxes([given], dimensions);
  const read = snapshot(given, 'axes', { code: 'invalid-argument', depth: 1, keep: true });
  if (Array.isArray(read)) return resolveAxes(read, dimensions);
  const { axes } = readOptions(read as Extract<ShiftAxes, { axes?: unknown }>, { works: ['axes'] }, name, 2);
  if (axes === undefined || axes === null) return all();
  return resolveAxes(typeof axes === 'number' ? [axes] : axes, dimensions);
}
