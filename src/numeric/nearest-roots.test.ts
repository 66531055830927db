import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unitRoot } from '../../test/reference/roots.ts';
import { randomFor, seedFor } from '../../test/support/random.ts';
import { cosTurn, neg, sinTurn, toNumber } from './exact.ts';
import { NearestRoots } from './nearest-roots.ts';

/** Without gaps between blocks. */
const even = { block: 2 ** 20, skip: 0 };

const seed = seedFor('numeric/nearest-roots');
const order = fc.oneof(
  fc.integer({ min: 1, max: 2000 }),
  fc.integer({ min: 1, max: 2 ** 22 }),
  fc.integer({ min: 1, max: 2 ** 32 }),
  fc.constantFrom(2 ** 16, 2 ** 20, 3 ** 12, 2 ** 24, 10 ** 6, 10 ** 7, 2 ** 32),
);

/** Both parts of e^(−2πi·p/q), correctly rounded from 256-bit fixed point. */
const nearest = (p: number, q: number): [number, number] => [
  toNumber(cosTurn(p, q)) + 0,
  toNumber(neg(sinTurn(p, q))) + 0,
];

/** The roots of a run, by the other way: one at a time in double-double. */
function oneByOne(n: number, p: number, step: number, count: number): Float64Array {
  const roots = unitRoot(n);
  const out = new Float64Array(4);
  return Float64Array.from({ length: 2 * count }, (_, i) => {
    if (i % 2 === 0) roots.at(p + (i / 2) * step, out);
    return out[i % 2 === 0 ? 0 : 2] as number;
  });
}

/** Equal to the last bit, and no −0 for 0. */
const expectSame = (actual: ArrayLike<number>, expected: ArrayLike<number>, what: string) => {
  let first = 0;
  while (first < expected.length && Object.is(actual[first], expected[first])) first++;
  expect(first, `${what}, number ${first}: ${actual[first]} for ${expected[first]}`).toBe(expected.length);
};

describe('runs of roots of unity', () => {
  it('are the exact roots, each rounded once', () => {
    fc.assert(
      fc.property(
        order,
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: -(2 ** 45), max: 2 ** 45 }),
        fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -(2 ** 45), max: 2 ** 45 })),
        fc.constantFrom(0, 2 ** 40),
        (q, multiple, p, step, wanted) => {
          const n = q * multiple <= 2 ** 32 ? q * multiple : q;
          const count = 6;
          const table = new Float64Array(2 * count);
          new NearestRoots(n, wanted).fill(table, { p, step, q, count, re: 0, im: 1, stride: 2, ...even });
          const expected = Array.from({ length: count }, (_, i) => nearest(p + step * i, q)).flat();
          expectSame(table, expected, `${p} + ${step}i over ${q} of order ${n}`);
        },
      ),
      { seed, numRuns: 300 },
    );
  });

  it('are those of the double-double roots, in long tables', () => {
    const random = randomFor('numeric/nearest-roots long');
    for (const n of [4096, 10 ** 5, 2 ** 20, 10 ** 7, 2 ** 24, 2 ** 24 + random.integer(1, 10 ** 6), 2 ** 32]) {
      for (const step of [1, random.integer(2, 64), random.integer(1, n - 1)]) {
        const p = random.integer(0, n - 1);
        const count = 20000;
        const roots = new NearestRoots(n, step * count);
        const double = new Float64Array(2 * count);
        roots.fill(double, { p, step, q: n, count, re: 0, im: 1, stride: 2, ...even });
        const single = new Float32Array(2 * count);
        roots.fill(single, { p, step, q: n, count, re: 0, im: count, stride: 1, ...even });
        const expected = oneByOne(n, p, step, count);
        expectSame(double, expected, `${p} + ${step}i over ${n}`);
        const planes = expected.map((_, i) => expected[i < count ? 2 * i : 2 * (i - count) + 1] as number);
        expectSame(single, new Float32Array(planes), `${p} + ${step}i over ${n} in single`);
      }
    }
  });

  it('are right where a part lies so near the middle between two doubles that the short tables alone get it wrong', () => {
    for (const [k, n] of [
      [12993, 720720],
      [42559, 2 ** 21],
      [886711, 10 ** 7],
    ] as const) {
      const table = new Float64Array(6);
      new NearestRoots(n).fill(table, { p: k - 1, step: 1, q: n, count: 3, re: 0, im: 1, stride: 2, ...even });
      expectSame(
        table,
        [k - 1, k, k + 1].flatMap((p) => nearest(p, n)),
        `${k} over ${n}`,
      );
    }
  });

  it('are right at all borders of the octants', () => {
    for (const n of [
      8,
      12,
      24,
      40,
      56,
      1000,
      3 * 2 ** 20,
      2 ** 24,
      2 ** 32,
      4 * (2 ** 30 - 1),
      2 ** 32 - 1,
      4294967291,
    ]) {
      for (let eighth = 0; eighth < 8; eighth++) {
        const table = new Float64Array(14);
        const p = Math.round((eighth * n) / 8) - 3;
        new NearestRoots(n).fill(table, { p, step: 1, q: n, count: 7, re: 0, im: 7, stride: 1, ...even });
        for (let i = 0; i < 7; i++) expectSame([table[i] as number, table[7 + i] as number], nearest(p + i, n), `${n}`);
      }
    }
  });

  it('lie where they are said to and nowhere else', () => {
    const table = new Float64Array(20).fill(7);
    const roots = new NearestRoots(60);
    roots.fill(table, { p: 5, step: 7, q: 30, count: 5, re: 11, im: 0, stride: 1, block: 2, skip: 2 });
    roots.fill(table, { p: 1, step: 0, q: 60, count: 0, re: 99, im: 99, stride: 1, ...even });
    for (let i = 0; i < table.length; i++) {
      const [re, im] = [[11, 12, 15, 16, 19].indexOf(i), [0, 1, 4, 5, 8].indexOf(i)];
      const expected = re >= 0 ? nearest(5 + 7 * re, 30)[0] : im >= 0 ? nearest(5 + 7 * im, 30)[1] : 7;
      expect(table[i]).toBe(expected);
    }
  });

  it('are refused where they leave the table or are none of these roots, with nothing written', () => {
    const table = new Float32Array(8).fill(7);
    const roots = new NearestRoots(30);
    const good = { p: 0, step: 1, q: 30, count: 4, re: 0, im: 1, stride: 2, ...even };
    const wrong = [
      { count: 5 },
      { re: -1 },
      { im: 2 },
      { stride: -1 },
      { block: 0 },
      { block: 3, skip: 1 },
      { q: 4 },
      { q: 0 },
    ];
    for (const bad of wrong) {
      expect(() => roots.fill(table, { ...good, ...bad }), JSON.stringify(bad)).toThrow(RangeError);
    }
    expect([...table]).toEqual(new Array(8).fill(7));
    roots.fill(table, good);
    expect(table).not.toContain(7);
  });

  it('are refused of orders that are no positive integer up to 2^32', () => {
    for (const n of [0, -1, 2.5, Number.NaN, 2 ** 32 + 1]) expect(() => new NearestRoots(n)).toThrow(RangeError);
  });
});
