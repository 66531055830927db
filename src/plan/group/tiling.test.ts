import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomProfile, randomThreads, vectorProfile } from '../../../test/support/devices.ts';
import { randomFrom, seedFor } from '../../../test/support/random.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { targetOf } from '../device/target.ts';
import { chooseColumns, threadTiling } from './thread-tiling.ts';
import { chooseTile, dividingTile, type Span, type TilingQuestion, vectorTiling } from './tiling.ts';

const options = (name: string) => ({ seed: seedFor(`plan/tiling/${name}`) | 0, numRuns: 200 });
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const smooth = Array.from({ length: 600 }, (_, i) => i + 1).filter((n) => n === 1 || largestPrimeFactor(n) <= 13);

const strides = fc.constantFrom(1, 2, 6, 64, 1000);
const span = (counts: fc.Arbitrary<number>): fc.Arbitrary<Span> =>
  fc.record({ count: counts, input: strides, output: strides });
const questions: fc.Arbitrary<TilingQuestion & { readonly precision: 'single' | 'double' }> = fc.record({
  axis: span(fc.constantFrom(...smooth)),
  batch: fc.array(span(fc.integer({ min: 1, max: 100 })), { minLength: 1, maxLength: 3 }),
  precision: fc.constantFrom('single' as const, 'double' as const),
  twiddled: fc.boolean(),
  longestButterfly: fc.constantFrom({ axis: 0, batch: 0 }, { axis: 22, batch: 24 }),
});

describe('tiles', () => {
  it('that divide a batch are whole grains, and not much longer or shorter than the one asked for', () => {
    const grains = fc.constantFrom(1, 2, 4, 8);
    fc.assert(
      fc.property(grains, fc.nat(20), fc.nat(20), fc.integer({ min: 1, max: 5000 }), (grain, n, more, count) => {
        const tile = grain * (n + 1);
        const most = tile + grain * more;
        const found = dividingTile(tile, most, count, grain);
        if (found === undefined) {
          expect(count % tile).not.toBe(0);
          return;
        }
        expect(count % found).toBe(0);
        expect(found % grain).toBe(0);
        expect(found).toBeLessThanOrEqual(Math.max(tile, Math.min(most, 1.5 * tile)));
        expect(found).toBeGreaterThanOrEqual(Math.min(tile, Math.max(grain, tile / 2)));
      }),
      options('dividing'),
    );
  });

  it('fit into shared memory down to one grain, whoever asks for how many', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...smooth),
        fc.integer({ min: 1, max: 3000 }),
        fc.constantFrom(1, 2, 4),
        fc.integer({ min: 600, max: 20_000 }),
        fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
        (length, count, grain, room, group) => {
          const tile = chooseTile(
            length,
            count,
            { grain, run: 4 * grain, room, group },
            targetOf(vectorProfile, 'single'),
          );
          expect(tile % grain).toBe(0);
          expect(tile).toBeGreaterThanOrEqual(grain);
          if (tile > grain) expect(tile * length).toBeLessThanOrEqual(room);
          if (group) expect(tile).toBeLessThan(Math.max(group, 1) + grain);
          // No longer than the batch, but for the last grain.
          expect(tile).toBeLessThan(count + grain);
        },
      ),
      options('room'),
    );
  });
});

describe('the tiling of vectors', () => {
  it('keeps twiddles’ dimension first, has lanes for whole vectors, and radices that make the length', () => {
    fc.assert(
      fc.property(questions, fc.nat(), (question, seed) => {
        const profile = { ...vectorProfile, ...randomProfile(randomFrom(seed)) };
        const target = targetOf(profile, question.precision);
        const { lanes, room } = target.capacity;
        const { order, lanesAlong, tile, radices, staged } = vectorTiling(question, target);
        expect([...order].sort()).toEqual([...question.batch.keys()]);
        if (question.twiddled) expect(order[0]).toBe(0);
        expect(product(radices)).toBe(question.axis.count);
        if (lanesAlong.input === 'axis') expect([tile, lanesAlong.output]).toEqual([1, 'axis']);
        else {
          expect(tile % lanes).toBe(0);
          expect(question.batch[order[0]!]!.count).toBeGreaterThanOrEqual(lanes);
          if (tile > lanes) expect(tile * question.axis.count).toBeLessThanOrEqual(room);
        }
        // Copied is what the lanes would not walk along: memory that runs along the axis.
        for (const side of ['input', 'output'] as const) {
          if (staged[side]) expect([lanesAlong[side], question.axis[side]]).toEqual(['batch', 1]);
        }
      }),
      options('vectors'),
    );
  });
});

describe('the tiling of threads', () => {
  it('lets neighbours walk along memory on each side, in tiles that fit', () => {
    fc.assert(
      fc.property(questions, fc.nat(), (question, seed) => {
        const profile = { ...namedProfiles.h200.profile, ...randomThreads(randomFrom(seed)) };
        const target = targetOf(profile, question.precision);
        const { room } = target.capacity;
        const { axis, batch } = question;
        const { order, lanesAlong, tile, radices, staged } = threadTiling(question, target);
        const columns = batch[order[0]!]!;
        expect([...order].sort()).toEqual([...batch.keys()]);
        expect(product(radices)).toBe(axis.count);
        if (tile > 1) expect(tile * axis.count).toBeLessThanOrEqual(room);
        for (const side of ['input', 'output'] as const) {
          if (staged[side]) expect([lanesAlong[side], axis[side]]).toEqual(['axis', 1]);
          if (axis.count === 1 || columns.count === 1) continue;
          const [along, across] = [axis[side] as number, columns[side] as number];
          expect(lanesAlong[side]).toBe(across < along ? 'batch' : 'axis');
        }
      }),
      options('threads'),
    );
  });

  it('never takes more columns than there are, nor than shared memory holds, and asks less of one side than of two', () => {
    const { profile } = namedProfiles.h200;
    fc.assert(
      fc.property(
        fc.constantFrom(...smooth.slice(1)),
        fc.integer({ min: 1, max: 5000 }),
        fc.constantFrom('single' as const, 'double' as const),
        (length, count, precision) => {
          const both = chooseColumns(length, count, targetOf(profile, precision));
          expect(both.tile).toBeGreaterThanOrEqual(1);
          expect(both.tile).toBeLessThanOrEqual(count);
          expect(both.tile * length).toBeLessThanOrEqual(targetOf(profile, precision).capacity.room);
          expect(chooseColumns(length, count, targetOf(profile, precision), 1).share).toBeGreaterThanOrEqual(
            both.share,
          );
        },
      ),
      options('columns'),
    );
  });
});
