/**
 * How axes are split → the plan tree: one node for each transformed axis, in one or several uploads, or for several that share
 * launches.
 *
 * Axes other than the innermost are read in tiles of neighbouring columns, so no transposes are needed between them.
 */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import { axisPlace, dimensionsOf } from './axis.ts';
import { complexPart, isReal, isSums, sharesRows } from './complex-part.ts';
import { convolvedPlace } from './convolved.ts';
import { axisNode, convolvedNode } from './four-step.ts';
import { type BranchNode, type Dimension, isLeaf, leavesOf, type PlanNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { realAxis } from './real.ts';
import { schemeOf } from './scheme.ts';
import { type SharedAxes, sharedAxes } from './shared-axes.ts';
import { mayWrite } from './shims.ts';
import type { Splits } from './splits.ts';
import { copiedReals, sumsAxis } from './sums.ts';

/**
 * The tree of one direction.
 * @param sparing whether it is to do without a temp buffer where that is possible: where bins are reordered on the way out of
 *   the input, everything after that works in place.
 */
export function planTree(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  splits: Splits,
  sparing = false,
): BranchNode {
  if (isSums(problem)) return sumsTree(problem, direction, profile, splits);
  const complex = complexPart(problem);
  const children = nodesOfAxes(problem, direction, profile, splits, sparing);
  const copy = () => copyNode(dimensionsOf(complex), tensorShape(complex, 'input'));
  const [only, ...others] = children.flatMap(leavesOf);
  if (!only) children.push(copy());
  else if (isReal(problem) && others.length === 0 && problem.placement === 'in-place') {
    // What may not be one launch in one memory takes another one, and what lies in between has memory of its own.
    const fits = mayWrite(only, { oneMemory: true, alike: sharesRows(problem) });
    if (!fits) children.splice(direction === 'forward' ? 1 : 0, 0, copy());
  }
  const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
  const length = tensorShape(problem, read);
  return { scheme: 'axes', title: direction, length, outputLength: tensorShape(problem, written), children };
}

/** The nodes of all axes of a problem that is complex on one side at least, in their order. */
export function nodesOfAxes(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  splits: Splits,
  sparing = false,
): PlanNode[] {
  const shared = sharedAxes(problem, direction, profile, splits);
  const children = complexAxes(complexPart(problem), direction, profile, splits, sparing, shared);
  if (!isReal(problem)) return children;
  const real = shared?.axes.includes(0) ? shared.node : realAxis(problem, direction, profile, splits.uploads[0]!);
  return direction === 'forward' ? [real, ...children] : [...children, real];
}

function sumsTree(problem: Problem, direction: Direction, profile: DeviceProfile, splits: Splits): BranchNode {
  const tensor = tensorShape(problem, 'input');
  const children = problem.size.flatMap((_, axis) =>
    problem.omit[axis] ? [] : [sumsAxis(problem, direction, axis, profile, splits.uploads[axis]!)],
  );
  if (children.length === 0) children.push(copiedReals(problem));
  if (direction === 'inverse') children.reverse();
  return { scheme: 'axes', title: direction, length: tensor, outputLength: tensor, children };
}

/** The nodes of all axes between complex numbers, in their order. */
function complexAxes(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  splits: Splits,
  sparing: boolean,
  shared: SharedAxes | undefined,
): PlanNode[] {
  const children: PlanNode[] = [];
  problem.size.forEach((length, axis) => {
    if (problem.omit[axis] || length === 1 || shared?.axes.includes(axis)) return;
    const place = axisPlace(problem, direction, axis, profile, sparing);
    const scheme = schemeOf(problem, axis, profile);
    if (scheme === 'passes') children.push(axisNode(place, splits.uploads[axis]!));
    else if (scheme === 'rader') children.push(convolvedNode(place, length - 1));
    else children.push(convolvedPlace(problem, axis, profile, place));
  });
  if (direction === 'inverse') children.reverse();
  if (sparing) children.sort((a, b) => Number(isLeaf(a)) - Number(isLeaf(b)));
  // First in both directions: where it reorders, that is on the way out of the input, and needs no memory of its own.
  if (shared && !problem.omit[shared.axes[0]!]) children.unshift(shared.node);
  return children;
}

/** Nothing to transform: the transform of length 1 of everything, which still scales and changes layouts. */
function copyNode(dimensions: readonly Dimension[], tensor: readonly number[]): PlanNode {
  const batch = dimensions.filter(({ count }) => count > 1);
  const axis = { count: 1, input: { of: 1, step: 1 }, output: { of: 1, step: 1 } };
  return { scheme: 'stockham', title: 'copy', axis, batch, length: tensor, outputLength: tensor, children: [] };
}
