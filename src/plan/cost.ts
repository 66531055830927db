/**
 * What launches cost per point, in one unit for each device. For threads it is the *trip*: what it takes to read a point from
 * memory and write it back at the full bandwidth. For vectors it is the *pass*: what a pass of radix 4 over cached data
 * takes. Either counts both, trips and passes; candidates of one problem are compared by nothing else.
 */
import { calibrationOf } from './calibration.ts';
import { type Arithmetic, capacityOf, mayFuse } from './capacity.ts';
import { type Cut, clusterFor } from './cuts.ts';
import type { DeviceProfile } from './profile.ts';
import { chooseRadices } from './radix.ts';
import { shareOfGroup } from './share.ts';
import { chooseColumns } from './thread-tiling.ts';
import { chooseTile, transposesTile } from './tiling.ts';

export type CostUnit = 'trips to memory' | 'passes of radix 4';

/** What prices on a device are counted in. */
export function unitOf({ lockstep }: DeviceProfile): CostUnit {
  return lockstep === 'threads' ? 'trips to memory' : 'passes of radix 4';
}

/** A trip to memory at the full bandwidth. */
export function tripCost(profile: DeviceProfile): number {
  return profile.lockstep === 'threads' ? 1 : calibrationOf(profile).trip.passes;
}

/** What a launch costs per point. */
export interface LaunchCost {
  readonly price: number;
  /** Of that: to start it … */
  readonly start: number;
  /** … and to go to memory and back at the full bandwidth, which is done once however much is computed. */
  readonly trip: number;
}

/** A launch for several dimensions of these lengths. @param cut as `cutAxes` or `cutColumns` has it. @param elements of the tensor. */
export function cutCost(
  { share, blocks, tile = 1 }: Pick<Cut, 'share' | 'blocks'> & { readonly tile?: number },
  lengths: readonly number[],
  elements: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): LaunchCost {
  const points = lengths.reduce((a, b) => a * b, tile) / blocks;
  const passes = lengths.reduce((sum, n) => sum + passesOf(n, precision, profile), 0);
  return launchCost({ share, points, elements }, passes, precision, profile);
}

/** What a launch costs at the least per point of a tensor of so many. */
export function leastCost(elements: number, precision: Arithmetic, profile: DeviceProfile): LaunchCost {
  const [start, trip] = [startCost(elements, precision, profile), tripCost(profile)];
  return { price: start + trip, start, trip };
}

/** To start a launch takes others to be told of it: one multiprocessor just goes on. */
function startCost(elements: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { complexBytes } = capacityOf(precision, profile);
  const others = profile.multiprocessors - 1;
  return (tripCost(profile) * others * calibrationOf(profile).launch.bytes) / (2 * complexBytes * elements);
}

/**
 * One upload.
 * @param columns that lie side by side. The last upload of an axis reads whole transforms, and only writes columns.
 * @param elements of the tensor.
 */
export function uploadCost(
  n: number,
  columns: number,
  last: boolean,
  elements: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): LaunchCost {
  if (profile.lockstep === 'vector') return columnsCost(n, columns, elements, precision, profile);
  const cluster = last ? undefined : clusterFor(n, columns, 2, precision, profile);
  const cut = cluster ?? { ...chooseColumns(n, columns, precision, profile, last ? 1 : 2), blocks: 1 };
  return cutCost(cut, [n], elements, precision, profile);
}

/** What one of several uploads costs at the least, however many columns lie side by side: at the full bandwidth, by enough groups. */
export function leastUploadCost(
  n: number,
  elements: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): LaunchCost {
  return launchCost({ share: 1, points: 0, elements }, passesOf(n, precision, profile), precision, profile);
}

/**
 * The first of two uploads by vectors, where it reorders: it reads columns and writes rows.
 * @param ideal the length that it had best have.
 */
export function firstUploadCost(
  n: number,
  ideal: number,
  columns: number,
  elements: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): number {
  const { lanes } = capacityOf(precision, profile);
  const { uploads } = calibrationOf(profile);
  const passes = transposesTile(n, precision, profile)
    ? chooseRadices({ length: n, lanesAlong: 'axis', lanes, precision }, profile).cost
    : passesOf(n, precision, profile) + uploads.copied;
  const points = columnPoints(n, columns, precision, profile);
  const { price } = launchCost({ share: 1, points, elements }, passes, precision, profile);
  return price + uploads.firstBalance * Math.abs(Math.log2(n / ideal));
}

/**
 * An axis that memory runs along, in one upload.
 * @param elements of the tensor: lanes of vectors take transforms side by side rather than short axes.
 */
export function wholeCost(length: number, elements: number, precision: Arithmetic, profile: DeviceProfile): LaunchCost {
  const { lanes } = capacityOf(precision, profile);
  if (profile.lockstep === 'vector') {
    const short = elements >= lanes * length && length < calibrationOf(profile).columns.shortAxis;
    if (short) return columnsCost(length, elements / length, elements, precision, profile);
    const { cost } = chooseRadices({ length, lanesAlong: 'axis', lanes, precision }, profile);
    return launchCost({ share: 1, points: length, elements }, cost, precision, profile);
  }
  const cluster = clusterFor(length, 1, 0, precision, profile);
  return cluster
    ? cutCost({ ...cluster, tile: 1 }, [length], elements, precision, profile)
    : groupCost(length, elements, precision, profile);
}

/** The same by threads of one group. */
export function groupCost(length: number, elements: number, precision: Arithmetic, profile: DeviceProfile): LaunchCost {
  const { lanes } = capacityOf(precision, profile);
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile);
  const share = shareOfGroup({ points: length, radices, fused: false }, precision, profile);
  const points = length * Math.max(1, Math.floor(profile.groupPoints / length));
  return launchCost({ share, points, elements }, passesOf(length, precision, profile), precision, profile);
}

/**
 * An axis of some length as a convolution of another one, in one upload: a transform of that length and back.
 * @param alone what a transform of the other length costs by itself.
 * @param exposed by what the work in it is multiplied, as in `exposure`.
 */
export function convolvedCost(length: number, padded: number, { price, start, trip }: LaunchCost, exposed = 1): number {
  return trip + (padded * (start + 2 * exposed * (price - start - trip))) / length;
}

/** What passes over reals cost that compute bins up to the half, by what those of complex numbers do. */
export function symmetricPrice({ price, start, trip }: LaunchCost): number {
  return start + trip + (price - start - trip) / 2;
}

/** A transform there and back in one launch, which two launches do not do for less. @param exposed see `convolvedCost` */
export function roundCost(alone: LaunchCost, exposed = 1): number {
  return Math.min(2 * alone.price, convolvedCost(1, 1, alone, exposed));
}

/**
 * By what the passes of a convolution in one launch multiply those of a transform as long: they are too many for the trips to
 * memory of other groups to hide, the fewer of these there are.
 */
export function exposure(padded: number, precision: Arithmetic, profile: DeviceProfile): number {
  if (profile.lockstep === 'vector') return 1;
  const { fewBelow, few, several } = calibrationOf(profile).exposure;
  const { sharedBytes } = capacityOf(precision, profile);
  return padded * sharedBytes * fewBelow > (profile.residentBytes ?? profile.sharedBytes) ? few : several;
}

/** The same where it may be a cluster's launch. */
export function clusterExposure(padded: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { cluster } = calibrationOf(profile).exposure;
  return mayFuse(profile) && clusterFor(padded, 1, 0, precision, profile)
    ? cluster
    : exposure(padded, precision, profile);
}

/** Neighbouring columns by vectors. */
function columnsCost(
  n: number,
  columns: number,
  elements: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): LaunchCost {
  const points = columnPoints(n, columns, precision, profile);
  return launchCost({ share: 1, points, elements }, passesOf(n, precision, profile), precision, profile);
}

/** What a group of vectors takes of neighbouring columns. */
function columnPoints(n: number, columns: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { lanes: grain, run, room } = capacityOf(precision, profile);
  return n * chooseTile(n, columns, { grain, run, room, group: undefined }, profile);
}

/** The groups of a launch. */
interface Groups {
  /** Of the bandwidth, what they reach where there are enough of them. */
  readonly share: number;
  /** In each of them, or in each block of a cluster. */
  readonly points: number;
  /** Points of the tensor. */
  readonly elements: number;
}

/**
 * A launch with so many passes of radix 4. It has to be started; and where it has fewer groups than there are multiprocessors, the
 * others are idle.
 */
function launchCost(
  { share, points, elements }: Groups,
  passes: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): LaunchCost {
  const calibration = calibrationOf(profile);
  const { multiprocessors } = profile;
  const idle = Math.min(multiprocessors, Math.max(1, (multiprocessors * points) / elements));
  const trip = tripCost(profile) * Math.max(1, idle / calibration.launch.reach);
  const start = startCost(elements, precision, profile);
  const work = (tripCost(profile) * idle * passes) / calibration.trip.passes;
  return { price: start + trip / share + work, start, trip };
}

/** Passes of radix 4 that take as long as those of a transform. */
export function passesOf(length: number, precision: Arithmetic, profile: DeviceProfile): number {
  const { lanes } = capacityOf(precision, profile);
  return chooseRadices({ length, lanesAlong: 'batch', lanes, precision }, profile).cost;
}
