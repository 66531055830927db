/**
 * What launches cost per point, in one unit for each device. For threads it is the *trip*: what it takes to read a point from
 * memory and write it back at the full bandwidth. For vectors it is the *pass*: what a pass of radix 4 over cached data
 * takes. Either counts both, trips and passes; candidates of one problem are compared by nothing else.
 */
import { type Arithmetic, capacityOf } from './capacity.ts';
import { clusterFor } from './cuts.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { shareOfGroup } from './share.ts';
import { chooseColumns, turns } from './tiling.ts';

/** What copying a tile adds where its first pass cannot turn it, in passes of radix 4. */
const COPIED = 1.5;
/**
 * What each doubling away from the length that it had best have adds to a first upload that reorders. The longer it is, the
 * nearer to one another lie the rows that it reads, and the shorter the second one, the more of its columns stay in the
 * first-level cache. (Measured on two machines: 2048 · 64 takes 0.88 and 0.96 of the time of 256 · 512, 2500 · 40 takes 0.92
 * and 0.89 of that of 200 · 500.)
 */
const FIRST = 0.15;
/** Passes of radix 4 that take as long as a trip to memory: what arithmetic weighs beside it. */
const PASSES_PER_TRIP = { threads: 27, vector: 16 };

export type CostUnit = 'trips to memory' | 'passes of radix 4';

/** What prices on a device are counted in. */
export function unitOf({ lockstep }: DeviceProfile): CostUnit {
  return lockstep === 'threads' ? 'trips to memory' : 'passes of radix 4';
}

/** A trip to memory at the full bandwidth. */
export function tripCost({ lockstep }: DeviceProfile): number {
  return lockstep === 'threads' ? 1 : PASSES_PER_TRIP.vector;
}

/**
 * One upload.
 * @param columns that lie side by side. The last upload of an axis reads whole transforms, and only writes columns.
 */
export function uploadCost(
  n: number,
  columns: number,
  last: boolean,
  precision: Arithmetic,
  profile: DeviceProfile,
): number {
  if (profile.lockstep === 'vector') return vectorCost(passesOf(n, precision, profile));
  const cluster = last ? undefined : clusterFor(n, columns, 2, precision, profile);
  const { share } = cluster ?? chooseColumns(n, columns, precision, profile, last ? 1 : 2);
  return launchCost(share, [n], precision, profile);
}

/**
 * The first of two uploads by vectors, where it reorders: it reads columns and writes rows.
 * @param ideal the length that it had best have.
 */
export function firstUploadCost(n: number, ideal: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  const passes = turns(n, precision, profile)
    ? chooseRadices({ length: n, lanesAlong: 'axis', lanes, precision }, profile).cost
    : passesOf(n, precision, profile) + COPIED;
  return vectorCost(passes + FIRST * Math.abs(Math.log2(n / ideal)));
}

/** An axis that memory runs along, in one upload. */
export function wholeCost(length: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  if (profile.lockstep === 'vector') {
    return vectorCost(chooseRadices({ length, lanesAlong: 'axis', lanes, precision }, profile).cost);
  }
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile);
  const share =
    clusterFor(length, 1, 0, precision, profile)?.share ??
    shareOfGroup({ points: length, radices, fused: false }, precision, profile);
  return launchCost(share, [length], precision, profile);
}

/** An axis of some length as a convolution of another one, in one upload: a transform of that length and back. */
export function convolvedCost(length: number, padded: number, precision: Arithmetic, profile: DeviceProfile): number {
  const trip = tripCost(profile);
  return trip + (2 * padded * (wholeCost(padded, precision, profile) - trip)) / length;
}

/** A launch of vectors. */
function vectorCost(passes: number): number {
  return PASSES_PER_TRIP.vector + passes;
}

/** A launch of threads that transforms dimensions of these lengths. @param share of the bandwidth that it reaches. */
export function launchCost(
  share: number,
  lengths: readonly number[],
  precision: Arithmetic,
  profile: DeviceProfile,
): number {
  return 1 / share + lengths.reduce((sum, n) => sum + passesOf(n, precision, profile), 0) / PASSES_PER_TRIP.threads;
}

function passesOf(length: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  return chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile).cost;
}
