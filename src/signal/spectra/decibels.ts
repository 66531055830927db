/** Powers and amplitudes in decibels and back: librosa's names, which SciPy has none for. */
import { readOptions } from '../../engine/arguments/options.ts';
import {
  type ArrayInput,
  allocated,
  asArray,
  isComplex,
  type NumpyArray,
  type RealTransformed,
} from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { check, checkPositive } from '../arguments/check.ts';
import { areSingles, type Floats } from '../arguments/floats.ts';

export interface DecibelOptions {
  /** Reference of 0 dB: a positive number, in the unit of the input; `'max'`: the largest value. Default 1. */
  readonly ref?: number | 'max' | undefined;
  /** Floor of values and of `ref`; default 1e-10 for powers, 1e-5 for amplitudes. */
  readonly amin?: number | undefined;
  /** Dynamic range in decibels: lower levels are raised to the highest one less this; default 80, `null` for none. */
  readonly topDb?: number | null | undefined;
}

export interface FromDecibelOptions {
  /** Reference of 0 dB; default 1. */
  readonly ref?: number | undefined;
}

/** A quantity: its exponent in a power, and the default floor. */
interface Quantity {
  readonly what: string;
  readonly factor: 10 | 20;
  readonly amin: number;
}
const POWER: Quantity = { what: 'powerToDb', factor: 10, amin: 1e-10 };
const AMPLITUDE: Quantity = { what: 'amplitudeToDb', factor: 20, amin: 1e-5 };

/** The result: a real array of the input's shape. */
export type Levels<X extends ArrayInput> = RealTransformed<X>;

/**
 * Powers in decibels, 10 · log₁₀(power / ref): as `librosa.power_to_db`.
 *
 * @param power real, of any shape; values below `amin`, negative ones too, count as that
 * @throws FftError `invalid-argument` for options out of range, `unknown-field`, `wrong-array-type` for complex numbers, `detached-array`,
 *   `out-of-memory`
 */
export function powerToDb<X extends ArrayInput>(power: X, options: DecibelOptions = {}): Levels<X> {
  return inDecibels(power, options, POWER) as Levels<X>;
}

/** Amplitudes in decibels, 20 · log₁₀(amplitude / ref), with the sign left out: as `librosa.amplitude_to_db`. Errors as `powerToDb`. */
export function amplitudeToDb<X extends ArrayInput>(amplitude: X, options: DecibelOptions = {}): Levels<X> {
  return inDecibels(amplitude, options, AMPLITUDE) as Levels<X>;
}

/** Powers from levels in decibels: ref · 10^(level / 10). Errors as `powerToDb`. */
export function dbToPower<X extends ArrayInput>(levels: X, options: FromDecibelOptions = {}): Levels<X> {
  return fromLevels('dbToPower', levels, options, 10) as Levels<X>;
}

/** Amplitudes from levels in decibels: ref · 10^(level / 20). Errors as `powerToDb`. */
export function dbToAmplitude<X extends ArrayInput>(levels: X, options: FromDecibelOptions = {}): Levels<X> {
  return fromLevels('dbToAmplitude', levels, options, 20) as Levels<X>;
}

/** Reads options of decibels. @throws FftError `invalid-argument`, `unknown-field` */
export function readDecibels(
  options: DecibelOptions,
  what: string,
): Required<DecibelOptions> & { amin: number | undefined } {
  const { ref = 1, amin, topDb = 80 } = readOptions(options, { works: ['ref', 'amin', 'topDb'] }, what);
  check('ref', ref, ref === 'max' || (Number.isFinite(ref) && ref > 0), "a positive number, or 'max'");
  if (amin !== undefined) checkPositive('amin', amin);
  check(
    'topDb',
    topDb,
    topDb === null || (Number.isFinite(topDb) && topDb >= 0),
    'a number of decibels from 0 on, or null',
  );
  return { ref, amin, topDb } as Required<DecibelOptions> & { amin: number | undefined };
}

function inDecibels(given: ArrayInput, options: DecibelOptions, quantity: Quantity): NumpyArray {
  const read = readDecibels(options, quantity.what);
  const { data, shape, dtype } = realValues(given, quantity.what);
  const levels = allocated(data.length, () => data.slice());
  valuesToDecibels(levels, read, quantity);
  return { data: levels, shape: [...shape], dtype } as NumpyArray;
}

/** Converts computed powers to decibels in place. */
export function powersToDb(powers: Floats, options: DecibelOptions): void {
  valuesToDecibels(powers, readDecibels(options, 'decibels'), POWER);
}

function valuesToDecibels(
  values: Floats,
  { ref, amin, topDb }: DecibelOptions,
  { factor, amin: usual }: Quantity,
): void {
  const least = amin ?? usual;
  if (factor === 20) for (let k = 0; k < values.length; k++) values[k] = Math.abs(values[k]!);
  let largest = 0;
  if (ref === 'max') for (let k = 0; k < values.length; k++) largest = Math.max(largest, values[k]!);
  const zero = Math.max(least, ref === 'max' ? largest : ref!);
  const highest = areSingles(values)
    ? singleLevels(values as Float32Array, factor, least, zero)
    : doubleLevels(values as Float64Array, factor, least, zero);
  if (topDb === null || topDb === undefined) return;
  const lowest = highest - topDb;
  for (let k = 0; k < values.length; k++) values[k] = Math.max(values[k]!, lowest);
}

/** Decibels by natural logarithms, which take half the time of decimal ones and differ in the last place of a double, invisibly in singles. */
function singleLevels(values: Float32Array, factor: number, least: number, zero: number): number {
  const natural = factor / Math.LN10;
  // The reference uses the same formula, so that a value equal to it is exactly 0 dB.
  const reference = natural * Math.log(zero);
  let highest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < values.length; k++) {
    const level = natural * Math.log(Math.max(least, values[k]!)) - reference;
    values[k] = level;
    highest = Math.max(highest, level);
  }
  return Math.fround(highest);
}

/** Decibels by decimal logarithms, which give whole numbers for powers of ten. */
function doubleLevels(values: Float64Array, factor: number, least: number, zero: number): number {
  const reference = factor * Math.log10(zero);
  let highest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < values.length; k++) {
    const level = factor * Math.log10(Math.max(least, values[k]!)) - reference;
    values[k] = level;
    highest = Math.max(highest, level);
  }
  return highest;
}

function fromLevels(what: string, given: ArrayInput, options: FromDecibelOptions, divisor: 10 | 20): NumpyArray {
  const { ref = 1 } = readOptions(options, { works: ['ref'] }, what);
  checkPositive('ref', ref);
  const { data, shape, dtype } = realValues(given, what);
  const values = allocated(data.length, () => data.slice());
  for (let k = 0; k < values.length; k++) values[k] = ref * 10 ** (values[k]! / divisor);
  return { data: values, shape: [...shape], dtype } as NumpyArray;
}

function realValues(given: ArrayInput, what: string): NumpyArray & { readonly data: Floats } {
  const array = asArray(given);
  if (!isComplex(array.dtype)) return array as NumpyArray & { readonly data: Floats };
  const message = `${what} takes real numbers; take abs(z) of omnifft/signal of complex ones, and its square for powers.`;
  throw new FftError('wrong-array-type', message, { path: 'x' });
}
