/**
 * How axes are split → the plan tree: one node for each transformed axis, in one or several uploads, or for several that share
 * launches.
 *
 * Axes other than the innermost are read in tiles of neighbouring columns, so no transposes are needed between them.
 */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import { axisPlace, convolvedLength, dimensionsOf } from './axis.ts';
import { isConvolved } from './bluestein.ts';
import { axisNode, convolvedNode } from './four-step.ts';
import type { BranchNode, Dimension, PlanNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { sharedAxes } from './shared-axes.ts';
import type { Splits } from './splits.ts';

/** The tree of one direction. */
export function planTree(problem: Problem, direction: Direction, profile: DeviceProfile, splits: Splits): BranchNode {
  const tensor = tensorShape(problem, 'input');
  const children: PlanNode[] = [];
  const shared = sharedAxes(problem, profile, splits);
  problem.size.forEach((length, axis) => {
    if (problem.omit[axis] || length === 1 || shared?.axes.includes(axis)) return;
    const place = axisPlace(problem, direction, axis, profile);
    children.push(
      isConvolved(length)
        ? convolvedNode(place, convolvedLength(problem, axis, profile))
        : axisNode(place, splits.uploads[axis]!),
    );
  });
  if (children.length === 0 && !shared) children.push(copyNode(dimensionsOf(problem), tensor));
  if (direction === 'inverse') children.reverse();
  // First in both directions: where it reorders, that is on the way out of the input, and needs no memory of its own.
  if (shared) children.unshift(shared.node);
  return { scheme: 'axes', title: direction, length: tensor, outputLength: tensor, children };
}

/** Nothing to transform: the transform of length 1 of everything, which still scales and changes layouts. */
function copyNode(dimensions: readonly Dimension[], tensor: readonly number[]): PlanNode {
  const batch = dimensions.filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { scheme: 'stockham', title: 'copy', axis, batch, length: tensor, outputLength: tensor, children: [] };
}
