/**
 * Decimal text and double-doubles, exactly: what is read is the nearest one, what is written is rounded once, halves to even.
 */
import { bitLength } from './exact.ts';

/** p/q with q > 0. */
type Ratio = readonly [p: bigint, q: bigint];

const NUMBER = /^\s*([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d+))?\s*$/i;

/** Digits, and exponents, that are read: more have no meaning for a double-double, and would take for ever. */
const MOST_DIGITS = 10_000;

/** The value of a decimal number; undefined where the text is none. */
function fractionOf(text: string): Ratio | undefined {
  const match = NUMBER.exec(text);
  if (!match || text.length > MOST_DIGITS) return undefined;
  const [, sign, digits, exponent = '0'] = match as unknown as [string, string, string, string?];
  const [whole, part = ''] = digits.split('.') as [string, string?];
  const number = BigInt(whole + part || '0') * (sign === '-' ? -1n : 1n);
  const power = Number(exponent) - part.length;
  if (Math.abs(power) > MOST_DIGITS) return number === 0n || power < 0 ? [0n, 1n] : [number * 10n ** 400n, 1n];
  return power < 0 ? [number, 10n ** BigInt(-power)] : [number * 10n ** BigInt(power), 1n];
}

/** The double nearest to a fraction, halves to even. */
function nearestDouble([p, q]: Ratio): number {
  if (p === 0n) return 0;
  const size = p < 0n ? -p : p;
  // A quotient of 64 bits or more, whose last one also stands for the rest, rounds as the fraction does.
  let shift = bitLength(q) - bitLength(size) + 66;
  // Below the least normal number there are fewer bits to round to.
  shift = Math.min(shift, 1074 + 2);
  const [top, bottom] = shift >= 0 ? [size << BigInt(shift), q] : [size, q << BigInt(-shift)];
  let quotient = top / bottom;
  if (top % bottom !== 0n) quotient |= 1n;
  const value = timesPowerOfTwo(quotient, -shift);
  return p < 0n ? -value : value;
}

/** An integer times 2^power, rounded once. */
function timesPowerOfTwo(integer: bigint, power: number): number {
  const bits = bitLength(integer);
  // Bits that a double of that size has; the rest is rounded by hand, so that nothing is rounded twice.
  const kept = Math.min(53, bits + power + 1074);
  if (kept < 0) return 0;
  const drop = bits - kept;
  let whole = integer;
  if (drop > 0) {
    const tail = integer & ((1n << BigInt(drop)) - 1n);
    const half = 1n << BigInt(drop - 1);
    whole = integer >> BigInt(drop);
    if (tail > half || (tail === half && (whole & 1n) === 1n)) whole += 1n;
  }
  const exponent = power + Math.max(drop, 0);
  // In two steps: 2^exponent by itself may be no double.
  const first = Math.max(-1000, Math.min(900, exponent));
  return Number(whole) * 2 ** first * 2 ** (exponent - first);
}

/** A double as a fraction. */
function exactly(value: number): Ratio {
  if (value === 0) return [0n, 1n];
  const power = Math.max(-1074, Math.floor(Math.log2(Math.abs(value))) - 54);
  const integer = BigInt((value / 2 ** Math.max(power, -1000)) * 2 ** (Math.max(power, -1000) - power));
  return power >= 0 ? [integer << BigInt(power), 1n] : [integer, 1n << BigInt(-power)];
}

function ratioSum([a, b]: Ratio, [c, d]: Ratio): Ratio {
  return [a * d + c * b, b * d];
}

/** The double-double nearest to decimal text; undefined where that is no number. */
export function parseDecimal(text: string): [hi: number, lo: number] | undefined {
  const word = /^\s*([+-]?)(infinity|nan)\s*$/i.exec(text);
  if (word) return [word[2]!.toLowerCase() === 'nan' ? Number.NaN : word[1] === '-' ? -Infinity : Infinity, 0];
  const value = fractionOf(text);
  if (!value) return undefined;
  const hi = nearestDouble(value);
  if (!Number.isFinite(hi)) return [hi, 0];
  const [p, q] = exactly(hi);
  // No −0.
  return [hi, nearestDouble(ratioSum(value, [-p, q])) + 0];
}

/** hi + lo with the fewest digits that are read as the same number. */
export function shortestDecimal(hi: number, lo: number): string {
  for (let digits = 1; ; digits++) {
    // Few that are short have more than a double's digits.
    if (digits === 3 && lo !== 0) digits = 17;
    const text = formatDecimal(hi, lo, digits);
    const [high, low] = parseDecimal(text)!;
    if ((high === hi && low === lo) || !Number.isFinite(hi) || digits >= MOST_SHORTEST) return text;
  }
}

/** From the first digit of the largest double to the last one of the smallest there are fewer. */
const MOST_SHORTEST = 1100;

/** hi + lo with so many significant digits, without zeros at the end. */
export function formatDecimal(hi: number, lo: number, digits: number): string {
  if (!Number.isFinite(hi)) return String(hi);
  const [p, q] = ratioSum(exactly(hi), exactly(lo));
  if (p === 0n) return '0';
  const size = p < 0n ? -p : p;
  let exponent = size.toString().length - q.toString().length;
  if (size < scaledBy(q, exponent)[0] / scaledBy(q, exponent)[1]) exponent--;
  let text = roundedDigits(size, q, digits - 1 - exponent);
  // One digit more or less than was guessed, or 9.99… that became 10.
  if (text.length > digits) text = roundedDigits(size, q, digits - 1 - ++exponent);
  else if (text.length < digits) text = roundedDigits(size, q, digits - 1 - --exponent);
  if (text.length > digits) {
    exponent++;
    text = text.slice(0, digits);
  }
  return (p < 0n ? '-' : '') + decimalText(text.replace(/0+$/, ''), exponent);
}

function scaledBy(q: bigint, power: number): Ratio {
  return power >= 0 ? [q * 10n ** BigInt(power), 1n] : [q, 10n ** BigInt(-power)];
}

/** size/q · 10^power as an integer, halves to even. */
function roundedDigits(size: bigint, q: bigint, power: number): string {
  const [top, bottom] = power >= 0 ? [size * 10n ** BigInt(power), q] : [size, q * 10n ** BigInt(-power)];
  const twice = 2n * (top % bottom);
  const whole = top / bottom;
  return (twice > bottom || (twice === bottom && (whole & 1n) === 1n) ? whole + 1n : whole).toString();
}

/** Digits d.ddd · 10^exponent as JavaScript writes numbers. */
function decimalText(digits: string, exponent: number): string {
  if (exponent < -7 || exponent >= 21) {
    const rest = digits.slice(1);
    return `${digits[0]}${rest ? `.${rest}` : ''}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = digits.slice(exponent + 1);
  return rest ? `${whole}.${rest}` : whole;
}
