/** Logarithms and powers of e by arithmetic alone: no language's own function is called, so every device gives the same bits. */
import type { Expressions, NumberType, Real } from '../../ir/index.ts';

// ln 2 in two parts: multiples of the first one by powers of two below 2¹¹ are exact in singles and can be subtracted without rounding.
const LN2_HIGH = 0.693145751953125;
const LN2_LOW = 1.428606820309417e-6;

/**
 * Powers of two that a number is scaled by, largest first. A power above 2¹²⁰ is written as several equal factors: they and their inverses are
 * constants of singles, which doubles may be pairs of.
 */
function scales(type: NumberType): { readonly power: number; readonly factors: readonly number[] }[] {
  const large = type === 'f32' ? [64, 64] : [480, 480, 240, 120, 64];
  return [...large, 32, 16, 8, 4, 2, 1].map((power) => {
    const times = Math.ceil(power / 120);
    return { power, factors: Array<number>(times).fill(power / times) };
  });
}

/**
 * e^a by comparisons, products and one series. No language's own function is called, so every device gives the same bits. |a| is k·ln 2 + r with 0 ≤
 * r ≤ ln 2; the sign of a turns r and the powers of two.
 */
export function exponentialOf(x: Expressions, a: Real, type: NumberType): Real {
  const zero = x.constant(0);
  const most = x.constant(type === 'f32' ? 108 : 760);
  const negative = (one: Real, other: Real) => x.select('less', a, zero, one, other);
  let rest = x.min(x.abs(a), most);
  let low = zero;
  const factors: Real[] = [];
  for (const { power, factors: own } of scales(type)) {
    const step = x.constant(power * LN2_HIGH);
    const choose = (one: Real, other: Real) => x.select('less', rest, step, one, other);
    low = x.add(low, choose(zero, x.constant(power * LN2_LOW)));
    const scaled = (by: number) => choose(x.constant(1), negative(x.constant(2 ** -by), x.constant(2 ** by)));
    factors.push(...own.map(scaled));
    rest = choose(rest, x.sub(rest, step));
  }
  const r = x.sub(rest, low);
  const signed = negative(x.neg(r), r);
  const terms = type === 'f32' ? 9 : 16;
  let series = x.constant(1);
  for (let n = terms; n >= 1; n--) series = x.add(x.constant(1), x.mul(x.mul(signed, series), x.constant(1 / n)));
  return factors.reduce((value, factor) => x.mul(value, factor), series);
}

/**
 * ln a by products and one series: a = 2^k·m with √½ ≤ m ≤ √2, and ln m = 2·artanh((m − 1)/(m + 1)).
 */
export function logarithm(x: Expressions, a: Real, type: NumberType): Real {
  const [zero, one] = [x.constant(0), x.constant(1)];
  // Powers of two of the number, which is scaled for that, and their inverses are normal numbers.
  const tiny = (yes: Real, no: Real) => x.select('less', a, x.constant(2 ** -100), yes, no);
  const scaled = tiny(x.mul(a, x.constant(2 ** 100)), x.mul(a, x.constant(1 / 4)));
  const whole = x.mul(scaled, x.inversePower(scaled));
  const half = (yes: Real, no: Real) => x.select('less', x.constant(Math.SQRT2), whole, yes, no);
  const m = half(x.mul(whole, x.constant(0.5)), whole);
  const k = x.add(x.add(x.exponent(scaled), half(one, zero)), tiny(x.constant(-100), x.constant(2)));
  // The logarithm of zero is −1/0, negative infinity; that of a negative number is 0/0, not a number.
  const positive = (yes: Real, no: Real) => x.select('less', zero, a, yes, no);
  const sign = x.select('less', a, zero, zero, x.constant(-1));
  const s = x.div(positive(x.sub(m, one), sign), positive(x.add(m, one), zero));
  const square = x.mul(s, s);
  let series = zero;
  for (let n = type === 'f32' ? 9 : 23; n >= 1; n -= 2) series = x.add(x.mul(series, square), x.constant(1 / n));
  const rest = x.mul(x.mul(x.constant(2), s), series);
  const value = x.add(x.mul(k, x.constant(LN2_HIGH)), x.add(x.mul(k, x.constant(LN2_LOW)), rest));
  // Infinity is still beyond finite numbers when it is scaled down; it and NaN are their own logarithms.
  const powers = type === 'f32' ? [64] : Array<number>(8).fill(120);
  const small = powers.reduce((product, power) => x.mul(product, x.constant(2 ** -power)), a);
  return x.select('lessEqual', small, x.constant(2 ** 64), value, a);
}
