/**
 * Integer arithmetic that planning needs: factorisation, primitive roots and smooth lengths.
 *
 * Everything takes and returns plain numbers and is exact for integers up to 2^53 − 1. This room imports nothing, so
 * a violated precondition is a `RangeError`: a mistake of the caller in this code base, never of a user of the library.
 */

/** One prime of a factorisation with its multiplicity. */
export interface PrimePower {
  readonly prime: number;
  readonly exponent: number;
}

/** Products of two residues below this bound stay below 2^53, so plain multiplication is exact. */
const EXACT_PRODUCT_LIMIT = 94906265;

/** Trial division stops here; what is left over is prime or splits by Pollard's rho. */
const TRIAL_LIMIT = 1 << 16;

function requireInteger(name: string, value: number, minimum: number): void {
  if (!Number.isSafeInteger(value) || value < minimum) {
    throw new RangeError(`${name} must be an integer from ${minimum} to 2^53 - 1, but ${value} was given`);
  }
}

/** Greatest common divisor of |a| and |b|; `gcd(0, 0)` is 0. */
export function gcd(a: number, b: number): number {
  let x = Math.abs(a);
  let y = Math.abs(b);
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** a·b modulo a positive integer, for a and b in [0, modulus). */
export function multiplyModulo(a: number, b: number, modulus: number): number {
  if (modulus <= EXACT_PRODUCT_LIMIT) return (a * b) % modulus;
  return Number((BigInt(a) * BigInt(b)) % BigInt(modulus));
}

/**
 * x in [0, modulus) with a·x ≡ 1, by the extended Euclidean algorithm; for a ≥ 0.
 * @throws RangeError where a and the modulus have a common divisor
 */
export function inverseModulo(a: number, modulus: number): number {
  let [rest, nextRest, x, nextX] = [a % modulus, modulus, 1, 0];
  while (nextRest !== 0) {
    const quotient = Math.floor(rest / nextRest);
    [rest, nextRest] = [nextRest, rest - quotient * nextRest];
    [x, nextX] = [nextX, x - quotient * nextX];
  }
  if (rest !== 1) throw new RangeError(`${a} has no inverse modulo ${modulus}`);
  return ((x % modulus) + modulus) % modulus;
}

/**
 * `base^exponent mod modulus` by square and multiply, in [0, modulus).
 * @param base any integer (a negative one is reduced first)
 * @param exponent a non-negative integer
 * @param modulus a positive integer
 */
export function modPow(base: number, exponent: number, modulus: number): number {
  requireInteger('exponent', exponent, 0);
  requireInteger('modulus', modulus, 1);
  requireInteger('|base|', Math.abs(base), 0);
  let square = base % modulus;
  if (square < 0) square += modulus;
  let result = 1 % modulus;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiplyModulo(result, square, modulus);
    square = multiplyModulo(square, square, modulus);
  }
  return result;
}

/** These bases make the Miller–Rabin test deterministic below 3.3·10^24 (Sorenson and Webster, 2015). */
const WITNESSES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41] as const;

/** Whether `n` is prime (deterministic Miller–Rabin). Numbers below 2 are not. */
export function isPrime(n: number): boolean {
  if (!Number.isSafeInteger(n) || n < 2) return false;
  for (const p of WITNESSES) if (n % p === 0) return n === p;
  let odd = n - 1;
  let twos = 0;
  while (odd % 2 === 0) {
    odd /= 2;
    twos++;
  }
  return WITNESSES.every((witness) => {
    let x = modPow(witness, odd, n);
    if (x === 1 || x === n - 1) return true;
    for (let i = 1; i < twos; i++) {
      x = multiplyModulo(x, x, n);
      if (x === n - 1) return true;
    }
    return false;
  });
}

/** A proper divisor of an odd composite without small factors: Pollard's rho with Floyd's cycle finding. */
function properDivisor(n: number): number {
  for (let offset = 1; ; offset++) {
    const step = (x: number): number => (multiplyModulo(x, x, n) + offset) % n;
    let slow = 2;
    let fast = 2;
    let divisor = 1;
    while (divisor === 1) {
      slow = step(slow);
      fast = step(step(fast));
      divisor = gcd(slow - fast, n);
    }
    if (divisor !== n) return divisor;
  }
}

function splitLargeFactor(n: number, into: number[]): void {
  if (n === 1) return;
  if (isPrime(n)) {
    into.push(n);
    return;
  }
  const divisor = properDivisor(n);
  splitLargeFactor(divisor, into);
  splitLargeFactor(n / divisor, into);
}

/** The primes of `n ≥ 1` with repetition, ascending: `primeFactors(360)` is `[2, 2, 2, 3, 3, 5]`, of 1 it is `[]`. */
export function primeFactors(n: number): number[] {
  requireInteger('n', n, 1);
  const factors: number[] = [];
  let rest = n;
  for (let p = 2; p < TRIAL_LIMIT && p * p <= rest; p += p === 2 ? 1 : 2) {
    while (rest % p === 0) {
      factors.push(p);
      rest /= p;
    }
  }
  splitLargeFactor(rest, factors);
  return factors.sort((a, b) => a - b);
}

/** The factorisation of `n ≥ 1` into prime powers, ascending; that of 1 is empty. */
export function factorize(n: number): PrimePower[] {
  const powers: { prime: number; exponent: number }[] = [];
  for (const prime of primeFactors(n)) {
    const last = powers.at(-1);
    if (last?.prime === prime) last.exponent++;
    else powers.push({ prime, exponent: 1 });
  }
  return powers;
}

/** The largest prime that divides `n ≥ 1`; 1 for `n = 1`. */
export function largestPrimeFactor(n: number): number {
  return primeFactors(n).at(-1) ?? 1;
}

/** All positive divisors of `n ≥ 1`, ascending, 1 and `n` included. */
export function divisors(n: number): number[] {
  let found = [1];
  for (const { prime, exponent } of factorize(n)) {
    const powers = Array.from({ length: exponent + 1 }, (_, e) => prime ** e);
    found = found.flatMap((divisor) => powers.map((power) => divisor * power));
  }
  return found.sort((a, b) => a - b);
}

/**
 * The smallest generator of the multiplicative group modulo the prime `p`, whose powers give Rader's permutation.
 * g generates exactly when g^((p−1)/q) ≠ 1 for every prime q dividing p − 1.
 */
export function primitiveRoot(p: number): number {
  if (!isPrime(p)) throw new RangeError(`a primitive root is wanted for a prime, but ${p} is not prime`);
  if (p === 2) return 1;
  const exponents = factorize(p - 1).map(({ prime }) => (p - 1) / prime);
  for (let candidate = 2; ; candidate++) {
    if (exponents.every((exponent) => modPow(candidate, exponent, p) !== 1)) return candidate;
  }
}

/** The smallest integer ≥ `n` none of whose primes exceeds `maxPrime` (at least 2). */
export function nextSmooth(n: number, maxPrime: number): number {
  requireInteger('n', n, 1);
  requireInteger('maxPrime', maxPrime, 2);
  let best = 1;
  while (best < n) best *= 2;
  const odd: number[] = [];
  for (let p = 3; p <= Math.min(maxPrime, n); p += 2) if (isPrime(p)) odd.push(p);
  // Enumerates the products of odd primes below the best answer so far; each is completed by a power of two.
  const extend = (product: number, from: number): void => {
    let completed = product;
    while (completed < n) completed *= 2;
    if (completed < best) best = completed;
    for (let i = from; i < odd.length; i++) {
      const next = product * (odd[i] as number);
      if (next >= best) break;
      extend(next, i);
    }
  };
  extend(1, 0);
  return best;
}

/** The largest number up to `n` whose prime factors are at most `maxPrime`. */
export function previousSmooth(n: number, maxPrime: number): number {
  requireInteger('n', n, 1);
  requireInteger('maxPrime', maxPrime, 2);
  let best = 1;
  const odd: number[] = [];
  for (let p = 3; p <= Math.min(maxPrime, n); p += 2) if (isPrime(p)) odd.push(p);
  // Enumerates the products of odd primes; each is completed by a power of two.
  const extend = (product: number, from: number): void => {
    let completed = product;
    while (completed <= n / 2) completed *= 2;
    if (completed > best) best = completed;
    for (let i = from; i < odd.length; i++) {
      const next = product * (odd[i] as number);
      if (next > n) break;
      extend(next, i);
    }
  };
  extend(1, 0);
  return best;
}

/** All numbers from `low` to `high` whose prime factors are at most `maxPrime`, ascending. */
export function smoothBetween(low: number, high: number, maxPrime: number): number[] {
  let products = [1];
  for (let prime = 2; prime <= maxPrime; prime++) {
    if (!isPrime(prime)) continue;
    products = products.flatMap((product) => {
      const powers: number[] = [];
      for (let power = product; power <= high; power *= prime) powers.push(power);
      return powers;
    });
  }
  return products.filter((product) => product >= low).sort((a, b) => a - b);
}

/** Where bin k lies along an axis whose uploads of these lengths left out the last reordering. */
export function unorderedPosition(k: number, factors: readonly number[]): number {
  let place = 0;
  let size = factors.reduce((a, b) => a * b, 1);
  for (const n of factors) {
    size /= n;
    place += (k % n) * size;
    k = Math.floor(k / n);
  }
  return place;
}
