/**
 * Trials for `strategy: 'measure'` (FFTW's MEASURE): a problem's best candidates, then the fastest of them with other numbers of threads, are
 * timed on the device.
 */
import type { Backend, DeviceBuffer } from '../../devices/device.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { type Direction, FftError, type Problem } from '../../problem/index.ts';
import { type ComplexData, sideFacts } from '../arguments/arguments.ts';
import { rankTuned } from '../programs/tuning.ts';
import { type MeasuredCandidates, MOST_CANDIDATES, textOfSplits, withOtherThreads } from './candidates.ts';
import { allocateFor, type MeasureOptions } from './measure.ts';

/** Milliseconds after which no other candidate and no other round is begun. */
const BUDGET_MILLISECONDS = 6000;
/** The most rounds. Each round times every candidate once, so that a machine that slows down slows all candidates. */
const ROUNDS = 8;
/** The approximate time of a candidate in one round, in milliseconds. */
const TIMING_MILLISECONDS = 10;
/** The most transforms of a candidate in one round. */
const MOST_REPEATS = 200;
/** Transforms in the first, rough timing of a candidate. */
const FIRST_REPEATS = 3;
/**
 * Candidates that take longer than this many times the fastest one in the first timing are not timed again, except the planner's
 * own choice: on a busy machine a single timing may be wrong.
 */
const SLOWEST_RETRIED = 2;
/** The candidates that are timed with other numbers of threads: the fastest, and others that take up to so many times as long. */
const WITH_THREADS = { most: 3, slower: 1.25 };
/** Errors that rule out one candidate only; any other error ends the trials. */
const OWN_FAILURES: readonly string[] = ['compile-failed', 'device-limit', 'out-of-memory'];

/** The part of `Plan` that trials use. They cannot import `Plan`, which is above them in the import order. */
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
 * @param planOf makes the plan of a candidate, ready to run.
 * @throws FftError the errors of `planOf` if no candidate can run; `unsupported-feature` if the device runs nothing.
 */
export async function measureCandidates(
  problem: Problem,
  backend: Backend,
  planOf: (splits: Splits) => Promise<MeasurablePlan>,
): Promise<MeasuredCandidates> {
  if (backend.withoutMemory) {
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
    const first = (splits: readonly Splits[]) => planAndTime(splits, planOf, memory, trials, begin);
    await first(candidates.map(({ value }) => value));
    await first(promising(trials).flatMap(({ splits }) => others(splits)));
    const fastest = fastestOf(trials).milliseconds;
    const near = trials.filter(({ milliseconds }, n) => n === 0 || milliseconds <= SLOWEST_RETRIED * fastest);
    for (let round = 0; round < ROUNDS && near.length > 1 && performance.now() - begin < BUDGET_MILLISECONDS; round++) {
      for (const trial of near) {
        const repeats = Math.min(MOST_REPEATS, Math.ceil(TIMING_MILLISECONDS / trial.milliseconds));
        trial.milliseconds = Math.min(trial.milliseconds, await timeOfTransforms(trial.plan, memory, repeats));
      }
    }
  } finally {
    for (const { plan } of trials) plan.destroy();
    for (const buffer of memory.buffers) buffer.free();
  }
  const best = fastestOf(trials);
  return {
    splits: best.splits,
    times: new Map(trials.map(({ splits, milliseconds }) => [textOfSplits(splits), milliseconds])),
  };
}

/** The fastest first. */
function byTime(trials: readonly Trial[]): Trial[] {
  return [...trials].sort((a, b) => a.milliseconds - b.milliseconds);
}

function promising(trials: readonly Trial[]): Trial[] {
  const limit = WITH_THREADS.slower * fastestOf(trials).milliseconds;
  return byTime(trials)
    .slice(0, WITH_THREADS.most)
    .filter(({ milliseconds }) => milliseconds <= limit);
}

function fastestOf(trials: readonly Trial[]): Trial {
  return byTime(trials)[0]!;
}

/** Makes the plans of candidates, whose kernels are compiled side by side, and times each roughly. */
async function planAndTime(
  candidates: readonly Splits[],
  planOf: (splits: Splits) => Promise<MeasurablePlan>,
  memory: TrialBuffers,
  trials: Trial[],
  begin: number,
): Promise<void> {
  if (trials.length > 0 && performance.now() - begin > BUDGET_MILLISECONDS) return;
  const made = await Promise.allSettled(candidates.map(async (splits) => planOf(splits)));
  const failures: unknown[] = made.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const fatal = () => failures.find((error) => !(error instanceof FftError && OWN_FAILURES.includes(error.code)));
  for (const [n, result] of made.entries()) {
    if (result.status === 'rejected') continue;
    const plan = result.value;
    try {
      const isLate = trials.length > 0 && performance.now() - begin > BUDGET_MILLISECONDS;
      if (fatal() || isLate) plan.destroy();
      else
        trials.push({
          splits: candidates[n]!,
          plan,
          milliseconds: await timeOfTransforms(plan, memory, FIRST_REPEATS),
        });
    } catch (error) {
      plan.destroy();
      failures.push(error);
    }
  }
  if (fatal() || trials.length === 0) throw fatal() ?? failures[0];
}

/** Milliseconds of one transform in each of a plan's directions. */
async function timeOfTransforms(
  plan: MeasurablePlan,
  { input, output }: TrialBuffers,
  repeats: number,
): Promise<number> {
  let sum = 0;
  for (const direction of plan.directions) {
    const sides = direction === 'forward' ? { input, output } : { input: output, output: input };
    sum += await plan.measure(direction, { ...sides, repeats });
  }
  return sum;
}

/** Both sides of a problem, and the buffers that hold them. */
interface TrialBuffers {
  readonly input: ComplexData;
  readonly output: ComplexData;
  readonly buffers: readonly DeviceBuffer[];
}

async function allocateTrial(problem: Problem, backend: Backend): Promise<TrialBuffers> {
  const buffers: DeviceBuffer[] = [];
  try {
    const input = await allocateFor(sideFacts(problem, 'input', backend.profile), 0, backend, buffers);
    const inPlace = problem.placement === 'in-place';
    const output = inPlace
      ? input
      : await allocateFor(sideFacts(problem, 'output', backend.profile), 0, backend, buffers);
    return { input, output, buffers };
  } catch (error) {
    for (const buffer of buffers) buffer.free();
    throw error;
  }
}
