/** The parts of a candidate's price, for people: the search itself only keeps sums of prices. */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import type { Target } from './device/target.ts';
import { equivalentPasses, leastCost, tripCost } from './price/cost.ts';
import { complexPart } from './schemes/complex-part.ts';
import type { Splits } from './schemes/splits.ts';
import { type LeafNode, leavesOf } from './tree/node.ts';
import { planTree } from './tree.ts';

/** The parts of a price, in its unit; they add up to it. */
export interface PriceParts {
  /** The part that starts the launches. */
  readonly start: number;
  /** The part for one memory trip in each launch, at the full bandwidth. */
  readonly trips: number;
  /** The part for passes, if all multiprocessors are busy. */
  readonly passes: number;
  /**
   * The rest: idle multiprocessors, bandwidth that is not reached, imaginary parts that are zero, uneven uploads, a temp buffer. It is
   * negative where memory trips hide passes.
   */
  readonly rest: number;
}

/** The parts of a price. @param problem without callbacks @param price of the splits @returns the parts, and the launches of a direction */
export function pricePartsOf(
  problem: Problem,
  direction: Direction,
  target: Target,
  splits: Splits,
  price: number,
): { readonly launches: number; readonly parts: PriceParts } {
  const tree = planTree(problem, direction, target, splits);
  const leaves = leavesOf(tree);
  const elements = sizeOf(tensorShape(complexPart(problem), 'input'));
  const least = leastCost(elements, target);
  const points = sizeOf(tree.length) + sizeOf(tree.outputLength);
  const sum = { start: 0, trips: 0, passes: 0 };
  for (const leaf of leaves.filter(doesTransform)) {
    // A convolution in several launches has more points between them than the problem has.
    const longer = Math.max(1, (sizeOf(leaf.length) + sizeOf(leaf.outputLength)) / points);
    const padded = pointsOfPasses(leaf) / leaf.axis.count;
    sum.start += longer * padded * least.start;
    sum.trips += longer * least.trip;
    sum.passes += longer * padded * passesIn(leaf, target);
  }
  return { launches: leaves.length, parts: { ...sum, rest: price - sum.start - sum.trips - sum.passes } };
}

/** Whether a launch transforms; a copy has no price. */
function doesTransform({ axis, more, coordinates }: LeafNode): boolean {
  return axis.count > 1 || more.length > 0 || coordinates !== undefined;
}

function passesIn(leaf: LeafNode, target: Target): number {
  const { more, convolved, product } = leaf;
  const lengths = [pointsOfPasses(leaf), ...more.map(({ count }) => count)];
  const there = lengths.reduce((sum, length) => sum + equivalentPasses(length, target), 0);
  const ways = convolved || product ? 2 : 1;
  return (ways * there * tripCost(target)) / target.calibration.trip.passes;
}

/** The number of points in the passes along the axis of a launch. */
function pointsOfPasses({ axis, convolved }: LeafNode): number {
  return convolved?.length ?? axis.count;
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, count) => product * count, 1);
}
