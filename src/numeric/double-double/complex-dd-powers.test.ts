import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { divideFractions, type Exact, exact, fraction, mul, sub, subtractFractions, toNumber } from '../exact.ts';
import {
  complexDd,
  complexDdPowers,
  inverseComplexDd,
  rootComplexDd,
  roundComplexDds,
  squarePowers,
  turnComplexDd,
} from './complex-dd-powers.ts';

const random = randomFor('src/numeric/spiral');

interface Point {
  readonly re: Exact;
  readonly im: Exact;
}

const sum = (hi: number, lo: number): Exact => ({ fixed: exact(hi).fixed + exact(lo).fixed });
const pointAt = (table: Float64Array, k: number): Point => ({
  re: sum(table[4 * k]!, table[4 * k + 1]!),
  im: sum(table[4 * k + 2]!, table[4 * k + 3]!),
});
/** In 256 bits after the point: another arithmetic than that of the tables. */
const times = (a: Point, b: Point): Point => ({
  re: sub(mul(a.re, b.re), mul(a.im, b.im)),
  im: { fixed: mul(a.re, b.im).fixed + mul(a.im, b.re).fixed },
});
const far = (a: Point, b: Point) => Math.hypot(toNumber(sub(a.re, b.re)), toNumber(sub(a.im, b.im)));

/** Numbers all around, near the unit circle and not. */
const numbers = Array.from({ length: 40 }, (_, k) => {
  const size = k % 2 === 0 ? 1 : 0.25 + 3 * random.unit();
  const angle = 2 * Math.PI * random.unit();
  return [size * Math.cos(angle), size * Math.sin(angle)] as const;
});
const corners = [1, -1].flatMap((x) => [[x, 0] as const, [0, x] as const, [x, x] as const, [x, -x] as const]);

describe('spirals', () => {
  it.each([...corners, ...numbers])('inverse and root of %d + %di', (re, im) => {
    const z = complexDd(re, im);
    const one = { re: exact(1), im: exact(0) };
    expect(far(times(pointAt(z, 0), pointAt(inverseComplexDd(z), 0)), one)).toBeLessThan(2 ** -98);
    const root = rootComplexDd(z);
    expect(far(times(pointAt(root, 0), pointAt(root, 0)), pointAt(z, 0)) / Math.hypot(re, im)).toBeLessThan(2 ** -98);
    expect(root[0]).toBeGreaterThanOrEqual(0);
  });

  it('roots and inverses of tiny and huge numbers', () => {
    for (const scale of [2 ** -400, 2 ** 400]) {
      const [root, inverse] = [
        rootComplexDd(complexDd(-3 * scale, 4 * scale)),
        inverseComplexDd(complexDd(3 * scale, -4 * scale)),
      ];
      for (const [found, wanted] of [
        [root[0]! / Math.sqrt(scale), 1],
        [root[2]! / Math.sqrt(scale), 2],
        [inverse[0]! * scale, 0.12],
        [inverse[2]! * scale, 0.16],
      ] as const)
        expect(found).toBeCloseTo(wanted, 14);
    }
  });

  it('powers and powers of squares', () => {
    const z = complexDd(0.6, 0.8001);
    const [one, two] = [complexDdPowers(z, 50), squarePowers(z, 12)];
    let expected: Point = { re: exact(1), im: exact(0) };
    let square = 0;
    for (let n = 0; n < 122; n++, expected = times(expected, pointAt(z, 0))) {
      if (n < 50) expect(far(pointAt(one, n), expected)).toBeLessThan(2 ** -96);
      if (n !== square ** 2) continue;
      expect(far(pointAt(two, square), expected), `square ${square}`).toBeLessThan(2 ** -93);
      square++;
    }
    expect(square).toBe(12);
    expect([complexDdPowers(z, 0), squarePowers(z, 0), squarePowers(z, 1)]).toEqual([
      new Float64Array(0),
      new Float64Array(0),
      complexDd(1, 0),
    ]);
  });

  it('long tables stay on the circle, to the last place of a double', () => {
    const count = 2 ** 18;
    const n = count - 1;
    const table = squarePowers(turnComplexDd(1n, 1234577n), count);
    const last = turnComplexDd(BigInt(n) * BigInt(n), 1234577n);
    expect(far(pointAt(table, n), pointAt(last, 0))).toBeLessThan(2 ** -64);
    expect(roundComplexDds(table).slice(-2)).toEqual(Float64Array.of(last[0]!, last[2]!));
  });
});

describe('fractions', () => {
  it('are what doubles are', () => {
    for (const value of [0, 1, -3, 0.1, -0.75, 1e300, 5e-324, 2 ** -1022 * 1.5, 2 ** 53 + 2]) {
      const { p, q } = fraction(value);
      // Both ends of the range, in two steps.
      const bits = q.toString(2).length - 1;
      expect(Number(p) / 2 ** Math.floor(bits / 2) / 2 ** Math.ceil(bits / 2)).toBe(value);
    }
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => fraction(value)).toThrow(RangeError);
  });

  it('are taken from one another and divided', () => {
    const { p, q } = divideFractions(subtractFractions(fraction(0.25), fraction(1.5)), fraction(-2.5));
    expect(Number(p) / Number(q)).toBe(0.5);
    expect(q > 0n).toBe(true);
  });
});
