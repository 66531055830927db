import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import { clusterFor, cutAxes, cutAxis, cutColumns, splitBefore } from './cuts.ts';

const gpu: DeviceProfile = {
  name: 'test',
  lockstep: 'threads',
  lockstepBytes: 128,
  sharedBytes: 232448,
  residentBytes: 233472,
  coalescedBytes: 128,
  registers: 72,
  maxThreads: 1024,
  multiprocessors: 132,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  banks: 32,
  groupPoints: 2048,
  passCost: 30,
  registerFile: 65536,
  cluster: { blocks: 16, sharedBytes: 32768, above: { single: 196608, double: 73728 } },
};
const { cluster: _, ...alone } = gpu;
const smooth = Array.from({ length: 2 ** 18 }, (_, i) => i + 4).filter((n) => largestPrimeFactor(n) <= 13);
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const options = (name: string) => ({ seed: seedFor(`plan/cuts/${name}`) | 0, numRuns: 300 });

describe('tiles of a cluster', () => {
  const lengths = fc.constantFrom(...[7, 8, 12, 16, 30, 32, 64, 81, 100, 128, 256, 512]);
  const precision = fc.constantFrom('single' as const, 'double' as const);

  it('are shared out evenly, and every share fits a block', () => {
    const found = { alone: 0, clusters: 0 };
    fc.assert(
      fc.property(fc.array(lengths, { minLength: 2, maxLength: 3 }), precision, (axes, real) => {
        const cut = cutAxes(axes, targetOf(gpu, real));
        if (!cut) return;
        const points = axes.reduce((a, b) => a * b, 1);
        const { complexBytes, room } = targetOf(gpu, real).capacity;
        expect(cut.blocks).toBeLessThanOrEqual(16);
        expect(cut.lengths.reduce((a, b) => a * b, 1)).toBe(points);
        // The first dimension changes hands with one of the others.
        const [first, ...others] = cut.lengths as [number, ...number[]];
        expect(first % cut.blocks).toBe(0);
        expect(others.some((length) => length % cut.blocks === 0)).toBe(true);
        expect(points / cut.blocks).toBeLessThanOrEqual(room);
        if (cut.blocks > 1) expect((points * complexBytes) / cut.blocks).toBeLessThanOrEqual(65536);
        found[cut.blocks > 1 ? 'clusters' : 'alone']++;
      }),
      options('axes'),
    );
    expect(found.alone).toBeGreaterThan(50);
    expect(found.clusters).toBeGreaterThan(5);
  });

  it('cut an axis into digits that multiply to it', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.constantFrom(...smooth), precision, (length, real) => {
        const cut = cutAxis(length, 1, targetOf(gpu, real));
        if (!cut) return;
        const [a, b] = cut.lengths as [number, number];
        expect(a * b).toBe(length);
        expect([a % cut.blocks, b % cut.blocks]).toEqual([0, 0]);
        found++;
      }),
      options('digits'),
    );
    expect(found).toBeGreaterThan(50);
  });

  it('need threads that keep values in registers, and clusters beyond one block', () => {
    expect(cutAxes([64, 64], targetOf(gpu, 'single'))).toMatchObject({ lengths: [64, 64], blocks: 1 });
    expect(cutAxes([64, 64], targetOf(alone, 'single'))).toMatchObject({ lengths: [64, 64], blocks: 1 });
    expect(cutAxes([256, 256], targetOf(alone, 'single'))).toBeUndefined();
    expect(cutAxes([64, 64], targetOf({ ...gpu, lockstep: 'vector' }, 'single'))).toBeUndefined();
    expect(cutAxes([64, 64], targetOf({ ...gpu, doubleBuffered: true }, 'single'))).toBeUndefined();
  });
});

describe('tiles of neighbouring columns', () => {
  const precision = fc.constantFrom('single' as const, 'double' as const);

  it('hold whole transforms that fit into what their blocks have together', () => {
    let found = 0;
    const lengths = fc.array(fc.constantFrom(4, 8, 12, 16, 30, 32, 64), { minLength: 2, maxLength: 3 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 100 }), precision, (axes, count, real) => {
        const { run, room } = targetOf(gpu, real).capacity;
        const cut = cutColumns(axes, count, targetOf(gpu, real));
        if (!cut) return;
        expect(cut.tile).toBeGreaterThanOrEqual(1);
        expect(cut.tile).toBeLessThanOrEqual(Math.min(run, count));
        expect(product(cut.lengths)).toBe(product(axes));
        expect((product(cut.lengths) * cut.tile) / cut.blocks).toBeLessThanOrEqual(room);
        found++;
      }),
      options('columns'),
    );
    expect(found).toBeGreaterThan(50);
  });

  it('take a cluster for an axis that one block cannot hold, and never where there are none', () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...smooth.filter((n) => n > 2 ** 14)),
        fc.constantFrom(1, 16, 64, 1000),
        fc.constantFrom(0, 1, 2),
        precision,
        (length, count, strided, real) => {
          expect(clusterFor(length, count, strided, targetOf(alone, real))).toBeUndefined();
          const cut = clusterFor(length, count, strided, targetOf(gpu, real));
          if (!cut) return;
          expect(product(cut.lengths)).toBe(length);
          expect(count % cut.tile).toBe(0);
          expect((length * cut.tile) / cut.blocks).toBeLessThanOrEqual(targetOf(gpu, real).capacity.room);
          expect(cut.lengths.map((digit) => digit % cut.blocks)).toEqual(cut.lengths.map(() => 0));
          found++;
        },
      ),
      options('clusters'),
    );
    expect(found).toBeGreaterThan(30);
  });

  it('are shared out along a dimension that their blocks divide, if there is one after the first', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 2, max: 16 }), (axes, blocks) => {
        const d = splitBefore(axes, blocks);
        if (d === -1) expect(axes.slice(1).every((length) => length % blocks !== 0)).toBe(true);
        else expect([d > 0, axes[d]! % blocks]).toEqual([true, 0]);
      }),
      options('shares'),
    );
  });
});
