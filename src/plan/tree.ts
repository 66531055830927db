/**
 * The splits of the axes → the plan tree: a node for each transformed axis, in one or several uploads, or for several axes that share launches.
 *
 * Axes other than the innermost are read in tiles of neighbouring columns, so no transposes are needed between them.
 */
import { type Direction, type Problem, tensorShape } from '../problem/index.ts';
import type { Target } from './device/target.ts';
import { axisPlace, sameDimensions } from './schemes/axis.ts';
import type { ComplexScheme, RealScheme } from './schemes/axis-scheme.ts';
import { schemeNode } from './schemes/complex-axis.ts';
import { complexPart, isR2r, isReal, sharesRows } from './schemes/complex-part.ts';
import { realAxis } from './schemes/r2c.ts';
import { copiedReals, r2rAxis } from './schemes/r2r/r2r.ts';
import { type SharedAxes, sharedAxes } from './schemes/shared-axes.ts';
import type { Splits } from './schemes/splits.ts';
import type { RowsMemory } from './schemes/unordered-reals.ts';
import { type BranchNode, type Dimension, isLeaf, leafNode, leavesOf, type PlanNode } from './tree/node.ts';
import { mayWrite } from './tree/shims.ts';

/** Wishes about the memory of a tree. */
export interface TreeWishes {
  /**
   * Whether a temp buffer should be avoided if possible: bins are reordered as they leave the input, and all later launches work in place.
   */
  readonly sparing?: boolean;
  /** The memory in which uploads of reals leave their bins in rows. */
  readonly rows?: RowsMemory;
}

/** The tree of one direction. */
export function planTree(
  problem: Problem,
  direction: Direction,
  target: Target,
  splits: Splits,
  wishes: TreeWishes = {},
): BranchNode {
  if (isR2r(problem)) return r2rTree(problem, direction, target, splits);
  const complex = complexPart(problem);
  const children = nodesOfAxes(problem, direction, target, splits, wishes);
  const copy = () => nothingToTransform(sameDimensions(complex), tensorShape(complex, 'input'));
  const [only, ...others] = children.flatMap(leavesOf);
  const end = direction === 'forward' ? children.at(-1) : children[0];
  if (!only) children.push(copy());
  else if (wishes.rows === 'copied' && leavesOf(end!).some(({ stays }) => stays))
    children.splice(direction === 'forward' ? children.length : 0, 0, copy());
  else if (isReal(problem) && others.length === 0 && problem.placement === 'in-place') {
    // A launch that may not work in one memory needs a second launch, and memory of its own for the data in between.
    const fits = mayWrite(only, { oneMemory: true, alike: sharesRows(problem) });
    if (!fits) children.splice(direction === 'forward' ? 1 : 0, 0, copy());
  }
  const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
  const length = tensorShape(problem, read);
  return { scheme: 'axes', title: direction, length, outputLength: tensorShape(problem, written), children };
}

/** The nodes, in order, of all axes of a problem that is complex on at least one side. */
export function nodesOfAxes(
  problem: Problem,
  direction: Direction,
  target: Target,
  splits: Splits,
  { sparing = false, rows }: TreeWishes = {},
): PlanNode[] {
  const shared = sharedAxes(problem, direction, target, splits);
  const children = complexAxes(complexPart(problem), direction, target, splits, sparing, shared);
  if (!isReal(problem)) return children;
  const real = shared?.axes.includes(0)
    ? shared.node
    : realAxis(problem, direction, target, splits.axes[0] as RealScheme, rows !== undefined);
  return direction === 'forward' ? [real, ...children] : [...children, real];
}

function r2rTree(problem: Problem, direction: Direction, target: Target, splits: Splits): BranchNode {
  const tensor = tensorShape(problem, 'input');
  const children = problem.size.flatMap((_, axis) =>
    problem.omit[axis] ? [] : [r2rAxis(problem, direction, axis, target, splits.axes[axis] as RealScheme)],
  );
  if (children.length === 0) children.push(copiedReals(problem));
  if (direction === 'inverse') children.reverse();
  return { scheme: 'axes', title: direction, length: tensor, outputLength: tensor, children };
}

/** The nodes, in order, of all axes between complex numbers. */
function complexAxes(
  problem: Problem,
  direction: Direction,
  target: Target,
  splits: Splits,
  sparing: boolean,
  shared: SharedAxes | undefined,
): PlanNode[] {
  const children: PlanNode[] = [];
  problem.size.forEach((length, axis) => {
    if (problem.omit[axis] || length === 1 || shared?.axes.includes(axis)) return;
    const place = axisPlace(problem, direction, axis, target, sparing);
    children.push(schemeNode(problem, axis, target, place, splits.axes[axis] as ComplexScheme));
  });
  if (direction === 'inverse') children.reverse();
  if (sparing) children.sort((a, b) => Number(isLeaf(a)) - Number(isLeaf(b)));
  // Shared launches come first in both directions: if they reorder, they do so as they leave the input, without memory of their own.
  if (shared && !problem.omit[shared.axes[0]!]) children.unshift(shared.node);
  return children;
}

/** The node of a problem with nothing to transform: a transform of length 1, which still scales and changes layouts. */
function nothingToTransform(dimensions: readonly Dimension[], tensor: readonly number[]): PlanNode {
  const batch = dimensions.filter(({ count }) => count > 1);
  const axis = { count: 1, input: { dimension: 1, stride: 1 }, output: { dimension: 1, stride: 1 } };
  return leafNode({ title: 'copy', axis, batch, tensor });
}
