/** An axis of a problem on a device: its place in the tensor, the uploads that it may have, and their costs. */
import { largestPrimeFactor, nextSmooth } from '../../numeric/primes.ts';
import { type Direction, FftError, type Problem, tensorShape } from '../../problem/index.ts';
import type { PlannerTuning } from '../device/profile.ts';
import { boosted, mayFuse, staysCached, type Target } from '../device/target.ts';
import { LARGEST_LISTED_PRIME } from '../group/butterflies.ts';
import { cutAxis } from '../group/cuts.ts';
import { chooseRadices } from '../group/radix.ts';
import {
  clusterExposure,
  convolvedCost,
  exposure,
  firstUploadCost,
  groupCost,
  type LaunchCost,
  leastCost,
  leastUploadCost,
  roundCost,
  tripCost,
  uploadCost,
  wholeCost,
} from '../price/cost.ts';
import { ifFits, type Priced } from '../price/priced.ts';
import { rankUploads, type UploadsQuestion } from '../price/uploads.ts';
import type { Dimension } from '../tree/node.ts';
import type { Bluestein } from './axis-scheme.ts';
import { longLengths, paddedLength } from './bluestein.ts';
import type { AxisPlace } from './four-step.ts';

/** Every dimension of the tensor, with the same place on both sides. */
export function sameDimensions(problem: Problem): Dimension[] {
  return tensorShape(problem, 'input').map((count, dimension) => ({
    count,
    input: { dimension, stride: 1 },
    output: { dimension, stride: 1 },
  }));
}

/** The place of an axis, from which its nodes are made. @param sparing see `planTree` */
export function axisPlace(
  problem: Problem,
  direction: Direction,
  axis: number,
  target: Target,
  sparing = false,
): AxisPlace {
  const dimension = axis + 1;
  const dimensions = sameDimensions(problem);
  return {
    dimension,
    length: problem.size[axis]!,
    others: dimensions.filter(({ count }, d) => d !== dimension && count > 1),
    title: `axis ${axis}`,
    tensor: dimensions.map(({ count }) => count),
    reorderFirst: (sparing && !problem.unordered) || reordersFirst(problem, axis, target),
    order: !problem.unordered ? 'natural' : direction === 'forward' ? 'left' : 'restored',
  };
}

/** Whether memory runs along the axis, and the tuning does not ask to plan it like the others. */
function isInnermost(problem: Problem, axis: number, { tuning = {} }: Target): boolean {
  return !tuning.considerAllAxesStrided && neighboursOf(problem, axis) === 1;
}

/** The number of elements that lie side by side, where memory does not run along the axis. */
function neighboursOf(problem: Problem, axis: number): number {
  return tensorShape(problem, 'input')
    .slice(0, axis + 1)
    .reduce((a, b) => a * b, 1);
}

/**
 * Whether the first of two uploads reorders, so that the second one can work in place. For a problem in place, a second upload that reorders
 * would read another buffer than it writes: long steps through memory cost more than columns that a temp buffer holds in tiles.
 */
function reordersFirst(problem: Problem, axis: number, target: Target): boolean {
  const near = staysCached(problem.size[axis]!, target);
  const wanted = target.reorderFirst === true && !problem.unordered && isInnermost(problem, axis, target);
  return wanted && (problem.placement === 'out-of-place' || near);
}

/**
 * The cheapest way to transform an axis by Bluestein's algorithm.
 * @throws FftError `unsupported-length` where the axis is too long for that
 */
export function cheapestBluestein(problem: Problem, axis: number, target: Target): Priced<Bluestein> {
  const length = problem.size[axis]!;
  const alone = bluesteinInOne(problem, axis, target);
  const offers: Priced<Bluestein>[] = alone ? [alone] : [];
  // Several launches of vectors are never better than one; on threads they may be, unless one launch is cheap because other groups hide its
  // passes.
  if (!alone || (target.lockstep === 'threads' && alone.price > LONG_TRIPS * tripCost(target))) {
    offers.push(
      ...longLengths(length, target).flatMap((long) => bluesteinInSeveral(problem, axis, target, long) ?? []),
    );
  }
  if (offers.length === 0) throw tooLong(axis, length);
  return offers.reduce((best, other) => (other.price < best.price ? other : best));
}

/** The least cost, in memory trips, of a convolution in several launches, or in one launch of a cluster. */
const LONG_TRIPS = 4;

/**
 * Bluestein's algorithm in one launch of one group; undefined where the points of the convolution do not fit.
 * @param ofReals reals on one side, and only the bins up to the half on the other
 */
export function bluesteinInOne(
  problem: Problem,
  axis: number,
  target: Target,
  ofReals = false,
): Priced<Bluestein> | undefined {
  const length = problem.size[axis]!;
  const own = boosted(target, length, false);
  const padded = paddedLength(length, own, ofReals);
  if (padded === undefined || uploadsFor(padded, target.tuning ?? {}) > 1) return undefined;
  const alone = aloneCost(problem, axis, padded, target);
  const price = convolvedCost(length, padded, alone, exposure(padded, own));
  return { value: { by: 'bluestein', length: padded }, price };
}

/** The form that the tuning asks for → the steps that have launches of their own. */
const APART = { fused: undefined, separate: 'transforms', six: 'steps' } as const;

/**
 * An axis as a convolution of some length in several launches: uploads, a launch that does the last upload, the product and the first upload of
 * the inverse, and the other uploads of the inverse. The first launch reads only the axis' own points, and the last one writes no more.
 */
function bluesteinInSeveral(
  problem: Problem,
  axis: number,
  target: Target,
  padded: number,
): Priced<Bluestein> | undefined {
  const length = problem.size[axis]!;
  const apart = APART[target.tuning?.bluestein?.launches ?? 'fused'];
  const chirped = (alone: LaunchCost, exposed?: number) => convolvedCost(1, 1, alone, exposed) / 2;
  const requested = uploadsQuestion(lengthened(problem, axis, padded), axis, target, apart ? undefined : chirped);
  const best = ifFits(() => rankUploads(requested, 1)[0]!);
  if (!best) return undefined;
  const spared = (tripCost(target) * (padded - length)) / length;
  return {
    value: { by: 'bluestein', length: padded, uploads: best.value, ...(apart ? { apart } : {}) },
    price: (2 * best.price * padded) / length - spared,
  };
}

/**
 * The uploads of an axis whose last upload and its inverse are one launch, and the cost of all launches of both transforms.
 * @param clusters whether that launch may be a cluster's
 * @throws RangeError where there are none
 */
export function roundTripUploads(
  problem: Problem,
  axis: number,
  target: Target,
  clusters: boolean,
): Priced<readonly number[]> {
  return roundTrips(problem, axis, target, clusters, 1)[0]!;
}

/** The same, cheapest first, `most` at most. */
export function roundTrips(
  problem: Problem,
  axis: number,
  target: Target,
  clusters: boolean,
  most: number,
): Priced<readonly number[]>[] {
  const question = uploadsQuestion(problem, axis, target, (alone, exposed) => roundCost(alone, exposed) / 2);
  const ways = rankUploads(clusters ? question : { ...question, fusable: () => false }, most);
  return ways.map(({ value, price }) => ({ value, price: 2 * price }));
}

/**
 * The cost of one upload of an axis of some length by one group, where the axis lies. (Threads that cannot take whole runs of columns waste
 * most of what they read; how much hardly matters.)
 */
export function aloneCost(problem: Problem, axis: number, length: number, target: Target): LaunchCost {
  const own = boosted(target, length, false);
  const elements = tensorShape(problem, 'input').reduce((a, b) => a * b, 1);
  const padded = (elements / problem.size[axis]!) * length;
  const whole = (target.lockstep === 'threads' ? groupCost : wholeCost)(length, padded, own);
  if (isInnermost(problem, axis, target)) return whole;
  const columns = uploadCost(length, neighboursOf(problem, axis), false, padded, own);
  return Number.isFinite(columns.price) ? columns : scaledCost(whole, UNFIT_COLUMNS);
}

/** The factor on the cost of contiguous elements where threads cannot take whole runs of columns. */
const UNFIT_COLUMNS = 4;

/** The problem with a longer axis whose bins may stay in any order, as between the two transforms of a convolution. */
export function lengthened(problem: Problem, axis: number, length: number): Problem {
  return { ...problem, size: problem.size.map((n, d) => (d === axis ? length : n)), unordered: true };
}

function tooLong(axis: number, length: number): FftError {
  const given = `size[${axis}] = ${length} has the prime factor ${largestPrimeFactor(length)}`;
  const remedy = `${nextSmooth(length, LARGEST_LISTED_PRIME)} would do`;
  return new FftError('unsupported-length', `${given}, and is too long to be convolved; ${remedy}.`, {
    path: `size[${axis}]`,
  });
}

function scaledCost({ price, start, trip }: LaunchCost, times: number): LaunchCost {
  return { price: times * price, start: times * start, trip: times * trip };
}

/**
 * The data for the search over uploads of an axis.
 * @param convolveSteps half the cost of the last upload with its inverse in the same launch, where it has that. The other uploads are counted
 * once, and their inverses cost as much.
 */
export function uploadsQuestion(
  problem: Problem,
  axis: number,
  target: Target,
  convolveSteps?: (alone: LaunchCost, exposed?: number) => number,
): UploadsQuestion {
  const length = problem.size[axis]!;
  const innermost = isInnermost(problem, axis, target);
  const neighbours = neighboursOf(problem, axis);
  const { lanes, run } = target.capacity;
  const { tuning = {}, lockstep } = target;
  const grain = lockstep === 'vector' ? lanes : 1;
  const own = (n: number, split: boolean) => boosted(target, n, split, true);
  const elements = tensorShape(problem, 'input').reduce((a, b) => a * b, 1);
  // Shared memory holds half a run of the best first upload that reorders.
  const ideal = (2 * own(length, true).capacity.room) / run;
  const least = leastCost(elements, target);
  const priceOfLast = convolveSteps ?? (({ price }: LaunchCost) => price);
  const calibration = target.calibration;
  // Unordered bins stay in their order if there is one upload; several uploads in place take a temp buffer.
  const apart = innermost && !problem.unordered && problem.placement === 'out-of-place';
  const free = lockstep === 'vector' || apart || staysCached(elements, target);
  return {
    title: `axis ${axis}`,
    length,
    strided: !innermost,
    capacity: uploadCapacity(problem, axis, target),
    fusable: (n, columns, split) =>
      mayFuse(target) && cutAxis(n, columns ? run : 1, boosted(target, n, split)) !== undefined,
    uploads: uploadsFor(length, tuning),
    whole: () => {
      const alone = innermost
        ? wholeCost(length, elements, own(length, false))
        : uploadCost(length, neighbours, false, elements, own(length, false));
      return priceOfLast(alone, convolveSteps && clusterExposure(length, target));
    },
    cost: (n, columns, last) => {
      const beside = innermost ? columns : neighbours;
      const one = uploadCost(n, beside, innermost && last, elements, own(n, true));
      return last ? priceOfLast(one) : one.price;
    },
    // Tiles of odd lengths cannot be transposed.
    first:
      reordersFirst(problem, axis, target) && lockstep === 'vector' && length % grain === 0
        ? (n) => firstUploadCost(n, ideal, length / n, elements, own(n, true))
        : undefined,
    trip: least.price,
    lastTrip: Math.min(least.price, priceOfLast(least)),
    least: (n, last) => {
      const one = leastUploadCost(n, elements, own(n, true));
      return last ? priceOfLast(one) : one.price;
    },
    several: free ? 0 : calibration.trip.temp * tripCost(target),
    // Threads hardly notice columns that do not fill the last tile.
    ragged: lockstep === 'vector' ? calibration.columns.ragged : 0,
    unbalanced: calibration.uploads.unbalanced,
    tile: run,
    grain,
  };
}

/** The longest transforms that one block takes, whole and as one of several columns. */
function uploadCapacity(problem: Problem, axis: number, target: Target): UploadsQuestion['capacity'] {
  const length = problem.size[axis]!;
  const { lanes, run } = target.capacity;
  const grain = target.lockstep === 'vector' ? lanes : 1;
  const roomFor = (split: boolean) => boosted(target, length, split, true).capacity.room;
  // Half a run of neighbours still reads whole cache lines, and costs less than one more upload.
  const { parts } = target.calibration.columns;
  const cut = (room: number, into: number) =>
    Math.min(room, Math.floor(room / run) * cutsOfRun(run, target.tuning?.performBandwidthBoost ?? into, grain));
  const columns = cut(roomFor(true), parts.upload);
  if (!isInnermost(problem, axis, target)) return { whole: cut(roomFor(false), parts.strided), columns };
  const room = roomFor(false);
  const single = tensorShape(problem, 'input').reduce((a, b) => a * b, 1) === length;
  const twice = single && length > room && length <= 2 * room;
  const inPlace = twice && needsOneArray(problem, axis, boosted(target, length, false));
  return { whole: inPlace ? length : room, columns };
}

/**
 * Whether all passes along an axis that memory runs along are in place, so that a second shared array would be unused. Only single transforms
 * ask: batches of transforms of that length gain as often as they lose.
 */
function needsOneArray({ layout, size, strides }: Problem, axis: number, target: Target): boolean {
  const { lanes } = target.capacity;
  const plain = [layout.input, layout.output].every((one) => one === 'interleaved');
  const along = [strides.input, strides.output].every((of) => of[axis + 1] === 1);
  // (A vector of one lane may as well run along the batch.)
  const vectors = target.lockstep === 'vector' && target.sharedFormat === 'blocked' && lanes > 1;
  if (!vectors || !plain || !along) return false;
  return chooseRadices({ length: size[axis]!, lanesAlong: 'axis', lanes }, target).inPlace ?? false;
}

/** The number of parts that a run may be cut into; −1 stands for as many as there are. */
function cutsOfRun(run: number, parts: number, grain: number): number {
  const most = Math.max(1, run / grain);
  return parts === -1 ? most : Math.min(parts, most);
}

/** The number of uploads that the tuning asks for at least. */
function uploadsFor(length: number, { uploadSwitch = {} }: PlannerTuning): number {
  const { two = Number.POSITIVE_INFINITY, three = Number.POSITIVE_INFINITY } = uploadSwitch;
  return length >= three ? 3 : length >= two ? 2 : 1;
}
