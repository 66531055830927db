/**
 * The share of the bandwidth that a launch reaches, reckoned from the size of its groups: what plans are weighed by. The
 * numbers were fitted to some thousand kernels timed on an H200 (docs/performance-gpu.md); they are right to a fifth or so
 * there, which is enough to choose between plans. Other GPUs are weighed by them, too, but were not measured.
 */
import { largestPrimeFactor } from '../numeric/primes.ts';
import { type Arithmetic, capacityOf } from './capacity.ts';
import { Memo } from './memo.ts';
import type { DeviceProfile } from './profile.ts';
import { besideByRegisters, threadsFor } from './threads.ts';

/**
 * What is left where one group fits on a multiprocessor, or several. With as many threads as there are, one that works on
 * a single dimension does better.
 */
const BESIDE = { alone: 0.78, full: 0.87, several: 0.95 };
/** Where there are not enough registers for one group: to what power their share of those needed is what is left. */
const SPILLS = 1.4;
/** What is left where a group takes nearly all shared memory, and how often it would fit then: caches get little. */
const BRIMFUL = { below: 1.18, share: 0.85 };
/** Registers that a butterfly with prime factors over 3 is reckoned to take more than others. */
const AWKWARD_REGISTERS = 2;

/** Groups that there is shared memory for, below which a profile may say what is left. */
const CROWDED = 10 / 3;

/** Points that a group holds at once, the radices of its passes, and whether they go along several dimensions. */
export interface Group {
  readonly points: number;
  readonly radices: readonly number[];
  readonly fused: boolean;
}

const groups = new Memo<number>();

/** A group that moves whole runs. */
export function shareOfGroup(group: Group, precision: Arithmetic, profile: DeviceProfile): number {
  const { points, radices, fused } = group;
  return groups.of(profile, `${points},${radices.join()},${fused},${precision}`, () => {
    const { maxThreads, crowded, residentBytes = profile.sharedBytes } = profile;
    const byMemory = residentBytes / (points * capacityOf(precision, profile).sharedBytes);
    if (crowded !== undefined) return byMemory < CROWDED ? crowded : 1;
    const threads = threadsFor(points, radices, { precision }, profile);
    const byRegisters = besideByRegisters(points, radices, threads, precision, profile, AWKWARD_REGISTERS);
    if (Math.min(byMemory, byRegisters) >= 2) return BESIDE.several;
    const spills = Math.min(1, byRegisters) ** SPILLS;
    const brimful = byMemory < BRIMFUL.below ? BRIMFUL.share : 1;
    return (threads === maxThreads && !fused ? BESIDE.full : BESIDE.alone) * spills * brimful;
  });
}

/** To what power the share of a group counts that moves columns on one side only. */
const ONE_SIDED = 0.62;
/** Of the bandwidth for whole runs, what is left for halves, quarters … of them, unless the profile knows. */
const CUT_RUNS = [0.85, 0.62, 0.17];
/** Sectors of memory in a run. Where rows do not begin at one, a run touches one more than it fills. */
const SECTORS = 4;

/**
 * A group of neighbouring columns.
 * @param tile columns in a group: a whole number of runs, or half of one, a quarter …
 * @param count columns that there are, which is also how far apart rows lie.
 * @param sides on which memory is walked in such runs: both, or one while the other is contiguous.
 */
export function shareOfColumns(
  { length, tile, count, radices }: { length: number; tile: number; count: number; radices: readonly number[] },
  sides: 1 | 2,
  precision: Arithmetic,
  profile: DeviceProfile,
): number {
  const { run } = capacityOf(precision, profile);
  const cut = Math.max(0, Math.ceil(Math.log2(Math.min(run, count) / tile)));
  const ofRun = cut === 0 ? 1 : ((profile.cutRuns ?? CUT_RUNS)[cut - 1] ?? 0);
  const moved = sides === 2 ? ofRun : 2 / (1 + 1 / ofRun);
  const sectors = (SECTORS * Math.min(tile, run)) / run;
  const aligned = count === 1 || (SECTORS * count) % run === 0 ? 1 : sectors / (sectors + 1);
  const used = count / (Math.ceil(count / tile) * tile);
  const group = shareOfGroup({ points: length * tile, radices, fused: false }, precision, profile);
  return used * moved * aligned * (sides === 2 ? group : group ** ONE_SIDED);
}

/** What two blocks of the size that suits clusters reach, and what is left for each doubling of their number and size. */
const TWO_BLOCKS = 0.95;
const DOUBLED = { number: 0.9, size: 0.78 };
/** What is left where radices have prime factors over 3, and where more than a few blocks do not exchange whole lines. */
const AWKWARD = 0.85;
const RAGGED = { single: 0.7, double: 0.82 };
const FEW_BLOCKS = 5;

/**
 * A tile that a cluster of blocks holds together.
 * @param bytes in each of them.
 * @param ragged what one block stores into another is no whole number of lines.
 */
export function shareOfCluster(
  blocks: number,
  bytes: number,
  radices: readonly number[],
  ragged: boolean,
  precision: Arithmetic,
  { cluster }: DeviceProfile,
): number {
  const larger = Math.max(0, Math.log2(bytes / cluster!.sharedBytes));
  const odd = radices.some((radix) => radix % 3 === 0 || largestPrimeFactor(radix) > 3);
  const awkward = radices.some((radix) => largestPrimeFactor(radix) > 3) ? AWKWARD : 1;
  return (
    TWO_BLOCKS *
    DOUBLED.number ** (Math.log2(blocks) - 1) *
    DOUBLED.size ** larger *
    awkward *
    (odd && ragged && blocks > FEW_BLOCKS ? RAGGED[precision] : 1)
  );
}
