/** What a table of the benchmark is, and the one way its rows are measured. */
import { check } from './check.ts';
import type { Device } from './library.ts';
import { type Effort, interleave, pairedSpeedup, speedup, type Timing } from './measure.ts';
import type { NativePeer } from './peers/native.ts';
import { points, type Subject, type Workload } from './subject.ts';

export interface Context {
  readonly effort: Effort;
  readonly quick: boolean;
  readonly seed: number;
  /** One CPU device for each number of threads, shared by the tables. */
  device(threads: number): Promise<Device>;
  /** A native peer, or why there is none. */
  fftw(): Promise<NativePeer | string>;
  fftwQuad(): Promise<NativePeer | string>;
  scipy(): Promise<NativePeer | string>;
}

/** A peer's time next to ours. */
export interface Ratio {
  readonly peer: string;
  /** Points per second of omnifft over those of the peer, from the fastest turns. */
  readonly value: number;
  /** The same as the median over pairs of turns. */
  readonly paired: number;
}

export interface Row {
  readonly label: string;
  /** omnifft first. */
  readonly timings: readonly Timing[];
  readonly ratios: readonly Ratio[];
}

/** One number, with its target where it has one. */
export interface Figure {
  readonly label: string;
  readonly value: number;
  readonly unit: '×' | 'ms' | 'MB' | '';
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Result {
  readonly rows: readonly Row[];
  readonly figures: readonly Figure[];
  /** Peers that are missing, and other remarks. */
  readonly notes: readonly string[];
}

export interface Table {
  readonly name: string;
  readonly title: string;
  measure(context: Context): Promise<Result>;
}

export interface Entry {
  readonly workload: Workload;
  readonly open: () => Subject | Promise<Subject>;
}

/** What a row is to compare; the first entry is ours. */
export interface Comparison {
  readonly label: string;
  readonly entries: readonly Entry[];
}

/** Opens, checks and times all entries in turns. Ratios are in points per second. */
export async function compare(context: Context, comparisons: readonly Comparison[]): Promise<Row[]> {
  const opened: Subject[] = [];
  try {
    const rows: Subject[][] = [];
    for (const { entries } of comparisons) {
      const row: Subject[] = [];
      rows.push(row);
      for (const { open, workload } of entries) {
        const subject = await open();
        opened.push(subject);
        row.push(subject);
        await check(subject, workload, context.seed);
      }
    }
    const timings = await interleave(rows, context.effort);
    return comparisons.map((comparison, n) => rowOf(comparison, timings[n]!));
  } finally {
    for (const subject of opened) await subject.close();
  }
}

function rowOf({ label, entries }: Comparison, timings: readonly Timing[]): Row {
  const [ours, ...peers] = timings;
  const ratios = peers.map((peer, i) => {
    const share = points(entries[0]!.workload) / points(entries[i + 1]!.workload);
    return { peer: peer.name, value: share * speedup(ours!, peer), paired: share * pairedSpeedup(ours!, peer) };
  });
  return { label, timings, ratios };
}

/** The ratios to one peer, over the rows that have it. */
export function ratiosTo(peer: string, rows: readonly Row[]): number[] {
  return rows.flatMap(({ ratios }) => ratios.filter((ratio) => ratio.peer === peer).map(({ value }) => value));
}

/** The entry of a native peer, none where it is missing. */
export function native(peer: NativePeer | string, workload: Workload): Entry[] {
  return typeof peer === 'string' ? [] : [{ workload, open: () => peer.prepare(workload) }];
}

/** A remark for a missing peer. */
export function missing(name: string, peer: NativePeer | string): string[] {
  return typeof peer === 'string' ? [`without ${name}: ${peer}`] : [];
}

/** 2^from … 2^to; with `quick` only every third and the last. */
export function powersOfTwo(from: number, to: number, quick: boolean): number[] {
  const exponents = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return exponents.filter((e) => !quick || (e - from) % 3 === 0 || e === to).map((e) => 2 ** e);
}

/** `2^10` for a power of two, the number itself otherwise. */
export function lengthLabel(n: number): string {
  const exponent = Math.log2(n);
  return Number.isInteger(exponent) ? `2^${exponent}` : String(n);
}
