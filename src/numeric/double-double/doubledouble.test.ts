import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { add, type Exact, exact, mul, sub } from '../exact.ts';
import { ddAdd, ddMul, ddMulComplex, productError } from './doubledouble.ts';

const runs = { seed: seedFor('numeric/doubledouble'), numRuns: 500 };
/** Doubles of moderate exponent, so that all of their products are exact in 256 fractional bits. */
const moderate = fc
  .tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -20, max: 20 }), fc.boolean())
  .map(([m, e, negative]) => (negative ? -m : m) * 2 ** e);
const word = fc
  .tuple(moderate, fc.double({ min: -1, max: 1, noNaN: true }))
  .map(([hi, part]) => [hi, 0 + Math.fround(part) * Math.abs(hi) * 2 ** -54] as const);

const value = (a: Float64Array, i = 0): Exact => add(exact(a[i] as number), exact(a[i + 1] as number));
const pair = ([hi, lo]: readonly [number, number]): Exact => add(exact(hi), exact(lo));
const size = (x: Exact): bigint => (x.fixed < 0n ? -x.fixed : x.fixed);
/** Whether |actual − expected| ≤ bits · u² · |scale|, u² = 2^-106. */
const within = (actual: Exact, expected: Exact, scale: bigint, units: bigint): boolean =>
  size(sub(actual, expected)) << 106n <= units * scale;

describe('double-double arithmetic', () => {
  const out = new Float64Array(4);

  it('knows the rounding error of a product', () => {
    fc.assert(
      fc.property(moderate, moderate, (a, b) => {
        const error = productError(a, b, a * b);
        expect(add(exact(a * b), exact(error)).fixed).toBe(mul(exact(a), exact(b)).fixed);
      }),
      runs,
    );
  });

  it('keeps to the proven error bounds', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        ddAdd(out, 2, ...a, ...b);
        const sum = add(pair(a), pair(b));
        expect(within(value(out, 2), sum, size(sum), 4n)).toBe(true);
        ddMul(out, 0, ...a, ...b);
        const product = mul(pair(a), pair(b));
        expect(within(value(out), product, size(product), 7n)).toBe(true);
        expect(out[0]).toBe((out[0] as number) + (out[1] as number));
      }),
      runs,
    );
  });

  it('stays accurate when leading words cancel', () => {
    ddAdd(out, 0, 1, 2 ** -60, -1, -(2 ** -62));
    expect(value(out).fixed).toBe(exact(2 ** -60 - 2 ** -62).fixed);
  });

  it('multiplies complex numbers, in place too', () => {
    fc.assert(
      fc.property(word, word, word, word, (a, b, c, d) => {
        const x = Float64Array.of(...a, ...b);
        const y = Float64Array.of(...c, ...d);
        ddMulComplex(x, 0, x, 0, y, 0);
        const re = sub(mul(pair(a), pair(c)), mul(pair(b), pair(d)));
        const im = add(mul(pair(a), pair(d)), mul(pair(b), pair(c)));
        const largest = [size(mul(pair(a), pair(c))), size(mul(pair(b), pair(d)))].reduce((p, q) => p + q);
        const cross = [size(mul(pair(a), pair(d))), size(mul(pair(b), pair(c)))].reduce((p, q) => p + q);
        expect(within(value(x, 0), re, largest, 12n)).toBe(true);
        expect(within(value(x, 2), im, cross, 12n)).toBe(true);
      }),
      runs,
    );
  });
});
