import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { planDirection } from '../../../test/support/planned.ts';
import { randomFor, seedFor } from '../../../test/support/random.ts';
import { complaints, exhaustive, someOf } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { openProfile } from '../../index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { leavesOf } from '../tree/node.ts';

const random = randomFor('plan/schemes/shared-axes');
const smooth = Array.from({ length: 40_000 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);
const options = (name: string) => ({ seed: seedFor(`plan/shared-axes/${name}`) | 0, numRuns: exhaustive ? 3000 : 120 });
const { profile: h200 } = namedProfiles.h200;
const planned = (input: ProblemInput, profile: DeviceProfile = h200) =>
  planDirection(normalizeProblem(input), 'forward', profile, false);

describe('axes that share two launches', () => {
  it('take fewer launches than there are axes, and no memory but the output', () => {
    for (const precision of ['single', 'double'] as const) {
      const { launches, assignment } = planned({ size: [512, 512, 512], precision });
      expect(launches.map(({ from, to }) => `${from}→${to}`)).toEqual(['input→output', 'output→output']);
      expect(assignment.temps).toBe(0);
    }
  });

  it('are cut so that both launches are faster than one of them would be alone', () => {
    const lengths = (size: number[]) => planned({ size, precision: 'double' }).launches.map(({ leaf }) => leaf.lengths);
    // Fitted to measurements: 256³ in double precision 0.42 of copy instead of 0.34 with 256² in one launch.
    expect(lengths([256, 256, 256])).toEqual([
      [16, 256],
      [16, 16, 16],
    ]);
  });

  it('are left alone in place where bins have an order, and where somebody asks for uploads', () => {
    const cut = (input: Partial<ProblemInput>, profile = h200) =>
      planned({ size: [512, 512, 512], ...input }, profile).tree.children.some(({ title }) => title === 'axes 0, 1, 2');
    expect(cut({})).toBe(true);
    expect(cut({ placement: 'in-place' })).toBe(false);
    expect(cut({ leftBatches: 2 })).toBe(false);
    for (const placement of ['in-place', 'out-of-place'] as const)
      expect(cut({ unordered: true, placement })).toBe(true);
    expect(cut({}, { ...h200, tuning: { uploadSwitch: { two: 512 } } })).toBe(false);
    expect(cut({}, { ...h200, tuning: { groupedBatch: [2] } })).toBe(false);
    expect(cut({ omit: [true, false, false] })).toBe(false);
  });

  it('need no memory but the output in the inverse direction either, whatever other axes there are', () => {
    const problem = normalizeProblem({ size: [256, 256, 256, 4] });
    for (const direction of ['forward', 'inverse'] as const)
      expect(planDirection(problem, direction, h200, false).assignment.temps).toBe(0);
  });

  it('can be saved', async () => {
    const device = await openProfile('h200');
    for (const size of [
      [512, 512, 512],
      [256, 256, 256],
      [128, 512],
    ]) {
      const plan = await device.plan({ size, precision: 'double' });
      const again = await device.plan({ size, precision: 'double' }, { from: plan.serialize() });
      expect(again.toJSON()).toEqual(plan.toJSON());
      for (const { lengths, radices } of plan.toJSON().directions[0]!.launches)
        expect(radices.map((each) => each.reduce((a, b) => a * b, 1))).toEqual(lengths);
    }
    device.close();
  });

  it('fit shared memory, whatever the device has of it and of runs', () => {
    const requested = fc.record({
      size: fc.array(
        fc.integer({ min: 1, max: 400 }).map((n) => smooth[(n * n) % smooth.length]!),
        { minLength: 2, maxLength: 3 },
      ),
      name: fc.constantFrom('h200' as const, 'a100' as const, 'mi250x' as const, 'rtx4090' as const),
      coalescedBytes: fc.constantFrom(16, 32, 64, 128, 256),
      cutRuns: fc.constantFrom(undefined, [], [0.8], [0.8, 0.6, 0.3, 0.2]),
      precision: fc.constantFrom('single' as const, 'double' as const),
      placement: fc.constantFrom('in-place' as const, 'out-of-place' as const),
    });
    fc.assert(
      fc.property(requested, ({ size, name, coalescedBytes, cutRuns, precision, placement }) => {
        const profile = { ...namedProfiles[name].profile, coalescedBytes, ...(cutRuns ? { cutRuns } : {}) };
        for (const { leaf } of planned({ size, precision, placement }, profile as DeviceProfile).launches) {
          const points = leaf.lengths.reduce((a, b) => a * b, 1) / leaf.blocks;
          expect(points * leaf.tile).toBeLessThanOrEqual(leaf.shared.room);
        }
      }),
      options('room'),
    );
  });

  it('read and write every element once, and hold whole axes between them', () => {
    const length = fc.constantFrom(64, 96, 100, 128, 160, 200, 256, 320, 512, 1000, 1024, 1080, 1536, 2048, 4096);
    const requested = fc.record({
      size: fc.array(length, { minLength: 2, maxLength: 4 }),
      precision: fc.constantFrom('single' as const, 'double' as const),
      batches: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(requested, ({ size, precision, batches }) => {
        const points = size.reduce((a, b) => a * b, batches);
        fc.pre(points < 2 ** 32);
        const { tree } = planned({ size, precision, batches });
        for (const leaf of leavesOf(tree)) {
          const dimensions = [leaf.axis, ...(leaf.more ?? []), ...leaf.batch];
          expect(dimensions.reduce((product, { count }) => product * count, 1)).toBe(points);
          for (const side of ['input', 'output'] as const) {
            for (const of of new Set(dimensions.map((dimension) => dimension[side].dimension))) {
              const own = dimensions.filter((dimension) => dimension[side].dimension === of);
              let places = [0];
              for (const { count, [side]: place } of own)
                places = places.flatMap((at) => Array.from({ length: count }, (_, i) => at + i * place.stride));
              expect(new Set(places).size).toBe(tree.length[of]!);
              expect(Math.max(...places)).toBe(tree.length[of]! - 1);
            }
          }
        }
      }),
      options('places'),
    );
  });
});

describe('transforms in two launches for several axes', () => {
  /** Blocks of a few KiB, so that small transforms are too long for one. */
  const small = (blocks: number, bytes: number, beside: number): DeviceProfile => ({
    ...h200,
    sharedBytes: bytes,
    residentBytes: beside * bytes,
    coalescedBytes: 64,
    maxThreads: 256,
    groupPoints: 256,
    cluster: { blocks, sharedBytes: (bytes * 16) / 17, above: { single: bytes, double: bytes } },
  });
  const { cluster: _, ...alone } = small(1, 8704, 4);
  const cases: readonly (readonly [profile: DeviceProfile, input: ProblemInput])[] = [
    [small(8, 4352, 4), { size: [32, 24, 32], normalize: true }],
    [small(8, 4352, 4), { size: [16, 64, 16], batches: 2, layout: { input: 'planar', output: 'interleaved' } }],
    [small(4, 4352, 4), { size: [24, 24, 24], layout: { input: 'interleaved', output: 'planar' } }],
    [small(4, 4352, 4), { size: [16, 48, 16, 2], scale: { forward: 0.5, inverse: 2 } }],
    [small(4, 4352, 4), { size: [16, 32, 16], coordinates: 2, batches: 3 }],
    [small(4, 2176, 1), { size: [32, 32], batches: 3 }],
    [small(4, 2176, 2), { size: [64, 128] }],
    [small(8, 2176, 2), { size: [64, 256] }],
    [small(8, 4352, 1), { size: [64, 256], preserveInput: false }],
    [{ ...small(4, 4352, 4), sharedFormat: 'halves' }, { size: [24, 24, 24] }],
    [small(4, 4352, 4), { size: [24, 24, 24], unordered: true, placement: 'in-place' }],
    [small(8, 2176, 2), { size: [64, 128], unordered: true, normalize: true }],
    [small(8, 4352, 4), { size: [4, 16, 24, 16], omit: [true, false, false, false] }],
    [alone, { size: [24, 24, 24], strides: { input: [1, 1, 26, 626, 16000] } }],
  ];

  it.each(cases)('case %#', async (profile, input) => {
    let shared = 0;
    const both = ['single', 'double'] as const;
    for (const precision of both) {
      const problem = normalizeProblem({ ...input, precision });
      for (const direction of ['forward', 'inverse'] as const) {
        const { tree } = planDirection(problem, direction, profile, false);
        if (leavesOf(tree).some(({ title }) => title.endsWith('launch 2 of 2'))) shared++;
      }
    }
    // Fourteen cases each in one precision, every time another.
    for (const precision of someOf(random, both, 1)) {
      expect(await complaints(openInterpreted(profile), { ...input, precision }, random)).toEqual([]);
    }
    expect(shared).toBeGreaterThan(0);
  });
});
