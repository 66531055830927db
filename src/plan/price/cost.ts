/**
 * What launches cost per point, in one unit for each device. For threads it is the *trip*: what it takes to read a point from
 * memory and write it back at the full bandwidth. For vectors it is the *pass*: what a pass of radix 4 over cached data
 * takes. Either counts both, trips and passes; candidates of one problem are compared by nothing else.
 */

import { mayFuse, type Target } from '../device/target.ts';
import { type Cut, clusterFor } from '../group/cuts.ts';
import { chooseRadices } from '../group/radix.ts';
import { shareOfGroup } from '../group/share.ts';
import { chooseColumns } from '../group/thread-tiling.ts';
import { chooseTile, transposesTile } from '../group/tiling.ts';

export type CostUnit = 'trips to memory' | 'passes of radix 4';

/** What prices on a device are counted in. */
export function unitOf({ lockstep }: Pick<Target, 'lockstep'>): CostUnit {
  return lockstep === 'threads' ? 'trips to memory' : 'passes of radix 4';
}

/** A trip to memory at the full bandwidth. */
export function tripCost(target: Target): number {
  return target.lockstep === 'threads' ? 1 : target.calibration.trip.passes;
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
  target: Target,
): LaunchCost {
  const points = lengths.reduce((a, b) => a * b, tile) / blocks;
  const passes = lengths.reduce((sum, n) => sum + passesOf(n, target), 0);
  return launchCost({ share, points, elements }, passes, target);
}

/** What a launch costs at the least per point of a tensor of so many. */
export function leastCost(elements: number, target: Target): LaunchCost {
  const [start, trip] = [startCost(elements, target), tripCost(target)];
  return { price: start + trip, start, trip };
}

/** To start a launch takes others to be told of it: one multiprocessor just goes on. */
function startCost(elements: number, target: Target): number {
  const { complexBytes } = target.capacity;
  const others = target.multiprocessors - 1;
  return (tripCost(target) * others * target.calibration.launch.bytes) / (2 * complexBytes * elements);
}

/**
 * One upload.
 * @param columns that lie side by side. The last upload of an axis reads whole transforms, and only writes columns.
 * @param elements of the tensor.
 */
export function uploadCost(n: number, columns: number, last: boolean, elements: number, target: Target): LaunchCost {
  if (target.lockstep === 'vector') return columnsCost(n, columns, elements, target);
  const cluster = last ? undefined : clusterFor(n, columns, 2, target);
  const cut = cluster ?? { ...chooseColumns(n, columns, target, last ? 1 : 2), blocks: 1 };
  return cutCost(cut, [n], elements, target);
}

/** What one of several uploads costs at the least, however many columns lie side by side: at the full bandwidth, by enough groups. */
export function leastUploadCost(n: number, elements: number, target: Target): LaunchCost {
  return launchCost({ share: 1, points: 0, elements }, passesOf(n, target), target);
}

/**
 * The first of two uploads by vectors, where it reorders: it reads columns and writes rows.
 * @param ideal the length that it had best have.
 */
export function firstUploadCost(n: number, ideal: number, columns: number, elements: number, target: Target): number {
  const { lanes } = target.capacity;
  const { uploads } = target.calibration;
  const passes = transposesTile(n, target)
    ? chooseRadices({ length: n, lanesAlong: 'axis', lanes }, target).cost
    : passesOf(n, target) + uploads.copied;
  const points = columnPoints(n, columns, target);
  const { price } = launchCost({ share: 1, points, elements }, passes, target);
  return price + uploads.firstBalance * Math.abs(Math.log2(n / ideal));
}

/**
 * An axis that memory runs along, in one upload.
 * @param elements of the tensor: lanes of vectors take transforms side by side rather than short axes.
 */
export function wholeCost(length: number, elements: number, target: Target): LaunchCost {
  const { lanes } = target.capacity;
  if (target.lockstep === 'vector') {
    const short = elements >= lanes * length && length < target.calibration.columns.shortAxis;
    if (short) return columnsCost(length, elements / length, elements, target);
    const { cost } = chooseRadices({ length, lanesAlong: 'axis', lanes }, target);
    return launchCost({ share: 1, points: length, elements }, cost, target);
  }
  const cluster = clusterFor(length, 1, 0, target);
  return cluster ? cutCost({ ...cluster, tile: 1 }, [length], elements, target) : groupCost(length, elements, target);
}

/** The same by threads of one group. */
export function groupCost(length: number, elements: number, target: Target): LaunchCost {
  const { lanes } = target.capacity;
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes }, target);
  const share = shareOfGroup({ points: length, radices, fused: false }, target);
  const points = length * Math.max(1, Math.floor(target.groupPoints / length));
  return launchCost({ share, points, elements }, passesOf(length, target), target);
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
export function exposure(padded: number, target: Target): number {
  if (target.lockstep === 'vector') return 1;
  const { fewBelow, few, several } = target.calibration.exposure;
  const { sharedBytes } = target.capacity;
  return padded * sharedBytes * fewBelow > (target.residentBytes ?? target.sharedBytes) ? few : several;
}

/** The same where it may be a cluster's launch. */
export function clusterExposure(padded: number, target: Target): number {
  const { cluster } = target.calibration.exposure;
  return mayFuse(target) && clusterFor(padded, 1, 0, target) ? cluster : exposure(padded, target);
}

/** Neighbouring columns by vectors. */
function columnsCost(n: number, columns: number, elements: number, target: Target): LaunchCost {
  const points = columnPoints(n, columns, target);
  return launchCost({ share: 1, points, elements }, passesOf(n, target), target);
}

/** What a group of vectors takes of neighbouring columns. */
function columnPoints(n: number, columns: number, target: Target): number {
  const { lanes: grain, run, room } = target.capacity;
  return n * chooseTile(n, columns, { grain, run, room, group: undefined }, target);
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
function launchCost({ share, points, elements }: Groups, passes: number, target: Target): LaunchCost {
  const calibration = target.calibration;
  const { multiprocessors } = target;
  const idle = Math.min(multiprocessors, Math.max(1, (multiprocessors * points) / elements));
  const trip = tripCost(target) * Math.max(1, idle / calibration.launch.reach);
  const start = startCost(elements, target);
  const work = (tripCost(target) * idle * passes) / calibration.trip.passes;
  return { price: start + trip / share + work, start, trip };
}

/** Passes of radix 4 that take as long as those of a transform. */
export function passesOf(length: number, target: Target): number {
  const { lanes } = target.capacity;
  return chooseRadices({ length, lanesAlong: 'batch', lanes }, target).cost;
}
