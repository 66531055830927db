/**
 * Exact constants for kernels: real numbers in fixed point with 256 bits after the point.
 *
 * Twiddles, butterfly constants and scale factors stay `Exact` through every algebraic simplification and become a
 * half, single, double or double-double only when an emitter prints them, so that nothing is ever computed in the
 * device's precision on the host. A symbolic form (a rational of a turn) is not closed under the sums and products
 * that simplification makes; fixed point is, at a cost that does not matter for the few thousand constants of a plan.
 *
 * Every operation rounds to nearest, so an operation on values of moderate size adds at most 2^-257 to the error.
 * Chains of any practical length stay within 2^-200, which is the distance below which two constants are one.
 */

/** An immutable real constant: `fixed` · 2^-256. */
export interface Exact {
  readonly fixed: bigint;
}

/** Bits after the point of an `Exact`. */
export const FRACTION_BITS = 256;

const SHIFT = BigInt(FRACTION_BITS);
const UNIT = 1n << SHIFT;
/** Constants closer than this (2^-200) are the same constant. */
const TOLERANCE = 1n << (SHIFT - 200n);
const KEY_SHIFT = SHIFT - 200n;
/** `Number(fixed)` overflows from 2^1024 on. */
const HUGE = 1n << 1000n;
/** Extra bits while a series is summed, so that the sum is good to the last bit of the result. */
const GUARD_BITS = 64n;

const absoluteInteger = (x: bigint): bigint => (x < 0n ? -x : x);

/** `x / 2^bits` to nearest, halves away from zero: symmetric, so that negation commutes with every rounding. */
function shiftRounded(x: bigint, bits: bigint): bigint {
  const half = 1n << (bits - 1n);
  return x < 0n ? -((half - x) >> bits) : (x + half) >> bits;
}

/** `p / q` to nearest, halves away from zero; `q ≠ 0`. */
function divideRounded(p: bigint, q: bigint): bigint {
  const top = absoluteInteger(p);
  const bottom = absoluteInteger(q);
  const quotient = (2n * top + bottom) / (2n * bottom);
  return p < 0n !== q < 0n ? -quotient : quotient;
}

const make = (fixed: bigint): Exact => Object.freeze({ fixed });

export const ZERO: Exact = make(0n);
export const ONE: Exact = make(UNIT);
const HALF: Exact = make(UNIT / 2n);

/**
 * The constant equal to an integer or a double. Doubles with bits below 2^-256 are rounded to that.
 * @throws RangeError for NaN and the infinities
 */
export function exact(value: number | bigint): Exact {
  if (typeof value === 'bigint') return make(value << SHIFT);
  if (!Number.isFinite(value)) throw new RangeError(`a constant must be finite, but ${value} was given`);
  if (Number.isInteger(value)) return make(BigInt(value) << SHIFT);
  // Scaling a double by a power of two is exact, and whatever is not an integer is far from overflowing.
  return make(BigInt(Math.round(value * 2 ** FRACTION_BITS)));
}

/** `integer` · 2^`exponent`, rounded to 256 fractional bits. */
export function scaledInteger(integer: bigint, exponent: number): Exact {
  const bits = FRACTION_BITS + exponent;
  return make(bits >= 0 ? integer << BigInt(bits) : shiftRounded(integer, BigInt(-bits)));
}

/** `p / q` for integers, correctly rounded to 256 fractional bits. */
export function rational(p: number | bigint, q: number | bigint): Exact {
  if (BigInt(q) === 0n) throw new RangeError(`a rational needs a denominator other than zero, but ${p}/0 was given`);
  return make(divideRounded(BigInt(p) << SHIFT, BigInt(q)));
}

export function add(a: Exact, b: Exact): Exact {
  return make(a.fixed + b.fixed);
}

export function sub(a: Exact, b: Exact): Exact {
  return make(a.fixed - b.fixed);
}

export function neg(a: Exact): Exact {
  return make(-a.fixed);
}

export function abs(a: Exact): Exact {
  return a.fixed < 0n ? make(-a.fixed) : a;
}

export function mul(a: Exact, b: Exact): Exact {
  return make(shiftRounded(a.fixed * b.fixed, SHIFT));
}

/** `a / b`; throws a `RangeError` where `b` is zero (to within 2^-200). */
export function div(a: Exact, b: Exact): Exact {
  if (isZero(b)) throw new RangeError('a constant was divided by zero');
  return make(divideRounded(a.fixed << SHIFT, b.fixed));
}

/** Whether the two are the same constant, that is, closer than 2^-200. */
export function equals(a: Exact, b: Exact): boolean {
  return absoluteInteger(a.fixed - b.fixed) < TOLERANCE;
}

export function isZero(a: Exact): boolean {
  return absoluteInteger(a.fixed) < TOLERANCE;
}

export function isOne(a: Exact): boolean {
  return absoluteInteger(a.fixed - UNIT) < TOLERANCE;
}

/** −1, 0 or 1, where anything closer to zero than 2^-200 counts as zero. */
export function sign(a: Exact): -1 | 0 | 1 {
  if (isZero(a)) return 0;
  return a.fixed < 0n ? -1 : 1;
}

/**
 * A string that is the same for the same constant, for hashing: the value rounded to 200 fractional bits.
 * Constants that differ only by accumulated rounding (2^-250 or so) share a key unless a rounding boundary happens
 * to lie between them, which for the numbers of Fourier transforms has a chance of about 2^-50; dyadic rationals
 * lie in the middle between boundaries, never on one.
 */
export function key(a: Exact): string {
  return shiftRounded(a.fixed, KEY_SHIFT).toString(36);
}

/** The nearest double, ties to even. */
export function toNumber(a: Exact): number {
  if (absoluteInteger(a.fixed) >= HUGE) {
    // Too large to convert before scaling: all the fraction can still decide is which side of a tie this is.
    const whole = a.fixed >> SHIFT;
    return Number(whole << SHIFT === a.fixed ? whole : whole | 1n);
  }
  // Number(bigint) rounds once, to nearest even; the scaling is exact, because 2^-256 is far above the subnormals.
  return Number(a.fixed) * 2 ** -FRACTION_BITS;
}

/** The nearest single, ties to even, rounded once (not through a double); subnormals and overflow as in IEEE 754. */
export function toSingle(a: Exact): number {
  const size = absoluteInteger(a.fixed);
  const length = size.toString(2).length;
  // A single keeps 24 bits, and none below 2^-149.
  const dropped = Math.max(length - 24, FRACTION_BITS - 149);
  const bits = BigInt(dropped);
  const tail = size & ((1n << bits) - 1n);
  const half = 1n << (bits - 1n);
  let kept = size >> bits;
  if (tail > half || (tail === half && (kept & 1n) === 1n)) kept += 1n;
  const rounded = Math.fround(Number(kept) * 2 ** (dropped - FRACTION_BITS));
  return a.fixed < 0n ? -rounded : rounded;
}

/** The nearest double-double: `hi` is the nearest double and `lo` the nearest double to the rest. */
export function toDoubleDouble(a: Exact): [hi: number, lo: number] {
  const hi = toNumber(a);
  return [hi, Number.isFinite(hi) ? toNumber(sub(a, exact(hi))) : 0];
}

/** π scaled by 2^bits, by Machin's formula π = 16 arctan(1/5) − 4 arctan(1/239). */
function piScaled(bits: bigint): bigint {
  const unit = 1n << (bits + 16n);
  const arctanInverse = (x: bigint): bigint => {
    let power = unit / x;
    let sum = 0n;
    for (let odd = 1n; power !== 0n; odd += 2n) {
      sum += odd % 4n === 1n ? power / odd : -(power / odd);
      power /= x * x;
    }
    return sum;
  };
  return (16n * arctanInverse(5n) - 4n * arctanInverse(239n)) >> 16n;
}

const SERIES_BITS = SHIFT + GUARD_BITS;
const TWO_PI = 2n * piScaled(SERIES_BITS);
export const PI: Exact = make(shiftRounded(TWO_PI, GUARD_BITS + 1n));

/** Sum of x^(first + 2i) (−1)^i / (first + 2i)! for an angle `x` of at most an eighth of a turn. */
function alternatingSeries(x: bigint, first: 0n | 1n): bigint {
  const square = (x * x) >> SERIES_BITS;
  let term = first === 0n ? 1n << SERIES_BITS : x;
  let sum = term;
  for (let i = first; term !== 0n; i += 2n) {
    term = -((term * square) >> SERIES_BITS) / ((i + 1n) * (i + 2n));
    sum += term;
  }
  return shiftRounded(sum, GUARD_BITS);
}

/** Constants recur often and few are distinct; the bound keeps a long-lived process from growing. */
const MEMO_LIMIT = 4096;
const memo = new Map<string, Exact>();

/** cos (`first` 0) or sin (`first` 1) of `a/d` of a turn, with 0 < a/d ≤ 1/8. */
function seriesTurn(a: bigint, d: bigint, first: 0n | 1n): Exact {
  const name = `${first}:${a}/${d}`;
  const known = memo.get(name);
  if (known !== undefined) return known;
  const value = make(alternatingSeries((TWO_PI * a) / d, first));
  if (memo.size >= MEMO_LIMIT) memo.clear();
  memo.set(name, value);
  return value;
}

function bigintGcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : bigintGcd(b, a % b);
}

/**
 * cos(2π·p/q) for integers p and q > 0. The angle is folded into the first eighth of the circle in integer
 * arithmetic, so symmetric angles give equal or opposite constants exactly, and 0, ±1/2 and ±1 are exact.
 */
export function cosTurn(p: number | bigint, q: number | bigint): Exact {
  const turns = BigInt(q);
  if (turns <= 0n) throw new RangeError(`an angle needs a positive denominator, but ${p}/${q} was given`);
  // Over a denominator that is a multiple of 8 every reflection stays an integer.
  const full = 8n * turns;
  let angle = (((8n * BigInt(p)) % full) + full) % full;
  if (2n * angle > full) angle = full - angle;
  const negative = 4n * angle > full;
  if (negative) angle = full / 2n - angle;
  const useSine = 8n * angle > full;
  if (useSine) angle = full / 4n - angle;

  let value: Exact;
  if (angle === 0n) value = useSine ? ZERO : ONE;
  else if (useSine && 12n * angle === full) value = HALF;
  else {
    const common = bigintGcd(full, angle);
    value = seriesTurn(angle / common, full / common, useSine ? 1n : 0n);
  }
  return negative ? neg(value) : value;
}

/** sin(2π·p/q) for integers p and q > 0, with the symmetries of {@link cosTurn}: sin x = cos(x − a quarter turn). */
export function sinTurn(p: number | bigint, q: number | bigint): Exact {
  return cosTurn(4n * BigInt(p) - BigInt(q), 4n * BigInt(q));
}

/** p/q with q > 0. */
export interface Fraction {
  readonly p: bigint;
  readonly q: bigint;
}

/** @throws RangeError for NaN and the infinities */
export function fraction(value: number): Fraction {
  if (!Number.isFinite(value)) throw new RangeError(`a fraction must be finite, but ${value} was given`);
  let [p, exponent] = [value, 0];
  // Doubling is exact, and what is no integer is small.
  for (; !Number.isInteger(p); exponent++) p *= 2;
  return { p: BigInt(p), q: 1n << BigInt(exponent) };
}

export function subtractFractions(a: Fraction, b: Fraction): Fraction {
  return { p: a.p * b.q - b.p * a.q, q: a.q * b.q };
}

/** @param b not 0 */
export function divideFractions(a: Fraction, b: Fraction): Fraction {
  const [p, q] = [a.p * b.q, a.q * b.p];
  return q < 0n ? { p: -p, q: -q } : { p, q };
}

/** Binary digits of a positive integer. */
export function bitLength(positive: bigint): number {
  return positive.toString(2).length;
}
