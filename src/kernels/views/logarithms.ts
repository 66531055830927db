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
 * ln a by comparisons, products and one series. Numbers below 1 are inverted, so that only large numbers have to be reduced; then a = 2^k·m with √½ ≤
 * m ≤ √2, and ln m = 2·artanh((m − 1)/(m + 1)).
 */
export function logarithm(x: Expressions, a: Real, type: NumberType): Real {
  const zero = x.constant(0);
  const one = x.constant(1);
  // A number whose inverse overflows is scaled up first.
  const tiny = (yes: Real, no: Real) => x.select('less', a, x.constant(2 ** -100), yes, no);
  const scaled = tiny(x.mul(a, x.constant(2 ** 100)), a);
  const small = (yes: Real, no: Real) => x.select('less', scaled, x.constant(Math.SQRT1_2), yes, no);
  let m = small(x.div(one, scaled), scaled);
  let k = zero;
  for (const { power, factors } of type === 'f32' ? scales(type).slice(1) : scales(type)) {
    const less = factors.reduce((value, by) => x.mul(value, x.constant(2 ** -by)), m);
    const above = (yes: Real, no: Real) => x.select('less', less, one, no, yes);
    k = x.add(k, above(x.constant(power), zero));
    m = above(less, m);
  }
  const half = (yes: Real, no: Real) => x.select('less', x.constant(Math.SQRT2), m, yes, no);
  k = x.add(k, half(one, zero));
  m = half(x.mul(m, x.constant(0.5)), m);
  // The logarithm of a negative number is 0/0, not a number.
  const real = (value: Real) => x.select('less', a, zero, zero, value);
  const s = x.div(real(x.sub(m, one)), real(x.add(m, one)));
  const square = x.mul(s, s);
  let series = zero;
  for (let n = type === 'f32' ? 9 : 23; n >= 1; n -= 2) series = x.add(x.mul(series, square), x.constant(1 / n));
  const rest = x.mul(x.mul(x.constant(2), s), series);
  const powers = x.add(small(x.neg(k), k), tiny(x.constant(-100), zero));
  const value = x.add(
    x.mul(powers, x.constant(LN2_HIGH)),
    x.add(x.mul(powers, x.constant(LN2_LOW)), small(x.neg(rest), rest)),
  );
  // Infinity, and the inverse of 0, are still infinite after the reduction.
  return x.select('less', x.constant(2), m, small(x.neg(m), m), value);
}
