/**
 * Axes that share launches. Several axes that fit one tile are one launch. Where each of the others would then take a memory trip of its own, two
 * launches may do all of them: the four-step algorithm (VkFFT guide 2.5.2) cuts the axis in the middle into one part for either launch.
 *
 * The first axis of a real problem may share launches, too: two of its reals at a time are a complex number, and a step at the end pairs the bins
 * along all axes of the tile.
 */
import { divisors } from '../../numeric/primes.ts';
import { show } from '../../problem/errors.ts';
import { type Direction, type Problem, type Side, tensorShape } from '../../problem/index.ts';
import { boosted, mayFuse, staysCached, type Target, withoutClusters } from '../device/target.ts';
import { type Cut, cutAxes, cutAxis, cutColumns } from '../group/cuts.ts';
import { cutCost, type LaunchCost, roundCost, uploadCost } from '../price/cost.ts';
import type { Priced } from '../price/priced.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode } from '../tree/node.ts';
import { sameDimensions } from './axis.ts';
import { asComplex, complexPart, isR2r, isReal } from './complex-part.ts';
import { isConvolved, isPadded } from './complex-schemes.ts';
import { leaving, reordering } from './four-step.ts';
import { halvedAxis, realEnds } from './r2c.ts';
import type { Sharing, Splits } from './splits.ts';

/** A node, and the axes that it transforms. */
export interface SharedAxes {
  readonly axes: readonly number[];
  readonly node: BranchNode | LeafNode;
}

/** The node of the axes that share launches; undefined where none do. */
export function sharedAxes(
  problem: Problem,
  direction: Direction,
  target: Target,
  { shared, axes: schemes }: Splits,
): SharedAxes | undefined {
  if (!shared) return undefined;
  const question = axesWithoutScheme(sharable(problem, target), schemes)!;
  const axes = takenBy(shared, question.axes);
  const node = sharedNode(problem, direction, axes, question.real, shared);
  return { axes, node };
}

/** The node of axes that share launches. @param real the first of the axes has reals */
export function sharedNode(
  problem: Problem,
  direction: Direction,
  axes: readonly number[],
  real: boolean,
  sharing: Sharing,
): BranchNode | LeafNode {
  const side = real ? (direction === 'forward' ? 'input' : 'output') : undefined;
  const shared: Shared = { problem: real ? problem : complexPart(problem), axes, side };
  if (sharing.launches === 1) return axesInOneLaunch(shared);
  return inTwo(shared, sharing.parts, side ? side === 'output' : problem.unordered && direction === 'inverse');
}

/** A choice of axes that share launches, perhaps none, and how they share them. */
export interface SharedChoice {
  readonly shared: Sharing | undefined;
  readonly axes: readonly number[];
}

/** The choices of axes that share launches, no sharing among them, with the cost of these launches. */
export function sharedAxesChoices(problem: Problem, target: Target): Priced<SharedChoice>[] {
  const ways: Priced<SharedChoice>[] = [];
  const questions = sharable(problem, target);
  const add = (axes: readonly number[], shared: Sharing | undefined, price: number | undefined) => {
    if (price !== undefined) ways.push({ value: { shared, axes: takenBy(shared, axes) }, price });
  };
  for (const question of questions) {
    const { axes } = question;
    for (let count = axes.length; count > 1; count--)
      add(axes, { launches: 1, axes: count }, costInOne(count, question));
  }
  add([], undefined, 0);
  for (const question of questions)
    for (const { value, price } of choicesInTwo(question, target, ({ near, far }) => near.price + far.price))
      add(question.axes, value, price);
  return ways;
}

/**
 * The choices for axes that share launches, whose last launch also transforms back, with the cost of both ways.
 * @param problem transforms no other axes
 * @param convolveSteps the target for the launch that also transforms back
 */
export function sharedConvolveChoices(
  problem: Problem,
  axes: readonly number[],
  target: Target,
  convolveSteps: Target,
): Priced<Sharing>[] {
  const question = sharable(problem, target).find((own) => own.axes.length === axes.length && own.axes[0] === axes[0]);
  if (!question) return [];
  const { lengths } = question;
  const ways: Priced<Sharing>[] = [];
  const cut = cutInnermost(lengths, { ...question, target: convolveSteps }, false);
  if (cut?.share) {
    const exposed = cut.blocks > 1 ? convolveSteps.calibration.exposure.cluster : 1;
    const alone = cutCost(cut, lengths, question.elements, convolveSteps);
    ways.push({ value: { launches: 1, axes: axes.length }, price: roundCost(alone, exposed) });
  }
  return [...ways, ...choicesInTwo(question, convolveSteps, ({ near, far }) => 2 * near.price + roundCost(far))];
}

/** The choices for two launches, with the second axis cut into a part for each. The larger part had better be the second launch's. */
function choicesInTwo(
  question: Sharable,
  last: Target,
  costOf: (launches: { readonly near: LaunchCost; readonly far: LaunchCost }) => number,
): Priced<Sharing>[] {
  const [, middle = 1] = question.lengths;
  const { middlePart } = question.target.calibration.uploads;
  const ways = divisors(middle).flatMap((n1) => {
    const costs = costsInTwo(n1, question, last);
    if (!costs) return [];
    const cost = costOf(costs);
    return [{ n1, cost, leaning: cost + middlePart * Math.log2(n1) }];
  });
  // The preference for small first parts only decides between these choices: the best one keeps its own cost.
  const best = ways.reduce((one, other) => (other.leaning < one.leaning ? other : one), ways[0]!);
  return ways.map(({ n1, leaning }) => ({
    value: { launches: 2, parts: [n1, middle / n1] },
    price: leaning + best.cost - best.leaning,
  }));
}

function takenBy(shared: Sharing | undefined, axes: readonly number[]): readonly number[] {
  if (!shared) return [];
  return shared.launches === 1 ? axes.slice(0, shared.axes) : axes;
}

/** Two or three axes that may share launches. */
interface Sharable extends Pick<Problem, 'placement'> {
  readonly axes: readonly number[];
  /** The number of points along each axis; for an axis of reals, the number of pairs. */
  readonly lengths: readonly number[];
  /** The number of elements that lie side by side before the first axis. */
  readonly neighbours: number;
  /** Whether the first axis has reals. */
  readonly real: boolean;
  /** The number of elements of the tensor. */
  readonly elements: number;
  /** Whether bins may stay where launches leave them. */
  readonly unordered: boolean;
  readonly target: Target;
}

/** The first transformed axes, if they may share launches; for a real problem also the axes after the first one, as a second choice. */
function sharable(problem: Problem, target: Target): Sharable[] {
  const { tuning = {} } = target;
  // Uploads or groups that the tuning asks for would be lost in shared launches.
  if (!mayFuse(target) || isR2r(problem)) return [];
  if (tuning.uploadSwitch || tuning.considerAllAxesStrided || tuning.groupedBatch) return [];
  if (tuning.performBandwidthBoost !== undefined) return [];
  const complex = complexPart(problem);
  const of = (problem: Problem, real: boolean): Sharable[] => {
    const { size, placement, leftBatches } = problem;
    const axes = passedAxes(problem, real, target);
    if (axes.length < 2) return [];
    const neighbours = size.slice(0, axes[0]).reduce((a, b) => a * b, leftBatches);
    const lengths = axes.map((axis) => size[axis]!);
    const { unordered } = complex;
    const elements = tensorShape(problem, 'input').reduce((a, b) => a * b, 1);
    const found = { axes, lengths, neighbours, real, unordered, elements, placement, target };
    return [found];
  };
  const half = problem.size[0]! / 2;
  const halved = isReal(problem) && Number.isInteger(half) && half > 1 && !isPadded(half, target);
  return [...(halved ? of(asComplex(problem, half), true) : []), ...of(complex, false)];
}

/** The first axes that are transformed by passes alone, three at the most. */
function passedAxes(problem: Problem, real: boolean, target: Target): readonly number[] {
  const { size, omit } = problem;
  const all = size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis])).slice(0, 3);
  const before = (axis: number) => size.slice(0, axis).reduce((a, b) => a * b, problem.leftBatches);
  const { run } = target.capacity;
  // If memory runs along the first axis and other axes lie in between, the launch has to read whole runs.
  const isApart = (axis: number, n: number) => {
    const last = n > 0 ? before(all[n - 1]! + 1) : 0;
    return n > 0 && before(all[0]!) === 1 && before(axis) !== last && last % run !== 0;
  };
  const first = all.findIndex(
    (axis, n) => isApart(axis, n) || (!(real && axis === 0) && isConvolved(problem, axis, target)),
  );
  return first < 0 ? all : all.slice(0, first);
}

/** The axes that may share launches and have no scheme of their own. */
function axesWithoutScheme(questions: readonly Sharable[], schemes: Splits['axes']): Sharable | undefined {
  return questions.find(({ axes }) => schemes[axes[0]!] === null);
}

/** The choice that splits make for axes that share launches. @throws RangeError where the axes cannot share them so */
export function checkSharedAxes({ shared, axes }: Splits, problem: Problem, target: Target): SharedChoice {
  if (shared === undefined) return { shared, axes: [] };
  const question = axesWithoutScheme(sharable(problem, target), axes);
  if (question && fitsSharing(shared, question)) return { shared, axes: takenBy(shared, question.axes) };
  const points = question ? ` of ${show(question.lengths)} points` : '';
  throw new RangeError(`axes${points} do not share launches as ${show(shared)}`);
}

function fitsSharing(given: Sharing, question: Sharable): boolean {
  const { lengths } = question;
  if (given.launches === 1) {
    const some = Number.isInteger(given.axes) && given.axes >= 2 && given.axes <= lengths.length;
    return some && costInOne(given.axes, question) !== undefined;
  }
  if (given.launches !== 2 || !Array.isArray(given.parts)) return false;
  const [n1, n2] = given.parts;
  const cuts = given.parts.length === 2 && [n1, n2].every(Number.isSafeInteger) && n1 * n2 === lengths[1];
  return cuts && costsInTwo(n1, question, question.target) !== undefined;
}

/** Axes of a problem; the problem is complex along all of them, except for reals along the first axis on one side, if any. */
interface Shared {
  readonly problem: Problem;
  readonly axes: readonly number[];
  readonly side: Side | undefined;
}

function axesInOneLaunch(shared: Shared): LeafNode {
  const { axes, problem } = shared;
  const [, ...more] = axes.map((axis) => sameDimensions(problem)[axis + 1]!);
  return innermost(shared, { title: `axes ${axes.join(' and ')}`, more, batch: othersOf(shared) });
}

/** The launch that transforms the first axis, with others or parts of them. */
function innermost(
  { problem, axes, side }: Shared,
  { title, more, batch }: Pick<LeafNode, 'title' | 'batch'> & { readonly more: readonly Dimension[] },
): LeafNode {
  const tensor = tensorShape(problem, 'input');
  const place = { title, more, batch, tensor };
  if (side) return { ...leafNode({ ...place, axis: halvedAxis(problem, side) }), ...realEnds(problem, side) };
  return leafNode({ ...place, axis: sameDimensions(problem)[axes[0]! + 1]! });
}

/** All dimensions, other than these axes, that have more than one element. */
function othersOf({ problem, axes }: Shared): Dimension[] {
  return sameDimensions(problem).filter(({ count }, d) => count > 1 && !axes.includes(d - 1));
}

/** Whether one launch takes an axis of columns, if need be in parts of runs. */
function fits(n: number, target: Target): boolean {
  const { run, room } = target.capacity;
  const parts = Math.min(target.calibration.columns.parts.strided, run);
  return n <= Math.min(room, Math.floor(room / run) * parts) || cutAxis(n, run, target) !== undefined;
}

/** The cost of one launch for the first axes together; undefined where they do not fit. */
function costInOne(count: number, question: Sharable): number | undefined {
  const { lengths, elements, target } = question;
  const axes = lengths.slice(0, count);
  const cut = cutInnermost(axes, question, false);
  return cut?.share ? cutCost(cut, axes, elements, target).price : undefined;
}

/**
 * The first axes as the tile of one launch.
 * @param split whether the last length is a part of an axis
 */
function cutInnermost(
  lengths: readonly number[],
  { neighbours, real, target }: Sharable,
  split: boolean,
): (Cut & { readonly tile?: number }) | undefined {
  const own = boosted(real ? withoutClusters(target) : target, lengths[0]!, split);
  const tile = [...lengths].reverse();
  return neighbours === 1 ? cutAxes(tile, own) : cutColumns(tile, neighbours, own);
}

/**
 * The costs of two launches, where the first one takes `n1` points of the second axis; undefined where they do not fit.
 * @param last the target for the second launch
 */
function costsInTwo(n1: number, question: Sharable, last: Target) {
  const { lengths, neighbours, real, unordered, elements, target, placement } = question;
  const [inner, middle, outer] = lengths as [number, number, number | undefined];
  const { run } = target.capacity;
  const n2 = middle / n1;
  // The cut axis is reordered on the way, which takes a temp buffer in place; three launches do without one.
  if (placement === 'in-place' && !unordered && !staysCached(elements, target)) return undefined;
  // Both launches move whole runs. The columns of the second launch are the first axis and the bins of the first launch.
  const columns = neighbours * (real ? inner + 1 : inner) * n1;
  if (n1 === 1 || n2 === 1 || columns % run !== 0) return undefined;
  const one = cutInnermost([inner, n1], question, true);
  if (!one) return undefined;
  const split = boosted(last, n2, true);
  const near = cutCost(one, [inner, n1], elements, target);
  if (!outer) {
    return fits(n2, split) ? { near, far: uploadCost(n2, columns, false, elements, split) } : undefined;
  }
  const other = cutColumns([outer, n2], columns, split);
  return other?.share ? { near, far: cutCost(other, [n2, outer], elements, split) } : undefined;
}

/**
 * Two launches, with the middle axis cut by `reordering`, or by `leaving` where bins may stay: one part goes with the inner axis, the other one
 * with the outer axis.
 * @param reversed whether the launches run in the opposite order, as where reals are written, or bins have stayed where launches left them
 */
function inTwo(shared: Shared, factors: readonly [number, number], reversed: boolean): BranchNode {
  const { problem, axes, side } = shared;
  const dimensions = sameDimensions(side ? complexPart(problem) : problem);
  const [inner, middle, outer] = axes.map((axis) => dimensions[axis + 1]) as [Dimension, Dimension, Dimension?];
  const name = (launch: number) => `axes ${axes.join(', ')}, launch ${launch} of 2`;
  const cut = (problem.unordered ? leaving : reordering)(middle.input.dimension, factors);
  const [part, rows] = [cut.part, cut.rows].map((one) =>
    reversed ? { ...one, input: one.output, output: one.input } : one,
  ) as [Dimension, Dimension];
  const others = othersOf(shared);
  const outers = outer ? [outer] : [];
  const tensor = dimensions.map(({ count }) => count);
  const near = innermost(shared, { title: name(reversed ? 2 : 1), more: [part], batch: [rows, ...outers, ...others] });
  // Exponents of reals have the forward sign in both directions.
  const conjugated = side && reversed ? { conjugated: true as const } : {};
  const twiddled = { on: reversed ? ('input' as const) : ('output' as const), ...conjugated };
  const children: LeafNode[] = [
    { ...near, twiddle: { order: middle.count, ...twiddled, axis: 1 } },
    leafNode({
      ...{ title: name(reversed ? 1 : 2), axis: cut.rest, more: outers },
      ...{ batch: [inner, cut.bins, ...others], tensor },
    }),
  ];
  if (reversed) children.reverse();
  const { length, outputLength } = { length: children[0]!.length, outputLength: children[1]!.outputLength };
  return {
    ...{ scheme: 'four-step', title: `axes ${axes.join(', ')}`, axisOf: axes[1]!, parts: factors },
    ...(problem.unordered ? { left: 'complex' as const } : {}),
    ...{ length, outputLength, children },
  };
}
