/**
 * `omnifft/numeric`: double-doubles outside transforms. A number is hi + lo, two doubles of which lo is at most half a unit in the last
 * place of hi, some 106 bits; in arrays, as transforms take and give them, hi and lo lie side by side.
 *
 * Results have relative errors of a few 2^−106 (Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building
 * blocks of double-word arithmetic", 2017). Exponents are those of doubles: below some 2^−969 digits of lo are lost, and products
 * are exact to that many bits while factors stay below 2^995.
 * @module omnifft/numeric
 */
import { formatDecimal, parseDecimal, shortestDecimal } from './numeric/decimal.ts';
import { ddAdd, ddDiv, ddMul, ddSqrt } from './numeric/double-double/doubledouble.ts';
import { FftError, show } from './problem/errors.ts';

export { FftError, type FftErrorCode } from './problem/errors.ts';

/** hi + lo. */
export type DoubleDouble = readonly [hi: number, lo: number];

/** What a double-double can be made of: a double as it is, an integer or decimal text as near as can be. */
export type Numeric = DoubleDouble | number | bigint | string;

const out = new Float64Array(2);

function result(): DoubleDouble {
  return [out[0]!, out[1]!];
}

/**
 * The double-double nearest to a value.
 * @param value a double, an integer, a double-double, or decimal text such as `'-0.1'`, `'6.02214076e23'`, `'Infinity'`.
 * @throws FftError `invalid-argument` for anything else
 */
export function doubleDouble(value: Numeric): DoubleDouble {
  if (typeof value === 'number') return [value, 0];
  if (typeof value === 'string' || typeof value === 'bigint') {
    const parsed = parseDecimal(value.toString());
    if (parsed) return parsed;
  } else if (Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'number')) {
    const [hi, lo] = value as DoubleDouble;
    ddAdd(out, 0, hi, 0, lo, 0);
    return Number.isFinite(hi) ? result() : [hi, 0];
  }
  throw new FftError(
    'invalid-argument',
    `${show(value)} is no number; a double, an integer, two doubles [hi, lo] or decimal text is.`,
  );
}

/**
 * In decimal, rounded once.
 * @param digits significant ones, 1 to 1000; by default as few as are read as the same number again, some 32.
 * @throws FftError `invalid-argument`
 */
export function format(value: Numeric, digits?: number): string {
  if (digits === undefined) return shortestDecimal(...doubleDouble(value));
  if (!Number.isInteger(digits) || digits < 1 || digits > 1000) {
    throw new FftError('invalid-argument', `digits is ${show(digits)}; it takes a whole number from 1 to 1000.`);
  }
  return formatDecimal(...doubleDouble(value), digits);
}

/** a + b */
export function add(a: Numeric, b: Numeric): DoubleDouble {
  ddAdd(out, 0, ...doubleDouble(a), ...doubleDouble(b));
  return result();
}

/** a − b */
export function sub(a: Numeric, b: Numeric): DoubleDouble {
  return add(a, neg(b));
}

/** a · b */
export function mul(a: Numeric, b: Numeric): DoubleDouble {
  ddMul(out, 0, ...doubleDouble(a), ...doubleDouble(b));
  return result();
}

/** a / b */
export function div(a: Numeric, b: Numeric): DoubleDouble {
  ddDiv(out, 0, ...doubleDouble(a), ...doubleDouble(b));
  return result();
}

/** √a */
export function sqrt(a: Numeric): DoubleDouble {
  ddSqrt(out, 0, ...doubleDouble(a));
  return result();
}

/** −a */
export function neg(a: Numeric): DoubleDouble {
  const [hi, lo] = doubleDouble(a);
  return [-hi, -lo];
}

/** |a| */
export function abs(a: Numeric): DoubleDouble {
  const value = doubleDouble(a);
  return value[0] < 0 ? neg(value) : value;
}

/** Below 0 where a < b, 0 where they are equal, above 0 where a > b; NaN where either is. */
export function compare(a: Numeric, b: Numeric): number {
  const [p, q] = [doubleDouble(a), doubleDouble(b)];
  return p[0] === q[0] ? p[1] - q[1] : p[0] < q[0] ? -1 : p[0] > q[0] ? 1 : Number.NaN;
}

/** Numbers as transforms take them: hi, lo, hi, lo … @throws FftError `invalid-argument` where one is none */
export function pack(values: Iterable<Numeric>): Float64Array {
  const pairs = Array.from(values, doubleDouble);
  return Float64Array.from({ length: 2 * pairs.length }, (_, n) => pairs[n >> 1]![n & 1]!);
}

/** The way back. @throws FftError `wrong-length` for an odd number of doubles */
export function unpack(array: ArrayLike<number>): DoubleDouble[] {
  if (array.length % 2 !== 0) {
    throw new FftError('wrong-length', `${array.length} doubles are no double-doubles, which have two each.`);
  }
  return Array.from({ length: array.length / 2 }, (_, n): DoubleDouble => [array[2 * n]!, array[2 * n + 1]!]);
}
