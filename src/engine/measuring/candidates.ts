/**
 * The candidates for the plan of a problem. The plan is the first by price, or, with `strategy: 'measure'`, the fastest of the best
 * few, timed on the device (FFTW's MEASURE).
 */
import type { Backend } from '../../devices/device.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { targetOf } from '../../plan/device/target.ts';
import { WAYS_WITHOUT_TEMP } from '../../plan/planner.ts';
import { type CostUnit, unitOf } from '../../plan/price/cost.ts';
import { type PriceParts, pricePartsOf } from '../../plan/price-parts.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { type Problem, withoutCallbacks } from '../../problem/index.ts';
import { rankTuned, tunedProfile } from '../programs/tuning.ts';

/** The most candidates that are timed, or shown. */
export const MOST_CANDIDATES = 8;

/** Numbers of threads in a group that are timed beside the planner's choice, on devices with threads. */
const THREADS = [32, 64, 128, 256, 512];

/** The splits with other numbers of threads; empty if the device or the problem decides the threads. */
export function withOtherThreads(
  splits: Splits,
  { tuning }: Problem,
  { lockstep, maxThreads }: DeviceProfile,
): Splits[] {
  if (lockstep !== 'threads' || tuning.threads !== undefined) return [];
  return THREADS.filter((threads) => threads <= (tuning.maxThreads ?? maxThreads)).map((threads) => ({
    ...splits,
    threads,
  }));
}

/** Results of timing the candidates of a problem. */
export interface MeasuredCandidates {
  /** The splits of the fastest candidate. */
  readonly splits: Splits;
  /** Milliseconds that each candidate takes in all directions of the problem, by its splits as text. */
  readonly times: ReadonlyMap<string, number>;
}

/** A candidate as `explain` shows it. */
export interface CandidateFacts {
  readonly splits: Splits;
  /** Predicted cost per point, in the unit of the list. */
  readonly price: number;
  /** The parts of the price. */
  readonly parts: PriceParts;
  /** Launches of one direction. */
  readonly launches: number;
  /** Measured time of all directions of the problem together, if there is a measurement. */
  readonly milliseconds?: number;
  /** Whether this candidate is the plan. */
  readonly chosen: boolean;
}

export interface CandidateList {
  readonly unit: CostUnit;
  /** The cheapest candidates, in order of price, and the plan if it is another one that needs less memory. */
  readonly list: readonly CandidateFacts[];
}

/** @param chosen the splits of the plan; undefined if the plan has no directions and thus no candidates. */
export function candidateFacts(
  problem: Problem,
  backend: Backend,
  chosen: Splits | undefined,
  measured?: MeasuredCandidates,
): CandidateList {
  if (!chosen) return { unit: unitOf(backend.profile), list: [] };
  const most = problem.strategy === 'least-memory' ? WAYS_WITHOUT_TEMP : MOST_CANDIDATES;
  const plain = withoutCallbacks(problem);
  const direction = problem.directions === 'inverse' ? 'inverse' : 'forward';
  const target = targetOf(tunedProfile(backend.profile, problem), problem.precision);
  const isChosen = (splits: Splits) => textOfSplits(splits) === textOfSplits(chosen);
  const list = rankTuned(problem, backend.profile, most)
    .filter(({ value }, n) => n < MOST_CANDIDATES || isChosen({ ...value, ...threadsField(chosen) }))
    .flatMap(({ value, price }) => {
      // The price of a candidate does not depend on threads.
      const others = withOtherThreads(value, problem, backend.profile);
      const listed = others.filter((other) => isChosen(other) || measured?.times.has(textOfSplits(other)));
      return [value, ...listed].map((splits) => ({ value: splits, price }));
    })
    .map(({ value: splits, price }): CandidateFacts => {
      const milliseconds = measured?.times.get(textOfSplits(splits));
      return {
        ...{ splits, price, ...pricePartsOf(plain, direction, target, splits, price) },
        ...(milliseconds === undefined ? {} : { milliseconds }),
        chosen: isChosen(splits),
      };
    });
  return { unit: unitOf(backend.profile), list };
}

function threadsField({ threads }: Splits): Pick<Splits, 'threads'> {
  return threads === undefined ? {} : { threads };
}

/** A canonical text: two splits are equal if and only if their texts are. */
export function textOfSplits({ shared, axes, threads }: Splits): string {
  return JSON.stringify([shared ?? null, axes, threads ?? null]);
}
