/** What follows from the field `convolution` of a problem. */
import type { Direction } from './directions.ts';
import type { ComplexLayout, Convolution, Problem, Side } from './problem.ts';

/** Directions that are planned; a spectral layer only convolves. */
export function directionsOf({ directions, convolution }: Pick<Problem, 'directions' | 'convolution'>): Direction[] {
  if (convolution?.channels) return [];
  return directions === 'both' ? ['forward', 'inverse'] : [directions];
}

/** Kernels that each signal meets: as many results has it. */
export function kernelsOfEach({ kernels }: Convolution): number {
  return typeof kernels === 'number' ? kernels : 1;
}

/** Whether coordinates, and whether batches, have kernels of their own. */
export function ownKernels({ kernels }: Convolution): { readonly coordinates: boolean; readonly batches: boolean } {
  return {
    coordinates: kernels === 'per-coordinate' || kernels === 'per-both',
    batches: kernels === 'per-batch' || kernels === 'per-both',
  };
}

/** Coordinates and batches of `h`: the entries of its matrices, or those of its own coordinates, and its kernels. */
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

/** Elements of a kernel at each of its points: one, or those of a matrix, or of its upper triangle. */
function entriesOf({ matrix, symmetric }: Convolution): number {
  return symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
}

/** The side whose strides a result has, with a batch for each batch and kernel: of reals it lies as the signal does. */
export function resultSide({ transform, convolution }: Pick<Problem, 'transform' | 'convolution'>): Side {
  return transform[0] === 'r2c' && !convolution?.channels ? 'input' : 'output';
}

/** How the adjoint of a convolution differs from convolutions that users ask for. */
export interface AdjointConvolution {
  /** The problem that it is the adjoint of, whose kernels it takes, too: axes are split as there. */
  readonly like?: Problem;
  /** Matrices multiply with rows and columns exchanged. */
  readonly transposed?: true;
  /** Where a result lies that is written as a whole, blocks of zeros or not; its batches go on from one kernel to the next. */
  readonly result?: { readonly strides: readonly number[]; readonly layout: ComplexLayout };
}

/** A problem whose convolution is an adjoint, which users cannot ask for. */
export interface ProblemOfAdjoint extends Problem {
  readonly adjointConvolution: AdjointConvolution;
}

/** What a problem has of the adjoint of a convolution. */
export function adjointConvolutionOf(problem: Problem): AdjointConvolution {
  return 'adjointConvolution' in problem ? (problem as ProblemOfAdjoint).adjointConvolution : {};
}
