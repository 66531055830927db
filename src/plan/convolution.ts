/**
 * Convolutions (VkFFT guide 2.5.8 and 4.3.9; rocFFT Bluestein design, "fast convolution"): the signal's axes one after another;
 * the last upload of the last one, the product with the kernel's spectrum and the first upload back in one launch; and the other
 * axes back. Bins stay where uploads leave them in between, so the kernel's are prepared in that order.
 *
 * An axis whose length has primes that no radix has is convolved with a longer period, of which the signal fills the beginning,
 * and the kernel goes on around it. Where products are divided by their magnitude that would be another result: then all axes
 * are transformed as they are, and the product is a launch by itself.
 */
import {
  blocksOf,
  type Convolution,
  defaultStrides,
  entriesOf,
  type Problem,
  type Sides,
  tensorShape,
} from '../problem/index.ts';
import { axisPlace, convolvedLength, dimensionsOf, turningUploads, uploadsQuestion } from './axis.ts';
import { coordinatesProfile, kernelPrecision } from './capacity.ts';
import { asComplex, complexPart, isReal } from './complex-part.ts';
import { convolvedPlace } from './convolved.ts';
import { type AxisPlace, axisNode, convolvedNode } from './four-step.ts';
import {
  type Absent,
  type BranchNode,
  type Dimension,
  type ElementFactors,
  type KernelProduct,
  type LeafNode,
  leafNode,
  leavesOf,
  mapLeaves,
  type PlanNode,
} from './node.ts';
import { type DirectionPlan, planLaunches } from './planner.ts';
import type { DeviceProfile } from './profile.ts';
import { carriesZeros, realAxis, waysOfReal } from './real.ts';
import { schemeOf } from './scheme.ts';
import { rankUploads } from './uploads.ts';
import { withSpace } from './zero-padding.ts';

export interface ConvolutionPlan {
  readonly convolve: DirectionPlan;
  readonly prepare: DirectionPlan;
  /** Complex numbers of a prepared kernel, and what tells one from that of another plan. */
  readonly kernel: { readonly elements: number; readonly key: string };
}

/** A problem whose input side is `h`: packed, its entries for coordinates and its kernels for batches. */
export function kernelProblem(problem: Problem): Problem {
  const convolution = problem.convolution!;
  const shape: Problem = {
    ...problem,
    leftBatches: 1,
    coordinates: entriesOf(convolution),
    batches: convolution.kernels,
    placement: 'out-of-place',
    preserveInput: true,
    offsets: { input: 0, output: 0 },
    scale: { forward: 1, inverse: 1 },
    zeroPadding: { space: problem.size.map(() => null), frequency: problem.zeroPadding.frequency },
    convolution: null,
  };
  return { ...shape, strides: { input: defaultStrides(shape, 'input'), output: defaultStrides(shape, 'output') } };
}

/** A problem whose input side is the result: where the output side would be, or, of reals, as the signal lies. */
export function resultProblem(problem: Problem): Problem {
  const { kernels } = problem.convolution!;
  const side = isReal(problem) ? 'input' : 'output';
  const own = <T>({ [side]: one }: Sides<T>): Sides<T> => ({ input: one, output: one });
  const { strides, offsets, layout, batches } = problem;
  const result = { ...problem, batches: batches * kernels, layout: own(layout) };
  return isReal(problem) ? result : { ...result, strides: own(strides), offsets: own(offsets) };
}

/** @throws FftError `unsupported-length`; RangeError where nothing fits the profile. */
export function planConvolution(problem: Problem, profile: DeviceProfile, throughWork: boolean): ConvolutionPlan {
  const given = kernelProblem(problem);
  const result = resultProblem(problem);
  const { crossPower } = problem.convolution!;
  const turn = turnOf(problem, profile);
  const bins = kernelShape(given, turn);
  const points =
    problem.size.reduce((all, n, axis) => all * (problem.omit[axis] ? 1 : n), 1) * (turn.length / turn.own);
  const convolve = planLaunches({
    name: 'convolve',
    problem: { ...problem, strides: { input: problem.strides.input, output: result.strides.input } },
    tree: convolvingTree(problem, turn, bins, profile),
    profile,
    throughWork,
    written: {
      layout: isReal(problem) ? 'real' : result.layout.input,
      offset: result.offsets.input,
      shape: tensorShape(result, 'input'),
    },
    // Products of magnitude 1 know nothing of a factor in the kernel.
    scale: problem.scale.forward / (crossPower ? points : 1),
  });
  const prepare = planLaunches({
    name: 'prepareKernel',
    problem: { ...given, strides: { input: given.strides.input, output: packedStrides(bins) } },
    tree: preparingTree(given, turn, bins, profile),
    profile,
    throughWork: false,
    written: { layout: 'interleaved', offset: 0, shape: bins, storage: kernelPrecision(problem.precision) },
    scale: crossPower ? 1 : 1 / points,
  });
  const key = JSON.stringify([problem.convolution, problem.precision, leavesOf(prepare.tree)]);
  return { convolve, prepare, kernel: { elements: bins.reduce((a, b) => a * b, 1), key } };
}

/** The axis along which the way there turns round. */
interface Turn {
  /** Missing where the product is a launch by itself. */
  readonly axis: number | undefined;
  /** Points of the axis, and of the period that it is convolved with. */
  readonly own: number;
  readonly length: number;
  /** Missing where one launch takes a longer period. */
  readonly uploads?: readonly number[];
  /** Of the kernel more points follow its end, as a correlation takes them, instead of going before its beginning. */
  readonly after: boolean;
  /** The only axis that is transformed is one of reals. */
  readonly real: boolean;
  /** Two of them at a time are complex numbers, whose bins are paired. */
  readonly halves?: true;
}

/** The problem between complex numbers: that of the bins of reals, or, where nothing else is transformed, of the reals themselves. */
function complexOf(problem: Problem, real: boolean): Problem {
  const complex = real ? asComplex(problem, problem.size[0]!) : complexPart(problem);
  return { ...complex, unordered: true };
}

function transformedAxes({ size, omit }: Problem): number[] {
  return size.flatMap((length, axis) => (omit[axis] || length === 1 ? [] : [axis]));
}

function turnOf(problem: Problem, profile: DeviceProfile): Turn {
  const real = isReal(problem) && transformedAxes(complexOf(problem, false)).length === 0;
  const complex = complexOf(problem, real);
  const { crossPower, conjugate } = problem.convolution!;
  const axes = transformedAxes(complex);
  const none = { axis: undefined, own: 1, length: 1, after: conjugate === 'signal', real };
  if (real && !isMatrix(problem) && takesHalves(problem, profile)) return { ...none, axis: 0, real, halves: true };
  const own = forCoordinates(problem, profile);
  const clusters = !isMatrix(problem);
  const schemes = axes.map((axis) => ({ axis, scheme: schemeOf(complex, axis, profile) }));
  // An axis that would be padded there and padded back has most to gain; then come those that need nothing of the kind.
  const order = ['bluestein', 'passes', 'rader'] as const;
  for (const { axis, scheme } of order.flatMap((one) => schemes.filter((own) => own.scheme === one))) {
    const length = complex.size[axis]!;
    const uploads = scheme === 'passes' && ifFits(() => turningUploads(complex, axis, own, clusters));
    // Zeros beside reals would go through all launches: twice as much as the transform of reals and a launch for the product.
    if (uploads && uploads.length > 1 && real && !carriesZeros(problem, profile)) break;
    if (uploads) return { ...none, axis, own: length, length, uploads };
    // Of a longer period, the bins are others.
    if (crossPower || blocksOf(problem, 'output')[axis]) continue;
    const period = ifFits(() => convolvedLength(complex, axis, own));
    if (period) return { ...none, axis, own: length, ...period };
  }
  // Then reals go through the transform that there is for them.
  return { ...none, real: real && axes.length === 0 };
}

/** Whether an axis of reals goes there and back in one launch as complex numbers half as many. */
function takesHalves(problem: Problem, profile: DeviceProfile): boolean {
  const half = problem.size[0]! / 2;
  if (!Number.isInteger(half) || half < 2) return false;
  const complex = { ...asComplex(problem, half), unordered: true };
  if (schemeOf(complex, 0, profile) !== 'passes') return false;
  return ifFits(() => turningUploads(complex, 0, profile, false))?.length === 1;
}

/** What there is, where it fits the profile. */
function ifFits<T>(way: () => T): T | undefined {
  try {
    return way();
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function isMatrix({ convolution }: Problem): boolean {
  return convolution!.matrix > 1;
}

/** Launches whose tiles hold all coordinates of their transforms. */
function forCoordinates({ convolution }: Problem, profile: DeviceProfile): DeviceProfile {
  return coordinatesProfile(convolution!.matrix, profile);
}

/** Lengths of the tensor of a prepared kernel. */
function kernelShape(given: Problem, { axis, length, real, halves }: Turn): number[] {
  if (halves) return tensorShape(given, 'output');
  return tensorShape(complexOf(given, real), 'input').map((count, of) =>
    axis !== undefined && of === axis + 1 ? length : count,
  );
}

function packedStrides(shape: readonly number[]): number[] {
  return shape.map((_, d) => shape.slice(0, d).reduce((a, b) => a * b, 1));
}

/** The launches of an axis that is transformed as it is, its bins left where they come. */
function axisThrough(
  problem: Problem,
  direction: 'forward' | 'inverse',
  axis: number,
  profile: DeviceProfile,
): PlanNode {
  const place = axisPlace(problem, direction, axis, profile);
  const scheme = schemeOf(problem, axis, profile);
  if (scheme === 'rader') return convolvedNode(place, place.length - 1);
  if (scheme === 'bluestein') return convolvedPlace(problem, axis, profile, place);
  return axisNode(place, rankUploads(uploadsQuestion(problem, axis, profile), 1)[0]!.value);
}

/** The launches of the axis that turns round, one way. @param place of the axis as the problem has it. */
function periodThrough(place: AxisPlace, { length, uploads }: Turn): PlanNode {
  const long = { ...place, length, tensor: place.tensor.map((count, of) => (of === place.of ? length : count)) };
  return axisNode(long, uploads ?? [length]);
}

function convolvingTree(problem: Problem, turn: Turn, bins: readonly number[], profile: DeviceProfile): BranchNode {
  const { kernels } = problem.convolution!;
  const complex = complexOf(problem, turn.real);
  const returning = { ...complex, batches: complex.batches * kernels };
  const others = transformedAxes(complex).filter((axis) => axis !== turn.axis);
  const there = others.map((axis) => axisThrough(complex, 'forward', axis, profile));
  const back = others.toReversed().map((axis) => axisThrough(returning, 'inverse', axis, profile));
  const around = isReal(problem) && !turn.real;
  if (around) {
    const [uploads] = waysOfReal(problem, profile, 1);
    there.unshift(realAxis(problem, 'forward', profile, uploads!.value));
    back.push(realAxis({ ...problem, batches: returning.batches }, 'inverse', profile, uploads!.value));
  }
  const turning = turningLaunches({ problem, complex, returning, turn, bins, profile });
  const children = [...there, turning, ...back.map((node) => backwards(node))];
  const [length, outputLength] = [tensorShape(problem, 'input'), tensorShape(problem, 'input')];
  outputLength[outputLength.length - 1]! *= kernels;
  const tree: BranchNode = { scheme: 'axes', title: 'convolve', length, outputLength, children };
  return withSpace(
    tree,
    problem,
    leavesOf(tree).findIndex(({ product }) => product && 'strides' in product),
  );
}

interface Turning {
  readonly problem: Problem;
  readonly complex: Problem;
  /** With the batches of the result. */
  readonly returning: Problem;
  readonly turn: Turn;
  readonly bins: readonly number[];
  readonly profile: DeviceProfile;
}

/** The launches along the axis that turns round, or the one of the product alone. */
function turningLaunches({ problem, complex, returning, turn, bins, profile }: Turning): PlanNode {
  const convolution = problem.convolution!;
  const { axis, length, own, real } = turn;
  const [before, after] = [complex, returning].map((one) => tensorShape(one, 'input')) as [number[], number[]];
  if (turn.halves) return halvesThrough(problem, bins, before, after);
  if (axis === undefined) {
    const batch = dimensionsOf(complex).filter(({ count }) => count > 1);
    const point = { of: 1, step: 0 };
    const alone = leafNode({
      title: 'product',
      axis: { count: 1, input: point, output: point },
      batch,
      tensor: before,
    });
    const product = turned({ ...alone, outputLength: after }, convolution, bins, before);
    return ended([product], turn, { input: before, output: after }, real)[0]!;
  }
  const [there, back] = [
    periodThrough(axisPlace(complex, 'forward', axis, profile), turn),
    periodThrough(axisPlace(returning, 'inverse', axis, profile), turn),
  ].map(leavesOf) as [LeafNode[], LeafNode[]];
  const middle: LeafNode = {
    ...turned({ ...there.at(-1)!, outputLength: back[0]!.length }, convolution, bins, before),
    ...(turn.uploads ? {} : { padded: length, axis: { ...there.at(-1)!.axis, count: own } }),
  };
  const named = (leaf: LeafNode, way: string): LeafNode => ({ ...leaf, title: `${leaf.title}, ${way}` });
  const all = [
    ...there.slice(0, -1).map((leaf) => named(leaf, 'there')),
    named(middle, 'there and back'),
    ...back.slice(1).map((leaf) => named(backwards(leaf), 'back')),
  ];
  const children = ended(all, turn, { input: before, output: after }, real);
  if (children.length === 1) return children[0]!;
  return { scheme: 'convolution', title: `axis ${axis}`, axisOf: axis, length: before, outputLength: after, children };
}

/** The one launch of an axis of reals, two of which at a time are complex numbers. */
function halvesThrough(
  problem: Problem,
  bins: readonly number[],
  before: readonly number[],
  after: readonly number[],
): LeafNode {
  const two = { of: 1, step: 2 };
  const axis = { count: before[1]! / 2, input: two, output: two };
  const batch = dimensionsOf(problem).filter(({ count }, of) => of !== 1 && count > 1);
  const leaf = leafNode({ title: 'axis 0, there and back', axisOf: 0, axis, batch, tensor: before });
  const { product, ...own } = turned({ ...leaf, outputLength: after }, problem.convolution!, bins, before);
  const { strides, ...kernel } = product as KernelProduct;
  return {
    ...own,
    // There is a bin for two points.
    product: { ...kernel, strides: strides.map((stride, of) => (of === 1 ? stride / 2 : stride)) },
    forward: true,
    real: { side: 'both', by: 'halves', beside: { of: 1, step: 1 } },
  };
}

/** The first and the last launch of an axis read and write what is there of it. */
function ended(all: readonly LeafNode[], turn: Turn, shapes: Sides<readonly number[]>, real: boolean): LeafNode[] {
  return all.map((leaf, n) => {
    const [first, last] = [n === 0, n === all.length - 1];
    if (!first && !last) return leaf;
    const beyond = beyondOf(turn);
    const part: Sides<boolean> = { input: first, output: last };
    return {
      ...leaf,
      ...(first ? { length: shapes.input } : {}),
      ...(last ? { outputLength: shapes.output } : {}),
      ...(beyond.length > 0 ? { absent: { input: part.input ? beyond : [], output: part.output ? beyond : [] } } : {}),
      ...(real ? { real: { side: first && last ? 'both' : first ? 'input' : 'output', by: 'zeros' } as const } : {}),
    };
  });
}

/** Points of a longer period that memory does not have; those that one launch takes it knows of itself. */
function beyondOf({ axis, own, length, uploads }: Turn): Absent[] {
  return uploads && length > own ? [{ of: axis! + 1, from: own, to: length }] : [];
}

/** A launch that transforms → one that also multiplies by the kernel, and goes back. @param tensor of the signal. */
function turned(
  leaf: LeafNode,
  convolution: Convolution,
  bins: readonly number[],
  tensor: readonly number[],
): LeafNode {
  const { kernels, matrix, symmetric, conjugate, crossPower } = convolution;
  const last = tensor.length - 1;
  const [coordinates, batches] = [last - 1, tensor[last]!];
  const rows = matrix > 1 ? leaf.batch.find(({ input }) => input.of === coordinates) : undefined;
  const each: Dimension = { count: kernels, input: { of: last, step: 0 }, output: { of: last, step: batches } };
  const strides = packedStrides(bins);
  const entry = strides[coordinates]!;
  return {
    ...leaf,
    batch: [...leaf.batch.filter((dimension) => dimension !== rows), ...(kernels > 1 ? [each] : [])],
    ...(rows ? { coordinates: rows } : {}),
    product: {
      // Neither left batches, coordinates nor batches have kernels of their own.
      strides: strides.map((stride, of) => (of === 0 || of >= coordinates ? 0 : stride)),
      kernel: strides[last]!,
      ...{ entry, matrix, symmetric, conjugate, crossPower },
    },
  };
}

/** The same launches with the other sign: those of the way back. */
function backwards<N extends PlanNode>(node: N): N {
  if (node.children.length > 0) return { ...node, children: (node.children as readonly PlanNode[]).map(backwards) };
  const { backward, factors, ...leaf } = node as unknown as LeafNode;
  if (leaf.forward) return node;
  const conjugated = (all: readonly ElementFactors[]) =>
    all.map(({ conjugated: was, ...own }): ElementFactors => (was ? own : { ...own, conjugated: true }));
  return {
    ...leaf,
    ...(backward ? {} : { backward: true }),
    ...(factors ? { factors: { input: conjugated(factors.input), output: conjugated(factors.output) } } : {}),
  } as unknown as N;
}

/** The launches that make a kernel's spectrum, in the order in which those of the signal find its bins. */
function preparingTree(given: Problem, turn: Turn, bins: readonly number[], profile: DeviceProfile): BranchNode {
  const complex = complexOf(given, turn.real);
  const { real: alone, halves } = turn;
  const real = alone && !halves;
  const axis = halves ? undefined : turn.axis;
  const others = halves ? [] : transformedAxes(complex).filter((one) => one !== axis);
  const children = others.map((one) => banded(axisThrough(complex, 'forward', one, profile), given, one));
  const before = tensorShape(complex, 'input');
  if (isReal(given) && !real) {
    // The second of two lines has no factors.
    const unmerged = { ...given, tuning: { ...given.tuning, disableMergeSequencesR2C: true } };
    const whole = blocksOf(given, 'output')[0] ? unmerged : given;
    const node = realAxis(whole, 'forward', profile, waysOfReal(whole, profile, 1)[0]!.value);
    const mirrored = leavesOf(node).at(-1)!.mirrored !== undefined;
    children.unshift(banded(node, given, 0, { order: 'natural', mirrored }));
  }
  if (axis !== undefined) {
    const node = periodThrough(axisPlace(complex, 'forward', axis, profile), turn);
    const first = leavesOf(node)[0];
    const read = mapLeaves(node, (leaf) => (leaf === first ? wrapped(leaf, turn, before) : leaf));
    children.push(banded(read, given, axis, { mirrored: real }));
  } else if (children.length === 0) {
    const batch = dimensionsOf(complex).filter(({ count }) => count > 1);
    const point = { of: 1, step: 1 };
    const copy = leafNode({ title: 'copy', axis: { count: 1, input: point, output: point }, batch, tensor: before });
    children.push(real ? { ...copy, real: { side: 'input', by: 'zeros' } } : copy);
  }
  return {
    scheme: 'axes',
    title: 'prepareKernel',
    length: tensorShape(given, 'input'),
    outputLength: bins,
    children,
  };
}

/**
 * Bins in a block of the frequency side are zero: so is every product with them.
 * @param mirrored the last launch knows of all bins of an axis of reals: those over the half are conjugates of the others.
 */
function banded(
  node: PlanNode,
  given: Problem,
  axis: number,
  { order = 'left', mirrored = false }: { readonly order?: 'left' | 'natural'; readonly mirrored?: boolean } = {},
): PlanNode {
  const block = blocksOf(given, 'output')[axis];
  if (!block) return node;
  const last = leavesOf(node).at(-1)!;
  const count = mirrored ? given.size[axis]! : last.outputLength[axis + 1]!;
  const parts = order === 'left' && node.scheme === 'four-step' ? node.parts! : undefined;
  const { from, to } = block;
  const blocks = mirrored
    ? [block, { from: Math.max(from, count - to + 1), to: count - Math.max(1, from) + 1 }]
    : [block];
  const bands = blocks.map(
    (own): ElementFactors => ({
      kind: 'band',
      of: axis + 1,
      along: axis + 1,
      count,
      ...own,
      ...(parts ? { order: parts } : {}),
    }),
  );
  return mapLeaves(node, (leaf) => {
    if (leaf !== last) return leaf;
    const { input = [], output = [] } = leaf.factors ?? {};
    return { ...leaf, factors: { input, output: [...output, ...bands] } };
  });
}

/** The first launch of an axis reads a kernel that goes on around the period of the signal. */
function wrapped(leaf: LeafNode, { axis, own, length, after, real }: Turn, tensor: readonly number[]): LeafNode {
  // Sums go over k − n, or over k + n.
  const again = after
    ? { from: own, to: 2 * own - 1, shift: own }
    : { from: length - own + 1, to: length, shift: length - own };
  return {
    ...leaf,
    ...(real ? { real: { side: 'input', by: 'zeros' } as const } : {}),
    ...(length > own ? { wrapped: { of: axis! + 1, count: own, ...again } } : {}),
    length: tensor,
  };
}
