/**
 * The share of the bandwidth that a launch reaches, estimated from the size of its groups. Plans are compared by it; its constants are the
 * device's calibration.
 */
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { forPrecision } from '../device/capacity.ts';
import { Memo } from '../device/memo.ts';
import type { Target } from '../device/target.ts';
import { steppedRadices } from './radix.ts';
import { residentByRegisters, threadsFor } from './threads.ts';

/** The shape of a group: the points that it holds, the radices of its passes, and whether these go along several dimensions. */
export interface GroupShape {
  readonly points: number;
  readonly radices: readonly number[];
  readonly fused: boolean;
}

const groups = new Memo<number>();

/** The share of a group that moves whole runs of memory. */
export function shareOfGroup(group: GroupShape, target: Target): number {
  const { points, radices, fused } = group;
  return groups.of(target, `${points},${radices.join()},${fused}`, () => {
    const { maxThreads, crowded, residentBytes = target.sharedBytes } = target;
    const { occupancy, registers } = target.calibration;
    const byMemory = residentBytes / (points * target.capacity.sharedBytes);
    if (crowded !== undefined) return byMemory < occupancy.crowdedBelow ? crowded : 1;
    const threads = threadsFor(points, radices, {}, target);
    const byRegisters = residentByRegisters(points, radices, threads, target, registers.odd);
    if (Math.min(byMemory, byRegisters) >= 2) return occupancy.several;
    const spills = Math.min(1, byRegisters) ** occupancy.spill;
    const full = byMemory < occupancy.fullShared.below ? occupancy.fullShared.share : 1;
    return (threads === maxThreads && !fused ? occupancy.fullThreads : occupancy.alone) * spills * full;
  });
}

/** The share of a group of neighbouring columns: see `shareOfRuns`. */
export function shareOfColumns(
  { length, tile, count, radices }: { length: number; tile: number; count: number; radices: readonly number[] },
  sides: 1 | 2,
  target: Target,
): number {
  const group = shareOfGroup({ points: length * tile, radices, fused: false }, target);
  return shareOfRuns({ tile, count }, sides, target) * group;
}

/**
 * The share that remains if memory is accessed in runs of neighbouring columns.
 * @param tile columns in a group: a whole number of runs, or half a run, a quarter …
 * @param count the number of columns, which is also the distance between rows
 * @param sides the number of sides with such access: both, or one while the other is contiguous
 */
export function shareOfRuns({ tile, count }: { tile: number; count: number }, sides: 1 | 2, target: Target): number {
  const { run } = target.capacity;
  const { columns } = target.calibration;
  const cut = Math.max(0, Math.ceil(Math.log2(Math.min(run, count) / tile)));
  const ofRun = cut === 0 ? 1 : ((target.cutRuns ?? columns.cutRuns)[cut - 1] ?? 0);
  const moved = sides === 2 ? ofRun : 2 / (1 + 1 / ofRun);
  const used = count / (Math.ceil(count / tile) * tile);
  const sectors = (columns.sectors * Math.min(tile, run)) / run;
  const aligned = count === 1 || (columns.sectors * count) % run === 0 ? 1 : sectors / (sectors + 1);
  return used * moved * aligned;
}

/**
 * The share of a tile that a cluster of blocks holds together.
 * @param bytes in each block
 * @param ragged the pieces that one block stores into another are no whole number of lines
 */
export function shareOfCluster(
  blocks: number,
  bytes: number,
  passes: readonly number[],
  ragged: boolean,
  target: Target,
): number {
  const radices = steppedRadices(passes, target);
  const { cluster } = target.calibration;
  const larger = Math.max(0, Math.log2(bytes / target.cluster!.sharedBytes));
  const odd = radices.some((radix) => largestPrimeFactor(radix) > 3) ? cluster.odd : 1;
  const pieces = radices.some((radix) => radix % 3 === 0 || largestPrimeFactor(radix) > 3) && ragged;
  return (
    cluster.two *
    cluster.moreBlocks ** (Math.log2(blocks) - 1) *
    cluster.largerBlocks ** larger *
    odd *
    (pieces && blocks > cluster.few ? forPrecision(cluster.ragged, target.precision) : 1)
  );
}
