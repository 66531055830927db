/** The order that Rader's algorithm takes the indices of a prime length in, and the spectrum of the roots of unity in it. */

import { complexDdRoots, scaleComplexDd, transformComplexDds } from '../double-double/complex-dd.ts';
import { rational, toDoubleDouble } from '../exact.ts';
import { inverseModulo, primitiveRoot } from '../primes.ts';
import type { Rounding } from './chirp.ts';

/** g^n modulo a prime below 2^26 for n = 0 … prime − 2, where g is its least primitive root; or g^−n. */
export function rootPowersModulo(prime: number, inverse = false): number[] {
  const root = primitiveRoot(prime);
  const factor = inverse ? inverseModulo(root, prime) : root;
  const found: number[] = [1];
  while (found.length < prime - 1) found.push((found.at(-1)! * factor) % prime);
  return found;
}

/** The transform of e^{−2πi·m/of} at m = g^−n, over its length of − 1: pairs, of doubles or of double-doubles. */
export function rootSpectrum(of: number, _length?: number, precision?: Rounding): Float64Array {
  const complexDds = rootSpectrumComplexDds(of);
  if (precision === 'double-double') return complexDds;
  const values = new Float64Array(complexDds.length / 2);
  for (let n = 0; n < values.length; n++) values[n] = complexDds[2 * n]! + complexDds[2 * n + 1]!;
  return values;
}

/** The same to some 2^−100. */
export function rootSpectrumComplexDds(of: number): Float64Array {
  const length = of - 1;
  const order = rootPowersModulo(of, true);
  const roots = complexDdRoots(of, length, (n) => order[n]!);
  const [hi, lo] = toDoubleDouble(rational(1, length));
  for (let n = 0; n < length; n++) scaleComplexDd(roots, 4 * n, hi, lo);
  transformComplexDds(roots);
  return roots;
}
