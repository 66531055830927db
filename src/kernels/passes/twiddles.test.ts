import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { rootsIn } from '../../../test/support/tables.ts';
import { numberOf } from '../../../test/support/values.ts';
import { type Complex, Expressions, evaluate, type Real, TableBuilder, type Var, variable } from '../../ir/index.ts';
import { cosTurn, sinTurn, toNumber } from '../../numeric/exact.ts';
import { pairRoots, passTwiddles, stepTwiddles } from './twiddles.ts';
import type { VectorLeaf } from './vector-form.ts';

const options = (name: string) => ({ seed: seedFor(`kernels/twiddles/${name}`) | 0, numRuns: 150 });
type At = ReadonlyMap<Var, number>;

/** e^{−2πi·p/q}, to the last bit. */
const root = (p: number, q: number) => ({ re: toNumber(cosTurn(-p, q)), im: toNumber(sinTurn(-p, q)) });

/** What expressions come to that read a table, which is filled here from what it says of itself. */
class Filled {
  private readonly numbers: Float64Array;

  constructor(tables: TableBuilder) {
    const table = tables.build();
    this.numbers = new Float64Array(table?.length ?? 0).fill(Number.NaN);
    for (const { p, q, re, im } of table ? rootsIn(table) : []) {
      const value = root(p % q, q);
      this.numbers[re] = value.re;
      this.numbers[im] = value.im;
    }
  }

  of({ re, im }: Complex, at: At): { re: number; im: number } {
    const known = new Map<Real, number>();
    const value = (node: Real) => numberOf(node, ({ index }) => this.numbers[evaluate(index, at)]!, known);
    return { re: value(re), im: value(im) };
  }
}

/** A leaf, as far as twiddles look at it. */
const leafOf = (leaf: Partial<VectorLeaf>) => leaf as VectorLeaf;
const along = fc.constantFrom('axis' as const, 'batch' as const);
const lanesOf = fc.constantFrom(1, 2, 4);

describe('twiddles of vectors', () => {
  it('between passes are the roots that the transform asks for, exactly, and none is multiplied that is 1', () => {
    const questions = fc.record({
      radix: fc.integer({ min: 2, max: 16 }),
      blocks: fc.integer({ min: 1, max: 12 }),
      lanes: lanesOf,
      output: along,
      aligned: fc.boolean(),
    });
    fc.assert(
      fc.property(questions, ({ radix, blocks, lanes, output, aligned }) => {
        const stride = aligned ? blocks * lanes : blocks;
        const tables = new TableBuilder('f64');
        const leaf = leafOf({ lanes, lanesAlong: { input: output, output } });
        const twiddle = passTwiddles(tables, leaf, radix, stride, aligned);
        const x = new Expressions();
        const i = variable('i', stride);
        const one = { re: x.constant(1), im: x.constant(0) };
        const factors = Array.from({ length: radix }, (_, m) => twiddle(x, one, i, m));
        expect(factors[0]).toEqual(one);
        const filled = new Filled(tables);
        for (let at = 0; at < stride; at++) {
          factors.forEach((factor, m) =>
            expect(filled.of(factor, new Map([[i, at]]))).toEqual(root(at * m, radix * stride)),
          );
        }
      }),
      options('passes'),
    );
  });

  it('that pair bins are those of twice the length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), lanesOf, (length, lanes) => {
        const tables = new TableBuilder('f64');
        const at = pairRoots(tables, length, { kind: 'planes', lanes });
        const k = variable('k', Math.floor(length / 2) + 1);
        const value = at(new Expressions(), k);
        const filled = new Filled(tables);
        for (let n = 0; n < k.count; n++) expect(filled.of(value, new Map([[k, n]]))).toEqual(root(n, 2 * length));
      }),
      options('pairs'),
    );
  });

  it('between uploads are e^{−2πi·k·b/order} in every tile, as products of two or three roots', () => {
    const questions = fc.record({
      radices: fc.constantFrom([2, 3], [4], [4, 4], [5, 2], [8, 3]),
      tiles: fc.integer({ min: 1, max: 5 }),
      lanes: lanesOf,
      on: fc.constantFrom('input' as const, 'output' as const),
      lanesAlong: along,
    });
    fc.assert(
      fc.property(questions, ({ radices, tiles, lanes, on, lanesAlong }) => {
        const length = radices.reduce((a, b) => a * b, 1);
        const tile = lanesAlong === 'axis' ? 1 : 3 * lanes;
        const count = tile * tiles;
        const order = length * count;
        const tables = new TableBuilder('f64');
        const [number, c] = [variable('tile', tiles), variable('c', tile)];
        const leaf = leafOf({
          ...{ length, lanes, tile, radices, batch: [count], twiddle: { order, on } },
          lanesAlong: { input: lanesAlong, output: lanesAlong },
        });
        const tiled = { number: { constant: 0, terms: [{ atom: number, factor: 1 }] }, outer: [] };
        const twiddle = stepTwiddles(tables, leaf, { order, on }, tiled, on);
        const x = new Expressions();
        // Passes ask for the points of a butterfly: a place among the first ones, and a known distance from it.
        const radix = on === 'input' ? radices[0]! : radices.at(-1)!;
        const i = variable('i', length / radix);
        const one = { re: x.constant(1), im: x.constant(0) };
        for (let m = 0; m < radix; m++) {
          const first = { constant: (m * length) / radix, terms: i.count > 1 ? [{ atom: i, factor: 1 }] : [] };
          const factor = twiddle(x, one, [first, c]);
          const filled = new Filled(tables);
          for (let at = 0; at < i.count; at++) {
            for (let b = 0; b < count; b++) {
              const places = new Map([
                [i, at],
                [number, Math.floor(b / tile)],
                [c, b % tile],
              ]);
              const [got, want] = [filled.of(factor, places), root((first.constant + at) * b, order)];
              expect(Math.abs(got.re - want.re) + Math.abs(got.im - want.im)).toBeLessThan(2 ** -50);
            }
          }
        }
      }),
      { ...options('uploads'), numRuns: 40 },
    );
  });
});
