/** The chirp of Bluestein's algorithm and its spectrum. */

import { COMPLEX_DDS } from '../double-double/complex-dd.ts';
import { productError } from '../double-double/doubledouble.ts';
import { PAIRS } from '../transforms/pairs.ts';
import { transformedArray } from '../transforms/passes.ts';
import { asAWhole, symmetricTransform } from '../transforms/symmetric.ts';
import { longChirpSpectrum } from './long-chirp-spectrum.ts';
import { longChirp } from './quadratic-phases.ts';

/** n² modulo 2·of for n = 0, 1, …, from differences, so that nothing grows. */
function squaresModulo(of: number, count: number): Float64Array {
  const found = new Float64Array(count);
  for (let n = 1; n < count; n++) {
    const next = found[n - 1]! + 2 * n - 1;
    found[n] = next < 2 * of ? next : next < 4 * of ? next - 2 * of : next % (2 * of);
  }
  return found;
}

/** What values are for: rounded to doubles, or to double-doubles, which have two words. */
export type Rounding = 'single' | 'double' | 'double-double';

/**
 * From here on singles and doubles come of formulas that take a second for tens of millions of points, where transforms in double-double
 * take minutes, and are good to some 2^-52.
 */
const LONG = 2 ** 17;

/** Whether the tables of a chirp come of formulas. */
function isLong(of: number, precision: Rounding): boolean {
  return of >= LONG && precision !== 'double-double';
}

/** e^{−πi·n²/of} for n below `of`, then zeros: pairs, each part the nearest double (or see `LONG`), or a double-double. */
export function chirp(of: number, length: number, precision: Rounding = 'double'): Float64Array {
  if (isLong(of, precision)) return longChirp(of, length);
  const exponents = squaresModulo(of, of);
  const { words, roots } = precision === 'double-double' ? COMPLEX_DDS : PAIRS;
  const values = new Float64Array(words * length);
  values.set(roots(2 * of, of, (n) => exponents[n]!));
  return values;
}

/** Doubles of spectra that are kept for the next plan. */
const KEPT = 2 ** 22;

/** The first half of each spectrum, the one asked for last at the end. */
const kept = new Map<string, Float64Array>();

/**
 * The transform of e^{πi·n²/of} for |n| < of, laid around both ends of a circle of so many points, over that number: pairs.
 * @param precision of the tables that it is for. For doubles it is computed in double-double, whose error of some 2^-100 is lost
 * in the last rounding; for singles in doubles, some ten times as fast. For double-doubles nothing is rounded.
 */
export function chirpSpectrum(
  of: number,
  length: number,
  precision: Rounding = 'double',
  reach?: { readonly read: number; readonly written: number },
): Float64Array {
  if (reach) return croppedSpectrum(of, length, precision, reach);
  const half = halfChirpSpectrum(of, length, precision);
  const words = precision === 'double-double' ? 4 : 2;
  const values = new Float64Array(words * length);
  values.set(half);
  for (let k = Math.floor(length / 2) + 1; k < length; k++) {
    const mirror = words * (length - k);
    for (let word = 0; word < words; word++) values[words * k + word] = half[mirror + word]!;
  }
  return values;
}

/** The same with the chirp at −(read − 1) … written − 1 only, so that a circle of read + written − 1 points is long enough. */
function croppedSpectrum(
  of: number,
  length: number,
  precision: Rounding,
  { read, written }: { readonly read: number; readonly written: number },
): Float64Array {
  const numbers = precision === 'single' ? PAIRS : COMPLEX_DDS;
  const { words } = numbers;
  const part = words / 2;
  const exponents = squaresModulo(of, Math.max(read, written));
  // The conjugated chirp: −n² of 2·of.
  const roots = numbers.roots(2 * of, exponents.length, (n) => (2 * of - exponents[n]!) % (2 * of));
  const circle = new Float64Array(words * length);
  circle.set(roots.subarray(0, words * written));
  for (let n = 1; n < read; n++) circle.set(roots.subarray(words * n, words * (n + 1)), words * (length - n));
  const spectrum = transformedArray(circle, numbers);
  if (precision === 'double-double') return quotients(spectrum, length);
  const values = new Float64Array(2 * length);
  for (let n = 0; n < values.length; n++) {
    const hi = spectrum[n * part]!;
    values[n] = part === 1 ? hi / length : roundedQuotient(hi, spectrum[n * part + 1]!, length);
  }
  return values;
}

/** The first ⌊length/2⌋ + 1 numbers of the same, which are all but for the mirror image. Only to be read: it is kept. */
export function halfChirpSpectrum(of: number, length: number, precision: Rounding): Float64Array {
  const key = `${of},${length},${precision}`;
  const half = kept.get(key) ?? halfSpectrum(of, length, precision);
  kept.delete(key);
  kept.set(key, half);
  let total = 0;
  for (const { length } of kept.values()) total += length;
  for (const [oldest, { length }] of kept) {
    if (total <= KEPT) break;
    kept.delete(oldest);
    total -= length;
  }
  return half;
}

function halfSpectrum(of: number, length: number, precision: Rounding): Float64Array {
  if (isLong(of, precision)) return longChirpSpectrum(of, length);
  const numbers = precision === 'single' ? PAIRS : COMPLEX_DDS;
  const { words } = numbers;
  const exponents = squaresModulo(of, of);
  const circle = new Float64Array(words * (Math.floor(length / 2) + 1));
  circle.set(numbers.roots(2 * of, of, (n) => exponents[n]!));
  if (precision === 'double-double') return conjugatedQuotients(asAWhole(circle, length, numbers), length);
  const spectrum = symmetricTransform(circle, length, numbers);
  // What is symmetric and conjugated has a conjugated transform.
  const values = new Float64Array((2 * spectrum.length) / words);
  const part = words / 2;
  for (let n = 0; n < values.length; n++) {
    const at = n * part;
    const hi = spectrum[at]!;
    const scaled = part === 1 ? hi / length : roundedQuotient(hi, spectrum[at + 1]!, length);
    values[n] = n % 2 === 0 ? scaled : 0 - scaled;
  }
  return values;
}

/** The conjugates of complex double-doubles over a number. */
function conjugatedQuotients(complexDds: Float64Array, n: number): Float64Array {
  return quotients(complexDds, n).map((word, at) => (at % 4 < 2 ? word : -word));
}

/** Double-doubles over a number. */
function quotients(complexDds: Float64Array, n: number): Float64Array {
  const values = new Float64Array(complexDds.length);
  for (let at = 0; at < values.length; at += 2) {
    const [hi, lo] = [complexDds[at]!, complexDds[at + 1]!];
    const near = hi / n;
    const product = near * n;
    const rest = (hi - product - productError(near, n, product) + lo) / n;
    values[at] = near + rest;
    values[at + 1] = rest - (near + rest - near);
  }
  return values;
}

/** (hi + lo) / n, rounded once. */
function roundedQuotient(hi: number, lo: number, n: number): number {
  const near = hi / n;
  const product = near * n;
  return near + (hi - product - productError(near, n, product) + lo) / n;
}
