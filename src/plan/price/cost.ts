/**
 * Launch costs per point, in one unit for each device. The unit for threads is the *trip*: reading a point from memory and writing it back at the
 * full bandwidth. The unit for vectors is the *pass*: a pass of radix 4 over cached data. Both units count memory trips and passes together, and
 * candidates for a problem are compared by their cost alone.
 */

import { mayFuse, type Target } from '../device/target.ts';
import { type Cut, clusterFor } from '../group/cuts.ts';
import { chooseRadices } from '../group/radix.ts';
import { shareOfGroup } from '../group/share.ts';
import { chooseColumns } from '../group/thread-tiling.ts';
import { chooseTile, transposesTile } from '../group/tiling.ts';

export type CostUnit = 'trips to memory' | 'passes of radix 4';

/** The unit of prices on a device. */
export function unitOf({ lockstep }: Pick<Target, 'lockstep'>): CostUnit {
  return lockstep === 'threads' ? 'trips to memory' : 'passes of radix 4';
}

/** The price of a trip to memory at the full bandwidth. */
export function tripCost(target: Target): number {
  return target.lockstep === 'threads' ? 1 : target.calibration.trip.passes;
}

/** The cost of a launch per point. */
export interface LaunchCost {
  readonly price: number;
  /** The part of the price that it takes to start the launch. */
  readonly start: number;
  /** The part of the price for memory at the full bandwidth, which is paid once, however much the launch computes. */
  readonly trip: number;
}

/** The cost of a launch for several dimensions of these lengths. @param cut from `cutAxes` or `cutColumns` @param elements of the tensor */
export function cutCost(
  { share, blocks, tile = 1 }: Pick<Cut, 'share' | 'blocks'> & { readonly tile?: number },
  lengths: readonly number[],
  elements: number,
  target: Target,
): LaunchCost {
  const points = lengths.reduce((a, b) => a * b, tile) / blocks;
  const passes = lengths.reduce((sum, n) => sum + equivalentPasses(n, target), 0);
  return launchCost({ share, points, elements }, passes, target);
}

/** The least cost of a launch per point of a tensor with so many elements. */
export function leastCost(elements: number, target: Target): LaunchCost {
  const [start, trip] = [startCost(elements, target), tripCost(target)];
  return { price: start + trip, start, trip };
}

/** The price of starting a launch. It grows with the other multiprocessors, which have to be notified; a single one just goes on. */
function startCost(elements: number, target: Target): number {
  const { complexBytes } = target.capacity;
  const others = target.multiprocessors - 1;
  return (tripCost(target) * others * target.calibration.launch.bytes) / (2 * complexBytes * elements);
}

/**
 * The cost of one upload.
 * @param columns the number of neighbouring columns; the last upload of an axis reads whole transforms, and only writes columns
 * @param elements of the tensor
 */
export function uploadCost(n: number, columns: number, last: boolean, elements: number, target: Target): LaunchCost {
  if (target.lockstep === 'vector') return columnsCost(n, columns, elements, target);
  const cluster = last ? undefined : clusterFor(n, columns, 2, target);
  const cut = cluster ?? { ...chooseColumns(n, columns, target, last ? 1 : 2), blocks: 1 };
  return cutCost(cut, [n], elements, target);
}

/** A lower bound of the cost of an upload, however many columns lie side by side: full bandwidth and enough groups. */
export function leastUploadCost(n: number, elements: number, target: Target): LaunchCost {
  return launchCost({ share: 1, points: 0, elements }, equivalentPasses(n, target), target);
}

/**
 * The cost of the first of two uploads by vectors if it reorders: it reads columns and writes rows.
 * @param ideal its best length
 */
export function firstUploadCost(n: number, ideal: number, columns: number, elements: number, target: Target): number {
  const { lanes } = target.capacity;
  const { uploads } = target.calibration;
  const passes = transposesTile(n, target)
    ? chooseRadices({ length: n, lanesAlong: 'axis', lanes }, target).cost
    : equivalentPasses(n, target);
  const points = columnPoints(n, columns, target);
  const { price } = launchCost({ share: 1, points, elements }, passes, target);
  return price + uploads.firstBalance * Math.abs(Math.log2(n / ideal));
}

/**
 * The cost of an axis that memory runs along, in one upload.
 * @param elements of the tensor: the lanes of vectors take transforms side by side if axes are short.
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

/** The cost of an axis that memory runs along, by threads of one group. */
export function groupCost(length: number, elements: number, target: Target): LaunchCost {
  const { lanes } = target.capacity;
  const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes }, target);
  const share = shareOfGroup({ points: length, radices, fused: false }, target);
  const points = length * Math.max(1, Math.floor(target.groupPoints / length));
  return launchCost({ share, points, elements }, equivalentPasses(length, target), target);
}

/**
 * The cost of an axis as a convolution of `padded` points in one upload: a transform of that length and its inverse.
 * @param alone the cost of one transform of `padded` points
 * @param exposed the factor on its passes, see `exposure`
 */
export function convolvedCost(length: number, padded: number, { price, start, trip }: LaunchCost, exposed = 1): number {
  return trip + (padded * (start + 2 * exposed * (price - start - trip))) / length;
}

/** The price of passes over reals that compute the bins up to the half, given the cost of complex passes. */
export function symmetricPrice({ price, start, trip }: LaunchCost): number {
  return start + trip + (price - start - trip) / 2;
}

/** The cost of a transform and its inverse in one launch: at most that of two launches. @param exposed see `convolvedCost` */
export function roundCost(alone: LaunchCost, exposed = 1): number {
  return Math.min(2 * alone.price, convolvedCost(1, 1, alone, exposed));
}

/**
 * The factor on the passes of a convolution in one launch, relative to a transform of the same length: the fewer groups there are, the less of
 * the passes is hidden behind the memory trips of other groups.
 */
export function exposure(padded: number, target: Target): number {
  if (target.lockstep === 'vector') return 1;
  const { fewBelow, few, several } = target.calibration.exposure;
  const { sharedBytes } = target.capacity;
  return padded * sharedBytes * fewBelow > (target.residentBytes ?? target.sharedBytes) ? few : several;
}

/** The same factor where the launch may be a cluster's. */
export function clusterExposure(padded: number, target: Target): number {
  const { cluster } = target.calibration.exposure;
  return mayFuse(target) && clusterFor(padded, 1, 0, target) ? cluster : exposure(padded, target);
}

/** The cost of neighbouring columns by vectors. */
function columnsCost(n: number, columns: number, elements: number, target: Target): LaunchCost {
  const points = columnPoints(n, columns, target);
  return launchCost({ share: 1, points, elements }, equivalentPasses(n, target), target);
}

/** The points of neighbouring columns that a group of vectors takes. */
function columnPoints(n: number, columns: number, target: Target): number {
  const { lanes: grain, run, room } = target.capacity;
  return n * chooseTile(n, columns, { grain, run, room, group: undefined }, target);
}

/** The groups of a launch. */
interface Groups {
  /** The share of the bandwidth that they reach if there are enough of them. */
  readonly share: number;
  /** Points in each group, or in each block of a cluster. */
  readonly points: number;
  /** Elements of the tensor. */
  readonly elements: number;
}

/**
 * The cost of a launch with so many passes of radix 4: its start, its memory trip and its passes. If it has fewer groups than there are
 * multiprocessors, the others are idle.
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

/** The number of passes of radix 4 that take as long as a transform's passes. */
export function equivalentPasses(length: number, target: Target): number {
  const { lanes } = target.capacity;
  return chooseRadices({ length, lanesAlong: 'batch', lanes }, target).cost;
}
