import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { targetOf } from '../device/target.ts';
import { chooseRadices } from './radix.ts';
import { shareOfCluster, shareOfColumns, shareOfGroup } from './share.ts';

const { profile } = namedProfiles.h200;
const smooth = Array.from({ length: 4000 }, (_, i) => i + 8).filter((n) => largestPrimeFactor(n) <= 13);
const precisions = fc.constantFrom('single' as const, 'double' as const);
const options = (name: string) => ({ seed: seedFor(`plan/share/${name}`) | 0, numRuns: 300 });
const radicesOf = (length: number, precision: 'single' | 'double') =>
  chooseRadices({ length, lanesAlong: 'batch', lanes: 1 }, targetOf(profile, precision)).radices;

describe('the share of the bandwidth', () => {
  it('is one, and less for columns in parts of runs, beyond a sector, and on both sides', () => {
    fc.assert(
      fc.property(fc.constantFrom(...smooth), precisions, (length, precision) => {
        const run = precision === 'single' ? 16 : 8;
        const radices = radicesOf(length, precision);
        const of = (tile: number, count: number, sides: 1 | 2) =>
          shareOfColumns({ length, tile, count, radices }, sides, targetOf(profile, precision));
        const whole = of(run, 64 * run, 2);
        expect(whole).toBeGreaterThan(0);
        expect(whole).toBeLessThanOrEqual(1);
        expect(of(run, 64 * run, 1)).toBeGreaterThanOrEqual(whole);
        expect(of(run, 64 * run + 1, 2)).toBeLessThan(whole);
        // The group as it is, its runs cut in two.
        const half = shareOfColumns(
          { length: 2 * length, tile: run / 2, count: 64 * run, radices },
          2,
          targetOf(profile, precision),
        );
        expect(half).toBeLessThan(whole);
      }),
      options('columns'),
    );
  });

  it('falls with the size of groups, and with the number and size of the blocks of a cluster', () => {
    fc.assert(
      fc.property(fc.constantFrom(...smooth), fc.integer({ min: 2, max: 15 }), precisions, (n, blocks, precision) => {
        const radices = radicesOf(n, precision);
        const group = (points: number) => shareOfGroup({ points, radices, fused: true }, targetOf(profile, precision));
        expect(group(8 * n)).toBeLessThanOrEqual(group(n));
        const cluster = (more: number, bytes: number, ragged: boolean) =>
          shareOfCluster(more, bytes, radices, ragged, targetOf(profile, precision));
        expect(cluster(blocks + 1, 32768, false)).toBeLessThan(cluster(blocks, 32768, false));
        expect(cluster(blocks, 65536, false)).toBeLessThan(cluster(blocks, 32768, false));
        expect(cluster(blocks, 32768, true)).toBeLessThanOrEqual(cluster(blocks, 32768, false));
      }),
      options('groups'),
    );
  });

  it('is what a profile says where groups crowd one another', () => {
    const crowded = { ...profile, crowded: 0.5 };
    const group = (points: number) =>
      shareOfGroup({ points, radices: [16, 16], fused: false }, targetOf(crowded, 'single'));
    expect([group(256), group(16384)]).toEqual([1, 0.5]);
  });
});
