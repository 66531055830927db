/**
 * Transforms that plan time computes, in whatever arithmetic: Stockham's passes in autosort form, for lengths of small
 * primes. Numbers lie in arrays of doubles, so many words each.
 */
import { primeFactors } from '../primes.ts';

/**
 * Transforms some points, `step` apart from `at` on, into as many `toStep` apart from `toAt` on, all in words. Point m is
 * multiplied by the root at m·`root` of the table first.
 */
export type Butterfly = (
  from: Float64Array,
  at: number,
  step: number,
  to: Float64Array,
  toAt: number,
  toStep: number,
  roots: Float64Array,
  root: number,
) => void;

/** y[t] = x[a] ± z[b]: complex numbers, at words of their arrays; y[t] may be one of the operands. */
export type Sum = (y: Float64Array, t: number, x: Float64Array, a: number, z: Float64Array, b: number) => void;

/** How numbers are kept and computed with. */
export interface Numbers {
  /** Doubles in a complex number: the real part, then as many for the imaginary one. */
  readonly words: number;
  /** `count` roots e^(−2πi·exponent(i)/n). @param exponent integers from 0 to n − 1; default: i itself */
  roots(n: number, count: number, exponent?: (i: number) => number): Float64Array;
  /** Of radix 2, 4 or an odd prime. */
  butterfly(radix: number): Butterfly;
  readonly add: Sum;
  readonly subtract: Sum;
  /** Real numbers: 1 over each of the imaginary parts of an array, times a double. */
  inverses(x: Float64Array, factor: number): Float64Array;
  /** y[t] · factors[a], a real number. */
  scale(y: Float64Array, t: number, factors: Float64Array, a: number): void;
}

/** Transforms an array of numbers: forward, not scaled. @returns the result; what was given is overwritten. */
export function transformedArray(data: Float64Array, numbers: Numbers): Float64Array {
  const n = data.length / numbers.words;
  const roots = numbers.roots(n, n);
  let from = data;
  let to: Float64Array = new Float64Array(data.length);
  let before = 1;
  for (const radix of passRadices(n)) {
    pass(from, to, { radix, before, n, roots }, numbers);
    [from, to] = [to, from];
    before *= radix;
  }
  return from;
}

function passRadices(n: number): number[] {
  const primes = primeFactors(n);
  const twos = primes.filter((prime) => prime === 2).length;
  return [...Array<number>(twos >> 1).fill(4), ...Array<number>(twos % 2).fill(2), ...primes.slice(twos)];
}

interface RadixPass {
  readonly radix: number;
  /** Product of the radices before it. */
  readonly before: number;
  readonly n: number;
  readonly roots: Float64Array;
}

function pass(from: Float64Array, to: Float64Array, { radix, before, n, roots }: RadixPass, numbers: Numbers): void {
  const { words } = numbers;
  const butterfly = numbers.butterfly(radix);
  const blocks = n / (radix * before);
  const step = (words * n) / radix;
  const toStep = words * before;
  for (let q = 0; q < blocks; q++) {
    for (let i = 0; i < before; i++) {
      const at = words * (q * before + i);
      butterfly(from, at, step, to, at + words * q * (radix - 1) * before, toStep, roots, words * i * blocks);
    }
  }
}
