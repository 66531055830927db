/**
 * The layout of a kernel's spectrum in memory, as the launch with the product reads it. A prepared spectrum has its bins in
 * the order in which the uploads of the signal leave theirs. A spectrum that the user gives (VkFFT guide 2.4.1) has them in natural
 * order; for real kernels it holds the first ⌊N/2⌋ + 1 bins.
 */
import { adjointConvolutionOf, blocksOf, type Problem, tensorShape } from '../problem/index.ts';
import { axesToTransform, type ConvolutionSplit, complexOf, restOf } from './convolution-split.ts';
import type { Target } from './device/target.ts';
import type { ComplexScheme, Uploads } from './schemes/axis-scheme.ts';
import { isReal } from './schemes/complex-part.ts';
import { binsRead, columnsShape } from './schemes/real-columns.ts';
import type { Stored } from './tree/leaf.ts';
import type { KernelProduct } from './tree/node.ts';

/** The shape of a spectrum's tensor, and the views of it. */
export type KernelMemory = Pick<KernelProduct, 'lengths' | 'storage' | 'orders' | 'lines' | 'zeros' | 'transposed'>;

/** The data from which the launches of the middle are made. */
export interface MiddleQuestion {
  readonly problem: Problem;
  /** The problem with the batches of the result. */
  readonly returning: Problem;
  readonly split: ConvolutionSplit;
  readonly kernel: KernelMemory;
  readonly target: Target;
}

/** The memory of the kernel's spectrum. @param given the problem whose input side is the kernel */
export function kernelMemory(problem: Problem, given: Problem, split: ConvolutionSplit): KernelMemory {
  const { transposed } = adjointConvolutionOf(problem);
  const own = transposed ? { transposed } : {};
  if (problem.convolution!.kernelSpectrum === 'prepared')
    return { lengths: preparedShape(given, split), orders: [], lines: [], zeros: [], ...own };
  const lengths = tensorShape(given, 'output');
  const orders = lengths.map((_, of) =>
    of > 0 && of <= problem.size.length ? orderLeft(given, of - 1, split) : undefined,
  );
  // Launches that take reals as complex numbers, or rows of their bins, also read bins over the half.
  const mirrored = isReal(problem) && problem.size[0]! > 1 && (split.real || split.columns !== undefined);
  return {
    ...{ lengths, storage: problem.edgeStorage as Stored, orders, ...own },
    lines: mirrored ? [binsRead(problem.size[0]!)] : [],
    zeros: blocksOf(problem, 'output').flatMap((block, axis) => (block ? [{ dimension: axis + 1, ...block }] : [])),
  };
}

/** Lengths of the tensor of a prepared kernel. */
function preparedShape(given: Problem, { axes: [axis], period, real, halves, columns }: ConvolutionSplit): number[] {
  if (halves) return tensorShape(given, 'output');
  if (columns) return columnsShape(given, columns);
  return tensorShape(complexOf(given, real), 'input').map((count, of) =>
    period && of === axis! + 1 ? period.length : count,
  );
}

/** Lengths of the uploads that give the signal's bins of an axis their order; undefined where that order is natural. */
function orderLeft(given: Problem, axis: number, split: ConvolutionSplit): readonly number[] | undefined {
  const { axes, period, columns } = split;
  if (columns && axis === 0) return columns;
  if (period && axis === axes[0]) return severalOf(period.uploads);
  const scheme = schemeLike(given, axis, split);
  return scheme?.by === 'uploads' ? severalOf(scheme.lengths) : undefined;
}

function severalOf(lengths: readonly number[] | undefined): readonly number[] | undefined {
  return lengths && lengths.length > 1 ? lengths : undefined;
}

/**
 * The scheme by which the kernel is transformed along an axis, so that its bins are left in the same order as the signal's bins.
 * Undefined if the signal's bins are in natural order, where any scheme will do.
 * @param axis not an axis that is in the middle by itself
 */
export function schemeLike(given: Problem, axis: number, split: ConvolutionSplit): ComplexScheme | undefined {
  const { axes, parts, splits } = split;
  const cut = (lengths: readonly number[] | undefined): Uploads | undefined => lengths && { by: 'uploads', lengths };
  if (axes.includes(axis)) return axis === axes[1] ? cut(parts) : undefined;
  const own = splits.axes[axis];
  if (own) return own as ComplexScheme;
  if (splits.shared?.launches !== 2) return undefined;
  const shared = axesToTransform(restOf(given, split)).filter((one) => splits.axes[one] === null);
  return axis === shared[1] ? cut(splits.shared.parts) : undefined;
}
