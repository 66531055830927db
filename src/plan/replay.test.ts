/**
 * Every assignment of buffers to every candidate that `strategy: 'measure'` may choose moves data rightly, by a replay that knows
 * nothing of the search. That is for complex problems: those between reals, and convolutions, are run on numbers (executed.test.ts).
 */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomProfile, randomThreads } from '../../test/support/devices.ts';
import { planDirection, plansOf, rankSplits } from '../../test/support/planned.ts';
import { configurations } from '../../test/support/problems.ts';
import { randomFrom, seedFor } from '../../test/support/random.ts';
import { replay, Undecided } from '../../test/support/replay.ts';
import { exhaustive } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { MOST_CANDIDATES } from '../engine/measuring/candidates.ts';
import { concat, type Layout, memory, reverse } from '../layout/index.ts';
import {
  type Block,
  type Direction,
  normalizeProblem,
  type Precision,
  type Problem,
  type ProblemInput,
} from '../problem/index.ts';
import type { DeviceProfile } from './device/profile.ts';
import type { Launch } from './launch/launches.ts';
import type { DirectionPlan } from './planner.ts';
import { passesOf } from './tree/leaf.ts';

/** With prime factors that no radix has. */
const CONVOLVED = [17, 19, 23, 29, 31, 37, 2 * 17, 3 * 19];
/** What chunks are made of: packed batches of what takes several launches. */
const batched: fc.Arbitrary<ProblemInput> = fc.record({
  size: fc.constantFrom([144], [256], [320], [24, 16], [16, 9, 4]),
  batches: fc.constantFrom(2, 4, 6),
  precision: fc.constantFrom('single', 'double'),
  layout: fc.constantFrom('interleaved', 'planar'),
  placement: fc.constantFrom('out-of-place', 'in-place'),
  preserveInput: fc.boolean(),
});
/** Elements of a tensor, at most. */
const SIZES = exhaustive ? [400, 1600] : [100, 400];
const varied = fc.oneof(...SIZES.map((most) => configurations(most, CONVOLVED).map(({ input }) => input)));

/** Some blocks of zeros, none of them a whole axis. */
const blocked = fc
  .tuple(fc.oneof(varied, batched), fc.array(fc.nat(), { minLength: 12, maxLength: 12 }))
  .map(([input, numbers]): ProblemInput => {
    const block = (length: number, n: number): Block | null => {
      const from = n % length;
      const to = from + 1 + (Math.floor(n / length) % (length - from));
      return length === 1 || n % 3 === 0 || to - from === length ? null : { from, to };
    };
    const blocks = (first: number) =>
      input.size.map((length, axis) => (input.omit?.[axis] ? null : block(length, numbers[first + axis]!)));
    return { ...input, unordered: false, zeroPadding: { space: blocks(0), frequency: blocks(6) } };
  });
/** Arithmetic, what is between launches, and what the user has: never wider than the one before. */
const stored = fc.constantFrom(
  ['single', 'single', 'single'] as const,
  ['double', 'double', 'double'] as const,
  ['double-double', 'double-double', 'double-double'] as const,
  ['single', 'half', 'half'] as const,
  ['single', 'single', 'half'] as const,
  ['double', 'single', 'single'] as const,
  ['double-double', 'double', 'half'] as const,
);
const problems = fc
  .tuple(fc.oneof({ weight: 2, arbitrary: varied }, { weight: 2, arbitrary: batched }, blocked), stored)
  .map(([input, [precision, storage, edgeStorage]]): ProblemInput => ({ ...input, precision, storage, edgeStorage }));

/** Little shared memory, and caches that are smaller still, so that small problems take several launches. */
function profileFrom(seed: number, precision: Precision = 'double'): DeviceProfile {
  const random = randomFrom(seed);
  const chunks = { bytes: random.pick([64, 256, 1024]), most: random.pick([2 ** 8, 2 ** 12, 2 ** 20]) };
  const ahead = { ahead: random.pick([1, 1024, 8192]) };
  const vectors = random.unit() < 0.5;
  const coalescedBytes = random.pick([16, 32, 64]);
  // Just enough for 13 columns of whole runs, in two arrays.
  const widest = precision === 'double-double' ? 32 : 16;
  const sharedBytes = 13 * 4 * Math.max(coalescedBytes, widest) * random.pick([1, 1, 2, 4]);
  const chunked = random.unit() < 0.5 ? { chunks: { ...chunks, ...(vectors ? {} : ahead) } } : {};
  const padding = { multiple: random.pick([64, 256, 1024]), count: random.pick([2, 8]), by: random.pick([16, 64]) };
  const padded = random.unit() < 0.5 ? { padding } : {};
  const never = [2, 13] as const;
  // Primes that would be radices, or convolved with one point less.
  const bluestein = random.unit() < 0.7 ? { tuning: { rader: { multiply: never, convolve: never } } } : {};
  return vectors
    ? {
        ...namedProfiles['wasm-cpu'].profile,
        ...randomProfile(random),
        lockstepBytes: random.pick([8, 16]),
        coalescedBytes,
        sharedBytes,
        multiprocessors: random.pick([1, 2, 8]),
        ...chunked,
        ...padded,
        ...bluestein,
      }
    : {
        ...namedProfiles.h200.profile,
        ...randomThreads(random),
        coalescedBytes,
        sharedBytes,
        multiprocessors: random.pick([2, 16]),
        residentBytes: 2 ** 16,
        ...chunked,
        ...padded,
        ...bluestein,
      };
}

/** What the problems of a run had, so that none of it is missing. */
function featuresOf({ launches, assignment, chunks, interleaved }: DirectionPlan): string[] {
  const features = {
    'several uploads': launches.some(({ node }) => node.twiddle !== undefined),
    'three uploads': launches.some(({ node }) => /of [3-9]/.test(node.title)),
    'Bluestein in one launch': launches.some(({ node }) => node.convolved?.by === 'bluestein'),
    Rader: launches.some(({ node }) => node.convolved?.by === 'rader'),
    'large prime radices': launches.some(({ leaf }) => passesOf(leaf).some(({ convolved }) => convolved)),
    'Bluestein in several': launches.some(({ node }) => node.exponents === 'opposite'),
    'shared axes': launches.some(({ node }) => node.more !== undefined),
    'two digits': launches.some(({ leaf }) => leaf.coupled),
    tiles: launches.some(({ leaf }) => leaf.output.layout.kind === 'join'),
    temp: assignment.temps === 1,
    'the input as scratch': launches.some(({ to }) => to === 'input'),
    'a temp in planes': launches.some(({ to, leaf }) => to === 'temp' && leaf.output.format === 'planar'),
    work: launches.some(({ to }) => to === 'work'),
    'lines left out': launches.some(({ node }) => node.batch.some(({ gap }) => gap !== undefined)),
    'elements left out': launches.some(({ node }) => node.zeros.input.length + node.zeros.output.length > 0),
    'padded temps': assignment.padded > 0,
    chunks: chunks > 1,
    'interleaved launches': interleaved !== undefined,
  };
  return Object.entries(features).flatMap(([name, has]) => (has ? [name] : []));
}

/** Assignments that are replayed, the best ones: of the candidate that is preferred, and of each other one. */
const MOST_ASSIGNMENTS = { preferred: exhaustive ? Number.POSITIVE_INFINITY : 4, others: 4 };

/** The plans of the candidate that the strategy of the problem prefers, and of all that may be measured. */
function* everyPlan(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
): Generator<DirectionPlan> {
  const ranked = rankSplits(problem, profile, MOST_CANDIDATES).map(({ value }) => value);
  const others = problem.strategy === 'fast' ? ranked.slice(1) : ranked;
  for (const splits of [undefined, ...others]) {
    let left = splits ? MOST_ASSIGNMENTS.others : MOST_ASSIGNMENTS.preferred;
    for (const plan of plansOf(problem, direction, profile, throughWork, splits)) {
      yield plan;
      if (--left === 0) break;
    }
  }
}

it('each read of each candidate sees the value that its node expects, and nothing else is touched', () => {
  const seen = new Map<string, number>();
  let [replayed, undecided] = [0, 0];
  const isDecided = (plan: DirectionPlan, problem: Problem, work: boolean): boolean => {
    try {
      replay(plan, problem, work);
      return true;
    } catch (error) {
      if (error instanceof Undecided) return false;
      throw error;
    }
  };
  fc.assert(
    fc.property(problems, fc.boolean(), fc.nat(), (input, throughWork, seed) => {
      const problem = normalizeProblem(input);
      for (const direction of ['forward', 'inverse'] as const) {
        if (problem.directions !== 'both' && problem.directions !== direction) continue;
        const work = throughWork && problem.placement === 'out-of-place';
        for (const plan of everyPlan(problem, direction, profileFrom(seed, problem.precision), work)) {
          if (!isDecided(plan, problem, work)) {
            undecided++;
            continue;
          }
          replayed++;
          for (const feature of featuresOf(plan)) seen.set(feature, 1 + (seen.get(feature) ?? 0));
        }
      }
    }),
    { seed: seedFor('plan/replay') | 0, numRuns: exhaustive ? 5000 : 20 },
  );
  console.info(
    `${replayed} assignments replayed, ${undecided} undecided: ${[...seen].map(([name, count]) => `${count} with ${name}`).join(', ')}`,
  );
  expect(replayed).toBeGreaterThan(exhaustive ? 5000 : 20);
  expect(undecided).toBeLessThan(replayed / 20);
});

/** One thing about one launch made wrong; undefined where there is no such thing. */
const damages: Readonly<Record<string, (launch: Launch) => Launch | undefined>> = {
  'a stride of what is read': (launch) => restrided(launch, 'input'),
  'a stride of what is written': (launch) => restrided(launch, 'output'),
  'the offset of what is written': (launch) => {
    const { leaf } = launch;
    const layout = elsewhere(leaf.output.layout, (strides) => [strides, 2]);
    return { ...launch, leaf: { ...leaf, output: { ...leaf.output, layout } } };
  },
  'the parts of what is read': (launch) => {
    const { leaf } = launch;
    const last = leaf.input.layout.shape.length - 1;
    return { ...launch, leaf: { ...leaf, input: { ...leaf.input, layout: reverse(leaf.input.layout, last) } } };
  },
  'working in place unawares': (launch) =>
    launch.from === launch.to ? { ...launch, leaf: { ...launch.leaf, aliased: false } } : undefined,
  'other twiddles': (launch) => {
    const { leaf } = launch;
    return (
      leaf.twiddle && { ...launch, leaf: { ...leaf, twiddle: { ...leaf.twiddle, order: leaf.twiddle.order + 1 } } }
    );
  },
  'twiddles along another dimension': (launch) => {
    const { leaf } = launch;
    const { twiddle } = leaf;
    const along = leaf.batch.findIndex((count, d) => count > 1 && d !== (twiddle?.along ?? 0));
    if (!twiddle || along < 0) return undefined;
    return { ...launch, leaf: { ...leaf, twiddle: { ...twiddle, along } } };
  },
  'where the result goes': (launch) => ({ ...launch, to: launch.to === 'temp' ? 'output' : 'temp' }),
};

/** The slowest dimension that has steps takes one element more for each. */
function restrided(launch: Launch, side: 'input' | 'output'): Launch | undefined {
  const { leaf } = launch;
  const d = leaf.batch.findLastIndex((count) => count > 1);
  if (d < 0) return undefined;
  const { layout } = leaf[side];
  if (layout.kind !== 'memory') return undefined;
  const own = elsewhere(layout, (strides) => [
    strides.map((stride, n) => (n === leaf.lengths.length + d ? stride + 2 : stride)),
    0,
  ]);
  return { ...launch, leaf: { ...leaf, [side]: { ...leaf[side], layout: own } } };
}

/** A layout of other places. @param moved the strides of memory, and how far its beginning moves */
function elsewhere(of: Layout, moved: (strides: readonly number[]) => readonly [readonly number[], number]): Layout {
  if (of.kind === 'memory') {
    const [strides, by] = moved(of.strides);
    return memory(of.array, of.shape, strides, of.offset + by);
  }
  if (of.kind === 'concat') return concat(of.dimension, ...of.parts.map((part) => elsewhere(part, moved)));
  return 'of' in of ? ({ ...of, of: elsewhere(of.of, moved) } as Layout) : of;
}

it('the replay notices what is wrong with a launch', () => {
  const noticed = new Map(Object.keys(damages).map((name) => [name, 0]));
  fc.assert(
    fc.property(batched, fc.constantFrom(...Object.keys(damages)), fc.nat(), (input, name, seed) => {
      const problem = normalizeProblem(input);
      const plan = planDirection(problem, 'forward', profileFrom(seed), false);
      const at = randomFrom(seed).integer(0, plan.launches.length - 1);
      const damaged = damages[name]!(plan.launches[at]!);
      if (!damaged) return;
      const launches = plan.launches.map((launch, n) => (n === at ? damaged : launch));
      expect(() => replay({ ...plan, launches }, problem, false), name).toThrow();
      noticed.set(name, noticed.get(name)! + 1);
    }),
    { seed: seedFor('plan/replay/damage') | 0, numRuns: 400 },
  );
  for (const [name, count] of noticed) expect(count, name).toBeGreaterThan(0);
});
