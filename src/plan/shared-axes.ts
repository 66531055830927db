/**
 * Axes that share launches: several that fit one tile are one launch; and where that leaves one trip to memory for each of
 * the others, two launches may do them all, the axis in the middle cut by the four-step algorithm (VkFFT guide 2.5.2) into
 * a part for either of them.
 */
import { divisors } from '../numeric/primes.ts';
import type { Problem } from '../problem/index.ts';
import { boosted, capacityOf, kernelPrecision, RUN_PARTS } from './capacity.ts';
import { launchCost, uploadCost } from './cost.ts';
import { cutAxes, cutAxis, mayFuse } from './cuts.ts';
import type { BranchNode, Dimension, LeafNode, Place } from './node.ts';
import type { DeviceProfile } from './profile.ts';

type Precision = 'single' | 'double';

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
  const axes = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
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
  return { axes, node: leaf(`axes ${axes.join(' and ')}`, axis, more, batch, dimensions) };
}

/** What it adds, in trips to memory, that the first launch takes twice as much of the second axis. */
const LEAN = 0.03;
/** What an axis costs that does not fit one launch. */
const SEVERAL_UPLOADS = 2.5;
/** What an axis that memory runs along leaves of the bandwidth. */
const CONTIGUOUS = 0.98;

/** Whether one launch takes an axis of columns, if need be in parts of runs. */
function fits(n: number, precision: Precision, profile: DeviceProfile): boolean {
  const { run, room } = capacityOf(precision, profile);
  const parts = Math.min(RUN_PARTS.strided, run);
  return n <= Math.min(room, Math.floor(room / run) * parts) || cutAxis(n, run, precision, profile) !== undefined;
}

/** One launch for so many axes together, and one for each of the others; infinite where they do not fit that. */
function costApart(lengths: readonly number[], fused: number, precision: Precision, profile: DeviceProfile): number {
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
  precision: Precision,
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

/**
 * Element i₂ of bin k₁ is left at k₁ + n₁·i₂, so that the second launch finds every column where its bins belong,
 * k₁ + n₁·k₂, and works in place.
 */
function inTwo(
  axes: readonly number[],
  [n1, n2]: readonly [number, number],
  dimensions: readonly Dimension[],
  others: readonly Dimension[],
): BranchNode {
  const [inner, middle, outer] = axes.map((axis) => dimensions[axis + 1]) as [Dimension, Dimension, Dimension?];
  const { of } = middle.input;
  const at = (step: number): Place => ({ of, step });
  const name = (launch: number) => `axes ${axes.join(', ')}, launch ${launch} of 2`;
  const part: Dimension = { count: n1, input: at(n2), output: at(1) };
  const rows: Dimension = { count: n2, input: at(1), output: at(n1) };
  const rest: Dimension = { count: n2, input: at(n1), output: at(n1) };
  const bins: Dimension = { count: n1, input: at(1), output: at(1) };
  const children: LeafNode[] = [
    {
      ...leaf(name(1), inner, [part], [rows, ...(outer ? [outer] : []), ...others], dimensions),
      twiddle: { order: n1 * n2, on: 'output', of: 1 },
    },
    leaf(name(2), rest, outer ? [outer] : [], [inner, bins, ...others], dimensions),
  ];
  const tensor = dimensions.map(({ count }) => count);
  return { scheme: 'four-step', title: `axes ${axes.join(', ')}`, length: tensor, outputLength: tensor, children };
}

function leaf(
  title: string,
  axis: Dimension,
  more: readonly Dimension[],
  batch: readonly Dimension[],
  dimensions: readonly Dimension[],
): LeafNode {
  const tensor = dimensions.map(({ count }) => count);
  const shape = { title, axis, batch, length: tensor, outputLength: tensor, children: [] } as const;
  return more.length > 0 ? { scheme: 'fused', more, ...shape } : { scheme: 'stockham', ...shape };
}
