/**
 * Complex double-double numbers in arrays: four doubles each, `re.hi, re.lo, im.hi, im.lo`.
 * Indices point at `re.hi`, so the k-th number is at 4k.
 */
import { ddAdd, ddMul } from '../../src/numeric/double-double/doubledouble.ts';
import { unitRoot } from './roots.ts';

/** y[t] = x[a] + z[b]. */
export function addComplexDd(y: Float64Array, t: number, x: Float64Array, a: number, z: Float64Array, b: number): void {
  ddAdd(y, t, x[a] as number, x[a + 1] as number, z[b] as number, z[b + 1] as number);
  ddAdd(y, t + 2, x[a + 2] as number, x[a + 3] as number, z[b + 2] as number, z[b + 3] as number);
}

/** y[t] = x[a] · (hi + lo), a real factor. */
export function mulReal(y: Float64Array, t: number, x: Float64Array, a: number, hi: number, lo: number): void {
  ddMul(y, t, x[a] as number, x[a + 1] as number, hi, lo);
  ddMul(y, t + 2, x[a + 2] as number, x[a + 3] as number, hi, lo);
}

/** Exchanges real and imaginary parts of every number: conjugation up to a factor i. */
export function swapParts(x: Float64Array): void {
  for (let k = 0; k < x.length; k += 4) {
    const hi = x[k] as number;
    const lo = x[k + 1] as number;
    x[k] = x[k + 2] as number;
    x[k + 1] = x[k + 3] as number;
    x[k + 2] = hi;
    x[k + 3] = lo;
  }
}

/** `count` roots e^(−2πi·exponent(i)/n). */
export function complexDdRoots(n: number, count: number, exponent: (i: number) => number): Float64Array {
  const roots = unitRoot(n);
  const root = new Float64Array(4);
  const table = new Float64Array(4 * count);
  for (let i = 0; i < count; i++) {
    roots.at(exponent(i), root);
    table.set(root, 4 * i);
  }
  return table;
}
