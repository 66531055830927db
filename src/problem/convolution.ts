/** The field `convolution`: its normal form, and which problems may be convolved. */
import { type FftProblem, show } from './errors.ts';
import type { FieldReader } from './fields.ts';
import { isRealTransform } from './layout.ts';
import type { AnyProblemInput, ComplexLayout, Convolution, Problem, Side } from './problem.ts';

const fields = ['kernels', 'matrix', 'symmetric', 'conjugate', 'crossPower', 'kernelSpectrum'] as const;

/** @returns null for a plan without convolution */
export function readConvolution(reader: FieldReader, value: AnyProblemInput['convolution']): Convolution | null {
  if (value === undefined || value === null) return null;
  const record = reader.record(value, 'convolution', fields);
  return Object.freeze({
    kernels: readKernels(reader, record.kernels),
    matrix: readMatrix(reader, record.matrix),
    symmetric: reader.flag(record.symmetric, 'convolution.symmetric', false),
    conjugate: reader.oneOf(record.conjugate, 'convolution.conjugate', ['none', 'signal', 'kernel'] as const, 'none'),
    crossPower: reader.flag(record.crossPower, 'convolution.crossPower', false),
    kernelSpectrum: reader.oneOf(
      record.kernelSpectrum,
      'convolution.kernelSpectrum',
      ['prepared', 'user'] as const,
      'prepared',
    ),
  });
}

const perSystem = ['per-coordinate', 'per-batch', 'per-both'] as const;

function readKernels(reader: FieldReader, value: unknown): Convolution['kernels'] {
  if (value === undefined) return 1;
  const path = 'convolution.kernels';
  if (typeof value === 'string') return reader.oneOf(value, path, perSystem, 'per-coordinate');
  const what = `a number of kernels, or one of ${perSystem.map((word) => `'${word}'`).join(', ')}`;
  return reader.integer(value, path, 'invalid-field', what, 1);
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
  const own = ownKernels(convolution!);
  return {
    coordinates: own.coordinates ? coordinates : entriesOf(convolution!),
    batches: own.batches ? batches : kernelsOfEach(convolution!),
  };
}

function readMatrix(reader: FieldReader, value: unknown): Convolution['matrix'] {
  if (value === undefined) return 1;
  if (value === 1 || value === 2 || value === 3) return value;
  const path = 'convolution.matrix';
  reader.report('invalid-field', path, `${path} is ${show(value)}, but must be 1, 2 or 3.`);
  return 1;
}

/** Elements of a kernel at each of its points: one, or those of a matrix, or of its upper triangle. */
function entriesOf({ matrix, symmetric }: Convolution): number {
  return symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
}

/** The side whose strides a result has, with a batch for each batch and kernel: of reals it lies as the signal does. */
export function resultSide({ transform }: Pick<Problem, 'transform'>): Side {
  return transform[0] === 'r2c' ? 'input' : 'output';
}

/** Fields of a problem that exclude a convolution. */
export function checkConvolution(problem: Problem): FftProblem[] {
  const { convolution, coordinates, unordered, transform, omit, placement, callbacks, zeroPadding } = problem;
  if (!convolution) return [];
  const found: FftProblem[] = [];
  const report = (code: FftProblem['code'], path: string, message: string) => found.push({ code, path, message });
  const { kernels, matrix, symmetric } = convolution;
  if (matrix > 1 && coordinates !== matrix) {
    const given = `coordinates is ${coordinates} with convolution.matrix ${matrix}`;
    report(
      'invalid-field',
      'coordinates',
      `${given}; a matrix has one row for each coordinate, so ${matrix} are needed.`,
    );
  }
  if (symmetric && matrix === 1) {
    report(
      'invalid-field',
      'convolution.symmetric',
      'convolution.symmetric is for matrices; set matrix to 2 or 3, or leave it out.',
    );
  }
  if (matrix > 1 && ownKernels(convolution).coordinates) {
    const message = `convolution.kernels is '${kernels}' with convolution.matrix ${matrix}, whose matrices take all coordinates together; choose 'per-batch' or a number.`;
    report('invalid-field', 'convolution.kernels', message);
  }
  if (kernelsOfEach(convolution) > 1 && placement === 'in-place') {
    const message = `convolution.kernels is ${kernels}, whose results have no place in the memory of one signal; use placement 'out-of-place'.`;
    report('unsupported-feature', 'convolution.kernels', message);
  }
  if (callbacks) {
    report('unsupported-feature', 'callbacks', 'callbacks do not go together with convolution; leave one of them out.');
  }
  if (unordered) {
    report(
      'unsupported-feature',
      'unordered',
      'unordered does not go together with convolution, which needs no order of bins anyway; leave it out.',
    );
  }
  if (isRealTransform(transform[0])) {
    report('unsupported-feature', 'transform', `transform '${transform[0]}' cannot be convolved; 'c2c' and 'r2c' can.`);
  }
  const lines = omit.findIndex((omitted, axis) => omitted && zeroPadding.frequency[axis] !== null);
  if (lines >= 0) {
    const path = `zeroPadding.frequency[${lines}]`;
    const message = `${path} is a block of an axis that is omitted, which a convolution does not take; zeroPadding.space does the same.`;
    report('unsupported-feature', path, message);
  }
  if (omit.every((omitted) => omitted)) {
    report(
      'unsupported-feature',
      'omit',
      'omit leaves out all axes, so that there is nothing to convolve along; leave one in.',
    );
  }
  return found;
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
