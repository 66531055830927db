/** Random problems of any size, planned for every profile that has a name. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { planTuned, planTunedConvolution } from '../../src/engine/programs/tuning.ts';
import { FftError, normalizeProblem, type Problem, type ProblemInput } from '../../src/problem/index.ts';
import { randomThreads } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { randomFrom, seedFor } from '../support/random.ts';
import { realProblem } from '../support/real.ts';
import { sumsProblem } from '../support/sums.ts';
import { exhaustive } from '../support/transforms.ts';

const profiles = Object.entries(namedProfiles);

/** Up to 2²⁰ points; lengths of few digits are as many as others, and most problems have one axis. */
const sizes = fc.constantFrom(1, 1, 1, 2, 3).chain((axes) =>
  fc.array(
    fc.integer({ min: 0, max: 20_000 }).map((bits) => Math.round(2 ** (bits / 1000 / axes))),
    { minLength: axes, maxLength: axes },
  ),
);

const sums = [1, 2, 3, 4].flatMap((kind) => [`dct${kind}`, `dst${kind}`]);

/** What most problems leave out. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, arbitrary);

const problems = fc.record({
  size: sizes,
  transform: fc.oneof(fc.constant('c2c'), fc.constant('r2c'), fc.constantFrom(...sums)),
  placement: fc.constantFrom('in-place', 'out-of-place'),
  precision: fc.constantFrom('single', 'double', 'double-double'),
  batches: fc.constantFrom(1, 2, 3, 7, 100),
  leftBatches: seldom(fc.integer({ min: 2, max: 3 })),
  preserveInput: seldom(fc.constant(false)),
  strategy: seldom(fc.constant('least-memory')),
  edgeStorage: seldom(fc.constant('half')),
  convolution: seldom(fc.constantFrom({}, { kernels: 2 })),
});

/** The problem; undefined where its fields do not go together. */
function accepted(input: object): Problem | undefined {
  try {
    return normalizeProblem(input as ProblemInput);
  } catch (error) {
    if (error instanceof FftError) return undefined;
    throw error;
  }
}

it('every profile has a plan for any problem', () => {
  let planned = 0;
  fc.assert(
    fc.property(problems, fc.constantFrom(...profiles), fc.boolean(), (input, [name, { profile }], throughWork) => {
      const problem = accepted(input);
      if (!problem) return;
      planned++;
      if (problem.convolution) {
        expect(planTunedConvolution(problem, profile, throughWork), name).toBeDefined();
        return;
      }
      for (const direction of ['forward', 'inverse'] as const) {
        const { launches } = planTuned(problem, direction, profile, throughWork);
        expect(launches.length, name).toBeGreaterThan(0);
      }
    }),
    { seed: seedFor('properties/plans') | 0, numRuns: exhaustive ? 10_000 : 200 },
  );
  expect(planned).toBeGreaterThan(exhaustive ? 8000 : 100);
});

/** A GPU with little shared memory, with clusters or without, or one that has a name. */
function somewhere(random: ReturnType<typeof randomFrom>) {
  const { h100, h200, a100 } = namedProfiles;
  const { profile } = random.pick([h100, h200, a100]);
  const sharedBytes = random.pick([4096, 8000, 8192, 16_384, profile.sharedBytes]);
  return random.unit() < 0.5 ? { ...profile, sharedBytes } : { ...profile, ...randomThreads(random) };
}

it('kernels of reals keep the rules of the kernel language, and within the shared memory that there is', async () => {
  const random = randomFrom(seedFor('properties/plans: kernels'));
  const precisions = ['single', 'double', 'double-double'] as const;
  for (let round = 0; round < (exhaustive ? 2000 : 30); round++) {
    // Its compiler refuses what breaks a rule, or asks for more threads or shared memory than there are.
    const device = openInterpreted(somewhere(random));
    const most = random.pick([60, 200, 600, 3000]);
    const problem =
      random.unit() < 0.7
        ? sumsProblem(random, most, precisions as never)
        : { ...realProblem(random, most, precisions as never), transform: 'r2c' };
    const plan = await device.plan({ ...problem, debug: true } as never);
    expect(plan.kernels.length).toBeGreaterThan(0);
    plan.destroy();
    device.close();
  }
});
