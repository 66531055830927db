/**
 * Interleaved timing. The machine drifts, by half in a bad minute, so that only ratios within one run mean something:
 * the subjects take turns, A B A B …, in slices short enough that all of them see the same weather.
 */
import type { Subject } from './subject.ts';

export interface Effort {
  /** Turns for each subject. */
  readonly rounds: number;
  /** Milliseconds of one turn; at least one call. */
  readonly slice: number;
  /** Milliseconds before the first round, for the engine to compile and the clock to rise. */
  readonly warmUp: number;
}

export const fullEffort: Effort = { rounds: 15, slice: 8, warmUp: 80 };
export const quickEffort: Effort = { rounds: 5, slice: 4, warmUp: 40 };

/** Microseconds of one call. */
export interface Timing {
  readonly name: string;
  readonly minimum: number;
  readonly median: number;
  readonly samples: readonly number[];
}

/** Times the subjects in turns; they must have been loaded. The result has their order. */
export async function interleave(subjects: readonly Subject[], effort: Effort): Promise<Timing[]> {
  const calls: number[] = [];
  for (const subject of subjects) calls.push(await warmUp(subject, effort));
  const samples = subjects.map((): number[] => []);
  for (let round = 0; round < effort.rounds; round++) {
    for (const [i, subject] of subjects.entries()) {
      // Not counted: brings the subject's data back into the caches, which the one before it has filled with its own.
      await subject.time(1);
      samples[i]!.push(await subject.time(calls[i]!));
    }
  }
  return subjects.map(({ name }, i) => ({
    name,
    minimum: Math.min(...samples[i]!),
    median: median(samples[i]!),
    samples: samples[i]!,
  }));
}

/** Runs until the time is up, in growing bursts; answers how many calls fill a slice. */
async function warmUp(subject: Subject, { warmUp, slice }: Effort): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  let spent = 0;
  for (let calls = 1; spent < warmUp * 1000; calls = Math.min(2 * calls, Math.ceil((slice * 1000) / best))) {
    const each = await subject.time(calls);
    best = Math.min(best, Math.max(each, 1e-3));
    spent += Math.max(each * calls, 1);
  }
  return Math.max(1, Math.round((slice * 1000) / best));
}

/** How many times faster `ours` is, from the fastest turns of both. */
export function speedup(ours: Timing, peer: Timing): number {
  return peer.minimum / ours.minimum;
}

/** The same from the turns taken pair by pair: the median of the ratios. Printed with --json, as a second opinion. */
export function pairedSpeedup(ours: Timing, peer: Timing): number {
  return median(ours.samples.map((mine, round) => peer.samples[round]! / mine));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
