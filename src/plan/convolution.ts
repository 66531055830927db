/**
 * Convolutions (VkFFT guide 2.5.8 and 4.3.9; rocFFT Bluestein design, "fast convolution"). The signal's axes are transformed one after another;
 * one launch does the last upload of the last axis, the product with the kernel's spectrum, and the first upload of the inverse; then the other
 * axes are transformed back. Bins stay in the order of the uploads in between, so the kernel's bins are prepared in that order.
 *
 * An axis whose length has primes without a radix is convolved with a longer period: the signal fills the beginning of the period, and the
 * kernel is extended around it. Products that are divided by their magnitude would change in a longer period: then all axes are transformed at
 * their own length, and the product is a launch by itself.
 */

import { pad, wholeLine } from '../layout/index.ts';
import { powerFactor, scaleProduct } from '../numeric/scale-factor.ts';
import {
  adjointConvolutionOf,
  channelsOf,
  convolvingCallbacks,
  type Direction,
  defaultStrides,
  keptBins,
  kernelCounts,
  kernelsOfEach,
  type Problem,
  packedStrides,
  resultSide,
  type Sides,
  type Storage,
  splitAxisOf,
  tensorShape,
} from '../problem/index.ts';
import { columnsThrough } from './convolution-columns.ts';
import { type ConvolutionSplit, complexOf, type Period, restOf, splitConvolution } from './convolution-split.ts';
import type { Target } from './device/target.ts';
import { type KernelMemory, kernelMemory, type MiddleQuestion } from './kernel-memory.ts';
import { withKernelProduct } from './kernel-product.ts';
import { preparingTree } from './kernel-spectrum.ts';
import { type DirectionPlan, planDirection, planLaunches } from './planner.ts';
import { axisPlace, sameDimensions } from './schemes/axis.ts';
import { isReal } from './schemes/complex-part.ts';
import { longAxis } from './schemes/four-step.ts';
import { sharedNode } from './schemes/shared-axes.ts';
import type { Sharing } from './schemes/splits.ts';
import {
  type BranchNode,
  type ElementFactors,
  type KernelProduct,
  type LeafNode,
  type LineView,
  leafNode,
  leavesOf,
  type PlanNode,
} from './tree/node.ts';
import { withConvolutionBlocks } from './tree/zero-padding.ts';
import { nodesOfAxes } from './tree.ts';

export interface ConvolutionPlan {
  readonly convolve: DirectionPlan;
  readonly prepare: DirectionPlan;
  /** The spectrum of a kernel: its complex numbers, their format in memory, and a key that tells spectra of different plans apart. */
  readonly kernel: { readonly elements: number; readonly storage: Storage; readonly key: string | undefined };
}

/**
 * A problem whose input side is `h`, packed: its coordinates are the kernel's entries, its batches the kernels. For a spectral layer, it has the
 * kept bins as complex numbers.
 */
export function kernelProblem(convolved: Problem): Problem {
  // The adjoint of a layer takes the matrices of the layer.
  const problem = (channelsOf(convolved) && adjointConvolutionOf(convolved).like) || convolved;
  const { size, transform, layout } = problem;
  const shape: Problem = {
    ...problem,
    ...(channelsOf(problem)
      ? {
          size: keptBins(problem),
          transform: transform.map(() => 'c2c' as const),
          layout: transform[0] === 'r2c' ? { input: 'interleaved', output: 'interleaved' } : layout,
        }
      : {}),
    leftBatches: 1,
    ...kernelCounts(problem),
    placement: 'out-of-place',
    preserveInput: true,
    offsets: { input: 0, output: 0 },
    scale: { forward: 1, inverse: 1 },
    zeroPadding: { space: size.map(() => null), frequency: problem.zeroPadding.frequency },
    convolution: null,
    callbacks: null,
  };
  return { ...shape, strides: { input: defaultStrides(shape, 'input'), output: defaultStrides(shape, 'output') } };
}

/** A problem whose input side is the result, which lies where the output side would be, or, for reals, as the signal lies. */
export function resultProblem(problem: Problem): Problem {
  const kernels = kernelsOfEach(problem.convolution!);
  const side = resultSide(problem);
  const own = <T>({ [side]: one }: Sides<T>): Sides<T> => ({ input: one, output: one });
  const { strides, offsets, layout, batches } = problem;
  const whole = adjointConvolutionOf(problem).result;
  if (whole) {
    const both = <T>(one: T): Sides<T> => ({ input: one, output: one });
    const none = problem.size.map(() => null);
    return {
      ...{ ...problem, batches: batches * kernels, strides: both(whole.strides), layout: both(whole.layout) },
      ...{ offsets: both(0), zeroPadding: { space: none, frequency: none } },
    };
  }
  const result: Problem = { ...problem, batches: batches * kernels, layout: own(layout), callbacks: null };
  const channels = channelsOf(problem);
  if (channels) {
    const placed = { strides: own(strides), offsets: own(offsets) };
    // In place, a result of reals takes no more memory than the signal, since no room for bins is needed.
    return { ...result, ...placed, coordinates: channels.out, placement: 'out-of-place', convolution: null };
  }
  return isReal(problem) ? result : { ...result, strides: own(strides), offsets: own(offsets) };
}

/** The plan of a convolution. @throws FftError `unsupported-length`; RangeError where nothing fits the profile */
export function planConvolution(whole: Problem, target: Target, throughWork: boolean): ConvolutionPlan {
  const problem: Problem = { ...whole, callbacks: null };
  if (splitAxisOf(problem, 'input') || splitAxisOf(problem, 'output'))
    throw new RangeError('A convolution reads and writes no axis in blocks.');
  const given = kernelProblem(problem);
  const result = resultProblem(problem);
  const { crossPower, kernelSpectrum } = problem.convolution!;
  const ofUser = kernelSpectrum === 'user';
  // An adjoint takes kernels in the order in which the original plan prepares them, so it has the same split.
  const split = splitConvolution(adjointConvolutionOf(problem).like ?? problem, target);
  const memory = kernelMemory(problem, given, split);
  const { period } = split;
  const transformed = problem.size.reduce((all, n, axis) => all * (problem.omit[axis] ? 1 : n), 1);
  const points = period ? (transformed / period.own) * period.length : transformed;
  const mean = powerFactor(points, -1);
  const convolve = planLaunches({
    name: 'convolve',
    problem: { ...problem, strides: { input: problem.strides.input, output: result.strides.input } },
    tree: convolvingTree(problem, split, memory, target),
    target,
    throughWork,
    callbacks: convolvingCallbacks(whole),
    written: {
      layout: isReal(problem) ? 'real' : result.layout.input,
      offset: result.offsets.input,
      shape: tensorShape(result, 'input'),
    },
    // A factor in the kernel is lost in products of magnitude 1, and the user's kernel has none.
    scale: crossPower || ofUser ? scaleProduct(problem.scale.forward, mean) : problem.scale.forward,
  });
  const elements = memory.lengths.reduce((a, b) => a * b, 1);
  if (ofUser) {
    const prepare = planSpectrum(given, target);
    return { convolve, prepare, kernel: { elements, storage: problem.edgeStorage, key: undefined } };
  }
  const bins = memory.lengths;
  const prepare = planLaunches({
    name: 'prepareKernel',
    problem: { ...given, strides: { input: given.strides.input, output: packedStrides(bins) } },
    tree: preparingTree(given, split, bins, target),
    target,
    throughWork: false,
    written: { layout: 'interleaved', offset: 0, shape: bins, storage: problem.precision },
    scale: crossPower ? 1 : mean,
  });
  const key = JSON.stringify([preparedKernelFacts(problem), problem.precision, leavesOf(prepare.tree)]);
  return { convolve, prepare, kernel: { elements, storage: problem.precision, key } };
}

/** The facts that a prepared kernel depends on. It may be conjugated by the plan, and be used as one batch's kernel. */
function preparedKernelFacts(problem: Problem): unknown {
  const { matrix, symmetric, crossPower } = problem.convolution!;
  return { ...{ matrix, symmetric, crossPower }, ...kernelCounts(problem) };
}

/** The plan for a kernel's spectrum in the user's order: a plain transform. */
function planSpectrum(given: Problem, target: Target): DirectionPlan {
  const { layout, zeroPadding } = given;
  const plain: Problem = {
    ...given,
    layout: { input: layout.input, output: 'interleaved' },
    zeroPadding: { space: zeroPadding.space, frequency: given.size.map(() => null) },
  };
  return { ...planDirection(plain, 'forward', target, false), direction: 'prepareKernel' };
}

function convolvingTree(problem: Problem, split: ConvolutionSplit, kernel: KernelMemory, target: Target): BranchNode {
  const kernels = kernelsOfEach(problem.convolution!);
  const returning = { ...problem, batches: problem.batches * kernels };
  const forward = nodesOfAxes(restOf(problem, split), 'forward', target, split.splits);
  const inverse = nodesOfAxes(restOf(returning, split), 'inverse', target, split.splits).map(inverseLaunches);
  const question: MiddleQuestion = { problem, returning, split, kernel, target };
  // Reals are read first and written last.
  const outside = !split.parts || !isReal(problem) || !split.axes.includes(0);
  const children = outside
    ? [...forward, middleNode(question), ...inverse]
    : [middleNode(question, { input: forward, output: inverse })];
  const [length, outputLength] = [tensorShape(problem, 'input'), tensorShape(returning, 'input')];
  const tree: BranchNode = { scheme: 'axes', title: 'convolve', length, outputLength, children };
  const middle = leavesOf(tree).findIndex(({ product }) => product && 'strides' in product);
  return withConvolutionBlocks(tree, problem, middle, adjointConvolutionOf(problem).result !== undefined);
}

/** The launches of the middle. @param between nodes of other axes: before the last forward launch, and after the first inverse one */
function middleNode(
  question: MiddleQuestion,
  between: Sides<readonly PlanNode[]> = { input: [], output: [] },
): PlanNode {
  const { problem, returning, split } = question;
  const { axes, period, halves, columns } = split;
  if (halves) return halvesThrough(question);
  if (columns) return columnsThrough(question, columns);
  if (axes.length === 0) return productAlone(question);
  if (period) return periodThrough(question, period);
  const real = isReal(problem) && axes.includes(0);
  const node = (one: Problem, direction: Direction) => {
    const own = real ? { ...one, unordered: true } : complexOf(one, false);
    const { parts } = split;
    const sharing: Sharing = parts ? { launches: 2, parts } : { launches: 1, axes: axes.length };
    return leavesOf(sharedNode(own, direction, axes, real, sharing));
  };
  const forward = node(problem, 'forward');
  const inverse = node(returning, 'inverse');
  const all = joinedByProduct(question, forward, inverse);
  if (all.length === 1) return all[0]!;
  const [first, middle, last] = all as [LeafNode, LeafNode, LeafNode];
  const { length } = first;
  const { outputLength } = last;
  const children = [first, ...between.input, middle, ...between.output, last];
  return { scheme: 'convolution', title: `axes ${axes.join(', ')}`, length, outputLength, children };
}

/** Forward launches and inverse ones: the last forward launch and the first inverse one become one launch, with the product in between. */
function joinedByProduct(
  { problem, split, kernel }: MiddleQuestion,
  forward: readonly LeafNode[],
  inverse: readonly LeafNode[],
): LeafNode[] {
  const before = tensorShape(complexOf(problem, split.real), 'input');
  const middle = withKernelProduct(
    { ...forward.at(-1)!, outputLength: inverse[0]!.outputLength },
    problem.convolution!,
    kernel,
    before,
  );
  const named = (leaf: LeafNode, part: string): LeafNode => ({ ...leaf, title: `${leaf.title}, ${part}` });
  return [
    ...forward.slice(0, -1).map((leaf) => named(leaf, 'there')),
    named(middle, 'there and back'),
    ...inverse.slice(1).map((leaf) => named(inverseLaunches(leaf), 'back')),
  ];
}

/** The complex tensors before and after the middle. */
function tensorsOf({ problem, returning, split }: MiddleQuestion): Sides<number[]> {
  const [input, output] = [problem, returning].map((one) => tensorShape(complexOf(one, split.real), 'input'));
  return { input: input!, output: output! };
}

/** One axis by itself, at the length of its period. */
function periodThrough(question: MiddleQuestion, { own, length, uploads }: Period): PlanNode {
  const { problem, returning, split, target } = question;
  const axis = split.axes[0]!;
  const [forward, inverse] = [['forward', problem] as const, ['inverse', returning] as const].map(([direction, one]) =>
    leavesOf(longAxis(axisPlace(complexOf(one, split.real), direction, axis, target), length, uploads)),
  ) as [LeafNode[], LeafNode[]];
  const all = joinedByProduct(question, forward, inverse).map((leaf) =>
    uploads ? leaf : { ...leaf, convolved: { by: 'period' as const, length }, axis: { ...leaf.axis, count: own } },
  );
  const tensors = tensorsOf(question);
  const children = ended(all, split, tensors);
  if (children.length === 1) return children[0]!;
  const { input, output } = tensors;
  const title = `axis ${axis}`;
  return { scheme: 'convolution', title, axisOf: axis, length: input, outputLength: output, children };
}

/** A launch of the product alone. */
function productAlone(question: MiddleQuestion): PlanNode {
  const { problem, split, kernel } = question;
  const tensors = tensorsOf(question);
  const batch = sameDimensions(complexOf(problem, split.real)).filter(({ count }) => count > 1);
  const point = { dimension: 1, stride: 0 };
  const axis = { count: 1, input: point, output: point };
  const alone = leafNode({ title: 'product', axis, batch, tensor: tensors.input });
  const product = withKernelProduct(
    { ...alone, outputLength: tensors.output },
    problem.convolution!,
    kernel,
    tensors.input,
  );
  return ended([product], split, tensors)[0]!;
}

/** The only launch of an axis of reals, as pairs of reals, and of all other axes of the middle. */
function halvesThrough({ problem, returning, split, kernel }: MiddleQuestion): LeafNode {
  const [before, after] = [problem, returning].map((one) => tensorShape(one, 'input')) as [number[], number[]];
  const [, ...others] = split.axes;
  const two = { dimension: 1, stride: 2 };
  const dimensions = sameDimensions(problem);
  const leaf = leafNode({
    title: `${others.length > 0 ? `axes ${split.axes.join(' and ')}` : 'axis 0'}, there and back`,
    ...(others.length > 0 ? {} : { axisOf: 0 }),
    axis: { count: before[1]! / 2, input: two, output: two },
    more: others.map((axis) => dimensions[axis + 1]!),
    batch: dimensions.filter(({ count }, of) => count > 1 && !split.axes.includes(of - 1)),
    tensor: before,
  });
  const { product, ...own } = withKernelProduct({ ...leaf, outputLength: after }, problem.convolution!, kernel, before);
  return {
    ...own,
    product: { ...(product as KernelProduct), halved: 1 },
    exponents: 'forward',
    real: { side: 'both', by: 'halves', pairs: { along: 1, on: 'both' } },
  };
}

/** The ends of the middle: the first and the last launch of an axis read and write only its own points, without the rest of the period. */
function ended(
  all: readonly LeafNode[],
  { axes, period, real }: ConvolutionSplit,
  tensors: Sides<readonly number[]>,
): LeafNode[] {
  // A period in one launch is known to the launch itself.
  const longer = period?.uploads && period.length > period.own;
  const view: LineView[] = longer
    ? [{ dimension: axes[0]! + 1, line: pad(wholeLine(period.own), 0, 0, period.length - period.own) }]
    : [];
  return all.map((leaf, n) => {
    const [first, last] = [n === 0, n === all.length - 1];
    if (!first && !last) return leaf;
    return {
      ...leaf,
      ...(first ? { length: tensors.input } : {}),
      ...(last ? { outputLength: tensors.output } : {}),
      ...(longer ? { lines: { input: first ? view : [], output: last ? view : [] } } : {}),
      ...(real ? { real: { side: first && last ? 'both' : first ? 'input' : 'output', by: 'zeros' } as const } : {}),
    };
  });
}

/** The same launches with the other sign: those of the inverse transform. */
export function inverseLaunches<N extends PlanNode>(node: N): N {
  if (node.children.length > 0)
    return { ...node, children: (node.children as readonly PlanNode[]).map(inverseLaunches) };
  const { exponents, factors, ...leaf } = node as unknown as LeafNode;
  if (exponents === 'forward' || exponents === 'inverse') return node;
  const conjugated = (all: readonly ElementFactors[]) =>
    all.map(({ conjugated: was, ...own }): ElementFactors => (was ? own : { ...own, conjugated: true }));
  return {
    ...leaf,
    exponents: exponents === 'opposite' ? 'direction' : 'opposite',
    factors: { input: conjugated(factors.input), output: conjugated(factors.output) },
  } as unknown as N;
}
