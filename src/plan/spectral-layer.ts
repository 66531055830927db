/**
 * Spectral layers (Fourier neural operators, Li et al. 2021): transforms of all channels of the signal, of whose bins some are kept; a matrix
 * over channels at each kept bin; and inverse transforms, with zeros for all other bins.
 *
 * Only kept bins exist between launches. The launch that computes the bins of an axis cuts it, so that all later launches have fewer lines to
 * transform. The inverse transforms take the axes in the opposite order, and each launch that transforms an axis reads zeros for the bins that
 * were not kept.
 */

import { powerFactor, scaleProduct } from '../numeric/scale-factor.ts';
import {
  adjointConvolutionOf,
  convolvingCallbacks,
  type Direction,
  defaultStrides,
  hermitianLength,
  keptBins,
  type Problem,
  packedStrides,
  resultSide,
  type Sides,
  splitAxisOf,
  storageOfSide,
  tensorShape,
} from '../problem/index.ts';
import { rankSplits } from './candidates.ts';
import { type ConvolutionPlan, inverseLaunches, kernelProblem } from './convolution.ts';
import type { Target } from './device/target.ts';
import { holdsLayer } from './launch/layer.ts';
import { type ArrangedPlan, planLaunches } from './planner.ts';
import { type LayerSizes, paysInOneLaunch } from './price/layer.ts';
import { isReal } from './schemes/complex-part.ts';
import type { Stored } from './tree/leaf.ts';
import {
  type BranchNode,
  type Dimension,
  type LayerParts,
  type LeafNode,
  leafNode,
  leavesOf,
  mapLeaves,
  type PlanNode,
  type ZeroBlock,
} from './tree/node.ts';
import { withConvolutionBlocks } from './tree/zero-padding.ts';
import { nodesOfAxes } from './tree.ts';

/** The plan of a spectral layer. @throws FftError `unsupported-length`; RangeError where nothing fits the profile */
export function planSpectralLayer(whole: Problem, target: Target): ConvolutionPlan {
  const problem: Problem = { ...whole, callbacks: null };
  const { ends, result } = adjointConvolutionOf(problem);
  const { kernelSpectrum } = problem.convolution!;
  const ofUser = kernelSpectrum === 'user';
  const given = kernelProblem(problem);
  const bins = tensorShape(given, 'input');
  const mean = powerFactor(
    problem.size.reduce((all, n, axis) => all * (problem.omit[axis] ? 1 : n), 1),
    -1,
  );
  const storage = ofUser ? problem.edgeStorage : problem.precision;
  const { tree, order } = arrangedLayer(problem, storage as Stored, target);
  const signal = sideProblem(problem, 'input');
  const convolve = planLaunches({
    name: 'convolve',
    // The output has the strides of the result.
    problem: { ...signal, strides: { input: signal.strides.input, output: result?.strides ?? problem.strides.output } },
    ...{ tree, target },
    throughWork: false,
    callbacks: convolvingCallbacks(whole),
    written: writtenByLayer(problem),
    scale: ofUser || ends === 'scaled bins' ? scaleProduct(problem.scale.forward, mean) : problem.scale.forward,
    ...{ scratch: 'temps', order },
  });
  const prepare = planLaunches({
    name: 'prepareKernel',
    problem: { ...given, strides: { input: given.strides.input, output: packedStrides(bins, order) } },
    tree: copyTree(bins),
    target,
    throughWork: false,
    written: { layout: 'interleaved', offset: 0, shape: bins, storage: storage as Stored },
    scale: ofUser ? 1 : mean,
  });
  const elements = bins.reduce((a, b) => a * b, 1);
  // Matrices have the caller's order in every plan that has no other one between its launches.
  const key = JSON.stringify(['spectral layer', problem.precision, problem.size, problem.transform[0], bins, order]);
  return { convolve, prepare, kernel: { elements, storage, ...(ofUser ? { key: undefined } : { key }) } };
}

/** An order of the dimensions of a tensor in memory, fastest first; undefined: as they are numbered. */
type DimensionOrder = readonly number[] | undefined;

/** A layer as launches, and the order of dimensions between them and in prepared matrices. */
interface ArrangedLayer {
  readonly tree: BranchNode;
  readonly order: DimensionOrder;
}

/**
 * If the forward transform of the last of several axes, the product and the inverse transform are one launch, that axis lies fastest in temps, so
 * that the lines and matrices that a group takes are contiguous.
 */
function arrangedLayer(problem: Problem, storage: Stored, target: Target): ArrangedLayer {
  const { like, ends } = adjointConvolutionOf(problem);
  const forward = axisNodes(problem, 'forward', target);
  if (ends) return { tree: beginningOfLayer(problem, forward), order: undefined };
  const axes = { forward, inverse: axisNodes(problem, 'inverse', target) };
  const order = lastAxisFirst(problem);
  if (order) {
    const tree = layerTree(problem, axes, storage, target, order);
    // The adjoint of a layer takes its prepared matrices.
    const chosen = like ? arrangedLayer(like, storage, target).order : leavesOf(tree).some(({ layer }) => layer);
    if (chosen) return { tree, order };
  }
  return { tree: layerTree(problem, axes, storage, target, undefined), order: undefined };
}

/** The order with the last of several axes the fastest; undefined for one axis, and for matrices of the user's, which have another order. */
function lastAxisFirst({ size: { length: axes }, convolution }: Problem): DimensionOrder {
  if (axes === 1 || convolution!.kernelSpectrum === 'user') return undefined;
  return [axes, ...Array.from({ length: axes - 1 }, (_, n) => n + 1), 0, axes + 1, axes + 2];
}

/** The memory that a layer writes, or the beginning of one that ends with its bins. */
function writtenByLayer(problem: Problem): ArrangedPlan['written'] {
  if (adjointConvolutionOf(problem).ends)
    return { layout: 'interleaved', offset: 0, shape: keptShape(problem), storage: problem.precision as Stored };
  return {
    ...{ layout: isReal(problem) ? 'real' : problem.layout.output, offset: problem.offsets[resultSide(problem)] },
    ...{ shape: tensorShape(problem, 'output'), storage: storageOfSide(problem, 'output') as Stored },
  };
}

/** The shape of the kept bins of a signal. */
function keptShape(problem: Problem): number[] {
  return [problem.leftBatches, ...keptBins(problem), problem.coordinates, problem.batches];
}

/** A transform whose input side is the signal of a layer, or its result. */
function sideProblem(problem: Problem, side: 'input' | 'output'): Problem {
  const { channels } = problem.convolution!;
  const one: Problem = {
    ...problem,
    coordinates: side === 'input' ? channels!.in : channels!.out,
    layout: { input: problem.layout[side], output: 'interleaved' },
    offsets: { input: problem.offsets[side], output: 0 },
    placement: 'out-of-place',
    convolution: null,
  };
  return { ...one, strides: { input: problem.strides[side], output: defaultStrides(one, 'output') } };
}

/** The nodes of the forward and inverse transforms of all axes, before bins are cut. */
interface LayerAxes {
  readonly forward: readonly PlanNode[];
  readonly inverse: readonly PlanNode[];
}

function layerTree(
  problem: Problem,
  { forward, inverse }: LayerAxes,
  storage: Stored,
  target: Target,
  order: DimensionOrder,
): BranchNode {
  const mix = mixNode(problem, storage, order);
  const length = tensorShape(problem, 'input');
  const outputLength = tensorShape(problem, 'output');
  const tree: BranchNode = {
    ...{ scheme: 'axes', title: 'convolve', length, outputLength },
    // A launch that computes the bins of an axis cuts it; on the way back, the axis that was cut last is restored first.
    children: [...cutForward(problem, forward), mix, ...cutInverse(problem, inverse)],
  };
  const middle = leavesOf(tree).findIndex((leaf) => leaf.mix !== undefined);
  const several = withConvolutionBlocks(tree, problem, middle, false);
  if (!order) return problem.size.length > 1 ? several : (layerInOneLaunch(several, problem, target) ?? several);
  const walked = mapLeaves(several, (leaf) => alongFirst(leaf, order[0]!));
  return layerInOneLaunch(walked, problem, target) ?? walked;
}

/** The launches of a layer before its product. */
function beginningOfLayer(problem: Problem, forward: readonly PlanNode[]): BranchNode {
  const tree: BranchNode = {
    ...{ scheme: 'axes', title: 'bins', length: tensorShape(problem, 'input'), outputLength: keptShape(problem) },
    children: cutForward(problem, forward),
  };
  return withConvolutionBlocks(tree, problem, leavesOf(tree).length, true);
}

/** The launch with its lines counted along a dimension first, which has neighbours on one side. */
function alongFirst(leaf: LeafNode, dimension: number): LeafNode {
  const { batch, twiddle, outerTwiddle, real } = leaf;
  const first = batch.find(({ input }) => input.dimension === dimension);
  const isFixed = twiddle || outerTwiddle || (real?.pairs && real.pairs.along !== leaf.axis.input.dimension);
  return !first || isFixed ? leaf : { ...leaf, batch: [first, ...batch.filter((one) => one !== first)] };
}

/**
 * The same layer with one launch for the forward transform of the last axis, the product and the inverse transform of that axis, if a group holds the
 * lines of all channels of a batch at one bin of the other axes, and that is cheaper.
 */
function layerInOneLaunch(several: BranchNode, problem: Problem, target: Target): BranchNode | undefined {
  const isWhole = !splitAxisOf(problem, 'input') && !splitAxisOf(problem, 'output');
  const axes = problem.size.length;
  // The lines of left batches are in pieces in the caller's memory.
  const inPieces = axes === 1 && problem.leftBatches > 1;
  const middle = several.children.findIndex((node) => node.children.length === 0 && 'mix' in node);
  const nodes = several.children.slice(Math.max(0, middle - 1), middle + 2);
  if (!isWhole || inPieces || nodes.length !== 3 || nodes.some(({ children }) => children.length > 0)) return undefined;
  const [first, product, last] = nodes as unknown as readonly [LeafNode, LeafNode, LeafNode];
  const others = [...Array.from({ length: axes - 1 }, (_, n) => n + 1), 0, axes + 2];
  const along = (dimensions: readonly number[]) =>
    dimensions.map((dimension) => alongDimension(product.length[dimension]!, dimension));
  const mix: LeafNode = { ...product, batch: along([axes, ...others]) };
  const [forward, inverse] = [first, last].map((leaf) => byChannels(leaf, axes, mix.batch.slice(1)));
  if (!forward || !inverse || !holdsLayer({ forward, mix, inverse }, target)) return undefined;
  if (!paysInOneLaunch(sizesOf({ forward, mix, inverse }), target)) return undefined;
  const both = <T>(of: (leaf: LeafNode) => Sides<T>): Sides<T> => ({
    input: of(forward).input,
    output: of(inverse).output,
  });
  const real = forward.real && { ...forward.real, side: 'both' as const };
  const one: LeafNode = {
    ...forward,
    title: `axis ${axes - 1}, channels, there and back`,
    ...{ outputLength: inverse.outputLength, times: 1, layer: { forward, mix, inverse } },
    ...{ factors: both((leaf) => leaf.factors), lines: both((leaf) => leaf.lines), zeros: both((leaf) => leaf.zeros) },
    ...(real ? { real } : {}),
  };
  const { children } = several;
  return { ...several, children: [...children.slice(0, middle - 1), one, ...children.slice(middle + 2)] };
}

/** What the price of a layer depends on. */
function sizesOf({ forward, mix, inverse }: LayerParts): LayerSizes {
  // Reals of a line are split from half as many complex numbers, which takes as long as if all were complex.
  const lines = ({ axis, batch, convolved, real }: LeafNode) => ({
    points: (real?.by === 'halves' ? 2 : 1) * (convolved?.length ?? axis.count),
    count: batch[0]!.count,
  });
  const [bins, ...others] = mix.batch.map(({ count }) => count) as [number, ...number[]];
  const positions = others.slice(0, -1).reduce((a, b) => a * b, 1);
  const channels = { in: mix.mix!.in, out: mix.mix!.out };
  return { forward: lines(forward), inverse: lines(inverse), bins, positions, batches: others.at(-1)!, ...channels };
}

/**
 * A launch along the last axis whose batch dimensions are the lines of all channels and `others`; undefined if it has different ones.
 * @param axis the dimension of the last axis
 */
function byChannels(leaf: LeafNode, axis: number, others: readonly Dimension[]): LeafNode | undefined {
  const find = (dimension: number): Dimension =>
    leaf.batch.find(({ input }) => input.dimension === dimension) ?? alongDimension(1, dimension);
  const batch = [find(axis + 1), ...others.map(({ input }) => find(input.dimension))];
  const isOther = (one: Dimension) => one.count > 1 && !batch.includes(one);
  // Where channels are one, lines of two batches may be packed together.
  const isPacked = others.some(
    ({ count, input }, n) => count !== batch[n + 1]!.count || leaf.real?.pairs?.along === input.dimension,
  );
  const hasGaps = batch.some(({ gap }) => gap);
  if (leaf.axis.input.dimension !== axis || leaf.more.length > 0 || leaf.twiddle) return undefined;
  return leaf.batch.some(isOther) || isPacked || hasGaps ? undefined : { ...leaf, batch };
}

/** All elements along a dimension of the tensor, one by one. */
function alongDimension(count: number, dimension: number): Dimension {
  const place = { dimension, stride: 1 };
  return { count, input: place, output: place };
}

/** The nodes of the axes, before they are cut: forward in their order; inverse in the opposite order, reals at the end. */
function axisNodes(problem: Problem, direction: Direction, target: Target): PlanNode[] {
  if (problem.omit.every((omitted) => omitted)) return [];
  const side = sideProblem(problem, direction === 'forward' ? 'input' : 'output');
  const splits = rankSplits(side, target, 1)[0]!.value;
  const nodes = nodesOfAxes(side, direction, target, splits);
  if (direction === 'forward') return nodes;
  const last = isReal(problem) ? nodes.slice(-1) : [];
  const complex = nodes.slice(0, nodes.length - last.length);
  // Launches that several axes share come first in either direction.
  const isShared = ({ axisOf }: PlanNode) => axisOf === undefined;
  const [alone, shared] = [complex.filter((node) => !isShared(node)), complex.filter(isShared)];
  return [...alone, ...shared, ...last].map(inverseLaunches);
}

/** Bins of an axis between its transforms: how many there are, how many are kept, and the block of zeros between the kept ones. */
interface Cut {
  readonly dimension: number;
  readonly bins: number;
  readonly kept: number;
  readonly block: ZeroBlock;
}

/** The axes that lose bins. */
function axisCuts(problem: Problem): Cut[] {
  return keptBins(problem).flatMap((kept, axis): Cut[] => {
    const ofReals = problem.transform[axis] === 'r2c';
    const bins = ofReals ? hermitianLength(problem.size[axis]!) : problem.size[axis]!;
    const from = problem.convolution!.modes![axis]!;
    const dimension = axis + 1;
    const block: ZeroBlock = { dimension, from, to: from + bins - kept, absent: true };
    return kept === bins ? [] : [{ dimension, bins, kept, block }];
  });
}

/** The numbers of the first and the last launch of an axis. */
function launchesAlong(leaves: readonly LeafNode[], dimension: number): readonly [number, number] {
  const own = leaves.flatMap(({ axis, more }, n) =>
    [axis, ...more].some(({ input }) => input.dimension === dimension) ? [n] : [],
  );
  return [own[0]!, own.at(-1)!];
}

/** The forward nodes, cut: from its last launch on, an axis has its kept bins only. */
function cutForward(problem: Problem, nodes: readonly PlanNode[]): readonly PlanNode[] {
  const leaves = nodes.flatMap(leavesOf);
  const cuts = axisCuts(problem).map((cut) => ({ ...cut, at: launchesAlong(leaves, cut.dimension)[1] }));
  return mapAll(nodes, (leaf, n) =>
    cuts.reduce((own, cut) => (n < cut.at ? own : n === cut.at ? cutOn(own, cut, 'output') : between(own, cut)), leaf),
  );
}

/** The inverse nodes, cut: up to its first launch, an axis has its kept bins only. */
function cutInverse(problem: Problem, nodes: readonly PlanNode[]): readonly PlanNode[] {
  const leaves = nodes.flatMap(leavesOf);
  const cuts = axisCuts(problem).map((cut) => ({ ...cut, at: launchesAlong(leaves, cut.dimension)[0] }));
  return mapAll(nodes, (leaf, n) =>
    cuts.reduce((own, cut) => (n > cut.at ? own : n === cut.at ? cutOn(own, cut, 'input') : between(own, cut)), leaf),
  );
}

function mapAll(nodes: readonly PlanNode[], of: (leaf: LeafNode, number: number) => LeafNode): readonly PlanNode[] {
  const tree: BranchNode = { scheme: 'axes', title: '', length: [], outputLength: [], children: nodes };
  return mapLeaves(tree, of).children;
}

/** The launch that transforms an axis, with all of its bins on one side and the kept bins on the other. */
function cutOn(leaf: LeafNode, { dimension, kept, block }: Cut, side: 'input' | 'output'): LeafNode {
  const zeros = { ...leaf.zeros, [side]: [...leaf.zeros[side], block] };
  const tensor = side === 'input' ? leaf.length : leaf.outputLength;
  const own = tensor.map((count, d) => (d === dimension ? kept : count));
  return { ...leaf, zeros, ...(side === 'input' ? { length: own } : { outputLength: own }) };
}

/** The launch, where it only steps over an axis of kept bins. */
function between(leaf: LeafNode, { dimension, bins, kept }: Cut): LeafNode {
  const shorter = (tensor: readonly number[]) => tensor.map((count, d) => (d === dimension ? kept : count));
  const batch = leaf.batch.map((one): Dimension => {
    if (one.input.dimension !== dimension) return one;
    if (one.count !== bins) throw new RangeError('A launch steps over a part of an axis that is cut.');
    return { ...one, count: kept };
  });
  return { ...leaf, batch, length: shorter(leaf.length), outputLength: shorter(leaf.outputLength) };
}

/** The launch that multiplies by the matrices. It reads and writes packed data, so that all kept bins are one loop. */
function mixNode(problem: Problem, storage: Stored, order: DimensionOrder): LeafNode {
  const { channels, conjugate } = problem.convolution!;
  const kept = keptBins(problem);
  const tensorOf = (count: number) => [problem.leftBatches, ...kept, count, problem.batches];
  const channel = kept.length + 1;
  const bins = alongDimension(
    kept.reduce((a, b) => a * b, 1),
    order?.[0] ?? 1,
  );
  const left = problem.leftBatches > 1 ? [alongDimension(problem.leftBatches, 0)] : [];
  const leaf = leafNode({
    title: 'channels',
    axis: alongDimension(channels!.in, channel),
    batch: [...(order ? [bins, ...left] : [...left, bins]), alongDimension(problem.batches, channel + 1)],
    tensor: tensorOf(channels!.in),
  });
  const steps = packedStrides(tensorShape(kernelProblem(problem), 'input'), order);
  const [rows, columns] = [steps[channel]!, steps[channel + 1]!];
  const { transposed } = adjointConvolutionOf(problem);
  const mix = {
    ...{ ...channels!, conjugate, storage, strides: steps.map((step, d) => (d === 0 || d >= channel ? 0 : step)) },
    entries: transposed ? { in: columns, out: rows } : { in: rows, out: columns },
  };
  return { ...leaf, outputLength: tensorOf(channels!.out), mix };
}

/** The tree of one launch, which copies matrices as they are given. */
function copyTree(bins: readonly number[]): BranchNode {
  const point = { dimension: 1, stride: 1 };
  const batch = bins.flatMap((count, dimension): Dimension[] => {
    const place = { dimension, stride: 1 };
    return count > 1 ? [{ count, input: place, output: place }] : [];
  });
  const copy = leafNode({ title: 'copy', axis: { count: 1, input: point, output: point }, batch, tensor: bins });
  return { scheme: 'axes', title: 'prepareKernel', length: bins, outputLength: bins, children: [copy] };
}
