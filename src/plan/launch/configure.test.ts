import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vectorProfile } from '../../../test/support/devices.ts';
import { placedLeaf } from '../../../test/support/placed.ts';
import { seedFor } from '../../../test/support/random.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import type { Span } from '../group/tiling.ts';
import { type Leaf, passesOf, stagedOf } from '../tree/leaf.ts';
import { oneAxis } from './configure.ts';
import { mergeSpans, type PlacedLeaf } from './placed.ts';

const profile: DeviceProfile = { ...vectorProfile, maxThreads: 64 };
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const options = (name: string) => ({ seed: seedFor(`plan/configure/${name}`) | 0, numRuns: 600 });

const span: fc.Arbitrary<Span> = fc.record({
  count: fc.integer({ min: 1, max: 9 }),
  input: fc.constantFrom(1, 2, 6, 12, 40),
  output: fc.constantFrom(1, 2, 6, 12, 40),
});

/** Where loops lead, on both sides, as sorted text. */
function visited(spans: readonly Span[]): string[] {
  let places = [[0, 0]];
  for (const { count, input, output } of spans) {
    places = places.flatMap(([a, b]) =>
      Array.from({ length: count }, (_, i) => [
        (a as number) + i * (input as number),
        (b as number) + i * (output as number),
      ]),
    );
  }
  return places.map(([a, b]) => `${a}→${b}`).sort();
}

describe('merging loops', () => {
  it('visits the same places with fewer loops', () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 5 }), fc.boolean(), (spans, keepFirst) => {
        const merged = mergeSpans(spans, keepFirst);
        expect(visited(merged)).toEqual(visited(spans));
        expect(merged.length).toBeGreaterThan(0);
        expect(merged.length).toBeLessThanOrEqual(Math.max(1, spans.length));
        // Twiddles count along the first loop: it must stay what it is.
        if (keepFirst && spans[0]) expect(merged[0]).toEqual(spans[0]);
      }),
      options('merge'),
    );
  });

  it('joins loops that continue each other on both sides only', () => {
    const rows: Span = { count: 4, input: 1, output: 2 };
    expect(mergeSpans([rows, { count: 3, input: 4, output: 8 }], false)).toEqual([{ count: 12, input: 1, output: 2 }]);
    expect(mergeSpans([rows, { count: 3, input: 4, output: 9 }], false)).toHaveLength(2);
    expect(mergeSpans([rows, { count: 3, input: 4, output: 8 }], true)).toHaveLength(2);
  });
});

/** A leaf of one axis beside what its passes are. */
function stretched(leaf: Leaf) {
  const [passes] = passesOf(leaf);
  return { ...leaf, ...passes!, length: leaf.lengths[0]!, staged: stagedOf(leaf) };
}

describe('tiles', () => {
  /** Transforms of 360 points along columns of which there are so many. */
  const tileOf = (count: number, device: DeviceProfile, precision: 'single' | 'double' = 'single') =>
    oneAxis(
      placedLeaf({
        precision,
        axis: { count: 360, input: count, output: count },
        batch: [{ count, input: 1, output: 1 }],
      }),
      targetOf(device, precision),
    ).tile;
  const wide = { ...profile, coalescedBytes: 256 };

  it('are whole runs of memory where these divide the columns, or where nothing does', () => {
    for (const count of [32, 64, 96, 1024, 1536]) expect(tileOf(count, wide)).toBe(32);
    for (const count of [81, 625, 1458]) expect(tileOf(count, wide)).toBe(32);
  });

  it('otherwise divide the columns, by an odd number of vectors if they can', () => {
    expect([1000, 720, 432, 360, 176, 112].map((count) => tileOf(count, wide))).toEqual([20, 36, 36, 36, 44, 28]);
    expect([1000, 360, 648].map((count) => tileOf(count, wide, 'double'))).toEqual([10, 18, 18]);
    expect(tileOf(48, wide)).toBe(24);
  });

  it('never outgrow shared memory for the sake of a divisor', () => {
    for (const columns of [16, 20, 24, 32, 36]) {
      const tile = tileOf(720, { ...wide, sharedBytes: 2 * 360 * 8 * columns });
      expect(tile % 4).toBe(0);
      expect(tile).toBeLessThanOrEqual(columns);
    }
  });
});

describe('configured leaves', () => {
  const smooth = Array.from({ length: 600 }, (_, i) => i + 1).filter((n) => n === 1 || largestPrimeFactor(n) <= 13);
  const placed: fc.Arbitrary<PlacedLeaf> = fc
    .record({
      precision: fc.constantFrom('single' as const, 'double' as const),
      axis: fc.record({
        count: fc.constantFrom(...smooth),
        input: fc.constantFrom(1, 64),
        output: fc.constantFrom(1, 64),
      }),
      batch: fc.array(span, { maxLength: 3 }),
      twiddled: fc.boolean(),
    })
    .map(({ twiddled, ...own }) => {
      const order = own.axis.count * (own.batch[0]?.count ?? 1);
      return placedLeaf({ ...own, ...(twiddled ? { twiddle: { order, on: 'output' } } : {}) });
    });
  const profiles = fc
    .record({
      lockstepBytes: fc.constantFrom(8, 16, 128),
      coalescedBytes: fc.constantFrom(16, 128),
      maxThreads: fc.constantFrom(1, 7, 1024),
      sharedBytes: fc.constantFrom(2 ** 15, 2 ** 20),
    })
    .map((change): DeviceProfile => ({ ...profile, ...change }));

  it('keep every transform, ask for threads there are, and tile in whole lanes', () => {
    fc.assert(
      fc.property(placed, profiles, (leaf, device) => {
        const result = stretched(oneAxis(leaf, targetOf(device, leaf.precision)));
        expect(product(result.radices)).toBe(leaf.axis.count);
        expect(product(result.batch)).toBe(product(leaf.batch.map(({ count }) => count)));
        for (const { layout } of [result.input, result.output])
          expect(layout.shape).toEqual([...result.lengths, ...result.batch, 2]);
        expect(result.threads).toBeGreaterThanOrEqual(1);
        expect(result.threads).toBeLessThanOrEqual(device.maxThreads);
        if (result.lanesAlong.input === 'batch') {
          expect(result.tile % result.lanes).toBe(0);
          expect(result.batch[0]).toBeGreaterThanOrEqual(result.lanes);
        } else expect(result.tile).toBe(1);
        // Twiddles count along the first batch dimension, so that has to stay first.
        if (leaf.node.twiddle && leaf.batch[0]) expect(result.batch[0]).toBe(leaf.batch[0].count);
      }),
      options('leaf'),
    );
  });

  it('stay in shared memory: a tile and its other buffer fit, down to one vector of columns', () => {
    fc.assert(
      fc.property(placed, profiles, (leaf, device) => {
        const result = stretched(oneAxis(leaf, targetOf(device, leaf.precision)));
        const bytes = (leaf.precision === 'single' ? 8 : 16) * 2 * result.length * result.tile;
        const least = result.lanesAlong.input === 'axis' ? 1 : result.lanes;
        expect(bytes <= device.sharedBytes || result.tile === least).toBe(true);
      }),
      options('room'),
    );
  });

  it('run along what lies side by side in memory', () => {
    const precision = 'single';
    const rows = stretched(
      oneAxis(
        placedLeaf({
          precision,
          axis: { count: 1024, input: 1, output: 1 },
          batch: [{ count: 64, input: 1024, output: 1024 }],
        }),
        targetOf(profile, 'single'),
      ),
    );
    expect(rows.lanesAlong.input).toBe('axis');
    const columns = stretched(
      oneAxis(
        placedLeaf({
          precision,
          axis: { count: 64, input: 1024, output: 1024 },
          batch: [{ count: 1024, input: 1, output: 1 }],
        }),
        targetOf(profile, 'single'),
      ),
    );
    expect([columns.lanesAlong.input, columns.staged]).toEqual(['batch', { input: false, output: false }]);
    expect(columns.tile * 8).toBeGreaterThanOrEqual(profile.coalescedBytes);
  });

  it('change from columns to rows in their first pass, where whole squares come of it', () => {
    const transposed = (length: number, precision: 'single' | 'double' = 'single') => {
      const { lanesAlong, staged, radices } = stretched(
        oneAxis(
          placedLeaf({
            axis: { count: length, input: 1000, output: 1 },
            batch: [{ count: 1000, input: 1, output: length }],
            twiddle: { order: 1000 * length, on: 'output' },
            precision,
          }),
          targetOf(profile, precision),
        ),
      );
      if (lanesAlong.input !== lanesAlong.output) expect(staged).toEqual({ input: false, output: false });
      return [lanesAlong.output, staged.output, radices[0]! % (precision === 'single' ? 4 : 2)];
    };
    expect(transposed(100)).toEqual(['axis', false, 0]);
    expect(transposed(90, 'double')).toEqual(['axis', false, 0]);
    // Odd lengths have no squares.
    expect(transposed(75).slice(0, 2)).toEqual(['batch', true]);
  });
});
