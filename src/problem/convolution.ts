/** The field `convolution`: its normal form, and which problems may be convolved. */
import { type FftProblem, show } from './errors.ts';
import type { FieldReader } from './fields.ts';
import { isRealTransform } from './layout.ts';
import type { AnyProblemInput, Convolution, Problem, Side } from './problem.ts';

const fields = ['kernels', 'matrix', 'symmetric', 'conjugate', 'crossPower'] as const;

/** @returns null for a plan without convolution */
export function readConvolution(reader: FieldReader, value: AnyProblemInput['convolution']): Convolution | null {
  if (value === undefined || value === null) return null;
  const record = reader.record(value, 'convolution', fields);
  const path = 'convolution.kernels';
  return Object.freeze({
    kernels:
      record.kernels === undefined
        ? 1
        : reader.integer(record.kernels, path, 'invalid-field', 'a number of kernels', 1),
    matrix: readMatrix(reader, record.matrix),
    symmetric: reader.flag(record.symmetric, 'convolution.symmetric', false),
    conjugate: reader.oneOf(record.conjugate, 'convolution.conjugate', ['none', 'signal', 'kernel'] as const, 'none'),
    crossPower: reader.flag(record.crossPower, 'convolution.crossPower', false),
  });
}

function readMatrix(reader: FieldReader, value: unknown): Convolution['matrix'] {
  if (value === undefined) return 1;
  if (value === 1 || value === 2 || value === 3) return value;
  const path = 'convolution.matrix';
  reader.report('invalid-field', path, `${path} is ${show(value)}, but must be 1, 2 or 3.`);
  return 1;
}

/** Elements of a kernel at each of its points: one, or those of a matrix, or of its upper triangle. */
export function entriesOf({ matrix, symmetric }: Convolution): number {
  return symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
}

/** The side whose strides a result has, with a batch for each batch and kernel: of reals it lies as the signal does. */
export function resultSide({ transform }: Pick<Problem, 'transform'>): Side {
  return transform[0] === 'r2c' ? 'input' : 'output';
}

/** Fields of a problem that exclude a convolution. */
export function checkConvolution(problem: Problem): FftProblem[] {
  const { convolution, coordinates, unordered, transform, omit, placement, callbacks } = problem;
  if (!convolution) return [];
  const found: FftProblem[] = [];
  const report = (code: FftProblem['code'], path: string, message: string) => found.push({ code, path, message });
  const { kernels, matrix, symmetric, crossPower } = convolution;
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
  if (crossPower && matrix > 1) {
    const message =
      'convolution.crossPower divides products of two numbers, of which those of a matrix are sums; leave one of them out.';
    report('unsupported-feature', 'convolution.crossPower', message);
  }
  if (kernels > 1 && placement === 'in-place') {
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
  if (omit.every((omitted) => omitted)) {
    report(
      'unsupported-feature',
      'omit',
      'omit leaves out all axes, so that there is nothing to convolve along; leave one in.',
    );
  }
  return found;
}
