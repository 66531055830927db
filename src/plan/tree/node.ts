/**
 * The plan tree: how a transform is decomposed, before anybody has decided which memory each step uses.
 *
 * A leaf is one launch. Its dimensions say where they lie in the *tensor* `[left, axis 0 …, coordinate, batch]`, not in
 * memory: strides follow from the buffer that the assignment chooses (rocFFT buffer assignment, observations 1 and 5).
 */

import type { Layout } from '../../layout/index.ts';
import type { ScaleFactor } from '../../numeric/scale-factor.ts';
import { type Convolution, hermitianLength, type Side, type Sides } from '../../problem/index.ts';
import type { Factors, HermitianSplit, KernelFactors, StepTwiddle, Stored } from './leaf.ts';

/** One step along a dimension of a leaf is `stride` elements along `dimension` of the tensor. */
export interface Place {
  readonly dimension: number;
  readonly stride: number;
}

/** One loop of a leaf, on the side it reads and on the side it writes. */
export interface Dimension {
  readonly count: number;
  readonly input: Place;
  readonly output: Place;
  /** Elements of the tensor that are stepped over: `count` is without them. */
  readonly gap?: { readonly from: number; readonly to: number };
}

/** A factor for each element along dimension `along` of the tensor. */
export interface ElementFactors extends Factors {
  readonly along: number;
}

/** A product with the kernel of a convolution, which each run is given. */
export interface KernelProduct extends Omit<KernelFactors, 'layout'> {
  /** How many numbers of the kernel there are along each dimension of the tensor. */
  readonly lengths: readonly number[];
  /** From one bin of the kernel to the next along each dimension of the tensor. */
  readonly strides: readonly number[];
  /** From one entry of a matrix to the next. */
  readonly entry: number;
  /** From one kernel to the next, where a dimension counts them: it reads the same elements again. */
  readonly kernel: number;
  /** What its numbers are in memory, where they are not as they are computed with. */
  readonly storage?: Stored;
  /**
   * For each dimension of the tensor the lengths of the uploads that have left its bins as they come, where the kernel has them in their
   * natural order; missing where both have them in the same order.
   */
  readonly orders: readonly (readonly number[] | undefined)[];
  /** A dimension of the tensor of which two neighbours, two points, have one bin. */
  readonly halved?: number;
  /** What is seen of the kernel along dimensions of the tensor, where that is not its numbers one by one. */
  readonly lines: readonly LineView[];
  /** Bins of the kernel that count as zero, whatever memory holds. */
  readonly zeros: readonly ZeroBlock[];
}

/** A block of zeros of the tensor: elements whose coordinate along a dimension is from … to − 1. They are neither read nor written. */
export interface ZeroBlock {
  readonly dimension: number;
  readonly from: number;
  readonly to: number;
  /** Memory has no room for them: what lies behind the block follows what lies before it. */
  readonly absent?: true;
}

/**
 * What a leaf sees along a dimension of the tensor, where that is not the elements of the tensor one by one: a Hermitian half as all
 * bins, a signal with its symmetric extension, points behind which zeros follow. The dimensions of the leaf count along the line.
 */
export interface LineView {
  readonly dimension: number;
  /** Over the `line` or the `numbers` of that dimension (`layout/through.ts`). */
  readonly line: Layout;
  /** In words, for people. */
  readonly title?: string;
}

/** How a leaf makes complex numbers of reals on one of its sides, or reals of complex numbers. */
export interface RealParts {
  readonly side: Side | 'both';
  /**
   * `halves`: two neighbouring points of a sequence are the parts of a number. `lines`: those of two sequences are. `symmetric`: the
   * passes know that points are real, and compute bins up to the half only. `zeros`: imaginary parts are zero, and left out.
   * `parts`: as `lines`, but what comes out are two lines again, without pairs.
   */
  readonly by: HermitianSplit['by'] | 'symmetric' | 'zeros' | 'parts';
  /** From bins to reals: bins are paired before the passes, or passes over reals run from the last one to the first. */
  readonly back?: true;
  /**
   * Two neighbours along a dimension are the parts of a number; where numbers are made of two lines, on the side of their bins two numbers
   * are one for each line. Missing where no two go together. Counted along the line where the leaf sees the dimension through one.
   */
  readonly pairs?: { readonly along: number; readonly on: Side | 'both' };
  /**
   * Of lines that are columns of one sequence: the length of the rows in which their bins lie. The first line of each pair has its bins in the
   * first half of a row, the second line in the other half, and bins 0 and n/2 share a row (`HermitianSplit.merged`).
   */
  readonly rows?: number;
  /**
   * Where both sides have reals: what these are to a butterfly that takes all of an axis at once (`LONGEST_BUTTERFLY`). Points that
   * continue reals (`sums`, or `continued` where twice as many points do), or two reals of one line as the parts of a number (`facing`).
   */
  readonly points?: 'sums' | 'continued' | 'facing';
}

/** A dimension of the tensor seen as rows × columns between two uploads. */
export interface Intermediate {
  readonly dimension: number;
  readonly rows: number;
  readonly columns: number;
}

/** How one launch transforms an axis as a cyclic convolution, or convolves it with a kernel in a longer period. */
export interface CyclicConvolution {
  readonly by: 'rader' | 'bluestein' | 'period';
  /** Points of the convolution: one less than the axis has (Rader), or more. */
  readonly length: number;
}

/** At each bin, every channel of the result is a sum over all channels of the signal, each times a number of the kernel. */
export interface ChannelMix {
  readonly in: number;
  readonly out: number;
  readonly conjugate: Convolution['conjugate'];
  /** What numbers of the kernel are in memory. */
  readonly storage: Stored;
}

/** Batched transforms along one axis, or along several: one launch. */
export interface LeafNode {
  /**
   * One name for every launch, which `plan.toJSON()` shows: all of them are tiles that go through Stockham passes. What else a launch
   * does, a convolution, sums of cosines, a copy, is said by the fields below.
   */
  readonly scheme: 'stockham';
  /** What it is for, to people: `axis 1`, `axis 0, upload 2 of 2` … */
  readonly title: string;
  /** The axis of the problem that the node transforms, where it is one. */
  readonly axisOf?: number;
  readonly axis: Dimension;
  /** Slower axes that are transformed in the same launch. */
  readonly more?: readonly Dimension[];
  /** All other dimensions, the one that the twiddles of a four-step decomposition count along first. */
  readonly batch: readonly Dimension[];
  /** Set where the leaf's result is only read by the next upload, which does not care how it lies in memory. */
  readonly intermediate?: Intermediate;
  /** Twiddles of a four-step decomposition, counted along a batch dimension: the first by default. */
  readonly twiddle?: StepTwiddle;
  /** The axis is transformed as a cyclic convolution. */
  readonly convolved?: CyclicConvolution;
  /** The axis is transformed, multiplied by this, and transformed back. */
  readonly product?: ElementFactors | KernelProduct;
  /** Coordinates that a matrix multiplies: a tile holds all of them. */
  readonly coordinates?: Dimension;
  /** The launch transforms nothing: at each bin it multiplies the channels by a matrix (`plan/launch/mix.ts`). */
  readonly mix?: ChannelMix;
  /** Factors of the elements as they are read or written, in their order, each counted along one dimension of the tensor. */
  readonly factors: Sides<readonly ElementFactors[]>;
  readonly real?: RealParts;
  /** Dimensions of each side that it sees through lines, one at most for each dimension. */
  readonly lines: Sides<readonly LineView[]>;
  /** Blocks of the tensor that count as zero where they would be read, and that are not written. */
  readonly zeros: Sides<readonly ZeroBlock[]>;
  /** What it writes is multiplied by this. */
  readonly times: ScaleFactor;
  /**
   * The sign of its exponents: that of the plan's direction or the opposite one, or always that of the forward or of the inverse transform.
   */
  readonly exponents: 'direction' | 'opposite' | 'forward' | 'inverse';
  /**
   * It transforms some lines of the tensor in the memory that they are in, each line in its own places; all others stay there as they are.
   */
  readonly stays?: true;
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly [];
}

/** A node that only arranges others: they run one after another, each reading what the one before wrote. */
export interface BranchNode {
  readonly scheme: 'four-step' | 'convolution' | 'axes';
  readonly title: string;
  readonly axisOf?: number;
  /** Lengths that the four-step algorithm cuts an axis into. */
  readonly parts?: readonly number[];
  /** Bins stay where uploads of these lengths have left them: of complex numbers, or of reals (schemes/unordered-reals.ts). */
  readonly left?: 'complex' | 'hermitian';
  /** Lengths of the tensor as this node sees it, fastest first. */
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly PlanNode[];
}

export type PlanNode = LeafNode | BranchNode;

export function isLeaf(node: PlanNode): node is LeafNode {
  return node.scheme === 'stockham';
}

/** Nothing on either side. */
const NOTHING = { input: [], output: [] } as const;

/** A launch; of several axes where there are `more`. @param tensor lengths of all dimensions */
export function leafNode({
  title,
  axisOf,
  axis,
  more = [],
  batch,
  tensor,
}: Pick<LeafNode, 'title' | 'axisOf' | 'axis' | 'more' | 'batch'> & { readonly tensor: readonly number[] }): LeafNode {
  return {
    scheme: 'stockham',
    ...(more.length > 0 ? { more } : {}),
    title,
    ...(axisOf === undefined ? {} : { axisOf }),
    axis,
    batch,
    factors: NOTHING,
    lines: NOTHING,
    zeros: NOTHING,
    times: 1,
    exponents: 'direction',
    length: tensor,
    outputLength: tensor,
    children: [],
  };
}

/** The same tree with other launches. @param of gets each leaf, and its number in their order. */
export function mapLeaves<N extends PlanNode>(tree: N, of: (leaf: LeafNode, number: number) => LeafNode): N {
  let number = 0;
  const visit = (node: PlanNode): PlanNode =>
    isLeaf(node) ? of(node, number++) : { ...node, children: node.children.map(visit) };
  return visit(tree) as N;
}

/** The launches of a tree in order. */
export function leavesOf(node: PlanNode): LeafNode[] {
  return isLeaf(node) ? [node] : node.children.flatMap(leavesOf);
}

/** True where a launch has lines of reals to itself: it makes their bins of them, reals of bins, or both. */
export function takesLines({ real, axisOf, length, outputLength }: LeafNode): boolean {
  if (!real || real.by === 'parts') return false;
  if (real.by !== 'zeros') return true;
  const [reals, bins] = real.side === 'input' ? [length, outputLength] : [outputLength, length];
  return axisOf !== undefined && bins[axisOf + 1] === hermitianLength(reals[axisOf + 1]!);
}

/** True where every element is written to the place in the tensor it was read from. */
export function keepsPlaces(leaf: LeafNode): boolean {
  const { axis, more = [], batch, length, outputLength } = leaf;
  // Lines that a launch has to itself it reads whole before it writes them.
  if (leaf.stays) return true;
  if (takesLines(leaf)) return batch.every(stays);
  // A tensor of another size lies in another way.
  if (length.some((count, d) => count !== outputLength[d])) return false;
  return [axis, ...more, ...batch].every(stays);
}

function stays({ count, input, output }: Dimension): boolean {
  return count === 1 || (input.dimension === output.dimension && input.stride === output.stride);
}
