import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomProfile, randomThreads, vectorProfile } from '../../test/support/devices.ts';
import { planDirection, rankSplits } from '../../test/support/planned.ts';
import { configurations } from '../../test/support/problems.ts';
import { randomFor, seedFor } from '../../test/support/random.ts';
import { lengthsOf } from '../../test/support/schemes.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { checkSplits } from './candidates.ts';
import type { DeviceProfile } from './device/profile.ts';
import { targetOf } from './device/target.ts';
import { unitOf } from './price/cost.ts';

const options = (name: string) => ({ seed: seedFor(`plan/candidates/${name}`) | 0, numRuns: 200 });
const profiles: readonly DeviceProfile[] = ['h200', 'webgpu-default', 'wasm-cpu'].map(
  (name) => namedProfiles[name as 'h200'].profile,
);
const several: DeviceProfile = { ...namedProfiles['wasm-cpu'].profile, multiprocessors: 4 };
const { profile: h200 } = namedProfiles.h200;
const ranked = (input: ProblemInput, profile: DeviceProfile, most = 8) =>
  rankSplits(normalizeProblem(input), profile, most);

/** Random profiles may be too small for a length. */
function rankedOrNone(input: ProblemInput, profile: DeviceProfile, most: number) {
  try {
    return ranked(input, profile, most);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
}

describe('candidates', () => {
  it('are different plans, cheapest first, and the first of them is the plan, or the one of least memory', () => {
    fc.assert(
      fc.property(configurations(2 ** 22), fc.constantFrom(...profiles, several), ({ input }, profile) => {
        fc.pre(input.precision !== 'double' || profile.precisions === undefined);
        const problem = normalizeProblem(input);
        const direction = problem.directions === 'inverse' ? 'inverse' : 'forward';
        const list = rankSplits(problem, profile, 8);
        expect(list.length).toBeGreaterThan(0);
        expect(new Set(list.map(({ value }) => JSON.stringify(value))).size).toBe(list.length);
        for (const [n, { price, value }] of list.entries()) {
          if (n > 0) expect(price).toBeGreaterThanOrEqual(list[n - 1]!.price - 1e-6);
          checkSplits(problem, targetOf(profile, problem.precision), value);
          expect(planDirection(problem, direction, profile, false, value).splits).toEqual(value);
        }
        const plan = planDirection(problem, direction, profile, false);
        if (problem.strategy !== 'least-memory') expect(plan.splits).toEqual(list[0]!.value);
        for (const { value } of problem.strategy === 'least-memory' ? list : []) {
          const { assignment } = planDirection(problem, direction, profile, false, value);
          expect(plan.assignment.temps).toBeLessThanOrEqual(assignment.temps);
        }
      }),
      options('list'),
    );
  });

  it('are the same however many are asked for', () => {
    for (const profile of [...profiles, several]) {
      for (const size of [[2 ** 16], [30030], [10 ** 6], [256, 256], [64, 48, 80]]) {
        const all = ranked({ size }, profile, 20);
        for (const most of [1, 3, 8]) expect(ranked({ size }, profile, most)).toEqual(all.slice(0, most));
      }
    }
  });

  it('of reals begin with the plan, however many are asked for, whatever the device', () => {
    const random = randomFor('plan/candidates/reals');
    for (let round = 0; round < 1000; round++) {
      const threads = random.integer(0, 1) === 1;
      const profile = { ...vectorProfile, ...(threads ? randomThreads(random) : randomProfile(random)) };
      const transform = random.pick(['r2c', 'dct2', 'dct3', 'dst2', 'dst3', 'dct4'] as const);
      const problem: ProblemInput = { size: [random.integer(2, 200)], transform };
      const [best] = rankedOrNone(problem, profile, 1);
      expect(rankedOrNone(problem, profile, 8)[0], JSON.stringify(problem)).toEqual(best);
    }
  });

  it('cost a trip to memory for each launch at the least', () => {
    const sizes = [[2 ** 10], [2 ** 16], [2 ** 22], [720720], [128, 96], [64, 64, 64], [17, 1009]];
    for (const profile of profiles) {
      const trip = unitOf(profile) === 'trips to memory' ? 1 : 10;
      for (const size of sizes) {
        const problem = normalizeProblem({ size });
        for (const { price, value } of rankSplits(problem, profile, 8)) {
          const { launches } = planDirection(problem, 'forward', profile, false, value);
          expect(price).toBeGreaterThan(trip * launches.length);
        }
      }
    }
  });

  it('have one upload and several, axes alone and together', () => {
    const counts = ranked({ size: [2 ** 14], batches: 1000 }, h200).map(({ value }) => lengthsOf(value.axes[0]).length);
    expect(new Set(counts)).toEqual(new Set([1, 2]));
    const launches = ranked({ size: [256, 256, 256] }, h200, 20).map(({ value }) => value.shared?.launches);
    expect(new Set(launches)).toEqual(new Set([1, 2, undefined]));
  });

  it('do without a temp buffer where that is asked for, but for one that a cache holds', () => {
    const [best, next] = ranked({ size: [2 ** 14], batches: 1000, placement: 'in-place' }, h200);
    expect([best, next].map((one) => lengthsOf(one!.value.axes[0]).length)).toEqual([1, 2]);
  });

  it('long lines of reals take three uploads from where two are dearer, and wide groups of rows beside their bins', () => {
    const plan = (k: number, precision: 'single' | 'double') =>
      planDirection(
        normalizeProblem({ size: [2 ** k], batches: 2 ** (26 - k), transform: 'r2c', precision }),
        'forward',
        h200,
        false,
      );
    const uploads = [20, 22, 24, 26].map((k) => (['single', 'double'] as const).map((p) => plan(k, p).launches.length));
    expect(uploads).toEqual([
      [2, 2],
      [3, 3],
      [3, 3],
      [3, 3],
    ]);
    // 129 rows of 256 points are four groups of 33: runs of 264 bytes.
    expect(plan(24, 'single').launches.map(({ leaf }) => leaf.tile)).toEqual([16, 16, 33]);
  });
});
