/** Number formats of C in memory: singles, doubles, and two wider formats, which JavaScript lacks and which are converted to fixed point here. */
import { FRACTION_BITS } from '../../../numeric/exact.ts';

export interface NumberFormat<T extends number | bigint> {
  readonly bytes: number;
  write(memory: ArrayBuffer, values: ArrayLike<T>): void;
  read(memory: ArrayBuffer, count: number): ArrayLike<T>;
}

export interface WideFormat extends NumberFormat<bigint> {
  /** The nearest number of the format. */
  round(fixed: bigint): bigint;
}

export const single: NumberFormat<number> = {
  bytes: 4,
  write: (memory, values) => new Float32Array(memory).set(values),
  read: (memory, count) => new Float32Array(memory, 0, count).slice(),
};

export const double: NumberFormat<number> = {
  bytes: 8,
  write: (memory, values) => new Float64Array(memory).set(values),
  read: (memory, count) => new Float64Array(memory, 0, count).slice(),
};

const BIAS = 16383;
const BYTES = 16;

/**
 * A number as `mantissa` · 2^(`exponent` − digits + 1), where the mantissa has `digits` binary digits, the first of them 1; the mantissa of 0 is 0.
 */
function binaryDigits(fixed: bigint, digits: number): { mantissa: bigint; exponent: number } {
  const size = fixed < 0n ? -fixed : fixed;
  const length = size === 0n ? 0 : size.toString(2).length;
  const surplus = length - digits;
  const rounded = surplus > 0 ? (size + (1n << BigInt(surplus - 1))) >> BigInt(surplus) : size << BigInt(-surplus);
  // Rounding up to the next power of two adds a digit.
  const carried = rounded >> BigInt(digits) === 1n;
  return { mantissa: carried ? rounded >> 1n : rounded, exponent: length - 1 - FRACTION_BITS + (carried ? 1 : 0) };
}

function fixedOf(negative: boolean, mantissa: bigint, exponent: number, digits: number): bigint {
  const shift = exponent - digits + 1 + FRACTION_BITS;
  const size = shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
  return negative ? -size : size;
}

/** A format with sign and exponent in the 16 bits above the mantissa, whose leading digit is stored in some formats only. */
function wide(digits: number, stored: number): WideFormat {
  const mask = (1n << BigInt(stored)) - 1n;
  return {
    bytes: BYTES,
    round(fixed) {
      const { mantissa, exponent } = binaryDigits(fixed, digits);
      return fixed === 0n ? 0n : fixedOf(fixed < 0n, mantissa, exponent, digits);
    },
    write(memory, values) {
      const words = new BigUint64Array(memory);
      for (let n = 0; n < values.length; n++) {
        const { mantissa, exponent } = binaryDigits(values[n]!, digits);
        const head = BigInt(values[n]! === 0n ? 0 : exponent + BIAS) | (values[n]! < 0n ? 0x8000n : 0n);
        const bits = (mantissa & mask) | (head << BigInt(stored));
        words[2 * n] = BigInt.asUintN(64, bits);
        words[2 * n + 1] = bits >> 64n;
      }
    },
    read(memory, count) {
      const words = new BigUint64Array(memory);
      return Array.from({ length: count }, (_, n) => {
        const bits = words[2 * n]! | (words[2 * n + 1]! << 64n);
        const head = Number((bits >> BigInt(stored)) & 0xffffn);
        const first = stored < digits ? 1n << BigInt(stored) : 0n;
        const exponent = (head & 0x7fff) - BIAS;
        return exponent === -BIAS ? 0n : fixedOf(head >= 0x8000, (bits & mask) | first, exponent, digits);
      });
    },
  };
}

/** `long double` of x86: 64 digits, all stored, in 16 bytes. */
export const extended: WideFormat = wide(64, 64);
/** `__float128`: IEEE's binary128. */
export const quad: WideFormat = wide(113, 112);
