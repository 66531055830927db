/** The sides of a plan: shape, memory and the order of bins. */

import { unorderedPosition } from '../../numeric/primes.ts';
import { positionInRows } from '../../plan/schemes/unordered-reals.ts';
import { type BranchNode, isLeaf } from '../../plan/tree/node.ts';
import { show } from '../../problem/errors.ts';
import { elementBytes, FftError, tensorShape, tensorSpan } from '../../problem/index.ts';
import type { PlanEnd } from './plan-programs.ts';

/** One side of a plan, for allocating arrays. */
export interface PlanSide {
  /**
   * Elements up to the last one, gaps and offset included: complex numbers, or reals on a side that holds reals. Each plane of planar data
   * has that many. In place, reals and bins share one array: `length` counts all of it in this side's elements.
   */
  readonly length: number;
  /** Bytes of an array of `length` elements. Planar data has two arrays of half that size. */
  readonly bytes: number;
  /** Elements of the tensor, fastest first: left batch, axes, coordinates, batches. */
  readonly shape: readonly number[];
  /**
   * The position of bin k along its axis: k itself, unless the plan is `unordered`.
   * @throws FftError `invalid-argument` when there is no such bin or axis.
   */
  order(k: number, axis?: number): number;
}

/**
 * One end of a plan as its users see it.
 * @param treeOf gives the plan's tree, which a plan from the cache has to plan first. Only unordered plans need it.
 */
export function planSide({ problem, side }: PlanEnd, treeOf: () => BranchNode): PlanSide {
  const length = tensorSpan(problem, side);
  const unordered = problem.unordered && side === 'output';
  const tree = unordered ? treeOf() : undefined;
  return Object.freeze({
    length,
    bytes: length * elementBytes(problem, side),
    shape: Object.freeze(tensorShape(problem, side)),
    order: (k: number, axis = 0) => {
      requireIndex(axis, problem.size.length, 'axis');
      requireIndex(k, tensorShape(problem, side)[axis + 1]!, `bin of axis ${axis}`);
      return tree ? binPosition(tree, axis, k) : k;
    },
  });
}

function requireIndex(value: number, count: number, what: string): void {
  if (Number.isInteger(value) && value >= 0 && value < count) return;
  throw new FftError('invalid-argument', `order was asked for ${what} ${show(value)}; there are 0 to ${count - 1}.`);
}

/** The place of bin k along an axis of a problem. @param tree of either direction */
export function binPosition({ children }: BranchNode, axis: number, k: number): number {
  const node = children.find((child) => child.axisOf === axis && !isLeaf(child)) as BranchNode | undefined;
  if (!node?.left) return k;
  return node.left === 'hermitian' ? positionInRows(k, node.parts!) : unorderedPosition(k, node.parts!);
}
