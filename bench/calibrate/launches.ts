/** What it takes several threads to start a launch, and what one of them reaches of the bandwidth while others are idle. */

import type { Backend } from '../../src/devices/device.ts';
import { Device } from '../../src/engine/device.ts';
import type { Plan } from '../../src/engine/index.ts';
import { type Calibration, calibrationOf } from '../../src/plan/device/calibration.ts';
import { capacityOf } from '../../src/plan/device/capacity.ts';
import { targetOf } from '../../src/plan/device/target.ts';
import { tripCost } from '../../src/plan/price/cost.ts';
import { normalizeProblem, type ProblemInput } from '../../src/problem/index.ts';
import { rankSplits } from '../../test/support/planned.ts';

/** Lengths of the single transforms that are timed in one upload and in two, each half as long again as the one before. */
const SHORTEST = 2 ** 10;
const LONGEST = 2 ** 16;
const STEP = 1.5;
const ROUNDS = 7;
/** Candidates among which there are one upload and the best two. */
const MOST_CANDIDATES = 64;
/** Milliseconds of one turn, roughly. */
const TURN = 2;

type Launch = Calibration['launch'];

/** The backend, with a planner to which launches cost so much. */
function pricing(launch: Launch, backend: Backend): Backend {
  const calibration = { ...backend.profile.calibration, launch };
  return Object.create(backend, { profile: { value: { ...backend.profile, calibration } } }) as Backend;
}

/** Milliseconds of each of some plans: medians of rounds in turns. */
async function timesOf(plans: readonly Plan[]): Promise<number[]> {
  const first = await plans[0]!.measure('forward', { repeats: 3 });
  const repeats = Math.max(1, Math.ceil(TURN / first));
  const times: number[][] = plans.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [n, plan] of plans.entries()) times[n]!.push(await plan.measure('forward', { repeats }));
  }
  return times.map((own) => own.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!);
}

/** A length at which the planner may take one upload or two. */
interface Choice {
  /** The bytes to start a launch up to which two are cheaper. */
  readonly bytes: number;
  /** The logarithm of what two take over what one takes. */
  readonly loss: number;
}

async function choiceAt(length: number, backend: Backend): Promise<Choice | undefined> {
  const problem: ProblemInput = { size: [length], precision: 'single', directions: 'forward' };
  const { reach } = calibrationOf(backend.profile).launch;
  const free = pricing({ bytes: 0, reach }, backend);
  const ranked = rankSplits(normalizeProblem(problem), free.profile, MOST_CANDIDATES);
  const priceOf = (uploads: number) =>
    ranked.find(
      ({
        value: {
          axes: [scheme],
        },
      }) => scheme?.by === 'uploads' && scheme.lengths.length === uploads,
    )?.price;
  const [one, two] = [priceOf(1), priceOf(2)];
  if (one === undefined || two === undefined || one <= two) return undefined;
  const { profile } = backend;
  const moved = 2 * capacityOf('single', profile).complexBytes * length;
  const bytes = ((one - two) * moved) / (tripCost(targetOf(profile, 'single')) * (profile.multiprocessors - 1));
  const shared = await new Device(free).plan(problem);
  const alone = await new Device(pricing({ bytes: 2 * bytes, reach }, backend)).plan(problem);
  const [timeAlone, timeShared] = await timesOf([alone, shared]);
  for (const plan of [shared, alone]) plan.destroy();
  return { bytes, loss: Math.log(timeShared! / timeAlone!) };
}

/** The bytes at which the choices that follow lose the least. */
function bestOf(choices: readonly Choice[]): number {
  const lossOf = (bytes: number) =>
    choices.reduce((sum, choice) => sum + (choice.bytes > bytes === choice.loss > 0 ? Math.abs(choice.loss) : 0), 0);
  const steps = [0, ...choices.map((choice) => choice.bytes)].sort((a, b) => a - b);
  const losses = steps.map(lossOf);
  const best = losses.indexOf(Math.min(...losses));
  // Anywhere from here to the next choice is as good.
  return ((steps[best] ?? 0) + (steps[best + 1] ?? steps[best]!)) / 2;
}

/** As many groups for each thread as make what it takes to start them little. */
const GROUPS = 16;

/** How much longer all threads take together than one by itself, each over as many groups. */
async function reachOf(backend: Backend): Promise<number> {
  const { multiprocessors } = backend.profile;
  const device = new Device(Object.create(backend) as Backend);
  const problem: ProblemInput = { size: [LONGEST / 4], precision: 'single', directions: 'forward' };
  const one = await device.plan(problem);
  const all = await device.plan({ ...problem, batches: GROUPS * multiprocessors });
  const [alone, together] = await timesOf([one, all]);
  for (const plan of [one, all]) plan.destroy();
  return Math.min(multiprocessors, Math.max(1, together! / (GROUPS * alone!)));
}

/**
 * By single transforms in one upload and in two: what a start costs is where the planner, for that price, takes the faster one of both
 * most of the time.
 * @returns undefined where there is one thread, which starts nothing, and for GPUs, which have enough groups long before.
 */
export async function fitLaunches(backend: Backend): Promise<{ readonly launch: Launch } | undefined> {
  const { multiprocessors, lockstep } = backend.profile;
  if (multiprocessors === 1 || lockstep === 'threads') return undefined;
  const reach = Math.round(10 * (await reachOf(backend))) / 10;
  const choices: Choice[] = [];
  for (let length = SHORTEST; length <= LONGEST; length = 2 * Math.round((length * STEP) / 2)) {
    const choice = await choiceAt(smoothFrom(length), backend);
    if (choice) choices.push(choice);
  }
  return { launch: { bytes: Math.round(bestOf(choices) / 1000) * 1000, reach } };
}

/** The next length of the primes 2, 3 and 5. */
function smoothFrom(least: number): number {
  for (let length = least; ; length++) {
    let rest = length;
    for (const prime of [2, 3, 5]) while (rest % prime === 0) rest /= prime;
    if (rest === 1) return length;
  }
}
