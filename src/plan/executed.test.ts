/**
 * Every candidate that `strategy: 'measure'` may choose of problems between reals, and convolutions, by running it: what
 * replay.test.ts does for complex problems on symbols. A launch that reads anything but what its node expects leaves another result
 * than the reference.
 */

import { expect, it } from 'vitest';
import type { Tried } from '../../test/support/accuracy.ts';
import { complexProblem, triedComplex } from '../../test/support/complex.ts';
import { convolutionProblem, triedConvolution } from '../../test/support/convolution.ts';
import { randomProfile, randomThreads } from '../../test/support/devices.ts';
import { executing } from '../../test/support/executed.ts';
import { planConvolution, plansOf, rankSplits } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import { realProblem, triedReal, withBlocks as withRealBlocks } from '../../test/support/real.ts';
import { inBlocks } from '../../test/support/split-axes.ts';
import { sumsProblem, triedSums, withBlocks } from '../../test/support/sums.ts';
import { exhaustive } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { MOST_CANDIDATES } from '../engine/measuring/candidates.ts';
import { gather } from '../layout/index.ts';
import { normalizeProblem, type Problem, type ProblemInput, splitAxisOf } from '../problem/index.ts';
import type { DeviceProfile } from './device/profile.ts';
import type { Launch } from './launch/launches.ts';
import type { DirectionPlan } from './planner.ts';

const random = randomFor('plan/executed');
const directions = ['forward', 'inverse'] as const;
type Direction = (typeof directions)[number];
/** Assignments to each candidate that are run, the best ones. */
const MOST_ASSIGNMENTS = exhaustive ? 4 : 1;
/** Problems of each kind. */
const PROBLEMS = exhaustive ? 1700 : 15;
const PRECISIONS = ['single', 'double'] as const;

/** Little memory, so that few points take several launches. */
function profileFrom(): DeviceProfile {
  return random.integer(0, 1) === 0
    ? { ...namedProfiles['wasm-cpu'].profile, ...randomProfile(random) }
    : { ...namedProfiles.h200.profile, ...randomThreads(random) };
}

/** What is tried of a problem, whose axes come in two launches from so few points on. */
function requested(input: ProblemInput): ProblemInput {
  const two = random.pick([4, 12, undefined]);
  return {
    ...{ ...input, tuning: { ...input.tuning, ...(two ? { uploadSwitch: { two } } : {}) } },
    strategy: random.pick(['fast', 'least-memory'] as const),
  };
}

/** Sometimes less is kept between launches. */
function stored(input: ProblemInput): ProblemInput {
  if (random.integer(0, 4) > 0) return input;
  return { ...input, storage: input.precision === 'single' ? 'half' : 'single' };
}

type Trying = (plan: DirectionPlan, problem: Problem, input: ProblemInput, direction: Direction) => Promise<Tried>;

const kinds: Readonly<Record<string, { readonly make: (most: number) => ProblemInput; readonly trying: Trying }>> = {
  reals: {
    make: (most) => {
      const problem = { ...realProblem(random, most, PRECISIONS), transform: 'r2c' } as ProblemInput;
      return random.integer(0, 2) === 0 ? withRealBlocks(random, problem) : problem;
    },
    trying: (plan, problem, input, direction) => triedReal(executing(plan, problem), input, direction, random),
  },
  sums: {
    make: (most) => {
      const problem = sumsProblem(random, most, PRECISIONS);
      return random.integer(0, 2) === 0 ? withBlocks(random, problem) : problem;
    },
    trying: (plan, problem, input, direction) => triedSums(executing(plan, problem), input, direction, random),
  },
};

/** None where so little memory holds no transform of such a length. */
function plansFor(problem: Problem, direction: Direction, profile: DeviceProfile): DirectionPlan[] {
  const work = problem.placement === 'out-of-place' && random.integer(0, 2) === 0;
  try {
    const ranked = rankSplits(problem, profile, MOST_CANDIDATES).map(({ value }) => value);
    // What the strategy prefers need not be the first of them.
    return [undefined, ...(problem.strategy === 'fast' ? ranked.slice(1) : ranked)].flatMap((splits) => {
      const found: DirectionPlan[] = [];
      for (const plan of plansOf(problem, direction, profile, work, splits)) {
        if (found.push(plan) === MOST_ASSIGNMENTS) break;
      }
      return found;
    });
  } catch (error) {
    if (error instanceof RangeError && /fit one upload/.test(error.message)) return [];
    throw error;
  }
}

/** What is read wrongly is off by numbers as large as the results; of a few singles, rounding may come to more than it does in the mean. */
const ROUNDING = 2;

function expectGood({ what, error, allowed, damage }: Tried, { launches }: DirectionPlan): void {
  const where = `${what} through ${launches.map(({ from, to }) => `${from} → ${to}`).join(', ')}`;
  expect(damage, where).toEqual([]);
  expect(error, where).toBeLessThanOrEqual(ROUNDING * allowed);
}

it.each(Object.entries(kinds))('each assignment of each candidate computes %s', async (kind, { make, trying }) => {
  let [ran, without] = [0, 0];
  for (let round = 0; round < PROBLEMS; round++) {
    const [input, profile] = [stored(requested(make(random.pick([20, 60])))), profileFrom()];
    const problem = normalizeProblem(input);
    for (const direction of directions) {
      const plans = plansFor(problem, direction, profile);
      for (const plan of plans) expectGood(await trying(plan, problem, input, direction), plan);
      ran += plans.length;
      without += Number(plans.length === 0);
    }
  }
  console.info(`${ran} assignments of ${kind} run; ${without} directions of ${2 * PROBLEMS} do not fit their profile`);
  expect(ran).toBeGreaterThan(PROBLEMS);
  expect(without).toBeLessThan(PROBLEMS / 4);
});

const complex = {
  make: (most: number) => complexProblem(random, most, PRECISIONS),
  trying: (plan: DirectionPlan, problem: Problem, input: ProblemInput, direction: Direction) =>
    triedComplex(executing(plan, problem), input, direction, random),
};

it.each(Object.entries({ ...kinds, complex }))(
  'an axis that lies in blocks, equal or not, is read and written where it lies: %s',
  async (_, { make, trying }) => {
    let ran = 0;
    for (let round = 0; round < 2 * PROBLEMS; round++) {
      const [input, profile] = [requested(make(random.pick([20, 60, 200]))), profileFrom()];
      const problem = inBlocks(random, input);
      if (!problem) continue;
      const direction = random.pick(directions);
      for (const plan of plansFor(problem, direction, profile).slice(0, 2)) {
        const what = { splitAxis: { input: splitAxisOf(problem, 'input'), output: splitAxisOf(problem, 'output') } };
        const { error, allowed, damage, ...tried } = await trying(plan, problem, input, direction);
        expectGood({ ...tried, error, allowed, damage, what: `${tried.what} ${JSON.stringify(what)}` }, plan);
        ran++;
      }
    }
    expect(ran).toBeGreaterThan(PROBLEMS);
  },
);

it('the assignments of both parts of a convolution compute it', async () => {
  for (let round = 0; round < PROBLEMS; round++) {
    const input = requested(convolutionProblem(random, PRECISIONS, random.pick([20, 60])));
    const problem = normalizeProblem(input);
    const through = problem.placement === 'out-of-place' && random.integer(0, 1) === 0;
    const plan = planConvolution(problem, { ...namedProfiles.h200.profile, sharedBytes: 4096 }, through);
    expectGood(await triedConvolution(executing(plan.convolve, problem, plan), input, random), plan.convolve);
  }
});

it('bins of a kernel are zero in a block of the frequency side where points come in the order of powers, too', async () => {
  const input: ProblemInput = {
    size: [41],
    batches: 2,
    precision: 'double',
    convolution: { kernels: 2 },
    zeroPadding: { frequency: [{ from: 2, to: 37 }] },
    tuning: { uploadSwitch: { two: 12 } },
  };
  const problem = normalizeProblem(input);
  const plan = planConvolution(problem, { ...namedProfiles.h200.profile, sharedBytes: 4096 }, false);
  expect(plan.prepare.launches.some(({ node }) => node.convolved?.by === 'rader')).toBe(true);
  expectGood(await triedConvolution(executing(plan.convolve, problem, plan), input, random), plan.convolve);
});

/** One thing about one launch made wrong. */
const damages: Readonly<Record<string, (launch: Launch) => Launch>> = {
  'where a result begins': (launch) => {
    const { leaf } = launch;
    const { layout } = leaf.output;
    // Each point of a line goes where the next one belongs.
    const count = layout.shape[0]!;
    const entries = Array.from({ length: count }, (_, n) => (n + 1) % count);
    return { ...launch, leaf: { ...leaf, output: { ...leaf.output, layout: gather(layout, 0, { entries }) } } };
  },
  'where it goes': (launch) => ({ ...launch, to: launch.to === 'temp' ? 'temp2' : 'temp' }),
  'where it is read': (launch) => ({ ...launch, from: launch.from === 'temp' ? 'temp2' : 'temp' }),
};

it.each(Object.entries(damages))('running it notices a fault in %s', async (_, damaged) => {
  const input = {
    size: [12, 5],
    transform: random.pick(['r2c', 'dct2', 'dst4'] as const),
    precision: 'double',
  } as const;
  const problem = normalizeProblem({ ...input, tuning: { uploadSwitch: { two: 8 } } });
  const kind = kinds[input.transform === 'r2c' ? 'reals' : 'sums']!;
  for (const direction of directions) {
    const [plan] = plansFor(problem, direction, namedProfiles.h200.profile) as [DirectionPlan];
    const at = random.integer(0, plan.launches.length - 1);
    const launches = plan.launches.map((launch, n) => (n === at ? damaged(launch) : launch));
    const { error, allowed, damage } = await kind.trying({ ...plan, launches }, problem, input, direction);
    expect(damage.length > 0 || error > allowed, `${direction} ${at}`).toBe(true);
  }
});
