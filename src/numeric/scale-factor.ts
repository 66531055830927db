/**
 * Scale factors as plain data. Plans are written to files and their kernels are known by their JSON, which has no place for an
 * `Exact`; and no double is 1/3, 0.1/60 or √2, of which double-doubles and pairs of numbers show more than 53 bits. So a factor
 * says what it is made of, and becomes exact constants where a kernel is built.
 */
import { bitLength, type Exact, scaledInteger, ZERO } from './exact.ts';

/** A double, exactly that; or, where no double is the number, what it is a product of. */
export type ScaleFactor = number | { readonly powers: readonly Power[] };

/** A double other than zero, to the power of a multiple of 1/2. */
export type Power = readonly [base: number, exponent: number];

/** The product; a double where that is exact. @throws RangeError for the root of a negative number, and for what is no finite number */
export function scaleProduct(...given: readonly ScaleFactor[]): ScaleFactor {
  const factors = given.filter((factor) => factor !== 1);
  if (factors.length === 0) return 1;
  if (factors.length === 1 && Number.isFinite(factors[0])) return factors[0]!;
  if (factors.includes(0)) return 0;
  const exponents = new Map<number, number>();
  for (const [base, exponent] of factors.flatMap(factorPowers)) {
    exponents.set(base, (exponents.get(base) ?? 0) + exponent);
  }
  // Powers of two go into a double without rounding, and so does a sign.
  let [twos, sign] = [0, 1];
  const others: Power[] = [];
  for (const [base, exponent] of exponents) {
    if (!Number.isFinite(base)) throw new RangeError(`a scale factor is finite, but ${base} was given`);
    if (base < 0 && !Number.isInteger(exponent)) throw new RangeError(`the root of ${base} is no scale factor`);
    const two = exponentOfTwo(base);
    if (two === undefined || !Number.isInteger(exponent * two)) {
      if (exponent !== 0) others.push([base, exponent]);
      continue;
    }
    twos += two * exponent;
    if (base < 0 && exponent % 2 !== 0) sign = -sign;
  }
  const single = others.length === 1 && others[0]![1] === 1 ? others[0]![0] : 1;
  const whole = sign * single * 2 ** twos;
  const isOne = others.length === 0 || single !== 1;
  // A normal double has lost nothing, and neither has what is one of the two alone.
  const keeps = twos === 0 || single === 1 ? whole !== 0 : Math.abs(whole) >= LEAST_NORMAL;
  if (isOne && keeps && Number.isFinite(whole)) return whole;
  const rest: Power[] = sign < 0 ? [[-1, 1]] : [];
  if (twos !== 0) rest.push([2, twos]);
  return { powers: [...rest, ...others.sort(([a], [b]) => a - b)] };
}

/** A number to the power of a multiple of 1/2: `powerFactor(n, -1)` is 1/n, `powerFactor(2, 1 / 2)` is √2. */
export function powerFactor(base: number, exponent: number): ScaleFactor {
  return base === 1 ? 1 : scaleProduct({ powers: [[base, exponent]] });
}

/** The double next to a factor, to show it or to compare its size. */
export function approximately(factor: ScaleFactor): number {
  if (typeof factor === 'number') return factor;
  return factor.powers.reduce((value, [base, exponent]) => value * base ** exponent, 1);
}

/**
 * Constants whose product a factor is: one, unless that would be so small that an `Exact` lost digits, or no single; all but the
 * first are powers of two then.
 */
export function constantsOf(factor: ScaleFactor): readonly [Exact, ...Exact[]] {
  if (factor === 0) return [ZERO];
  const { mantissa, exponent } = binaryFactor(factor);
  let size = exponent + MANTISSA_BITS;
  const more: Exact[] = [];
  for (; size > MOST; size -= STEP) more.push(scaledInteger(1n, STEP));
  for (; size <= LEAST; size += STEP) more.push(scaledInteger(1n, -STEP));
  return [scaledInteger(mantissa, size - MANTISSA_BITS), ...more];
}

const LEAST_NORMAL = 2 ** -1022;
/** The first constant is below 2^127 and not below 2^−126, the least normal single. */
const [MOST, LEAST] = [127, -126];
const STEP = 64;
const MANTISSA_BITS = 260;

function factorPowers(factor: ScaleFactor): readonly Power[] {
  return typeof factor === 'number' ? [[factor, 1]] : factor.powers;
}

/** n where a number is 2^n or −2^n. */
function exponentOfTwo(number: number): number | undefined {
  const exponent = Math.round(Math.log2(Math.abs(number)));
  return 2 ** exponent === Math.abs(number) ? exponent : undefined;
}

/** A factor other than zero as `mantissa` · 2^`exponent`, `mantissa` having MANTISSA_BITS bits, cut off there. */
function binaryFactor(factor: ScaleFactor): { readonly mantissa: bigint; readonly exponent: number } {
  // Of the square, whose powers are whole.
  let [top, bottom, twos, sign] = [1n, 1n, 0, 1n];
  for (const [base, power] of factorPowers(factor)) {
    const { integer, exponent } = integerOf(Math.abs(base));
    if (power > 0) top *= integer ** BigInt(2 * power);
    else bottom *= integer ** BigInt(-2 * power);
    twos += exponent * 2 * power;
    if (base < 0 && power % 2 !== 0) sign = -sign;
  }
  let shift = 2 * MANTISSA_BITS + bitLength(bottom) - bitLength(top);
  if ((twos - shift) % 2 !== 0) shift++;
  const square = shift < 0 ? top / (bottom << BigInt(-shift)) : (top << BigInt(shift)) / bottom;
  const root = integerSquareRoot(square);
  const over = BigInt(bitLength(root) - MANTISSA_BITS);
  return { mantissa: sign * (root >> over), exponent: (twos - shift) / 2 + Number(over) };
}

/** A positive double as an integer times a power of two. */
function integerOf(double: number): { readonly integer: bigint; readonly exponent: number } {
  let [integer, exponent] = [double, 0];
  for (; !Number.isInteger(integer); integer *= 2) exponent--;
  return { integer: BigInt(integer), exponent };
}

/** ⌊√n⌋, by Newton's iteration from above. */
function integerSquareRoot(n: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(bitLength(n) / 2));
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
