/** Facts that follow from the field `convolution` of a problem. */
import type { Direction } from './directions.ts';
import type { ComplexLayout, Convolution, Problem, Side } from './problem.ts';

/** Directions that are planned; a spectral layer only convolves. */
export function directionsOf({ directions, convolution }: Pick<Problem, 'directions' | 'convolution'>): Direction[] {
  if (convolution?.channels) return [];
  return directions === 'both' ? ['forward', 'inverse'] : [directions];
}

/** The number of kernels that each signal is convolved with, which is also its number of results. */
export function kernelsOfEach({ kernels }: Convolution): number {
  return typeof kernels === 'number' ? kernels : 1;
}

/** Whether each coordinate, and whether each batch, has a kernel of its own. */
export function ownKernels({ kernels }: Convolution): { readonly coordinates: boolean; readonly batches: boolean } {
  return {
    coordinates: kernels === 'per-coordinate' || kernels === 'per-both',
    batches: kernels === 'per-batch' || kernels === 'per-both',
  };
}

/** The numbers of coordinates and batches of `h`: the entries of its matrices or its own coordinates, and its kernels. */
export function kernelCounts({
  convolution,
  coordinates,
  batches,
}: Pick<Problem, 'convolution' | 'coordinates' | 'batches'>): {
  readonly coordinates: number;
  readonly batches: number;
} {
  const { channels } = convolution!;
  if (channels) return { coordinates: channels.in, batches: channels.out };
  const own = ownKernels(convolution!);
  return {
    coordinates: own.coordinates ? coordinates : entriesOf(convolution!),
    batches: own.batches ? batches : kernelsOfEach(convolution!),
  };
}

/** The number of elements of a kernel at each of its points: one, or those of a matrix or of its upper triangle. */
function entriesOf({ matrix, symmetric }: Convolution): number {
  return symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
}

/** The side whose strides a result has, with a batch for each batch and kernel. A result of reals lies as the signal does. */
export function resultSide({ transform, convolution }: Pick<Problem, 'transform' | 'convolution'>): Side {
  return transform[0] === 'r2c' && !convolution?.channels ? 'input' : 'output';
}

/** The differences between the adjoint of a convolution and a convolution that users ask for. */
export interface AdjointConvolution {
  /** The problem that it is the adjoint of. It takes that problem's kernels, so axes are split as there. */
  readonly like?: Problem;
  /** Whether matrices multiply with rows and columns exchanged. */
  readonly transposed?: true;
  /**
   * Set if only the forward transform of a spectral layer is computed and its kept bins are written. `bins`: the bins of a signal. `scaled bins`: the
   * bins of a cotangent of the result, times the scale of the layer and divided by its number of points.
   */
  readonly ends?: 'bins' | 'scaled bins';
  /** The layout of a result that is written as a whole, without regard to blocks of zeros; its batches go on from one kernel to the next. */
  readonly result?: { readonly strides: readonly number[]; readonly layout: ComplexLayout };
}

/** A problem whose convolution is an adjoint, which users cannot ask for. */
export interface ProblemOfAdjoint extends Problem {
  readonly adjointConvolution: AdjointConvolution;
}

/** The adjoint of a convolution that a problem is, if it is one. */
export function adjointConvolutionOf(problem: Problem): AdjointConvolution {
  return 'adjointConvolution' in problem ? (problem as ProblemOfAdjoint).adjointConvolution : {};
}
