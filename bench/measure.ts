/**
 * Interleaved timing. The machine drifts, by half in a bad minute, so that only ratios within one run mean something:
 * the subjects of a row take turns, A B A B …, in slices short enough that all of them see the same weather. The rows take
 * turns, too, in several sweeps over all of them: bad seconds then cost a row some of its turns instead of all.
 */
import type { Subject } from './subject.ts';

export interface Effort {
  /** Times that all rows are gone through. */
  readonly sweeps: number;
  /** Milliseconds for the turns of a row in a sweep. */
  readonly time: number;
  /** Turns for each subject in a sweep, at the least. */
  readonly rounds: number;
  /** Milliseconds of one turn; at least one call. Neighbours on the machine disturb it for milliseconds at a time. */
  readonly slice: number;
  /** Milliseconds before the first round, for the engine to compile and the clock to rise. */
  readonly warmUp: number;
}

export const fullEffort: Effort = { sweeps: 4, time: 200, rounds: 6, slice: 2, warmUp: 80 };
export const quickEffort: Effort = { sweeps: 2, time: 50, rounds: 3, slice: 2, warmUp: 40 };

/** Microseconds of one call. */
export interface Timing {
  readonly name: string;
  readonly minimum: number;
  readonly median: number;
  readonly samples: readonly number[];
}

/** A subject and what is known of it. */
interface Contender {
  readonly subject: Subject;
  /** That fill a slice. */
  readonly calls: number;
  /** Milliseconds that they take. */
  readonly turn: number;
  readonly samples: number[];
}

/** Times rows of subjects in turns; they must have been loaded. The result has their order. */
export async function interleave(rows: readonly (readonly Subject[])[], effort: Effort): Promise<Timing[][]> {
  const contenders: Contender[][] = [];
  for (let sweep = 0; sweep < effort.sweeps; sweep++) {
    for (const [n, subjects] of rows.entries()) {
      const row = (contenders[n] ??= await warmedUp(subjects, effort));
      const rounds = Math.max(effort.rounds, Math.round(effort.time / sum(row.map(({ turn }) => turn))));
      for (let round = 0; round < rounds; round++) await takeTurns(row);
    }
  }
  return contenders.map((row) => row.map(timing));
}

async function warmedUp(subjects: readonly Subject[], effort: Effort): Promise<Contender[]> {
  const row: Contender[] = [];
  for (const subject of subjects) row.push({ subject, ...(await warmUp(subject, effort)), samples: [] });
  return row;
}

async function takeTurns(row: readonly Contender[]): Promise<void> {
  for (const { subject, calls, samples } of row) {
    // Not counted: brings the subject's data back into the caches, which the one before it has filled with its own.
    await subject.time(1);
    samples.push(await subject.time(calls));
  }
}

function timing({ subject: { name }, samples }: Contender): Timing {
  return { name, minimum: Math.min(...samples), median: median(samples), samples };
}

/** Runs until the time is up, in growing bursts; answers how many calls fill a slice, and how long they take. */
async function warmUp(subject: Subject, { warmUp, slice }: Effort): Promise<Pick<Contender, 'calls' | 'turn'>> {
  let best = Number.POSITIVE_INFINITY;
  let spent = 0;
  for (let calls = 1; spent < warmUp * 1000; calls = Math.min(2 * calls, Math.ceil((slice * 1000) / best))) {
    const each = await subject.time(calls);
    best = Math.min(best, Math.max(each, 1e-3));
    spent += Math.max(each * calls, 1);
  }
  const calls = Math.max(1, Math.round((slice * 1000) / best));
  return { calls, turn: (calls * best) / 1000 };
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
  return Math.exp(sum(values.map(Math.log)) / values.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
