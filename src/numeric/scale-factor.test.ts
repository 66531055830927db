import { describe, expect, it } from 'vitest';
import { randomFor } from '../../test/support/random.ts';
import { type Exact, exact, mul, rational, scaledInteger, sub, toNumber } from './exact.ts';
import { approximately, constantsOf, powerFactor, type ScaleFactor, scaleProduct } from './scale-factor.ts';

const random = randomFor('numeric/scale-factor');

function exactly(factor: ScaleFactor): Exact {
  return constantsOf(factor).reduce(mul);
}

/** @param bits that both have in common after the point. */
function expectNear(actual: Exact, expected: Exact, bits = 240): void {
  const difference = sub(actual, expected).fixed;
  expect(difference < 0n ? -difference : difference).toBeLessThan(1n << BigInt(256 - bits));
}

describe('scale factors', () => {
  it('are the doubles that they are given as', () => {
    const doubles = [0, 1, -1, 0.1, -0.3, 2 ** -1074, 1e-320, -Number.MAX_VALUE, 2 ** 1023, random.unit()];
    for (const double of doubles) {
      expect(scaleProduct(double)).toBe(double);
      expect(approximately(double)).toBe(double);
    }
    for (const double of [0.1, -0.3, 3 * 2 ** -60, random.unit()]) expectNear(exactly(double), exact(double));
  });

  it('are doubles again where products and quotients of them are', () => {
    expect(scaleProduct(0.3, 2 ** -9, -1)).toBe(-0.3 * 2 ** -9);
    expect(powerFactor(1024, -1)).toBe(2 ** -10);
    expect(powerFactor(4, 1 / 2)).toBe(2);
    expect(scaleProduct(powerFactor(12, -1), 12)).toBe(1);
    expect(scaleProduct(powerFactor(2, 1 / 2), powerFactor(2, 1 / 2))).toBe(2);
    expect(scaleProduct(powerFactor(3, -1), 0)).toBe(0);
  });

  it('are exact where no double is the number', () => {
    for (let n = 3; n < 200; n += 2 * random.integer(1, 9)) {
      expectNear(exactly(powerFactor(n, -1)), rational(1, n));
      const third = scaleProduct(0.1, powerFactor(n, -1), powerFactor(3, -1));
      expectNear(mul(exactly(third), exact(3 * n)), exact(0.1));
      const root = exactly(powerFactor(n, 1 / 2));
      expectNear(mul(root, root), exact(n));
      const over = exactly(scaleProduct(-3, powerFactor(n, -1 / 2)));
      expectNear(mul(mul(over, over), exact(n)), exact(9));
      expect(over.fixed).toBeLessThan(0n);
    }
  });

  it('keep their value where they are written as JSON, and the same number has the same text', () => {
    const factor = scaleProduct(powerFactor(2, 1 / 2), -0.7, powerFactor(15, -1));
    expect(constantsOf(JSON.parse(JSON.stringify(factor)))).toEqual(constantsOf(factor));
    expect(JSON.stringify(scaleProduct(powerFactor(15, -1), powerFactor(2, 1 / 2), -0.7))).toBe(JSON.stringify(factor));
    expect(approximately(factor)).toBeCloseTo((-0.7 * Math.SQRT2) / 15, 15);
  });

  it('are products of constants that each have all their digits, and that singles can hold', () => {
    for (const exponent of [-1074, -900, -300, -129, 126, 127, 300, 1000]) {
      const factor = scaleProduct(5, powerFactor(7, -1), powerFactor(2, exponent));
      const constants = constantsOf(factor);
      for (const constant of constants) {
        expect(Math.abs(toNumber(constant))).toBeLessThan(2 ** 127);
        expect(Math.abs(toNumber(constant))).toBeGreaterThanOrEqual(2 ** -128);
      }
      const [first, ...powers] = constants;
      const shift = powers.reduce((sum, one) => sum + Math.log2(toNumber(one)), 0);
      expectNear(mul(first, scaledInteger(1n, shift - exponent)), rational(5, 7), 120);
    }
  });

  it('refuses what is no real number', () => {
    expect(() => powerFactor(-2, 1 / 2)).toThrow(RangeError);
    expect(() => scaleProduct(Number.POSITIVE_INFINITY)).toThrow(RangeError);
    expect(() => scaleProduct(Number.NaN, 2)).toThrow(RangeError);
  });
});
