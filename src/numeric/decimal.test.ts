import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../test/support/random.ts';
import { abs, add, compare, div, doubleDouble, format, mul, neg, pack, sqrt, sub, unpack } from '../numeric.ts';
import { type Exact, exact, sub as minus, add as plus, mul as times, toNumber } from './exact.ts';

const runs = { seed: seedFor('numeric/decimal'), numRuns: 400 };
const word = fc
  .tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -20, max: 20 }), fc.boolean(), fc.integer())
  .map(([m, e, negative, low]) => {
    const hi = (negative ? -m : m) * 2 ** e;
    return [hi, hi * 2 ** -54 * (low / 2 ** 32)] as const;
  });
const value = ([hi, lo]: readonly [number, number]): Exact => plus(exact(hi), exact(lo));
const off = (a: Exact, b: Exact) => Math.abs(toNumber(minus(a, b)));

describe('decimal text', () => {
  it('is read as the nearest double-double', () => {
    expect(doubleDouble('0.1')).toEqual([0.1, -5.551115123125783e-18]);
    expect(doubleDouble(' -1.5E2 ')).toEqual([-150, 0]);
    expect(doubleDouble(2n ** 60n + 1n)).toEqual([2 ** 60, 1]);
    expect(doubleDouble('1e-400')).toEqual([0, 0]);
    expect(doubleDouble('4.9406564584124654e-324')).toEqual([Number.MIN_VALUE, 0]);
    expect(doubleDouble('1e400')).toEqual([Number.POSITIVE_INFINITY, 0]);
    expect(doubleDouble('-Infinity')).toEqual([Number.NEGATIVE_INFINITY, 0]);
    expect(doubleDouble('nan')[0]).toBeNaN();
    for (const bad of ['', '.', '1e', '0x10', '1,5', '1 2', null, undefined, {}, [1], [1, '2']]) {
      expect(() => doubleDouble(bad as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    }
  });

  it('agrees with the engine on doubles', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 1, max: 21 }), (x, digits) => {
        const [hi, lo] = doubleDouble(String(x));
        expect(hi).toBe(x + 0);
        expect(Math.abs(lo)).toBeLessThanOrEqual(Math.abs(x) * 2 ** -52 + Number.MIN_VALUE);
        expect(Number(format(x, digits))).toBe(Number(x.toPrecision(digits)));
      }),
      runs,
    );
    expect(['0', '1e21', '123456', '0.000001', '1.5e-8'].map((text) => format(text))).toEqual([
      '0',
      '1e+21',
      '123456',
      '0.000001',
      '1.5e-8',
    ]);
    expect([format(2 ** -30), format(-0.25)]).toEqual(['9.31322574615478515625e-10', '-0.25']);
    expect(format(9.99, 2)).toBe('10');
    expect(() => format(1, 0)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  });

  it('comes back as the same number', () => {
    fc.assert(
      fc.property(word, (a) => {
        const shaped = doubleDouble(a);
        expect(doubleDouble(format(shaped))).toEqual(shaped);
      }),
      runs,
    );
  });
});

describe('arithmetic', () => {
  it('keeps to its error bounds', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const [x, y] = [value(a), value(b)];
        const size = (of: Exact) => Math.abs(toNumber(of)) * 2 ** -106;
        expect(off(value(add(a, b)), plus(x, y))).toBeLessThanOrEqual(3 * size(plus(x, y)));
        expect(off(value(sub(a, b)), minus(x, y))).toBeLessThanOrEqual(3 * size(minus(x, y)));
        expect(off(value(mul(a, b)), times(x, y))).toBeLessThanOrEqual(6 * size(times(x, y)));
        // What is left of a after b quotients, and of a after a root squared.
        expect(off(times(value(div(a, b)), y), x)).toBeLessThanOrEqual(11 * size(x));
        const root = value(sqrt(abs(a)));
        expect(off(times(root, root), value(abs(a)))).toBeLessThanOrEqual(10 * size(x));
        expect(Math.sign(compare(a, b))).toBe(Math.sign(toNumber(minus(x, y))));
        expect(add(a, neg(a))[0]).toBe(0);
      }),
      runs,
    );
    expect(sqrt(0)).toEqual([0, 0]);
    expect(compare(Number.NaN, 1)).toBeNaN();
  });

  it('has arrays as transforms have them', () => {
    expect(pack(['0.1', 2, [1, 2 ** -60]])).toEqual(Float64Array.of(0.1, -5.551115123125783e-18, 2, 0, 1, 2 ** -60));
    expect(unpack(Float64Array.of(1, 2, 3, 4))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(() => unpack([1])).toThrow(expect.objectContaining({ code: 'wrong-length' }));
  });
});
