/**
 * Double-double arithmetic: a number is the unevaluated sum hi + lo of two doubles with |lo| ≤ ulp(hi)/2, which
 * gives about 106 bits. JavaScript has no fused multiply-add, so products are split after Dekker.
 *
 * Results are written to `out[at]` (hi) and `out[at + 1]` (lo): returning pairs would allocate in inner loops.
 * A complex double-double is four doubles: re.hi, re.lo, im.hi, im.lo. Arguments are plain numbers, read before
 * anything is written, so `out` may hold the operands.
 *
 * Sources: T. J. Dekker, "A floating-point technique for extending the available precision" (1971);
 * D. E. Knuth, TAOCP vol. 2, 4.2.2; Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building
 * blocks of double-word arithmetic" (2017), whose bounds are quoted with u = 2^-53.
 */

/** 2^27 + 1 splits a 53-bit significand into two halves whose products are exact. */
const SPLITTER = 134217729;

/** The rounding error of the product: a·b − fl(a·b), exact while |a|, |b| < 2^995 and nothing underflows (Dekker). */
export function productError(a: number, b: number, product: number): number {
  const aScaled = SPLITTER * a;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = SPLITTER * b;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** Sum of two double-doubles, relative error at most 3u² even under cancellation. */
export function ddAdd(out: Float64Array, at: number, aHi: number, aLo: number, bHi: number, bLo: number): void {
  const high = aHi + bHi;
  const bHighPart = high - aHi;
  const highError = aHi - (high - bHighPart) + (bHi - bHighPart);
  const low = aLo + bLo;
  const bLowPart = low - aLo;
  const lowError = aLo - (low - bLowPart) + (bLo - bLowPart);
  const carry = highError + low;
  const sum = high + carry;
  const rest = carry - (sum - high) + lowError;
  const hi = sum + rest;
  out[at] = hi;
  out[at + 1] = rest - (hi - sum);
}

/** Product of two double-doubles, relative error at most 6u². */
export function ddMul(out: Float64Array, at: number, aHi: number, aLo: number, bHi: number, bLo: number): void {
  const product = aHi * bHi;
  const rest = productError(aHi, bHi, product) + (aHi * bLo + aLo * bHi);
  const hi = product + rest;
  out[at] = hi;
  out[at + 1] = rest - (hi - product);
}

/** Where {@link ddMulComplex} keeps the four real products; JavaScript runs one call at a time, so one is enough. */
const products = new Float64Array(8);

/** Complex product of `a[i … i+3]` and `b[j … j+3]` into `out[at … at+3]`, relative error (in modulus) about 9u². */
export function ddMulComplex(
  out: Float64Array,
  at: number,
  a: Float64Array,
  i: number,
  b: Float64Array,
  j: number,
): void {
  const aReHi = a[i] as number;
  const aReLo = a[i + 1] as number;
  const aImHi = a[i + 2] as number;
  const aImLo = a[i + 3] as number;
  const bReHi = b[j] as number;
  const bReLo = b[j + 1] as number;
  const bImHi = b[j + 2] as number;
  const bImLo = b[j + 3] as number;
  const p = products;
  ddMul(p, 0, aReHi, aReLo, bReHi, bReLo);
  ddMul(p, 2, aImHi, aImLo, bImHi, bImLo);
  ddMul(p, 4, aReHi, aReLo, bImHi, bImLo);
  ddMul(p, 6, aImHi, aImLo, bReHi, bReLo);
  ddAdd(out, at, p[0] as number, p[1] as number, -(p[2] as number), -(p[3] as number));
  ddAdd(out, at + 2, p[4] as number, p[5] as number, p[6] as number, p[7] as number);
}

/** Quotient of two double-doubles, relative error at most 10u². */
export function ddDiv(out: Float64Array, at: number, aHi: number, aLo: number, bHi: number, bLo: number): void {
  const near = aHi / bHi;
  const product = near * bHi;
  const rest = (aHi - product - productError(near, bHi, product) + aLo - near * bLo) / bHi;
  const hi = near + rest;
  out[at] = hi;
  out[at + 1] = rest - (hi - near);
}

/** Square root of a double-double: one step of Newton's from the root of hi. Relative error at most 4u². */
export function ddSqrt(out: Float64Array, at: number, hi: number, lo: number): void {
  const near = Math.sqrt(hi);
  const square = near * near;
  const rest = near > 0 ? (hi - square - productError(near, near, square) + lo) / (2 * near) : 0;
  const root = near + rest;
  out[at] = root;
  out[at + 1] = rest - (root - near);
}
