/**
 * The butterflies that passes may use, their operation counts, and the choice between two algorithms for large primes: direct
 * multiplication, which combines pairs of points (Rader's direct multiplication, VkFFT guide 4.3.6), or a cyclic convolution by transforms
 * of p − 1 points (Rader 1968). Primes too large for a butterfly use the same two algorithms in several steps through shared memory
 * (`raderPassAlgorithm`).
 */
import { primeFactors } from '../../numeric/primes.ts';
import { isInPairs, wordsPerReal } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';

/**
 * Radices that passes may use for any length: all composites up to 16 whose prime factors are at most 13. Among equally cheap sequences,
 * the one with larger radices first wins, because short passes prefer the long strides at the end.
 */
export const RADICES = [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2] as const;

/** The largest of `RADICES`. */
export const LARGEST_LISTED_RADIX = RADICES[0];

/** The largest prime in `RADICES`; a larger prime factor of a length is a radix of its own. */
export const LARGEST_LISTED_PRIME = 13;

/** The largest prime with a butterfly: up to here a butterfly is faster than a longer convolution, and compiles in reasonable time. */
const LARGEST_RADIX_PRIME = 127;

/** `LARGEST_RADIX_PRIME` for double-word numbers, whose butterflies are some twenty times as long. */
const LARGEST_PAIRED_PRIME = 31;

/** The largest composite radix for double-word numbers: up to here their butterflies are no longer than other butterflies. */
export const LARGEST_PAIRED_RADIX = 9;

/** The prime factors of a length that are no listed radix, largest first. */
export function largePrimesOf(length: number): number[] {
  return [...new Set(primeFactors(length))].filter((prime) => prime > LARGEST_LISTED_PRIME).reverse();
}

/** Additions plus multiplications of butterflies of prime powers and listed radices; the counts of other radices follow from these. */
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

export type PrimeAlgorithm = 'multiplied' | 'convolved';

/** The algorithms that may be used for a prime: those that the user asked for; if the user did not say, both. */
export interface AllowedAlgorithms {
  readonly multiplied: boolean;
  readonly convolved: boolean;
  /** The user asked for one of them. */
  readonly requested: boolean;
}

export function allowedAlgorithms(prime: number, { tuning }: Pick<Target, 'tuning'>): AllowedAlgorithms {
  const { multiply, convolve } = tuning?.rader ?? {};
  const within = (range: readonly [number, number] | undefined) =>
    range !== undefined && prime >= range[0] && prime <= range[1];
  const [multiplied, convolved] = [within(multiply), within(convolve)];
  return {
    multiplied: multiply ? multiplied : !convolved,
    convolved: convolve ? convolved : !multiplied,
    requested: multiplied || convolved,
  };
}

/**
 * The largest prime of Rader passes by multiplication: they take p/2 multiply-adds for each point, and rounding errors accumulate in sums
 * of that length.
 */
const LARGEST_MULTIPLIED_PRIME = 1024;

/**
 * The largest prime of Rader passes by convolution: computing the spectrum of the roots of larger primes takes more than seconds at plan
 * time.
 */
export const LARGEST_CONVOLVED_PRIME = 2 ** 22;

/**
 * The algorithm of a prime radix whose pass takes several steps; undefined if the prime is no such radix or has a butterfly. A derived
 * butterfly is replaced only if the user asked for that; for primes up to 13, only by `multiply`.
 */
export function raderPassAlgorithm(prime: number, target: ButterflyTarget): PrimeAlgorithm | undefined {
  if (prime <= LARGEST_LISTED_PRIME) return prime > 2 && isMultiplyAsked(prime, target) ? 'multiplied' : undefined;
  if (isRadixPrime(prime, target)) return undefined;
  const isConvolved = allowedAlgorithms(prime, target).convolved && prime <= LARGEST_CONVOLVED_PRIME;
  if (isConvolved && largePrimesOf(prime - 1).every((other) => isRadixPrime(other, target))) return 'convolved';
  return prime <= LARGEST_MULTIPLIED_PRIME && isMultiplyAsked(prime, target) ? 'multiplied' : undefined;
}

/** Whether the user asked for multiplication of a prime. A range that ends at 13 excludes larger primes and does not affect the others. */
export function isMultiplyAsked(prime: number, { tuning }: Pick<Target, 'tuning'>): boolean {
  const range = tuning?.rader?.multiply;
  return range !== undefined && range[1] > LARGEST_LISTED_PRIME && prime >= range[0] && prime <= range[1];
}

/** Whether a length with this large prime factor can be transformed by passes: with a butterfly or in several steps. */
export function isPassPrime(prime: number, target: ButterflyTarget): boolean {
  return isRadixPrime(prime, target) || raderPassAlgorithm(prime, target) !== undefined;
}

/** The fields of a target that decide which butterflies are available. */
export type ButterflyTarget = Pick<
  Target,
  'tuning' | 'precision' | 'precisions' | 'banks' | 'registers' | 'registerFile'
>;

/**
 * The ratio of operations below which a convolution is chosen. It is less than 1 because fewer operations of a convolution are
 * multiply-adds.
 */
const CONVOLUTION_SHARE = 0.95;

/** The algorithm of the butterfly of a large prime; undefined if it has no butterfly. */
function butterflyAlgorithm(prime: number, target: Pick<Target, 'tuning'>): PrimeAlgorithm | undefined {
  if (prime > LARGEST_RADIX_PRIME) return undefined;
  const { multiplied, convolved } = allowedAlgorithms(prime, target);
  const others = largePrimesOf(prime - 1).every((other) => butterflyAlgorithm(other, target));
  if (!multiplied || !(convolved && others))
    return multiplied ? 'multiplied' : convolved && others ? 'convolved' : undefined;
  return convolutionOperations(prime, target) < CONVOLUTION_SHARE * multiplicationOperations(prime)
    ? 'convolved'
    : 'multiplied';
}

/**
 * The factor by which butterflies of large primes may exceed the registers that a thread can have without displacing other groups. It
 * applies if the size of the register file is known and decides the sizes of groups. On an H200, lengths with a factor of 19 to 37 take
 * 0.66 of the time that the steps of Bluestein's or Rader's algorithm take in double precision (geometric mean of 34 lengths), and lengths
 * with a factor of 37 to 47 in single precision 0.77.
 */
const REGISTERS_OF_LARGE_BUTTERFLIES = 2.1;

/**
 * The largest prime for which that factor applies. Larger primes that fit the registers are faster alone (71 singles: 0.68 of the time) but
 * slower in composites (610: 1.08, 142: 1.4).
 */
const LARGEST_THREAD_PRIME = 53;

/**
 * Whether a large prime is a radix. On devices where shared memory is separate from ordinary memory, a prime is none if its points do not
 * fit a thread's registers, unless the user asked for it: spilled registers have no cache there, and compilers take minutes.
 */
export function isRadixPrime(prime: number, target: ButterflyTarget): boolean {
  if (butterflyAlgorithm(prime, target) === undefined) return false;
  if (
    isInPairs(target.precision, target) &&
    prime > LARGEST_PAIRED_PRIME &&
    !allowedAlgorithms(prime, target).requested
  )
    return false;
  if (target.banks === 1 || allowedAlgorithms(prime, target).requested) return true;
  const large = target.registerFile !== undefined && prime <= LARGEST_THREAD_PRIME;
  const registers = target.registers * (large ? REGISTERS_OF_LARGE_BUTTERFLIES : 1);
  return 2 * prime * wordsPerReal(target.precision) <= registers;
}

/**
 * The large prime factors of some radices, and of the inner transforms p − 1, whose butterflies are convolutions.
 * @param multiplied only primes that the user asked for: with real data, more of a multiplied prime folds away than of a convolution
 */
export function convolvedPrimes(
  radices: readonly number[],
  target: Pick<Target, 'tuning'>,
  multiplied = false,
): number[] {
  const found = new Set<number>();
  const visit = (length: number) => {
    for (const prime of largePrimesOf(length)) {
      if (found.has(prime) || butterflyAlgorithm(prime, target) !== 'convolved') continue;
      if (multiplied && !allowedAlgorithms(prime, target).requested) continue;
      found.add(prime);
      visit(prime - 1);
    }
  };
  for (const radix of radices) visit(radix);
  return [...found];
}

/** Additions plus multiplications of a derived butterfly (checked against kernels/passes/butterfly.ts in a test). */
export function butterflyOperations(n: number, target: Pick<Target, 'tuning'> = {}): number {
  const listed = OPERATIONS[n];
  if (listed !== undefined) return listed;
  const factors = primeFactors(n);
  const [first] = factors as [number];
  if (factors.length === 1) {
    return butterflyAlgorithm(n, target) === 'convolved'
      ? convolutionOperations(n, target)
      : multiplicationOperations(n);
  }
  const a = first ** factors.filter((prime) => prime === first).length;
  const b = n / a;
  if (b === 1) throw new RangeError(`no butterfly of ${n} points is known`);
  return b * butterflyOperations(a, target) + a * butterflyOperations(b, target);
}

/**
 * Two transforms, products (two of them with a factor that is real or imaginary), and two sums with the point that the convolution leaves
 * out.
 */
function convolutionOperations(prime: number, target: Pick<Target, 'tuning'>): number {
  return 2 * butterflyOperations(prime - 1, target) + 6 * (prime - 3) + 2 * 2 + 2 * 2;
}

/**
 * With h = (p − 1)/2, for real and imaginary parts each: h sums and h differences of pairs, a cyclic correlation with cosines, a
 * skew-cyclic correlation with sines, and 2h sums of both.
 */
function multiplicationOperations(prime: number): number {
  const h = (prime - 1) / 2;
  return 2 * (4 * h + cyclicOperations(h) + skewOperations(h));
}

/** A cyclic correlation with an offset, and the total of all values. An even length splits into halves. */
function cyclicOperations(h: number): number {
  if (h % 2 === 1) return h + 2 * h * h;
  return h + cyclicOperations(h / 2) + skewOperations(h / 2) + h;
}

function skewOperations(h: number): number {
  return h * (2 * h - 1);
}
