/**
 * With `strategy: 'measure'`, the fastest of a problem's best candidates, and of the fastest one's by other threads, timed on the device
 * (FFTW's MEASURE).
 */
import type { Backend, DeviceBuffer } from '../../devices/device.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { type Direction, FftError, type Problem } from '../../problem/index.ts';
import { type ComplexData, factsOf } from '../arguments/arguments.ts';
import { rankTuned } from '../programs/tuning.ts';
import { type MeasuredCandidates, MOST_CANDIDATES, textOf, withOtherThreads } from './candidates.ts';
import { allocateFor, type MeasureOptions } from './measure.ts';

/** Milliseconds after which no other candidate is begun, and no other round. */
const BUDGET_MILLISECONDS = 2000;
/** Times that every candidate is timed at most, round by round, so that a machine that slows down slows all of them. */
const ROUNDS = 8;
/** Milliseconds that a candidate takes in one round, roughly. */
const TIMING_MILLISECONDS = 10;
/** Transforms of a candidate in one round at most. */
const MOST_REPEATS = 200;
/** Transforms in the first, rough timing of a candidate. */
const FIRST_REPEATS = 3;
/**
 * How many times as long as the fastest one a candidate may take at first: what is slower is not timed again. But the planner's
 * own choice is: on a machine that is busy, what looks fast once need not be.
 */
const SLOWEST_RETRIED = 2;
/** Errors that rule out one candidate only; any other error ends the trials. */
const OWN_FAILURES: readonly string[] = ['compile-failed', 'device-limit', 'out-of-memory'];

/** What trials ask of a plan. `Plan` itself stands above this room. */
interface MeasurablePlan {
  readonly directions: readonly Direction[];
  measure(direction: Direction, options: MeasureOptions): Promise<number>;
  destroy(): void;
}

/** A candidate on trial. */
interface Trial {
  readonly splits: Splits;
  readonly plan: MeasurablePlan;
  milliseconds: number;
}

/**
 * Times the best few candidates of a problem.
 * @param planOf makes the plan of one, ready to run.
 * @throws FftError what `planOf` throws, where no candidate can be run; `unsupported-feature` where the device runs nothing.
 */
export async function measureCandidates(
  problem: Problem,
  backend: Backend,
  planOf: (splits: Splits) => Promise<MeasurablePlan>,
): Promise<MeasuredCandidates> {
  if (backend.pretends) {
    const why = `strategy 'measure' times plans, and ${backend.name} is only a profile, which runs nothing`;
    throw new FftError('unsupported-feature', `${why}; use 'fast' there.`, { path: 'strategy' });
  }
  const candidates = rankTuned(problem, backend.profile, MOST_CANDIDATES);
  const others = (splits: Splits) => withOtherThreads(splits, problem, backend.profile);
  if (candidates.length === 1 && others(candidates[0]!.value).length === 0)
    return { splits: candidates[0]!.value, times: new Map() };
  const memory = await allocateTrial(problem, backend);
  const trials: Trial[] = [];
  try {
    const begin = performance.now();
    const first = (splits: readonly Splits[]) => firstRound(splits, planOf, memory, trials, begin);
    await first(candidates.map(({ value }) => value));
    await first(others(fastestOf(trials).splits));
    const fastest = fastestOf(trials).milliseconds;
    const near = trials.filter(({ milliseconds }, n) => n === 0 || milliseconds <= SLOWEST_RETRIED * fastest);
    for (let round = 0; round < ROUNDS && near.length > 1 && performance.now() - begin < BUDGET_MILLISECONDS; round++) {
      for (const trial of near) {
        const repeats = Math.min(MOST_REPEATS, Math.ceil(TIMING_MILLISECONDS / trial.milliseconds));
        trial.milliseconds = Math.min(trial.milliseconds, await timeOf(trial.plan, memory, repeats));
      }
    }
  } finally {
    for (const { plan } of trials) plan.destroy();
    for (const buffer of memory.buffers) buffer.free();
  }
  const best = fastestOf(trials);
  return {
    splits: best.splits,
    times: new Map(trials.map(({ splits, milliseconds }) => [textOf(splits), milliseconds])),
  };
}

function fastestOf(trials: readonly Trial[]): Trial {
  return trials.reduce((one, other) => (other.milliseconds < one.milliseconds ? other : one));
}

/** Makes the plans, and runs each once or a few times. */
async function firstRound(
  candidates: readonly Splits[],
  planOf: (splits: Splits) => Promise<MeasurablePlan>,
  memory: TrialBuffers,
  trials: Trial[],
  begin: number,
): Promise<void> {
  let failure: unknown;
  for (const splits of candidates) {
    if (trials.length > 0 && performance.now() - begin > BUDGET_MILLISECONDS) break;
    let plan: MeasurablePlan | undefined;
    try {
      plan = await planOf(splits);
      trials.push({ splits, plan, milliseconds: await timeOf(plan, memory, FIRST_REPEATS) });
    } catch (error) {
      plan?.destroy();
      if (!(error instanceof FftError) || !OWN_FAILURES.includes(error.code)) throw error;
      failure ??= error;
    }
  }
  if (trials.length === 0) throw failure;
}

/** Milliseconds of one transform in each of a plan's directions. */
async function timeOf(plan: MeasurablePlan, { input, output }: TrialBuffers, repeats: number): Promise<number> {
  let sum = 0;
  for (const direction of plan.directions) {
    const sides = direction === 'forward' ? { input, output } : { input: output, output: input };
    sum += await plan.measure(direction, { ...sides, repeats });
  }
  return sum;
}

/** Both sides of a problem, and what they are made of. */
interface TrialBuffers {
  readonly input: ComplexData;
  readonly output: ComplexData;
  readonly buffers: readonly DeviceBuffer[];
}

async function allocateTrial(problem: Problem, backend: Backend): Promise<TrialBuffers> {
  const buffers: DeviceBuffer[] = [];
  try {
    const input = await allocateFor(factsOf(problem, 'input', backend.profile), 0, backend, buffers);
    const inPlace = problem.placement === 'in-place';
    const output = inPlace
      ? input
      : await allocateFor(factsOf(problem, 'output', backend.profile), 0, backend, buffers);
    return { input, output, buffers };
  } catch (error) {
    for (const buffer of buffers) buffer.free();
    throw error;
  }
}
