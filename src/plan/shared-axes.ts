/**
 * Axes that share launches: several that fit one tile are one launch; and where that leaves one trip to memory for each of
 * the others, two launches may do them all, the axis in the middle cut by the four-step algorithm (VkFFT guide 2.5.2) into
 * a part for either of them.
 */
import { divisors } from '../numeric/primes.ts';
import { show } from '../problem/errors.ts';
import type { Problem } from '../problem/index.ts';
import { dimensionsOf } from './axis.ts';
import { calibrationOf } from './calibration.ts';
import { type Arithmetic, boosted, capacityOf, kernelPrecision, mayFuse } from './capacity.ts';
import { launchCost, uploadCost } from './cost.ts';
import { type Cut, cutAxes, cutAxis } from './cuts.ts';
import { reordering } from './four-step.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode } from './node.ts';
import type { Priced } from './priced.ts';
import type { DeviceProfile } from './profile.ts';
import { isConvolved } from './scheme.ts';
import type { Splits } from './splits.ts';

/** Axes that a node takes care of, and the node. */
export interface SharedAxes {
  readonly axes: readonly number[];
  readonly node: BranchNode | LeafNode;
}

/** The node of the axes that share launches, where some do. */
export function sharedAxes(problem: Problem, profile: DeviceProfile, { together }: Splits): SharedAxes | undefined {
  if (together === undefined) return undefined;
  const dimensions = dimensionsOf(problem);
  const axes = takenBy(together, sharableAxes(problem, profile));
  const others = dimensions.filter(({ count }, d) => count > 1 && !axes.includes(d - 1));
  if (typeof together === 'number') return { axes, node: inOne(axes, dimensions, others) };
  return { axes, node: inTwo(axes, together as readonly [number, number], dimensions, others) };
}

/** Some of the axes of a problem that share launches, or none. */
export interface Together {
  readonly together: Splits['together'];
  readonly axes: readonly number[];
}

/** The ways in which axes may share launches, none of them among these, and what those launches cost. */
export function waysTogether(problem: Problem, profile: DeviceProfile): Priced<Together>[] {
  const axes = sharableAxes(problem, profile);
  const ways: Priced<Together>[] = [];
  const add = (together: Splits['together'], price: number | undefined) => {
    if (price !== undefined) ways.push({ value: { together, axes: takenBy(together, axes) }, price });
  };
  const question = questionOf(problem, axes, profile);
  for (let count = axes.length; count > 1; count--) add(count, costInOne(count, question));
  add(undefined, 0);
  for (const { value, price } of waysInTwo(question)) add(value, price);
  return ways;
}

/** The second axis cut in two, one part for each of two launches; the larger part is better the second one's. */
function waysInTwo(question: Sharable): Priced<readonly number[]>[] {
  const [, middle = 1] = question.lengths;
  const { lean } = calibrationOf(question.profile).uploads;
  const ways = divisors(middle).flatMap((n1) => {
    const cost = costInTwo(n1, question);
    return cost === undefined ? [] : [{ n1, cost, leaning: cost + lean * Math.log2(n1) }];
  });
  // Only against one another: what the best of them costs is what it costs.
  const best = ways.reduce((one, other) => (other.leaning < one.leaning ? other : one), ways[0]!);
  return ways.map(({ n1, leaning }) => ({ value: [n1, middle / n1], price: leaning + best.cost - best.leaning }));
}

function takenBy(together: Splits['together'], axes: readonly number[]): readonly number[] {
  return typeof together === 'number' ? axes.slice(0, together) : together ? axes : [];
}

/** The first axes that are transformed, three at the most, where they may share launches at all; else none. */
function sharableAxes(problem: Problem, profile: DeviceProfile): readonly number[] {
  const { size, omit, leftBatches, unordered, transform } = problem;
  const { tuning = {} } = profile;
  // Uploads or groups that somebody asked for, or an order that is to stay, are not for us to undo.
  if (!mayFuse(profile) || leftBatches > 1 || unordered || transform[0] !== 'c2c') return [];
  if (tuning.uploadSwitch || tuning.considerAllAxesStrided || tuning.groupedBatch) return [];
  if (tuning.performBandwidthBoost !== undefined) return [];
  const all = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
  // Only axes that are transformed by passes alone share launches.
  const first = all.findIndex((axis) => isConvolved(problem, axis, profile));
  const axes = first < 0 ? all : all.slice(0, first);
  return axes.length < 2 || axes[0] !== 0 ? [] : axes;
}

/** Axes that may share launches. */
interface Sharable extends Pick<Problem, 'placement'> {
  readonly lengths: readonly number[];
  readonly precision: Arithmetic;
  readonly profile: DeviceProfile;
}

function questionOf(
  { size, precision, placement }: Problem,
  axes: readonly number[],
  profile: DeviceProfile,
): Sharable {
  return { lengths: axes.map((axis) => size[axis]!), precision: kernelPrecision(precision), placement, profile };
}

/** The axes that share launches so. @throws RangeError where none can */
export function checkTogether(given: Splits['together'], problem: Problem, profile: DeviceProfile): Together {
  const axes = sharableAxes(problem, profile);
  const question = questionOf(problem, axes, profile);
  if (isTogether(given, question)) return { together: given, axes: takenBy(given, axes) };
  throw new RangeError(`axes of ${show(question.lengths)} points do not share launches as ${show(given)}`);
}

function isTogether(given: Splits['together'], question: Sharable): boolean {
  const { lengths } = question;
  if (given === undefined) return true;
  if (typeof given === 'number') {
    const some = Number.isInteger(given) && given >= 2 && given <= lengths.length;
    return some && costInOne(given, question) !== undefined;
  }
  const [n1, n2] = given as readonly [number, number];
  const cuts = given.length === 2 && [n1, n2].every(Number.isSafeInteger) && n1 * n2 === lengths[1];
  return cuts && costInTwo(n1, question) !== undefined;
}

function inOne(axes: readonly number[], dimensions: readonly Dimension[], batch: readonly Dimension[]): LeafNode {
  const [axis, ...more] = axes.map((number) => dimensions[number + 1]!) as [Dimension, ...Dimension[]];
  const tensor = dimensions.map(({ count }) => count);
  return leafNode({ title: `axes ${axes.join(' and ')}`, axis, more, batch, tensor });
}

/** Whether one launch takes an axis of columns, if need be in parts of runs. */
function fits(n: number, precision: Arithmetic, profile: DeviceProfile): boolean {
  const { run, room } = capacityOf(precision, profile);
  const parts = Math.min(calibrationOf(profile).columns.parts.strided, run);
  return n <= Math.min(room, Math.floor(room / run) * parts) || cutAxis(n, run, precision, profile) !== undefined;
}

/** One launch for so many axes together; undefined where they do not fit. */
function costInOne(count: number, { lengths, precision, profile }: Sharable): number | undefined {
  const axes = lengths.slice(0, count);
  const share = cutOf(axes, precision, profile)?.share;
  return share ? launchCost(share, axes, precision, profile) : undefined;
}

/** Axes as the tile of one launch. */
function cutOf(lengths: readonly number[], precision: Arithmetic, profile: DeviceProfile): Cut | undefined {
  return cutAxes([...lengths].reverse(), precision, boosted(profile, precision, lengths[0]!, false));
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
