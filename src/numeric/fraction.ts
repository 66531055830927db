/** Doubles as the rational numbers that they are, for what has to be known exactly before it is rounded once. */

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

export function minus(a: Fraction, b: Fraction): Fraction {
  return { p: a.p * b.q - b.p * a.q, q: a.q * b.q };
}

/** @param b not 0 */
export function over(a: Fraction, b: Fraction): Fraction {
  const [p, q] = [a.p * b.q, a.q * b.p];
  return q < 0n ? { p: -p, q: -q } : { p, q };
}
