/** The launches that make the spectrum of a convolution's kernel, in the order of the signal's bins. */
import { concat, type Layout, pad, slice, wholeLine } from '../layout/index.ts';
import { blocksOf, type Problem, tensorShape } from '../problem/index.ts';
import { kernelColumns } from './convolution-columns.ts';
import { axesToTransform, type ConvolutionSplit, complexOf, type Period } from './convolution-split.ts';
import type { Target } from './device/target.ts';
import { schemeLike } from './kernel-memory.ts';
import { axisPlace, sameDimensions } from './schemes/axis.ts';
import { schemeNode } from './schemes/complex-axis.ts';
import { isReal } from './schemes/complex-part.ts';
import { complexSchemes } from './schemes/complex-schemes.ts';
import { type AxisPlace, longAxis } from './schemes/four-step.ts';
import { realAxis, realSchemes } from './schemes/r2c.ts';
import {
  type BranchNode,
  type ElementFactors,
  type LeafNode,
  type LineView,
  leafNode,
  leavesOf,
  mapLeaves,
  type PlanNode,
} from './tree/node.ts';

/** The tree that prepares a kernel. @param bins the shape of the spectrum's tensor */
export function preparingTree(
  given: Problem,
  split: ConvolutionSplit,
  bins: readonly number[],
  target: Target,
): BranchNode {
  const { real, period, columns } = split;
  const complex = complexOf(given, real);
  const before = tensorShape(complex, 'input');
  const axes = axesToTransform(complex);
  const children = axes
    .filter((axis) => !period || axis !== split.axes[0])
    .map((axis) => axisThrough(given, axis, split, target));
  if (columns) children.push(banded(kernelColumns(given, columns), given, 0, { order: 'left', hermitian: true }));
  else if (isReal(given) && !real) children.unshift(realThrough(given, target));
  if (period) {
    const axis = split.axes[0]!;
    const node = longAxis(axisPlace(complex, 'forward', axis, target), period.length, period.uploads);
    const first = leavesOf(node)[0];
    const read = mapLeaves(node, (leaf) => (leaf === first ? circular(leaf, split, period, before) : leaf));
    children.push(banded(read, given, axis, { order: 'left', hermitian: real }));
  } else if (children.length === 0) {
    const batch = sameDimensions(complex).filter(({ count }) => count > 1);
    const point = { dimension: 1, stride: 1 };
    const copy = leafNode({ title: 'copy', axis: { count: 1, input: point, output: point }, batch, tensor: before });
    children.push(real ? { ...copy, real: { side: 'input', by: 'zeros' } } : copy);
  }
  const length = tensorShape(given, 'input');
  return { scheme: 'axes', title: 'prepareKernel', length, outputLength: bins, children };
}

/** The node of the axis of reals. */
function realThrough(given: Problem, target: Target): PlanNode {
  // Merged lines are switched off: the second line of a pair has no factors.
  const unmerged = { ...given, tuning: { ...given.tuning, mergeSequences: undefined } };
  const whole = blocksOf(given, 'output')[0] ? unmerged : given;
  const scheme = realSchemes(whole, target, 1)[0]!.value;
  const node = realAxis(whole, 'forward', target, scheme);
  return banded(node, given, 0, { order: 'natural', hermitian: scheme.by === 'columns' });
}

/** The launches of an axis at its own length, with bins in the order of the signal's. */
function axisThrough(given: Problem, axis: number, split: ConvolutionSplit, target: Target): PlanNode {
  const likewise = schemeLike(given, axis, split);
  const problem = { ...complexOf(given, split.real), unordered: likewise !== undefined };
  const place = axisPlace(problem, 'forward', axis, target);
  const scheme = likewise ?? complexSchemes(problem, axis, target, 1)[0]!.value;
  return banded(schemeNode(problem, axis, target, place, scheme), given, axis, { order: place.order });
}

/**
 * The launches with zeros for the bins in a block of the frequency side, as products with them are zero.
 * @param order `left`: bins are where the uploads of the axis have put them
 * @param hermitian the last launch computes the bins of reals up to the half, and the others are their conjugates
 */
function banded(
  node: PlanNode,
  given: Problem,
  axis: number,
  { order, hermitian = false }: { readonly order: AxisPlace['order']; readonly hermitian?: boolean },
): PlanNode {
  const block = blocksOf(given, 'output')[axis];
  if (!block) return node;
  const last = leavesOf(node).at(-1)!;
  const count = hermitian ? given.size[axis]! : last.outputLength[axis + 1]!;
  // Passes of a convolution read factors for all of its points, though only the first points are written.
  const factors = Math.max(count, last.convolved?.length ?? 0);
  const parts = order === 'left' && node.scheme === 'four-step' ? node.parts! : undefined;
  const { from, to } = block;
  const blocks = hermitian
    ? [block, { from: Math.max(from, count - to + 1), to: count - Math.max(1, from) + 1 }]
    : [block];
  const bands = blocks.map(
    (own): ElementFactors => ({
      kind: 'band',
      modulus: factors,
      along: axis + 1,
      count: factors,
      ...own,
      ...(parts ? { order: parts } : {}),
    }),
  );
  return mapLeaves(node, (leaf) => {
    if (leaf !== last) return leaf;
    const { input, output } = leaf.factors;
    return { ...leaf, factors: { input, output: [...output, ...bands] } };
  });
}

/** The first launch of an axis, which reads a kernel that is extended around the period of the signal. */
function circular(
  leaf: LeafNode,
  { axes, after, real }: ConvolutionSplit,
  { own, length }: Period,
  tensor: readonly number[],
): LeafNode {
  const view = (): LineView => ({ dimension: axes[0]! + 1, line: circularExtension(own, length, after) });
  return {
    ...leaf,
    ...(real ? { real: { side: 'input', by: 'zeros' } as const } : {}),
    ...(length > own ? { lines: { input: [view()], output: [] } } : {}),
    length: tensor,
  };
}

/**
 * The circular extension of a kernel to a period: all taps but one appear twice. Sums over k − n need all taps but the first one at the end of
 * the period; sums over k + n need all but the last one right behind the kernel.
 */
function circularExtension(taps: number, period: number, after: boolean): Layout {
  const kernel = wholeLine(taps);
  if (after) return pad(concat(0, kernel, slice(kernel, 0, 0, taps - 1)), 0, 0, period - 2 * taps + 1);
  return concat(0, pad(kernel, 0, 0, period - 2 * taps + 1), slice(kernel, 0, 1, taps - 1));
}
