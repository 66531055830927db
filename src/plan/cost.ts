/**
 * What launches cost per point, in one unit for each device. For threads it is the *trip*: what it takes to read a point from
 * memory and write it back at the full bandwidth. For vectors it is the *pass*: what a pass of radix 4 over cached data
 * takes. Either counts both, trips and passes; candidates of one problem are compared by nothing else.
 */
import { calibrationOf } from './calibration.ts';
import { capacityOf, type KernelPrecision, mayFuse } from './capacity.ts';
import { clusterFor } from './cuts.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { shareOfGroup } from './share.ts';
import { chooseColumns } from './thread-tiling.ts';
import { turns } from './tiling.ts';

export type CostUnit = 'trips to memory' | 'passes of radix 4';

/** What prices on a device are counted in. */
export function unitOf({ lockstep }: DeviceProfile): CostUnit {
  return lockstep === 'threads' ? 'trips to memory' : 'passes of radix 4';
}

/** A trip to memory at the full bandwidth. */
export function tripCost(profile: DeviceProfile): number {
  return profile.lockstep === 'threads' ? 1 : calibrationOf(profile).trip.passes;
}

/**
 * One upload.
 * @param columns that lie side by side. The last upload of an axis reads whole transforms, and only writes columns.
 */
export function uploadCost(
  n: number,
  columns: number,
  last: boolean,
  precision: KernelPrecision,
  profile: DeviceProfile,
): number {
  if (profile.lockstep === 'vector') return vectorCost(passesOf(n, precision, profile), profile);
  const cluster = last ? undefined : clusterFor(n, columns, 2, precision, profile);
  const { share } = cluster ?? chooseColumns(n, columns, precision, profile, last ? 1 : 2);
  return launchCost(share, [n], precision, profile);
}

/** What one of several uploads costs at the least, however many columns lie side by side: at the full bandwidth. */
export function leastUploadCost(n: number, precision: KernelPrecision, profile: DeviceProfile): number {
  if (profile.lockstep === 'vector') return vectorCost(passesOf(n, precision, profile), profile);
  return launchCost(1, [n], precision, profile);
}

/**
 * The first of two uploads by vectors, where it reorders: it reads columns and writes rows.
 * @param ideal the length that it had best have.
 */
export function firstUploadCost(n: number, ideal: number, precision: KernelPrecision, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  const { uploads } = calibrationOf(profile);
  const passes = turns(n, precision, profile)
    ? chooseRadices({ length: n, lanesAlong: 'axis', lanes, precision }, profile).cost
    : passesOf(n, precision, profile) + uploads.copied;
  return vectorCost(passes + uploads.firstBalance * Math.abs(Math.log2(n / ideal)), profile);
}

/** An axis that memory runs along, in one upload. @param beside transforms like it: lanes take those rather than short axes. */
export function wholeCost(length: number, precision: KernelPrecision, profile: DeviceProfile, beside = 1): number {
  const { lanes } = capacityOf(precision, profile);
  if (profile.lockstep === 'vector') {
    const short = beside >= lanes && length < calibrationOf(profile).columns.shortAxis;
    const lanesAlong = short ? 'batch' : 'axis';
    return vectorCost(chooseRadices({ length, lanesAlong, lanes, precision }, profile).cost, profile);
  }
  const cluster = clusterFor(length, 1, 0, precision, profile);
  return cluster ? launchCost(cluster.share, [length], precision, profile) : groupCost(length, precision, profile);
}

/** The same by threads of one group. */
export function groupCost(length: number, precision: KernelPrecision, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile);
  const share = shareOfGroup({ points: length, radices, fused: false }, precision, profile);
  return launchCost(share, [length], precision, profile);
}

/**
 * An axis of some length as a convolution of another one, in one upload: a transform of that length and back.
 * @param alone what a transform of the other length costs by itself.
 * @param exposed by what the work in it is multiplied, as in `exposure`.
 */
export function convolvedCost(
  length: number,
  padded: number,
  alone: number,
  profile: DeviceProfile,
  exposed = 1,
): number {
  const trip = tripCost(profile);
  return trip + (2 * padded * exposed * (alone - trip)) / length;
}

/** A transform there and back in one launch, which two launches do not do for less. @param exposed see `convolvedCost` */
export function roundCost(alone: number, profile: DeviceProfile, exposed = 1): number {
  return Math.min(2 * alone, convolvedCost(1, 1, alone, profile, exposed));
}

/**
 * By what the passes of a convolution in one launch multiply those of a transform as long: they are too many for the trips to
 * memory of other groups to hide, the fewer of these there are.
 */
export function exposure(padded: number, precision: KernelPrecision, profile: DeviceProfile): number {
  if (profile.lockstep === 'vector') return 1;
  const { fewBelow, few, several } = calibrationOf(profile).exposure;
  const { sharedBytes } = capacityOf(precision, profile);
  return padded * sharedBytes * fewBelow > (profile.residentBytes ?? profile.sharedBytes) ? few : several;
}

/** The same where it may be a cluster's launch. */
export function clusterExposure(padded: number, precision: KernelPrecision, profile: DeviceProfile): number {
  const { cluster } = calibrationOf(profile).exposure;
  return mayFuse(profile) && clusterFor(padded, 1, 0, precision, profile)
    ? cluster
    : exposure(padded, precision, profile);
}

/** A launch of vectors. */
function vectorCost(passes: number, profile: DeviceProfile): number {
  return tripCost(profile) + passes;
}

/** A launch of threads that transforms dimensions of these lengths. @param share of the bandwidth that it reaches. */
export function launchCost(
  share: number,
  lengths: readonly number[],
  precision: KernelPrecision,
  profile: DeviceProfile,
): number {
  return (
    1 / share +
    lengths.reduce((sum, n) => sum + passesOf(n, precision, profile), 0) / calibrationOf(profile).trip.passes
  );
}

function passesOf(length: number, precision: KernelPrecision, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  return chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile).cost;
}
