/**
 * Axes that share launches: several that fit one tile are one launch; and where that leaves one trip to memory for each of
 * the others, two launches may do them all, the axis in the middle cut by the four-step algorithm (VkFFT guide 2.5.2) into
 * a part for either of them.
 */
import { divisors, largestPrimeFactor } from '../numeric/primes.ts';
import type { Problem } from '../problem/index.ts';
import { type Arithmetic, boosted, capacityOf, kernelPrecision, RUN_PARTS } from './capacity.ts';
import { launchCost, uploadCost } from './cost.ts';
import { cutAxes, cutAxis, mayFuse } from './cuts.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { LARGEST_RADIX_PRIME } from './radix.ts';
import { reordering } from './uploads.ts';

/** Axes that a node takes care of, and the node. */
export interface SharedAxes {
  readonly axes: readonly number[];
  readonly node: BranchNode | LeafNode;
}

/** @param dimensions of the tensor: the axes begin at 1. */
export function sharedAxes(
  problem: Problem,
  dimensions: readonly Dimension[],
  profile: DeviceProfile,
): SharedAxes | undefined {
  const { size, omit, precision: element, leftBatches, unordered, placement } = problem;
  const { tuning = {} } = profile;
  // Uploads or groups that somebody asked for, or an order that is to stay, are not for us to undo.
  if (!mayFuse(profile) || leftBatches > 1 || unordered) return undefined;
  if (tuning.uploadSwitch || tuning.considerAllAxesStrided || tuning.groupedBatch) return undefined;
  if (tuning.performBandwidthBoost !== undefined) return undefined;
  const all = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
  // Only axes that are transformed by passes alone share launches.
  const first = all.findIndex((axis) => largestPrimeFactor(size[axis]!) > LARGEST_RADIX_PRIME);
  const axes = first < 0 ? all : all.slice(0, first);
  if (axes.length < 2 || axes[0] !== 0) return undefined;
  const precision = kernelPrecision(element);
  const lengths = axes.map((axis) => size[axis]!);
  const others = (taken: readonly number[]) => dimensions.filter(({ count }, d) => count > 1 && !taken.includes(d - 1));
  const counts = [3, 2, 1].filter((count) => count <= axes.length);
  const usual = counts.map((fused) => ({ fused, cost: costApart(lengths, fused, precision, profile) }));
  const { fused, cost } = usual.reduce((best, other) => (other.cost < best.cost ? other : best));
  if (cost === Number.POSITIVE_INFINITY) return undefined;
  if (fused === axes.length) return inOne(axes, dimensions, others(axes));
  // A part of an axis is reordered on the way: in place that would take a temp buffer, which three launches do without.
  const cut = placement === 'out-of-place' ? cutInTwo(lengths, cost, precision, profile) : undefined;
  if (cut) return { axes, node: inTwo(axes, cut, dimensions, others(axes)) };
  if (fused === 1) return undefined;
  const taken = axes.slice(0, fused);
  return inOne(taken, dimensions, others(taken));
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
      ? cutAxes([...first].reverse(), precision, alone)?.share
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

/**
 * Into which parts the second axis is best cut: the first launch takes the first axis and a part of the second one, the
 * other one the rest of it and the third axis, if there is one.
 * @param usual what it costs otherwise.
 */
function cutInTwo(
  lengths: readonly number[],
  usual: number,
  precision: Arithmetic,
  profile: DeviceProfile,
): readonly [number, number] | undefined {
  const [inner, middle, outer] = lengths as [number, number, number | undefined];
  const { run } = capacityOf(precision, profile);
  let least = Number.POSITIVE_INFINITY;
  let best: readonly [number, number] | undefined;
  for (const n1 of divisors(middle)) {
    const n2 = middle / n1;
    // Both launches move whole runs: the second one along the first axis and the bins of the first launch.
    if (n1 === 1 || n2 === 1 || (inner * n1) % run !== 0) continue;
    const one = cutAxes([n1, inner], precision, boosted(profile, precision, inner, true));
    if (!one) continue;
    const split = boosted(profile, precision, n2, true);
    const other = outer ? cutAxes([outer, n2], precision, split, run) : { share: fits(n2, precision, split) ? 1 : 0 };
    if (!other?.share) continue;
    const second = outer
      ? launchCost(other.share, [n2, outer], precision, split)
      : uploadCost(n2, inner * n1, false, precision, split);
    const cost = launchCost(one.share, [inner, n1], precision, profile) + second;
    const leaning = cost + LEAN * Math.log2(n1);
    if (cost >= usual || leaning >= least) continue;
    least = leaning;
    best = [n1, n2];
  }
  return best;
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
  return { scheme: 'four-step', title: `axes ${axes.join(', ')}`, length: tensor, outputLength: tensor, children };
}
