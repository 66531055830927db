/**
 * The plan tree: how a transform is decomposed, before buffers are assigned.
 *
 * A leaf is one launch. Its dimensions refer to the *tensor* `[left, axis 0 …, coordinate, batch]`, not to memory: strides follow from the
 * buffer that the assignment chooses (rocFFT buffer assignment, observations 1 and 5).
 */

import type { Layout } from '../../layout/index.ts';
import type { ScaleFactor } from '../../numeric/scale-factor.ts';
import {
  type Band,
  type BuiltCallback,
  type Convolution,
  hermitianLength,
  type Side,
  type Sides,
} from '../../problem/index.ts';
import type { Factors, HermitianSplit, KernelFactors, StepTwiddle, Stored } from './leaf.ts';

/** A direction in the tensor: one step of a loop is `stride` elements along `dimension` of the tensor. */
export interface DimensionStride {
  readonly dimension: number;
  readonly stride: number;
}

/** One loop of a leaf, and where it steps on its input and on its output. */
export interface Dimension {
  readonly count: number;
  readonly input: DimensionStride;
  readonly output: DimensionStride;
  /** Elements of the tensor that the loop leaves out; `count` does not include them. */
  readonly gap?: { readonly from: number; readonly to: number };
}

/** A factor for each element along dimension `along` of the tensor. */
export interface ElementFactors extends Factors {
  readonly along: number;
}

/** A product with the convolution kernel that each run binds. */
export interface KernelProduct extends Omit<KernelFactors, 'layout'> {
  /** The number of kernel elements along each dimension of the tensor. */
  readonly lengths: readonly number[];
  /** The stride from bin to bin in the kernel's memory, along each dimension of the tensor. */
  readonly strides: readonly number[];
  /** The stride from one entry of a matrix to the next. */
  readonly entry: number;
  /** The stride from one kernel to the next, if a dimension counts kernels: that loop reads the same signal again. */
  readonly kernel: number;
  /** The number type of the kernel in memory; the precision of the plan if missing. */
  readonly storage?: Stored;
  /**
   * The lengths of the uploads that left the bins of each dimension of the tensor in their order, if the kernel has bins in natural order;
   * undefined if signal and kernel have the same order.
   */
  readonly orders: readonly (readonly number[] | undefined)[];
  /** The dimension of the tensor in which two neighbouring points share one bin of the kernel. */
  readonly halved?: number;
  /** Line views of the kernel along dimensions of the tensor, if these do not simply see its numbers one by one. */
  readonly lines: readonly LineView[];
  /** Bins of the kernel that count as zero, whatever memory holds. */
  readonly zeros: readonly ZeroBlock[];
}

/** A block of zeros in the tensor: elements whose coordinate along `dimension` is in from … to − 1. They are neither read nor written. */
export interface ZeroBlock {
  readonly dimension: number;
  readonly from: number;
  readonly to: number;
  /** Memory has no room for these elements: the element after the block follows the element before it. */
  readonly absent?: true;
}

/**
 * A line as a leaf sees it along a dimension of the tensor, if it is not simply the tensor's elements: a Hermitian half seen as all bins, a
 * signal with its symmetric extension, points followed by zeros. The dimensions of the leaf count along the line.
 */
export interface LineView {
  readonly dimension: number;
  /** A layout over the `line` or the `numbers` of that dimension (`layout/queries/through.ts`). */
  readonly line: Layout;
  /** A name of the line for people. */
  readonly title?: string;
}

/** How a leaf packs reals into complex numbers on one of its sides, or unpacks them. */
export interface RealParts {
  readonly side: Side | 'both';
  /**
   * `halves`: two neighbouring points of a sequence are the parts of a complex number. `lines`: corresponding points of two sequences are.
   * `symmetric`: the passes use real points and compute bins up to N/2 only. `zeros`: imaginary parts are zero and not stored. `parts`: as
   * `lines`, but the result is two lines again, without a Hermitian split.
   */
  readonly by: HermitianSplit['by'] | 'symmetric' | 'zeros' | 'parts';
  /** The transform goes from bins to reals: the Hermitian split precedes the passes, or passes over reals run in reverse order. */
  readonly toReals?: true;
  /**
   * The dimension whose neighbours are packed as the parts of one number; for `lines`, on the side of the bins, one number of either line.
   * Missing if nothing is packed. It is counted along the line if the leaf sees the dimension through one.
   */
  readonly pairs?: { readonly along: number; readonly on: Side | 'both' };
  /**
   * Only for `lines` that are columns of one sequence: the length of the rows in which their bins lie. The first line of each pair has its
   * bins in the first half of a row, the second line in the other half, and bins 0 and n/2 share a row (`HermitianSplit.merged`).
   */
  readonly rows?: number;
  /**
   * Only if both sides are real: the kind of points of a butterfly that takes a whole axis at once (`LONGEST_BUTTERFLY`). `sums`: the reals
   * of a DCT or DST. `continued`: their symmetric extension to twice as many points. `facing`: two reals of one line as the parts of a
   * number.
   */
  readonly points?: 'sums' | 'continued' | 'facing';
}

/** A dimension of the tensor seen as rows × columns between two uploads. */
export interface Intermediate {
  readonly dimension: number;
  readonly rows: number;
  readonly columns: number;
}

/** A transform of an axis by one cyclic convolution in one launch (Rader, Bluestein), or a convolution with a kernel in a longer period. */
export interface CyclicConvolution {
  readonly by: 'rader' | 'bluestein' | 'period';
  /** The period of the convolution: the axis length less one (Rader), or more than the axis length. */
  readonly length: number;
}

/**
 * Channel mixing: at each bin, every channel of the result is the sum over all channels of the signal, each times a number of the kernel.
 */
export interface ChannelMix {
  readonly in: number;
  readonly out: number;
  readonly conjugate: Convolution['conjugate'];
  /** The stride of matrices in memory from bin to bin, along each dimension of the tensor. */
  readonly strides: readonly number[];
  /** The stride from one number of a matrix to the next: from channel to channel of the signal, and of the result. */
  readonly entries: { readonly in: number; readonly out: number };
  /** The number type of the kernel in memory. */
  readonly storage: Stored;
}

/** The three parts of a spectral layer, along its last axis, in one launch: two transforms with the mixing of channels between them. */
export interface LayerParts {
  readonly forward: LeafNode;
  readonly mix: LeafNode;
  readonly inverse: LeafNode;
}

/** Weighted sums over the bins of each line. */
export interface BandSums {
  readonly bands: readonly Band[];
  /** Makes of each bin the real that is weighed. */
  readonly bin: BuiltCallback;
  /** The transform of the lines, if it is in the same launch. */
  readonly there?: LeafNode;
}

/** One launch: batched transforms along one axis or along several. */
export interface LeafNode {
  /**
   * The scheme of every launch, which `plan.toJSON()` shows: all launches are tiles that go through Stockham passes. The fields below
   * describe everything else that a launch does: a convolution, a real-to-real transform, a copy.
   */
  readonly scheme: 'stockham';
  /** A title for people: `axis 1`, `axis 0, upload 2 of 2` … */
  readonly title: string;
  /** The axis of the problem that the node transforms, if it is a single one. */
  readonly axisOf?: number;
  readonly axis: Dimension;
  /** Slower axes that are transformed in the same launch. */
  readonly more: readonly Dimension[];
  /** All other dimensions. The dimension that twiddles of a four-step decomposition count along is the first. */
  readonly batch: readonly Dimension[];
  /** Set if only the next upload reads the leaf's result, so that its layout in memory is free. */
  readonly intermediate?: Intermediate;
  /** The twiddles of a four-step decomposition, counted along a batch dimension: the first by default. */
  readonly twiddle?: StepTwiddle;
  /**
   * The twiddles of a decomposition around that one, whose rows are split in turn: they count along another batch dimension, and are on the
   * other side.
   */
  readonly outerTwiddle?: StepTwiddle & { readonly along: number };
  /** The axis is transformed as a cyclic convolution. */
  readonly convolved?: CyclicConvolution;
  /** The product of a convolution: the axis is transformed, multiplied by this, and transformed back. */
  readonly product?: ElementFactors | KernelProduct;
  /** The coordinates that a matrix multiplies; a tile holds all of them. */
  readonly coordinates?: Dimension;
  /** Set if the launch transforms nothing and multiplies the channels of each bin by a matrix (`plan/launch/mix.ts`). */
  readonly mix?: ChannelMix;
  /** Set if the launch is a spectral layer along its last axis, or along its only one (`plan/launch/layer.ts`). */
  readonly layer?: LayerParts;
  /** Set if the launch computes weighted sums over bins (`plan/launch/bands.ts`), of lines that it may have transformed before. */
  readonly bands?: BandSums;
  /** Factors of elements when they are read or written, in order, each counted along one dimension of the tensor. */
  readonly factors: Sides<readonly ElementFactors[]>;
  readonly real?: RealParts;
  /** Dimensions that each side sees through a line view, at most one view for each dimension. */
  readonly lines: Sides<readonly LineView[]>;
  /** Blocks of the tensor that count as zero when they are read, and that are not written. */
  readonly zeros: Sides<readonly ZeroBlock[]>;
  /** The factor of everything that the launch writes. */
  readonly times: ScaleFactor;
  /**
   * The sign of the exponents: the sign of the plan's direction, the opposite one, or always the sign of the forward or of the inverse
   * transform.
   */
  readonly exponents: 'direction' | 'opposite' | 'forward' | 'inverse';
  /** The launch transforms some lines of the tensor in place; all other lines stay in memory as they are. */
  readonly stays: boolean;
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly [];
}

/** A branch: its children run one after another, each reading what the previous one wrote. */
export interface BranchNode {
  readonly scheme: 'four-step' | 'convolution' | 'axes';
  readonly title: string;
  readonly axisOf?: number;
  /** The lengths that the four-step algorithm cuts an axis into. */
  readonly parts?: readonly number[];
  /**
   * Set if bins keep the order in which uploads of these lengths leave them: bins of complex numbers, or of reals
   * (schemes/unordered-reals.ts).
   */
  readonly left?: 'complex' | 'hermitian';
  /** The lengths of the tensor as this node sees it, fastest first. */
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly PlanNode[];
}

export type PlanNode = LeafNode | BranchNode;

export function isLeaf(node: PlanNode): node is LeafNode {
  return node.scheme === 'stockham';
}

/** Empty lists for both sides. */
const NOTHING = { input: [], output: [] } as const;

/** A launch along `axis`, and along the axes `more` if there are any. @param tensor lengths of all dimensions */
export function leafNode({
  title,
  axisOf,
  axis,
  more = [],
  batch,
  tensor,
}: Pick<LeafNode, 'title' | 'axisOf' | 'axis' | 'batch'> &
  Partial<Pick<LeafNode, 'more'>> & { readonly tensor: readonly number[] }): LeafNode {
  return {
    scheme: 'stockham',
    title,
    ...(axisOf === undefined ? undefined : { axisOf }),
    axis,
    more,
    batch,
    factors: NOTHING,
    lines: NOTHING,
    zeros: NOTHING,
    times: 1,
    exponents: 'direction',
    stays: false,
    length: tensor,
    outputLength: tensor,
    children: [],
  };
}

/** The tree with each leaf replaced. @param of maps a leaf and its number in execution order */
export function mapLeaves<N extends PlanNode>(tree: N, of: (leaf: LeafNode, number: number) => LeafNode): N {
  let number = 0;
  const visit = (node: PlanNode): PlanNode =>
    isLeaf(node) ? of(node, number++) : { ...node, children: node.children.map(visit) };
  return visit(tree) as N;
}

/** The launches of a tree in execution order. */
export function leavesOf(node: PlanNode): LeafNode[] {
  return isLeaf(node) ? [node] : node.children.flatMap(leavesOf);
}

/**
 * Whether a launch transforms whole lines between reals and Hermitian bins (or both): no other launch then accesses a part of such a line.
 */
export function takesLines({ real, axisOf, length, outputLength }: LeafNode): boolean {
  if (!real || real.by === 'parts') return false;
  if (real.by !== 'zeros') return true;
  const [reals, bins] = real.side === 'input' ? [length, outputLength] : [outputLength, length];
  return axisOf !== undefined && bins[axisOf + 1] === hermitianLength(reals[axisOf + 1]!);
}

/** Whether every element is written to the place in the tensor that it was read from. */
export function keepsPlaces(leaf: LeafNode): boolean {
  const { axis, more, batch, length, outputLength } = leaf;
  // A launch reads a whole line before it writes the line.
  if (leaf.stays) return true;
  if (takesLines(leaf)) return batch.every(stays);
  // The strides of a tensor of another size differ.
  if (length.some((count, d) => count !== outputLength[d])) return false;
  return [axis, ...more, ...batch].every(stays);
}

function stays({ count, input, output }: Dimension): boolean {
  return count === 1 || (input.dimension === output.dimension && input.stride === output.stride);
}
