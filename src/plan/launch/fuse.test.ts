import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { seedFor } from '../../../test/support/random.ts';
import { strideAlong } from '../../layout/index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { capacityOf } from '../device/capacity.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { passesOf } from '../tree/leaf.ts';

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
const options = (name: string) => ({ seed: seedFor(`plan/fuse/${name}`) | 0, numRuns: 300 });
const leavesOf = (size: number[], profile: DeviceProfile, precision: 'single' | 'double' = 'single') =>
  // So many batches that every multiprocessor has its groups.
  planDirection(normalizeProblem({ size, batches: 4096, precision }), 'forward', profile, false).launches.map(
    ({ leaf }) => leaf,
  );

describe('plans with clusters', () => {
  it('hold no more in a block than it has room for', () => {
    const sizes = fc.oneof(
      fc.constantFrom(...smooth.filter((n) => n > 7000)).map((n) => [n]),
      fc.tuple(fc.constantFrom(...smooth.filter((n) => n > 500 && n < 9000)), fc.integer({ min: 1, max: 12 })),
    );
    const precision = fc.constantFrom('single' as const, 'double' as const);
    fc.assert(
      fc.property(sizes, fc.boolean(), precision, (size, reversed, real) => {
        for (const leaf of leavesOf(reversed ? [...size].reverse() : size, gpu, real)) {
          const points = leaf.lengths.reduce((a, b) => a * b, 1) / leaf.blocks;
          expect(points * leaf.tile).toBeLessThanOrEqual(capacityOf(real, gpu).room);
        }
      }),
      options('room'),
    );
  });

  it('take one launch where two or three were needed', () => {
    for (const size of [[32768], [65536], [131072], [128, 128], [256, 256], [32, 32, 32]]) {
      const [leaf, ...more] = leavesOf(size, gpu);
      expect(more, size.join('x')).toEqual([]);
      expect(passesOf(leaf!).length).toBeGreaterThan(1);
    }
    expect(leavesOf([64, 64, 64], gpu).map((leaf) => passesOf(leaf).length > 1)).toEqual([true, false]);
    expect(leavesOf([65536], alone)).toHaveLength(2);
    expect(leavesOf([256, 256], alone)).toHaveLength(2);
  });

  it('take two launches where one would be slower', () => {
    for (const size of [[60000], [50400], [250, 250], [180, 180]])
      expect(leavesOf(size, gpu), size.join('x')).toHaveLength(2);
    // Few blocks, or whole lines between them.
    for (const size of [[30000], [240, 240]]) expect(leavesOf(size, gpu), size.join('x')).toHaveLength(1);
  });

  it('exchange their shares after the first pass along the slower of two axes, where that is one of its digits', () => {
    const stages = (size: number[], precision: 'single' | 'double') => {
      const [leaf] = leavesOf(size, gpu, precision);
      return passesOf(leaf!).map(({ dimension, split }) => [leaf!.lengths[dimension], leaf!.lengths[split!]]);
    };
    expect(stages([256, 256], 'double')).toEqual([
      [16, 16],
      [16, 16],
      [256, 16],
    ]);
    // Here the blocks share out the rows at first: there are too few of the other digit.
    expect(stages([512, 128], 'single')).toEqual([
      [16, 512],
      [8, 16],
      [512, 16],
    ]);
    // Cubes gain nothing.
    expect(stages([32, 32, 32], 'double').map(([length]) => length)).toEqual([32, 32, 32]);
    // Two blocks that run side by side need no others.
    expect(leavesOf([64, 64], gpu, 'double')).toMatchObject([{ blocks: 1, coupled: false }]);
  });

  it('otherwise transform the fastest of two axes first, but for long rows in single precision', () => {
    const order = (size: number[], precision: 'single' | 'double') => {
      const [leaf] = leavesOf(size, gpu, precision);
      return leaf && leaf.blocks > 1 && !leaf.coupled ? passesOf(leaf).map(({ dimension }) => dimension) : [];
    };
    expect(order([60, 256], 'double')).toEqual([1, 0]);
    expect(order([72, 432], 'single')).toEqual([1, 0]);
    expect(order([240, 240], 'single')).toEqual([0, 1]);
    expect(order([32, 32, 32], 'double')).toEqual([0, 1, 2]);
  });

  it('leave alone what one block holds', () => {
    expect(leavesOf([8192], gpu).map((leaf) => passesOf(leaf).length)).toEqual([1]);
    const plan = (input: object) =>
      planDirection(normalizeProblem({ size: [64, 64], batches: 4096, ...input }), 'forward', gpu, false).launches
        .length;
    expect(plan({})).toBe(1);
    expect(plan({ unordered: true })).toBe(1);
    expect(plan({ omit: [false, true] })).toBe(1);
  });
});

describe('a strided axis in several uploads', () => {
  it('takes neighbouring columns in each of them, whatever its twiddles count along', () => {
    for (const size of [
      [1024, 131072],
      [64, 64, 65536],
    ]) {
      const problem = normalizeProblem({ size });
      const { launches } = planDirection(problem, 'forward', alone, false);
      const uploads = launches.filter(({ node }) => /upload/.test(node.title));
      expect(uploads.length).toBeGreaterThan(1);
      for (const { leaf } of uploads) {
        const neighbours = [leaf.input, leaf.output].map(({ layout }) => strideAlong(layout, leaf.lengths.length));
        // A complex number is two reals.
        expect(neighbours).toEqual([2, 2]);
      }
      expect(uploads.some(({ leaf }) => (leaf.twiddle?.along ?? 0) > 0)).toBe(true);
    }
  });
});
