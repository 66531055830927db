/**
 * Axes that share launches: several that fit one tile are one launch; and where that leaves one trip to memory for each of
 * the others, two launches may do them all, the axis in the middle cut by the four-step algorithm (VkFFT guide 2.5.2) into
 * a part for either of them.
 */
import { divisors } from '../numeric/primes.ts';
import type { Problem } from '../problem/index.ts';
import { boosted, capacityOf, kernelPrecision } from './capacity.ts';
import { launchCost, uploadCost } from './cost.ts';
import { cutAxes, cutAxis } from './fuse.ts';
import type { BranchNode, Dimension, LeafNode, Place } from './node.ts';
import type { DeviceProfile } from './profile.ts';

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
  if (leftBatches > 1 || unordered) return undefined;
  if (tuning.uploadSwitch || tuning.considerAllAxesStrided || tuning.groupedBatch) return undefined;
  const axes = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
  if (axes.length < 2 || axes[0] !== 0) return undefined;
  const precision = kernelPrecision(element);
  const lengths = axes.map((axis) => size[axis]!);
  const others = (taken: readonly number[]) => dimensions.filter(({ count }, d) => count > 1 && !taken.includes(d - 1));
  const own = (split: boolean) => boosted(profile, precision, size[0]!, split);
  const fused = [3, 2].find(
    (count) => count <= axes.length && cutAxes([...lengths.slice(0, count)].reverse(), precision, own(false)),
  );
  if (fused === axes.length) return inOne(axes, dimensions, others(axes));
  // A part of an axis is reordered on the way: in place that would take a temp buffer, which three launches do without.
  const cut = placement === 'out-of-place' ? cutInTwo(lengths, fused ?? 1, precision, profile) : undefined;
  if (cut) return { axes, node: inTwo(axes, cut, dimensions, others(axes)) };
  if (!fused) return undefined;
  const taken = axes.slice(0, fused);
  return inOne(taken, dimensions, others(taken));
}

function inOne(axes: readonly number[], dimensions: readonly Dimension[], batch: readonly Dimension[]): SharedAxes {
  const [axis, ...more] = axes.map((number) => dimensions[number + 1]!) as [Dimension, ...Dimension[]];
  return { axes, node: leaf(`axes ${axes.join(' and ')}`, axis, more, batch, dimensions) };
}

/** What it adds, in trips to memory, that the first launch takes twice as much of the second axis. */
const LEAN = 0.03;
/** Into how many parts a run may be cut, so that one launch still takes an axis of columns. */
const RUN_PARTS = 4;
/** What an axis that memory runs along leaves of the bandwidth. */
const CONTIGUOUS = 0.98;

/**
 * Into which parts the second axis is best cut: the first launch takes the first axis and a part of the second one, the
 * other one the rest of it and the third axis, if there is one.
 * @param fused axes that the first launch would take otherwise.
 */
function cutInTwo(
  lengths: readonly number[],
  fused: number,
  precision: 'single' | 'double',
  profile: DeviceProfile,
): readonly [number, number] | undefined {
  const [inner, middle, outer] = lengths as [number, number, number | undefined];
  const { run, room } = capacityOf(precision, profile);
  const alone = boosted(profile, precision, inner, false);
  const first = lengths.slice(0, fused);
  const together =
    fused > 1
      ? cutAxes([...first].reverse(), precision, alone)?.share
      : inner <= room
        ? CONTIGUOUS
        : cutAxis(inner, 1, precision, alone)?.share;
  if (!together) return undefined;
  const fits = (n: number) => n <= (RUN_PARTS * room) / run || cutAxis(n, run, precision, profile) !== undefined;
  const rest = lengths.slice(fused);
  if (!rest.every(fits)) return undefined;
  const columns = (n: number) => uploadCost(n, inner, false, precision, boosted(profile, precision, n, false));
  const usual = launchCost(together, first, precision, profile) + rest.reduce((sum, n) => sum + columns(n), 0);
  let least = Number.POSITIVE_INFINITY;
  let best: readonly [number, number] | undefined;
  for (const n1 of divisors(middle)) {
    const n2 = middle / n1;
    // Both launches move whole runs: the second one along the first axis and the bins of the first launch.
    if (n1 === 1 || n2 === 1 || (inner * n1) % run !== 0) continue;
    const one = cutAxes([n1, inner], precision, boosted(profile, precision, inner, true));
    if (!one) continue;
    const split = boosted(profile, precision, n2, true);
    const other = outer ? cutAxes([outer, n2], precision, split, run) : { share: fits(n2) ? 1 : 0 };
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
