/** What a candidate's price is made of, for people: the search adds up prices of launches and keeps no more of them. */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import type { Target } from './device/target.ts';
import { leastCost, passesOf, tripCost } from './price/cost.ts';
import { complexPart } from './schemes/complex-part.ts';
import type { Splits } from './schemes/splits.ts';
import { type LeafNode, leavesOf } from './tree/node.ts';
import { planTree } from './tree.ts';

/** Parts of a price, in its unit; they add up to it. */
export interface PriceParts {
  /** To start the launches. */
  readonly start: number;
  /** To go to memory and back in each, at the full bandwidth. */
  readonly trips: number;
  /** What passes take that keep all multiprocessors busy. */
  readonly passes: number;
  /**
   * All else: multiprocessors that are idle and bandwidth that is not reached, imaginary parts that are zero, what uneven uploads or a temp
   * buffer cost. Less than nothing where trips hide passes.
   */
  readonly rest: number;
}

/** @param problem without callbacks. @param price of the splits. @returns parts, and the launches of a direction */
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
  for (const leaf of leaves.filter(transforms)) {
    // A convolution in several launches has more points between them than there are.
    const longer = Math.max(1, (sizeOf(leaf.length) + sizeOf(leaf.outputLength)) / points);
    const padded = pointsOf(leaf) / leaf.axis.count;
    sum.start += longer * padded * least.start;
    sum.trips += longer * least.trip;
    sum.passes += longer * padded * passesIn(leaf, target);
  }
  return { launches: leaves.length, parts: { ...sum, rest: price - sum.start - sum.trips - sum.passes } };
}

/** A copy has no price. */
function transforms({ axis, more = [], coordinates }: LeafNode): boolean {
  return axis.count > 1 || more.length > 0 || coordinates !== undefined;
}

function passesIn(leaf: LeafNode, target: Target): number {
  const { more = [], convolved, product } = leaf;
  const lengths = [pointsOf(leaf), ...more.map(({ count }) => count)];
  const there = lengths.reduce((sum, length) => sum + passesOf(length, target), 0);
  const ways = convolved || product ? 2 : 1;
  return (ways * there * tripCost(target)) / target.calibration.trip.passes;
}

/** Points that passes along the axis of a launch go through. */
function pointsOf({ axis, convolved }: LeafNode): number {
  return convolved?.length ?? axis.count;
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, count) => product * count, 1);
}
