/**
 * Points along a logarithmic spiral of the complex plane, in double-double (four doubles each, as in complex-dd.ts): roots and
 * powers of complex numbers, for chirps that are none of a root of unity.
 */

import { cosTurn, sinTurn, toDoubleDouble } from '../exact.ts';
import { ddAdd, ddMulComplex } from './doubledouble.ts';

/** One complex number: `re.hi, re.lo, im.hi, im.lo`. */
export type ComplexDd = Float64Array;

export function complexDd(re: number, im: number): ComplexDd {
  return Float64Array.of(re, 0, im, 0);
}

/** e^(2πi·p/q), correctly rounded. @param q > 0 */
export function turnComplexDd(p: bigint, q: bigint): ComplexDd {
  return Float64Array.of(...toDoubleDouble(cosTurn(p, q)), ...toDoubleDouble(sinTurn(p, q)));
}

/** 1/z, to some 100 bits. @param z not 0, and far from the ends of what doubles can be */
export function inverseComplexDd(z: ComplexDd): ComplexDd {
  const size = z[0]! * z[0]! + z[2]! * z[2]!;
  const y = complexDd(z[0]! / size, -z[2]! / size);
  // Newton: y ← y·(2 − z·y) doubles the digits that are right, of which there are 52 to begin with.
  for (let round = 0; round < 2; round++) correct(y, multiplyComplexDd(z, y), 2, 1);
  return y;
}

/** One of the two square roots of z, that with a real part from 0; accuracy and parameter as above. */
export function rootComplexDd(z: ComplexDd): ComplexDd {
  const [re, im] = [z[0]!, z[2]!];
  const size = Math.hypot(re, im);
  const large = Math.sqrt((size + Math.abs(re)) / 2);
  const small = Math.abs(im) / (2 * large);
  const [x, y] = re >= 0 ? [large, small] : [small, large];
  // Newton for 1/√z needs no division: r ← r·(3 − z·r²)/2. It begins with the conjugate over |z|.
  const r = complexDd(x / size, (im < 0 ? y : -y) / size);
  for (let round = 0; round < 2; round++) correct(r, multiplyComplexDd(z, multiplyComplexDd(r, r)), 3, 0.5);
  return multiplyComplexDd(z, r);
}

/** y ← y·(from − residue)·scale, in place. @param scale a power of two */
function correct(y: ComplexDd, residue: ComplexDd, from: number, scale: number): void {
  for (let part = 0; part < 4; part++) residue[part]! *= -1;
  ddAdd(residue, 0, residue[0]!, residue[1]!, from, 0);
  ddMulComplex(y, 0, y, 0, residue, 0);
  for (let part = 0; part < 4; part++) y[part]! *= scale;
}

function multiplyComplexDd(a: ComplexDd, b: ComplexDd): ComplexDd {
  const result = new Float64Array(4);
  ddMulComplex(result, 0, a, 0, b, 0);
  return result;
}

/** first·z^n for n = 0, 1, … : `count` numbers. The n-th is wrong by some n·2^-102. */
export function complexDdPowers(z: ComplexDd, count: number, first = complexDd(1, 0)): Float64Array {
  const table = new Float64Array(4 * count);
  if (count > 0) table.set(first);
  for (let n = 1; n < count; n++) ddMulComplex(table, 4 * n, table, 4 * (n - 1), z, 0);
  return table;
}

/** z^(n²) for n = 0, 1, … : `count` numbers. The n-th is wrong by some n²·2^-102, so that 2^23 of them are good doubles. */
export function squarePowers(z: ComplexDd, count: number): Float64Array {
  const table = new Float64Array(4 * count);
  if (count > 0) table[0] = 1;
  const step = Float64Array.from(z);
  const square = multiplyComplexDd(z, z);
  // n² − (n − 1)² = 2n − 1.
  for (let n = 1; n < count; n++) {
    ddMulComplex(table, 4 * n, table, 4 * (n - 1), step, 0);
    ddMulComplex(step, 0, step, 0, square, 0);
  }
  return table;
}

/** Complex double-doubles → pairs of doubles, each the nearest. */
export function roundComplexDds(table: Float64Array): Float64Array {
  const pairs = new Float64Array(table.length / 2);
  // hi is the nearest double already.
  for (let k = 0; k < pairs.length; k++) pairs[k] = table[2 * k]!;
  return pairs;
}
