/**
 * Problem and profile → plan tree: one node for each transformed axis, in one or several uploads, or for several
 * that share launches.
 *
 * Axes other than the innermost are read in tiles of neighbouring columns, so no transposes are needed between them.
 */
import { largestPrimeFactor, nextSmooth } from '../numeric/primes.ts';
import { type Direction, FftError, type Problem, tensorShape } from '../problem/index.ts';
import { convolvedInSeveral, longLength, paddedLength } from './bluestein.ts';
import { boosted, capacityOf, kernelPrecision, RUN_PARTS } from './capacity.ts';
import { firstUploadCost, uploadCost, wholeCost } from './cost.ts';
import { cutAxis } from './cuts.ts';
import { type BranchNode, type Dimension, isLeaf, leafNode, type PlanNode } from './node.ts';
import type { DeviceProfile, PlannerTuning } from './profile.ts';
import { chooseRadices, LARGEST_RADIX_PRIME as LARGEST_RADIX } from './radix.ts';
import { sharedAxes } from './shared-axes.ts';
import type { Splits } from './splits.ts';
import { type AxisQuestion, axisNode } from './uploads.ts';

/**
 * The tree of one direction.
 * @param given how it splits the axes, where that is known already.
 * @param sparing whether it is to do without a temp buffer where that is possible: where bins are reordered on the way out of
 *   the input, everything after that works in place.
 * @throws RangeError where no tree fits, or not the given one.
 */
export function planTree(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  given?: Splits,
  sparing = false,
): BranchNode {
  const tensor = tensorShape(problem, 'input');
  const precision = kernelPrecision(problem.precision);
  const { complexBytes, lanes, run } = capacityOf(precision, profile);
  const { tuning = {} } = profile;
  const grain = profile.lockstep === 'vector' ? lanes : 1;
  const dimensions: Dimension[] = tensor.map((count, of) => ({
    count,
    input: { of, step: 1 },
    output: { of, step: 1 },
  }));
  const children: PlanNode[] = [];
  const shared = sharedAxes(problem, dimensions, profile, given);
  const questionOf = (axis: number, length: number, shape: readonly number[]): AxisQuestion => {
    const of = axis + 1;
    const elements = shape.reduce((a, b) => a * b, 1);
    const innermost = !tuning.considerAllAxesStrided && shape.slice(0, of).every((count) => count === 1);
    // What lies side by side where memory does not run along the axis.
    const neighbours = shape.slice(0, of).reduce((a, b) => a * b, 1);
    const roomFor = (split: boolean) => capacityOf(precision, boosted(profile, precision, length, split)).room;
    const ideal = idealFirst(length, elements, roomFor(true), run, profile);
    const alone = elements === length ? aloneUpTo(complexBytes, profile) : Number.POSITIVE_INFINITY;
    const wholeRoom = () => {
      const room = roomFor(false);
      const single = elements === length && length > room && length <= 2 * room;
      return single && needsOneArray(problem, axis, boosted(profile, precision, length, false)) ? length : room;
    };
    const cut = (room: number, parts: number) =>
      Math.min(room, Math.floor(room / run) * cutsOf(run, tuning.performBandwidthBoost ?? parts, grain));
    return {
      of,
      length,
      others: dimensions.filter(({ count }, d) => d !== of && count > 1),
      title: `axis ${axis}`,
      tensor: shape,
      strided: !innermost,
      // Half a run of neighbours still reads whole cache lines: better than one more upload.
      capacity: {
        whole: innermost ? Math.min(wholeRoom(), alone) : cut(roomFor(false), RUN_PARTS.strided),
        columns: cut(roomFor(true), RUN_PARTS.columns),
      },
      fusable: (n, columns, split) =>
        cutAxis(n, columns ? run : 1, precision, boosted(profile, precision, n, split)) !== undefined,
      uploads: uploadsFor(length, tuning),
      tile: run,
      grain,
      cost: (n, columns, last) => {
        const own = boosted(profile, precision, n, true);
        return innermost
          ? uploadCost(n, columns, last, precision, own)
          : uploadCost(n, neighbours, false, precision, own);
      },
      // An order that is to stay has one upload where it can; in place, several would take a temp buffer.
      whole:
        innermost && profile.lockstep === 'threads' && !problem.unordered && problem.placement === 'out-of-place'
          ? () => wholeCost(length, precision, boosted(profile, precision, length, false))
          : undefined,
      // Threads see what narrow columns cost; vectors take as few uploads as fit.
      weighed: profile.lockstep === 'threads',
      // In place, the second would read another buffer than it writes: in long steps from memory, that costs more than
      // columns that a temp buffer holds in tiles.
      reorderFirst:
        sparing ||
        (profile.reorderFirst &&
          innermost &&
          (problem.placement === 'out-of-place' || length * complexBytes <= (profile.chunks?.most ?? 0))),
      // No odd length turns its tile.
      first:
        innermost && profile.lockstep === 'vector' && length % grain === 0
          ? (n) => firstUploadCost(n, ideal, precision, boosted(profile, precision, n, true))
          : undefined,
      unordered: problem.unordered && direction === 'forward',
      mirrored: problem.unordered && direction === 'inverse',
      given: given?.uploads[axis],
    };
  };
  problem.size.forEach((length, axis) => {
    if (problem.omit[axis] || length === 1 || shared?.axes.includes(axis)) return;
    const question = questionOf(axis, length, tensor);
    if (largestPrimeFactor(length) <= LARGEST_RADIX) {
      children.push(axisNode(question));
      return;
    }
    const padded = paddedLength(length, precision, boosted(profile, precision, length, false));
    if (padded !== undefined) {
      const place = { of: axis + 1, step: 1 };
      const whole = { count: length, input: place, output: place };
      children.push({ ...leafNode({ ...question, axisOf: axis, axis: whole, batch: question.others }), padded });
      return;
    }
    const long = longLength(length);
    if (!long) throw tooLong(axis, length);
    const shape = tensor.map((count, d) => (d === axis + 1 ? long : count));
    const whole = { ...questionOf(axis, long, shape), given: undefined, reorderFirst: false };
    children.push(convolvedInSeveral(whole, length, tensor));
  });
  if (children.length === 0 && !shared) children.push(copyNode(dimensions, tensor));
  if (direction === 'inverse') children.reverse();
  if (sparing) children.sort((a, b) => Number(isLeaf(a)) - Number(isLeaf(b)));
  // First in both directions: where it reorders, that is on the way out of the input, and needs no memory of its own.
  if (shared) children.unshift(shared.node);
  return { scheme: 'axes', title: direction, length: tensor, outputLength: tensor, children };
}

function tooLong(axis: number, length: number): FftError {
  const given = `size[${axis}] = ${length} has the prime factor ${largestPrimeFactor(length)}`;
  const remedy = `${nextSmooth(length, LARGEST_RADIX)} would do`;
  return new FftError('unsupported-length', `${given}, and is too long to be convolved; ${remedy}.`, {
    path: `size[${axis}]`,
  });
}

/** Transforms that leave no more to gain: a second upload need not be shorter. */
const SECOND = 48;

/**
 * The length that the first of two uploads had best have, where it reorders: as long as shared memory holds half a run of
 * it, every multiprocessor gets one of those, and the second one does not become too short.
 */
function idealFirst(
  length: number,
  elements: number,
  room: number,
  run: number,
  { multiprocessors }: DeviceProfile,
): number {
  return Math.min((2 * room) / run, (2 * elements) / multiprocessors / run, length / SECOND);
}

/**
 * Whether all passes along an axis that memory runs along are in place, so that a second shared array is nobody's. (Only
 * asked for single transforms. Batches of transforms as long are a quarter faster in one upload or a fifth slower.)
 */
function needsOneArray(
  { layout, precision: asked, size, strides }: Problem,
  axis: number,
  profile: DeviceProfile,
): boolean {
  const precision = kernelPrecision(asked);
  const { lanes } = capacityOf(precision, profile);
  const plain = [layout.input, layout.output].every((one) => one === 'interleaved');
  const along = [strides.input, strides.output].every((of) => of[axis + 1] === 1);
  // (A vector of one may as well run along the batch.)
  const vectors = profile.lockstep === 'vector' && profile.sharedFormat === 'blocked' && lanes > 1;
  if (!vectors || !plain || !along) return false;
  return chooseRadices({ length: size[axis]!, lanesAlong: 'axis', lanes, precision }, profile).inPlace ?? false;
}

/** Multiprocessors that gain from a share of what is worth sharing; two need twice as much. */
const MANY = 4;

/** The longest single transform that is one group's, although others have nothing to do meanwhile. */
function aloneUpTo(
  complexBytes: number,
  { multiprocessors, shareFrom = Number.POSITIVE_INFINITY }: DeviceProfile,
): number {
  if (multiprocessors === 1) return Number.POSITIVE_INFINITY;
  const from = shareFrom * Math.max(1, MANY / multiprocessors);
  return Math.ceil(from / (2 * complexBytes)) - 1;
}

/** Into how many parts a run may be cut, −1 being as many as there are. */
function cutsOf(run: number, parts: number, grain: number): number {
  const most = Math.max(1, run / grain);
  return parts === -1 ? most : Math.min(parts, most);
}

/** Uploads that an axis is to have at least. */
function uploadsFor(length: number, { uploadSwitch = {} }: PlannerTuning): number {
  const { two = Number.POSITIVE_INFINITY, three = Number.POSITIVE_INFINITY } = uploadSwitch;
  return length >= three ? 3 : length >= two ? 2 : 1;
}

/** Nothing to transform: the transform of length 1 of everything, which still scales and changes layouts. */
function copyNode(dimensions: readonly Dimension[], tensor: readonly number[]): PlanNode {
  const batch = dimensions.filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { scheme: 'stockham', title: 'copy', axis, batch, length: tensor, outputLength: tensor, children: [] };
}
