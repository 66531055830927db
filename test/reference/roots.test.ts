import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, cosTurn, type Exact, exact, neg, sinTurn, sub, toNumber } from '../../src/numeric/exact.ts';
import { seedFor } from '../support/random.ts';
import { unitRoot } from './roots.ts';

const runs = { seed: seedFor('numeric/roots'), numRuns: 100 };
const size = (x: Exact): bigint => (x.fixed < 0n ? -x.fixed : x.fixed);
const order = fc.oneof(
  fc.integer({ min: 1, max: 2000 }),
  fc.integer({ min: 1, max: 2 ** 22 }),
  fc.constantFrom(2 ** 16, 2 ** 20, 3 ** 12, 2 ** 24, 10 ** 6),
);

describe('roots of unity', () => {
  it('are within 2^-100 of the exact ones, which round to the same doubles', () => {
    fc.assert(
      fc.property(
        order,
        fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { minLength: 4, maxLength: 8 }),
        (n, ks) => {
          const roots = unitRoot(n);
          const out = new Float64Array(4);
          for (const k of ks) {
            roots.at(k, out);
            const expected = [cosTurn(k, n), neg(sinTurn(k, n))] as const;
            expected.forEach((value, part) => {
              const actual = add(exact(out[2 * part] as number), exact(out[2 * part + 1] as number));
              expect(size(sub(actual, value)) <= 1n << 156n).toBe(true);
              expect(out[2 * part]).toBe(toNumber(value));
            });
          }
        },
      ),
      runs,
    );
  });

  it('hold up at the largest order', () => {
    const n = 2 ** 32;
    const roots = unitRoot(n);
    const out = new Float64Array(4);
    for (const k of [1, 123456789, 2 ** 29, 2 ** 29 - 1, 3 * 2 ** 30 + 7, n - 1]) {
      roots.at(k, out);
      expect(out[0]).toBe(toNumber(cosTurn(k, n)));
      expect(out[2]).toBe(toNumber(neg(sinTurn(k, n))));
    }
    const prime = 4294967291;
    unitRoot(prime).at(1e9, out);
    expect(out[0]).toBe(toNumber(cosTurn(1e9, prime)));
  });

  it('have exact zeros, halves and ones, and no negative zeros', () => {
    for (const n of [1, 2, 3, 4, 6, 12, 24, 1536, 2 ** 20]) {
      const roots = unitRoot(n);
      const out = new Float64Array(4);
      const step = n % 24 === 0 ? n / 24 : n % 8 === 0 ? n / 8 : 1;
      for (let k = 0; k < n; k += step) {
        roots.at(k, out);
        const expected = [cosTurn(k, n), neg(sinTurn(k, n))].map(toNumber);
        for (const part of [0, 1]) {
          const value = expected[part] as number;
          const rational = Number.isInteger(2 * value);
          if (rational) expect([...out.slice(2 * part, 2 * part + 2)]).toEqual([value + 0, 0]);
        }
        for (const number of out) expect(Object.is(number, -0)).toBe(false);
      }
    }
  });

  it('have the symmetries of the circle to the last bit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 5 }), fc.integer({ min: 0, max: 10 ** 6 }), (quarter, k) => {
        const roots = unitRoot(4 * quarter);
        const [a, b] = [new Float64Array(4), new Float64Array(4)];
        roots.at(k, a);
        roots.at(-k, b);
        expect([...b]).toEqual([a[0], a[1], 0 - (a[2] as number), 0 - (a[3] as number)]);
        roots.at(k + quarter, b);
        expect([...b]).toEqual([a[2], a[3], 0 - (a[0] as number), 0 - (a[1] as number)]);
        roots.at(quarter - k, b);
        expect([...b].map((x) => x + 0)).toEqual([a[2], a[3], a[0], a[1]].map((x) => 0 - (x as number)));
      }),
      runs,
    );
  });

  it('refuses orders that are no positive integer up to 2^32', () => {
    for (const n of [0, -1, 2.5, Number.NaN, 2 ** 32 + 1]) expect(() => unitRoot(n)).toThrow(RangeError);
  });
});
