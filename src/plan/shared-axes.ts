/**
 * Axes that share launches: several that fit one tile are one launch; and where that leaves one trip to memory for each of
 * the others, two launches may do them all, the axis in the middle cut by the four-step algorithm (VkFFT guide 2.5.2) into
 * a part for either of them.
 */
import { divisors, largestPrimeFactor } from '../numeric/primes.ts';
import { show } from '../problem/errors.ts';
import type { Problem } from '../problem/index.ts';
import { type Arithmetic, boosted, capacityOf, kernelPrecision, RUN_PARTS } from './capacity.ts';
import { launchCost, uploadCost } from './cost.ts';
import { type Cut, cutAxes, cutAxis, mayFuse } from './cuts.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { LARGEST_RADIX_PRIME } from './radix.ts';
import type { Splits } from './splits.ts';
import { reordering } from './uploads.ts';

/** Axes that a node takes care of, and the node. */
export interface SharedAxes {
  readonly axes: readonly number[];
  readonly node: BranchNode | LeafNode;
}

/**
 * @param dimensions of the tensor: the axes begin at 1.
 * @param given what shares launches, where that is known already.
 * @throws RangeError where what is given does not fit.
 */
export function sharedAxes(
  problem: Problem,
  dimensions: readonly Dimension[],
  profile: DeviceProfile,
  given?: Splits,
): SharedAxes | undefined {
  const axes = sharableAxes(problem, profile);
  const precision = kernelPrecision(problem.precision);
  const question = {
    lengths: axes.map((axis) => problem.size[axis]!),
    precision,
    profile,
    placement: problem.placement,
  };
  if (given && !isTogether(given.together, question)) {
    throw new RangeError(`axes of ${show(question.lengths)} points do not share launches as ${show(given.together)}`);
  }
  const together = given ? given.together : chooseTogether(question);
  if (together === undefined) return undefined;
  const taken = typeof together === 'number' ? axes.slice(0, together) : axes;
  const others = dimensions.filter(({ count }, d) => count > 1 && !taken.includes(d - 1));
  if (typeof together === 'number') return inOne(taken, dimensions, others);
  return { axes, node: inTwo(axes, together as readonly [number, number], dimensions, others) };
}

/** The first axes that are transformed, three at the most, where they may share launches at all; else none. */
function sharableAxes({ size, omit, leftBatches, unordered }: Problem, profile: DeviceProfile): readonly number[] {
  const { tuning = {} } = profile;
  // Uploads or groups that somebody asked for, or an order that is to stay, are not for us to undo.
  if (!mayFuse(profile) || leftBatches > 1 || unordered) return [];
  if (tuning.uploadSwitch || tuning.considerAllAxesStrided || tuning.groupedBatch) return [];
  if (tuning.performBandwidthBoost !== undefined) return [];
  const all = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
  // Only axes that are transformed by passes alone share launches.
  const first = all.findIndex((axis) => largestPrimeFactor(size[axis]!) > LARGEST_RADIX_PRIME);
  const axes = first < 0 ? all : all.slice(0, first);
  return axes.length < 2 || axes[0] !== 0 ? [] : axes;
}

/** Axes that may share launches. */
interface Sharable extends Pick<Problem, 'placement'> {
  readonly lengths: readonly number[];
  readonly precision: Arithmetic;
  readonly profile: DeviceProfile;
}

function chooseTogether(question: Sharable): Splits['together'] {
  const { lengths, precision, profile } = question;
  if (lengths.length === 0) return undefined;
  const counts = [3, 2, 1].filter((count) => count <= lengths.length);
  const usual = counts.map((fused) => ({ fused, cost: costApart(lengths, fused, precision, profile) }));
  const { fused, cost } = usual.reduce((best, other) => (other.cost < best.cost ? other : best));
  if (cost === Number.POSITIVE_INFINITY) return undefined;
  if (fused === lengths.length) return fused;
  const cut = cutInTwo(question, cost);
  return cut ?? (fused === 1 ? undefined : fused);
}

/** Whether axes may share launches so. */
function isTogether(given: Splits['together'], question: Sharable): boolean {
  const { lengths, precision, profile } = question;
  if (given === undefined) return true;
  if (typeof given === 'number') {
    return (
      Number.isInteger(given) &&
      given >= 2 &&
      given <= lengths.length &&
      !!cutOf(lengths.slice(0, given), precision, profile)
    );
  }
  const [n1, n2] = given as readonly [number, number];
  const cuts = given.length === 2 && [n1, n2].every(Number.isSafeInteger) && n1 * n2 === lengths[1];
  return cuts && costInTwo(n1, question) !== undefined;
}

function inOne(axes: readonly number[], dimensions: readonly Dimension[], batch: readonly Dimension[]): SharedAxes {
  const [axis, ...more] = axes.map((number) => dimensions[number + 1]!) as [Dimension, ...Dimension[]];
  return {
    axes,
    node: leafNode({
      title: `axes ${axes.join(' and ')}`,
      axis,
      more,
      batch,
      tensor: dimensions.map(({ count }) => count),
    }),
  };
}

/** What it adds, in trips to memory, that the first launch takes twice as much of the second axis. */
const LEAN = 0.03;
/** What an axis costs that does not fit one launch. */
const SEVERAL_UPLOADS = 2.5;
/** What an axis that memory runs along leaves of the bandwidth. */
const CONTIGUOUS = 0.98;

/** Whether one launch takes an axis of columns, if need be in parts of runs. */
function fits(n: number, precision: Arithmetic, profile: DeviceProfile): boolean {
  const { run, room } = capacityOf(precision, profile);
  const parts = Math.min(RUN_PARTS.strided, run);
  return n <= Math.min(room, Math.floor(room / run) * parts) || cutAxis(n, run, precision, profile) !== undefined;
}

/** One launch for so many axes together, and one for each of the others; infinite where they do not fit that. */
function costApart(lengths: readonly number[], fused: number, precision: Arithmetic, profile: DeviceProfile): number {
  const [inner] = lengths as [number];
  const alone = boosted(profile, precision, inner, false);
  const first = lengths.slice(0, fused);
  const { room } = capacityOf(precision, alone);
  const share =
    fused > 1
      ? cutOf(first, precision, profile)?.share
      : inner <= room
        ? CONTIGUOUS
        : cutAxis(inner, 1, precision, alone)?.share;
  const columns = (n: number) =>
    fits(n, precision, profile)
      ? Math.min(SEVERAL_UPLOADS, uploadCost(n, inner, false, precision, boosted(profile, precision, n, false)))
      : SEVERAL_UPLOADS;
  const others = lengths.slice(fused).reduce((sum, n) => sum + columns(n), 0);
  if (!share) return fused > 1 ? Number.POSITIVE_INFINITY : SEVERAL_UPLOADS + others;
  return launchCost(share, first, precision, profile) + others;
}

/** Axes as the tile of one launch. */
function cutOf(lengths: readonly number[], precision: Arithmetic, profile: DeviceProfile): Cut | undefined {
  return cutAxes([...lengths].reverse(), precision, boosted(profile, precision, lengths[0]!, false));
}

/**
 * Into which parts the second axis is best cut: the first launch takes the first axis and a part of the second one, the
 * other one the rest of it and the third axis, if there is one.
 * @param usual what it costs otherwise.
 */
function cutInTwo(question: Sharable, usual: number): readonly [number, number] | undefined {
  const middle = question.lengths[1]!;
  let least = Number.POSITIVE_INFINITY;
  let best: readonly [number, number] | undefined;
  for (const n1 of divisors(middle)) {
    const cost = costInTwo(n1, question) ?? Number.POSITIVE_INFINITY;
    const leaning = cost + LEAN * Math.log2(n1);
    if (cost >= usual || leaning >= least) continue;
    least = leaning;
    best = [n1, middle / n1];
  }
  return best;
}

/** Two launches, the first of which takes so much of the second axis; undefined where they cannot. */
function costInTwo(n1: number, { lengths, precision, profile, placement }: Sharable): number | undefined {
  const [inner, middle, outer] = lengths as [number, number, number | undefined];
  const { run } = capacityOf(precision, profile);
  const n2 = middle / n1;
  // A part of an axis is reordered on the way: in place that would take a temp buffer, which three launches do without.
  if (placement === 'in-place') return undefined;
  // Both launches move whole runs: the second one along the first axis and the bins of the first launch.
  if (n1 === 1 || n2 === 1 || (inner * n1) % run !== 0) return undefined;
  const one = cutAxes([n1, inner], precision, boosted(profile, precision, inner, true));
  if (!one) return undefined;
  const split = boosted(profile, precision, n2, true);
  const other = outer ? cutAxes([outer, n2], precision, split, run) : { share: fits(n2, precision, split) ? 1 : 0 };
  if (!other?.share) return undefined;
  const second = outer
    ? launchCost(other.share, [n2, outer], precision, split)
    : uploadCost(n2, inner * n1, false, precision, split);
  return launchCost(one.share, [inner, n1], precision, profile) + second;
}

/** The middle axis is cut in two, as `reordering` has it: a part of it goes with the inner one, the rest with the outer one. */
function inTwo(
  axes: readonly number[],
  factors: readonly [number, number],
  dimensions: readonly Dimension[],
  others: readonly Dimension[],
): BranchNode {
  const [inner, middle, outer] = axes.map((axis) => dimensions[axis + 1]) as [Dimension, Dimension, Dimension?];
  const name = (launch: number) => `axes ${axes.join(', ')}, launch ${launch} of 2`;
  const { part, rows, rest, bins } = reordering(middle.input.of, factors);
  const tensor = dimensions.map(({ count }) => count);
  const outers = outer ? [outer] : [];
  const first = leafNode({ title: name(1), axis: inner, more: [part], batch: [rows, ...outers, ...others], tensor });
  const children: LeafNode[] = [
    { ...first, twiddle: { order: middle.count, on: 'output', of: 1 } },
    leafNode({ title: name(2), axis: rest, more: outers, batch: [inner, bins, ...others], tensor }),
  ];
  return {
    scheme: 'four-step',
    title: `axes ${axes.join(', ')}`,
    parts: factors,
    length: tensor,
    outputLength: tensor,
    children,
  };
}
