import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../test/support/random.ts';
import * as E from './exact.ts';

const runs = { seed: seedFor('numeric/exact'), numRuns: 300 };
const turn = fc.tuple(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: 1, max: 5000 }));
const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true });

/** |a − b| in units of 2^-256. */
const distance = (a: E.Exact, b: E.Exact): bigint => {
  const d = a.fixed - b.fixed;
  return d < 0n ? -d : d;
};
const nearlySame = (a: E.Exact, b: E.Exact): boolean => distance(a, b) < 1n << 20n;

describe('exact constants', () => {
  it('holds doubles and integers without error', () => {
    fc.assert(
      fc.property(finite, (x) => {
        // Below 2^-204 a double has bits under the last place.
        const expected = Math.abs(x) < 2 ** -204 ? expect.closeTo(x, 60) : x + 0;
        expect(E.toNumber(E.exact(x)) + 0).toEqual(expected);
      }),
      runs,
    );
    expect(E.toNumber(E.exact(1e300))).toBe(1e300);
    expect(E.equals(E.exact(12345678901234567890n), E.mul(E.exact(1234567890123456789n), E.exact(10)))).toBe(true);
    expect(() => E.exact(Number.NaN)).toThrow(RangeError);
    expect(() => E.exact(Number.POSITIVE_INFINITY)).toThrow(RangeError);
  });

  it('agrees with Math.cos and Math.sin', () => {
    fc.assert(
      fc.property(turn, ([p, q]) => {
        const angle = (2 * Math.PI * (p % q)) / q;
        expect(E.toNumber(E.cosTurn(p, q))).toBeCloseTo(Math.cos(angle), 13);
        expect(E.toNumber(E.sinTurn(p, q))).toBeCloseTo(Math.sin(angle), 13);
      }),
      runs,
    );
  });

  it('lies on the unit circle and obeys the addition theorem to 2^-236', () => {
    fc.assert(
      fc.property(turn, turn, ([p, q], [r, s]) => {
        const [c, d] = [E.cosTurn(p, q), E.sinTurn(p, q)];
        expect(nearlySame(E.add(E.mul(c, c), E.mul(d, d)), E.ONE)).toBe(true);
        const sum = E.sub(E.mul(c, E.cosTurn(r, s)), E.mul(d, E.sinTurn(r, s)));
        expect(nearlySame(E.cosTurn(p * s + r * q, q * s), sum)).toBe(true);
      }),
      runs,
    );
  });

  it('knows the constants with closed forms', () => {
    const [c5, root] = [E.cosTurn(1, 5), E.cosTurn(1, 8)];
    const golden = E.add(E.mul(E.exact(4), E.mul(c5, c5)), E.mul(E.exact(2), c5));
    expect(nearlySame(golden, E.ONE)).toBe(true);
    expect(nearlySame(E.mul(root, root), E.rational(1, 2))).toBe(true);
    // 40 digits of √½ and of cos 36°, from tables.
    expect(nearly(root, 7071067811865475244008443621048490392848n, 40n)).toBe(true);
    expect(nearly(E.cosTurn(1, 10), 8090169943749474241022934171828190588602n, 40n)).toBe(true);
  });

  function nearly(x: E.Exact, digits: bigint, count: bigint): boolean {
    return distance(x, E.rational(digits, 10n ** count)) <= (1n << 256n) / 10n ** count;
  }

  it('is exact where cosines are rational', () => {
    const values: [number, number, number][] = [
      [0, 1, 1],
      [1, 2, -1],
      [1, 4, 0],
      [3, 4, 0],
      [1, 6, 0.5],
      [5, 6, 0.5],
      [1, 3, -0.5],
      [-2, 3, -0.5],
      [7, 7, 1],
    ];
    for (const [p, q, value] of values) {
      expect(E.cosTurn(p, q).fixed).toBe(E.exact(value).fixed);
      expect(E.sinTurn(4 * p + q, 4 * q).fixed).toBe(E.exact(value).fixed);
    }
    expect(() => E.cosTurn(1, 0)).toThrow(RangeError);
  });

  it('has every symmetry of the circle to the last bit', () => {
    fc.assert(
      fc.property(turn, fc.integer({ min: -3, max: 3 }), ([p, q], turns) => {
        const [c, s] = [E.cosTurn(p, q).fixed, E.sinTurn(p, q).fixed];
        expect(E.cosTurn(-p, q).fixed).toBe(c);
        expect(E.sinTurn(-p, q).fixed).toBe(-s);
        expect(E.cosTurn(p + turns * q, q).fixed).toBe(c);
        expect(E.cosTurn(2 * p + q, 2 * q).fixed).toBe(-c);
        expect(E.sinTurn(q - 4 * p, 4 * q).fixed).toBe(c);
        expect(E.cosTurn(3 * p, 3 * q).fixed).toBe(c);
      }),
      runs,
    );
  });

  it('does arithmetic as rationals do', () => {
    const fraction = fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 1000 }));
    fc.assert(
      fc.property(fraction, fraction, ([p, q], [r, s]) => {
        const [a, b] = [E.rational(p, q), E.rational(r, s)];
        expect(E.equals(E.add(a, b), E.rational(p * s + r * q, q * s))).toBe(true);
        expect(E.equals(E.sub(a, b), E.rational(p * s - r * q, q * s))).toBe(true);
        expect(E.equals(E.mul(a, b), E.rational(p * r, q * s))).toBe(true);
        if (r !== 0) expect(E.equals(E.div(a, b), E.rational(p * s, q * r))).toBe(true);
        expect(E.mul(E.neg(a), b).fixed).toBe(-E.mul(a, b).fixed);
        expect(E.sign(a)).toBe(Math.sign(p));
        expect(E.equals(E.abs(a), E.rational(Math.abs(p), q))).toBe(true);
        expect(E.equals(a, b)).toBe(p * s === r * q);
        expect(E.key(a) === E.key(b)).toBe(p * s === r * q);
      }),
      runs,
    );
    expect(() => E.div(E.ONE, E.ZERO)).toThrow(RangeError);
    expect(() => E.rational(1, 0)).toThrow(RangeError);
  });

  it('takes constants closer than 2^-200 for one, and no others', () => {
    const tiny = { fixed: 1n << 20n };
    const small = { fixed: 1n << 57n };
    expect([E.isZero(tiny), E.isZero(small)]).toEqual([true, false]);
    expect([E.isOne(E.add(E.ONE, tiny)), E.isOne(E.add(E.ONE, small))]).toEqual([true, false]);
    expect([E.sign(E.neg(tiny)), E.sign(E.neg(small))]).toEqual([0, -1]);
    expect(E.key(E.add(E.rational(1, 4), tiny))).toBe(E.key(E.rational(1, 4)));
    expect(E.key(E.add(E.rational(1, 4), small))).not.toBe(E.key(E.rational(1, 4)));
    // Two ways to one constant: sin 15° by itself and as sin(45° − 30°).
    const [c8, c12] = [E.cosTurn(1, 8), E.cosTurn(1, 12)];
    expect(E.key(E.mul(c8, E.sub(c12, E.rational(1, 2))))).toBe(E.key(E.sinTurn(1, 24)));
  });

  it('rounds to singles once, ties to even', () => {
    const ulp = 2 ** -23;
    const tie = E.add(E.ONE, E.exact(ulp / 2));
    const hair = { fixed: 1n };
    expect(E.toSingle(tie)).toBe(1);
    expect(E.toSingle(E.add(tie, E.exact(ulp)))).toBe(1 + 2 * ulp);
    // A double would round this hair away and leave a tie.
    expect(Math.fround(E.toNumber(E.add(tie, hair)))).toBe(1);
    expect(E.toSingle(E.add(tie, hair))).toBe(1 + ulp);
    expect(E.toSingle(E.neg(E.add(tie, hair)))).toBe(-1 - ulp);
    expect(E.toSingle(E.exact(3.5e38))).toBe(Number.POSITIVE_INFINITY);
    expect(E.toSingle(E.exact(2 ** -149))).toBe(2 ** -149);
    expect(E.toSingle(E.exact(2 ** -150))).toBe(0);
    fc.assert(
      fc.property(finite, (x) => {
        expect(E.toSingle(E.exact(x)) + 0).toBe(Math.fround(x) + 0);
      }),
      runs,
    );
  });

  it('rounds to doubles once, ties to even', () => {
    const ulp = 2 ** -52;
    const tie = E.add(E.ONE, E.exact(ulp / 2));
    expect(E.toNumber(tie)).toBe(1);
    expect(E.toNumber(E.add(tie, E.exact(ulp)))).toBe(1 + 2 * ulp);
    expect(E.toNumber(E.add(tie, { fixed: 1n }))).toBe(1 + ulp);
    expect(E.toNumber(E.rational(1, 3))).toBe(1 / 3);
    expect(E.toNumber(E.rational(-2, 7))).toBe(-2 / 7);
  });

  it('splits into double-doubles good to 2^-106', () => {
    fc.assert(
      fc.property(turn, ([p, q]) => {
        const x = E.cosTurn(p, q);
        const [hi, lo] = E.toDoubleDouble(x);
        expect(hi).toBe(E.toNumber(x));
        expect(Math.abs(lo)).toBeLessThanOrEqual(2 ** -53 * Math.abs(hi));
        expect(distance(x, E.add(E.exact(hi), E.exact(lo)))).toBeLessThanOrEqual(1n << 149n);
      }),
      runs,
    );
  });
});
