import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../test/support/random.ts';
import {
  divisors,
  factorize,
  gcd,
  isPrime,
  largestPrimeFactor,
  modPow,
  nextSmooth,
  primeFactors,
  primitiveRoot,
} from './primes.ts';

const runs = { seed: seedFor('numeric/primes'), numRuns: 200 };

/** The sieve of Eratosthenes: whether each number below `limit` is prime. */
function sieve(limit: number): boolean[] {
  const prime = Array.from({ length: limit }, (_, i) => i > 1);
  for (let p = 2; p * p < limit; p++) if (prime[p]) for (let m = p * p; m < limit; m += p) prime[m] = false;
  return prime;
}

describe('primes', () => {
  it('agrees with a sieve', () => {
    const wrong = sieve(20000).flatMap((prime, n) => (isPrime(n) === prime ? [] : [n]));
    expect(wrong).toEqual([]);
  });

  it('recognises large primes, Carmichael numbers and strong pseudoprimes', () => {
    expect(isPrime(2 ** 31 - 1)).toBe(true);
    expect(isPrime(9007199254740881)).toBe(true);
    expect(isPrime(561)).toBe(false);
    expect(isPrime(3215031751)).toBe(false);
    expect(isPrime(94906249 ** 2)).toBe(false);
    expect(isPrime(2.5)).toBe(false);
    expect(isPrime(-7)).toBe(false);
  });

  it('factors known numbers', () => {
    expect(primeFactors(1)).toEqual([]);
    expect(factorize(1)).toEqual([]);
    expect(largestPrimeFactor(1)).toBe(1);
    expect(primeFactors(360)).toEqual([2, 2, 2, 3, 3, 5]);
    expect(factorize(360)).toEqual([
      { prime: 2, exponent: 3 },
      { prime: 3, exponent: 2 },
      { prime: 5, exponent: 1 },
    ]);
    expect(largestPrimeFactor(2 ** 20 * 65537)).toBe(65537);
    expect(primeFactors(94906247 * 94906249)).toEqual(
      primeFactors(94906247)
        .concat(primeFactors(94906249))
        .sort((a, b) => a - b),
    );
  });

  it('factors any safe integer into ascending primes whose product it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 1, max: 10 ** 6 }), fc.integer({ min: 1, max: 2 ** 53 - 1 })), (n) => {
        const primes = primeFactors(n);
        expect(primes.every(isPrime)).toBe(true);
        expect(primes).toEqual([...primes].sort((a, b) => a - b));
        expect(primes.reduce((product, p) => product * BigInt(p), 1n)).toBe(BigInt(n));
      }),
      { ...runs, numRuns: 60 },
    );
  });

  it('refuses what is no positive integer', () => {
    for (const n of [0, -4, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => primeFactors(n)).toThrow(RangeError);
    }
  });

  it('lists all divisors', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), (n) => {
        const expected = Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
        expect(divisors(n)).toEqual(expected);
      }),
      runs,
    );
  });

  it('finds the greatest common divisor', () => {
    expect(gcd(0, 0)).toBe(0);
    expect(gcd(0, -6)).toBe(6);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 500 }), (a, b) => {
        const expected = divisors(a)
          .filter((d) => b % d === 0)
          .at(-1);
        expect(gcd(a, b)).toBe(expected);
      }),
      runs,
    );
  });

  it('raises to powers modulo numbers up to 2^53', () => {
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 2 ** 53 - 1 }),
        (base, exponent, modulus) => {
          const m = BigInt(modulus);
          const expected = ((BigInt(base) ** BigInt(exponent) % m) + m) % m;
          expect(BigInt(modPow(base, exponent, modulus))).toBe(expected);
        },
      ),
      runs,
    );
  });

  it('finds the smallest primitive root', () => {
    const powersOf = (g: number, p: number): number => {
      const seen = new Set<number>();
      for (let x = g % p; !seen.has(x); x = (x * g) % p) seen.add(x);
      return seen.size;
    };
    sieve(400).forEach((prime, p) => {
      if (!prime) return;
      const root = primitiveRoot(p);
      expect(powersOf(root, p)).toBe(p - 1);
      for (let g = 2; g < root; g++) expect(powersOf(g, p)).toBeLessThan(p - 1);
    });
    expect(primitiveRoot(65537)).toBe(3);
    expect(() => primitiveRoot(15)).toThrow(RangeError);
  });

  it('finds the next smooth number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20000 }), fc.constantFrom(2, 3, 5, 7, 10, 13), (n, maxPrime) => {
        let expected = n;
        while (largestPrimeFactor(expected) > maxPrime) expected++;
        expect(nextSmooth(n, maxPrime)).toBe(expected);
      }),
      runs,
    );
    expect(nextSmooth(2 ** 40 + 1, 13)).toBeGreaterThan(2 ** 40);
  });
});
