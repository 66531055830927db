/** The chirp of Bluestein's algorithm and its spectrum. */
import { productError } from './doubledouble.ts';
import { PAIRS, pairRoots } from './pairs.ts';
import { QUADS } from './quads.ts';
import { symmetricTransform } from './symmetric.ts';

/** n² modulo 2·of for n = 0, 1, …, from differences, so that nothing grows. */
function squares(of: number, count: number): Float64Array {
  const found = new Float64Array(count);
  for (let n = 1; n < count; n++) {
    const next = found[n - 1]! + 2 * n - 1;
    found[n] = next < 2 * of ? next : next < 4 * of ? next - 2 * of : next % (2 * of);
  }
  return found;
}

/** e^{−πi·n²/of} for n below `of`, then zeros: pairs, each part the nearest double. */
export function chirp(of: number, length: number): Float64Array {
  const exponents = squares(of, of);
  const values = new Float64Array(2 * length);
  values.set(pairRoots(2 * of, of, (n) => exponents[n]!));
  return values;
}

/** Doubles of spectra that are kept for the next plan. */
const KEPT = 2 ** 22;

/** The first half of each spectrum, the one asked for last at the end. */
const kept = new Map<string, Float64Array>();

/**
 * The transform of e^{πi·n²/of} for |n| < of, laid around both ends of a circle of so many points, over that number: pairs.
 * @param precision of the tables that it is for. For doubles it is computed in double-double, whose error of some 2^-100 is lost
 * in the last rounding; for singles in doubles, some ten times as fast.
 */
export function chirpSpectrum(of: number, length: number, precision: 'single' | 'double' = 'double'): Float64Array {
  const half = keptHalf(of, length, precision);
  const values = new Float64Array(2 * length);
  values.set(half);
  for (let k = Math.floor(length / 2) + 1; k < length; k++) {
    values[2 * k] = half[2 * (length - k)]!;
    values[2 * k + 1] = half[2 * (length - k) + 1]!;
  }
  return values;
}

function keptHalf(of: number, length: number, precision: 'single' | 'double'): Float64Array {
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

function halfSpectrum(of: number, length: number, precision: 'single' | 'double'): Float64Array {
  const numbers = precision === 'single' ? PAIRS : QUADS;
  const { words } = numbers;
  const exponents = squares(of, of);
  const circle = new Float64Array(words * (Math.floor(length / 2) + 1));
  circle.set(numbers.roots(2 * of, of, (n) => exponents[n]!));
  const spectrum = symmetricTransform(circle, length, numbers);
  // What is symmetric and conjugated has a conjugated transform.
  const values = new Float64Array((2 * spectrum.length) / words);
  const part = words / 2;
  for (let n = 0; n < values.length; n++) {
    const at = n * part;
    const hi = spectrum[at]!;
    const scaled = part === 1 ? hi / length : quotient(hi, spectrum[at + 1]!, length);
    values[n] = n % 2 === 0 ? scaled : 0 - scaled;
  }
  return values;
}

/** (hi + lo) / n, rounded once. */
function quotient(hi: number, lo: number, n: number): number {
  const near = hi / n;
  const product = near * n;
  return near + (hi - product - productError(near, n, product) + lo) / n;
}
