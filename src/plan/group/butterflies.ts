/**
 * The butterflies that passes may use, what they take, and which of two ways those of large primes go: by multiplication, in pairs
 * of points (Rader's direct multiplication, VkFFT guide 4.3.6), or as a cyclic convolution by transforms of one point less (Rader 1968).
 * Primes that are too large for a butterfly go the same two ways in several steps through shared memory (`raderWay`).
 */
import { primeFactors } from '../../numeric/primes.ts';
import { isInPairs, wordsPerReal } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';

/**
 * Radices that passes may use for any length: all composites up to 16 of the primes up to 13. Among equally cheap sequences the
 * one with the larger radices first wins: short passes like the long strides at the end.
 */
export const RADICES = [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2] as const;

/** Larger primes are radices of their own, where a length has them. */
export const LARGEST_LISTED_PRIME = 13;

/** Up to here butterflies are sooner computed than a longer convolution, and not too long to compile. */
const LARGEST_RADIX_PRIME = 127;

/** The same of pairs of numbers, whose butterflies are some twenty times as long. */
const LARGEST_PAIRED_PRIME = 31;

/** Composite radices up to here keep butterflies of pairs as short as others. */
export const LARGEST_PAIRED_RADIX = 9;

/** Prime factors of a length that no listed radix has, the largest one first. */
export function largePrimesOf(length: number): number[] {
  return [...new Set(primeFactors(length))].filter((prime) => prime > LARGEST_LISTED_PRIME).reverse();
}

/** Additions plus multiplications of butterflies of prime powers and listed radices; others follow from these. */
const OPERATIONS: Readonly<Record<number, number>> = {
  1: 0,
  2: 4,
  3: 16,
  4: 16,
  5: 44,
  6: 44,
  7: 96,
  8: 56,
  9: 120,
  10: 108,
  11: 240,
  12: 112,
  13: 276,
  14: 220,
  15: 212,
  16: 168,
  25: 536,
  27: 600,
  32: 456,
};

export type PrimeWay = 'multiplied' | 'convolved';

/** Ways that may be gone: those that somebody asked for, and where nobody did both. */
export interface PrimeWays {
  readonly multiplied: boolean;
  readonly convolved: boolean;
  /** Somebody asked for it. */
  readonly asked: boolean;
}

export function waysOf(prime: number, { tuning }: Pick<Target, 'tuning'>): PrimeWays {
  const { multiply, convolve } = tuning?.rader ?? {};
  const within = (range: readonly [number, number] | undefined) =>
    range !== undefined && prime >= range[0] && prime <= range[1];
  const [multiplied, convolved] = [within(multiply), within(convolve)];
  return {
    multiplied: multiply ? multiplied : !convolved,
    convolved: convolve ? convolved : !multiplied,
    asked: multiplied || convolved,
  };
}

/** Rader passes by multiplication take p/2 multiply-adds for each point, and rounding errors add up in each sum of as many products. */
const LARGEST_MULTIPLIED_PRIME = 1024;

/** Plan time takes more than seconds to know the spectrum of the roots of larger primes. */
export const LARGEST_CONVOLVED_PRIME = 2 ** 22;

/**
 * How a prime is a radix whose pass takes several steps: by the convolution of Rader's algorithm, or by multiplication. Undefined where it is
 * none, or has a butterfly: butterflies that were derived are replaced only where somebody asked for that, of primes up to 13 by `multiply`.
 */
export function raderWay(prime: number, target: ButterflyTarget): PrimeWay | undefined {
  if (prime <= LARGEST_LISTED_PRIME) return prime > 2 && isMultiplyAsked(prime, target) ? 'multiplied' : undefined;
  if (isRadixPrime(prime, target)) return undefined;
  const isConvolved = waysOf(prime, target).convolved && prime <= LARGEST_CONVOLVED_PRIME;
  if (isConvolved && largePrimesOf(prime - 1).every((other) => isRadixPrime(other, target))) return 'convolved';
  return prime <= LARGEST_MULTIPLIED_PRIME && isMultiplyAsked(prime, target) ? 'multiplied' : undefined;
}

/** Whether somebody asked that a prime be multiplied. A range that ends at 13 says that no larger prime is, and leaves the others alone. */
export function isMultiplyAsked(prime: number, { tuning }: Pick<Target, 'tuning'>): boolean {
  const range = tuning?.rader?.multiply;
  return range !== undefined && range[1] > LARGEST_LISTED_PRIME && prime >= range[0] && prime <= range[1];
}

/** Whether passes of a length with this large prime factor are possible: by a butterfly, or by several steps. */
export function isPassPrime(prime: number, target: ButterflyTarget): boolean {
  return isRadixPrime(prime, target) || raderWay(prime, target) !== undefined;
}

/** The part of a target that decides which butterflies there are. */
export type ButterflyTarget = Pick<
  Target,
  'tuning' | 'precision' | 'precisions' | 'banks' | 'registers' | 'registerFile'
>;

/** A convolution has fewer multiply-adds among its operations: it has to spare more than these. */
const CONVOLUTION_SHARE = 0.95;

/** How a large prime is a radix; undefined where it is none. */
function wayOf(prime: number, target: Pick<Target, 'tuning'>): PrimeWay | undefined {
  if (prime > LARGEST_RADIX_PRIME) return undefined;
  const { multiplied, convolved } = waysOf(prime, target);
  const others = largePrimesOf(prime - 1).every((other) => wayOf(other, target));
  if (!multiplied || !(convolved && others))
    return multiplied ? 'multiplied' : convolved && others ? 'convolved' : undefined;
  return convolutionOperations(prime, target) < CONVOLUTION_SHARE * multiplicationOperations(prime)
    ? 'convolved'
    : 'multiplied';
}

/**
 * Points of a butterfly, in multiples of the registers that a thread can have without driving other groups away, where the
 * register file is known and group sizes are chosen by it. On an H200 lengths with a factor of 19 to 37 take 0.66 of the time in double
 * precision that they take by the steps of Bluestein's or Rader's algorithm (geometric mean of 34 lengths), and with 37 to 47 in single 0.77.
 */
const REGISTERS_OF_LARGE_BUTTERFLIES = 2.1;

/** Larger primes within the registers are faster alone (71 singles: 0.68 of the time), but slower in composites (610: 1.08, 142: 1.4). */
const LARGEST_THREAD_PRIME = 53;

/**
 * Whether a large prime is a radix. Where shared memory is not memory like any other, threads whose registers would not hold all of
 * its points leave it alone, unless somebody asked for it: there is no cache for what spills, and compilers take minutes.
 */
export function isRadixPrime(prime: number, target: ButterflyTarget): boolean {
  if (wayOf(prime, target) === undefined) return false;
  if (isInPairs(target.precision, target) && prime > LARGEST_PAIRED_PRIME && !waysOf(prime, target).asked) return false;
  if (target.banks === 1 || waysOf(prime, target).asked) return true;
  const large = target.registerFile !== undefined && prime <= LARGEST_THREAD_PRIME;
  const registers = target.registers * (large ? REGISTERS_OF_LARGE_BUTTERFLIES : 1);
  return 2 * prime * wordsPerReal(target.precision) <= registers;
}

/**
 * Primes of some radices whose butterflies are convolutions, and of the transforms inside these.
 * @param multiplied those that nobody asked for are none: of reals, more of a multiplied prime folds away than of a convolution
 */
export function convolvedPrimes(
  radices: readonly number[],
  target: Pick<Target, 'tuning'>,
  multiplied = false,
): number[] {
  const found = new Set<number>();
  const visit = (length: number) => {
    for (const prime of largePrimesOf(length)) {
      if (found.has(prime) || wayOf(prime, target) !== 'convolved') continue;
      if (multiplied && !waysOf(prime, target).asked) continue;
      found.add(prime);
      visit(prime - 1);
    }
  };
  for (const radix of radices) visit(radix);
  return [...found];
}

/** Additions plus multiplications of a derived butterfly (checked against kernels/butterfly.ts in a test). */
export function butterflyOperations(n: number, target: Pick<Target, 'tuning'> = {}): number {
  const listed = OPERATIONS[n];
  if (listed !== undefined) return listed;
  const factors = primeFactors(n);
  const [first] = factors as [number];
  if (factors.length === 1) {
    return wayOf(n, target) === 'convolved' ? convolutionOperations(n, target) : multiplicationOperations(n);
  }
  const a = first ** factors.filter((prime) => prime === first).length;
  const b = n / a;
  if (b === 1) throw new RangeError(`no butterfly of ${n} points is known`);
  return b * butterflyOperations(a, target) + a * butterflyOperations(b, target);
}

/** Two transforms, products of which two have a factor of one part, and two sums with the point that is not in them. */
function convolutionOperations(prime: number, target: Pick<Target, 'tuning'>): number {
  return 2 * butterflyOperations(prime - 1, target) + 6 * (prime - 3) + 2 * 2 + 2 * 2;
}

/**
 * With h = (p − 1)/2: as many sums and as many differences of pairs, a cyclic correlation of their cosines and a skew-cyclic one of
 * their sines, and the sums of both; of the real parts and of the imaginary ones.
 */
function multiplicationOperations(prime: number): number {
  const h = (prime - 1) / 2;
  return 2 * (4 * h + cyclicOperations(h) + skewOperations(h));
}

/** With an offset, and the total of all values. Of an even length two halves. */
function cyclicOperations(h: number): number {
  if (h % 2 === 1) return h + 2 * h * h;
  return h + cyclicOperations(h / 2) + skewOperations(h / 2) + h;
}

function skewOperations(h: number): number {
  return h * (2 * h - 1);
}
