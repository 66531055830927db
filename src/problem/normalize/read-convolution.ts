/** The field `convolution` of a user's problem, and the rules about problems that are convolved. */
import type { BuiltCallbacks } from '../callbacks.ts';
import { kernelCounts, kernelsOfEach, ownKernels } from '../convolution.ts';
import { type FftProblem, show } from '../errors.ts';
import type { FieldReader } from '../input/fields.ts';
import { elementBytes, isRealTransform } from '../layout/layout.ts';
import type { AnyProblemInput, Convolution, Problem } from '../problem.ts';

const fields = [
  'kernels',
  'matrix',
  'symmetric',
  'conjugate',
  'crossPower',
  'kernelSpectrum',
  'channels',
  'modes',
] as const;

export function readConvolution(reader: FieldReader, value: AnyProblemInput['convolution']): Convolution {
  const record = reader.record(value, 'convolution', fields);
  const channels = readChannels(reader, record.channels);
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
    channels,
    modes: readModes(reader, record.modes, channels !== null),
  });
}

function readChannels(reader: FieldReader, value: unknown): Convolution['channels'] {
  if (value === undefined || value === null) return null;
  const path = 'convolution.channels';
  const record = reader.record(value, path, ['in', 'out']);
  const count = (name: 'in' | 'out') =>
    reader.integer(record[name], `${path}.${name}`, 'invalid-field', 'a number of channels', 1);
  return Object.freeze({ in: count('in'), out: count('out') });
}

function readModes(reader: FieldReader, value: unknown, needed: boolean): Convolution['modes'] {
  const path = 'convolution.modes';
  if (!needed) {
    if (value !== undefined && value !== null)
      reader.report(
        'invalid-field',
        path,
        `${path} are those of a spectral layer; give convolution.channels { in, out }, too.`,
      );
    return null;
  }
  if (Array.isArray(value))
    return Object.freeze(
      Array.from(value, (count, axis) =>
        reader.integer(count, `${path}[${axis}]`, 'invalid-field', 'a number of bins', 1),
      ),
    );
  const given = `${path} is ${value === undefined ? 'missing' : show(value)}`;
  reader.report('invalid-field', path, `${given}, but must list how many bins each axis keeps, such as [16].`);
  return Object.freeze([]);
}

/** The callbacks of a convolution: the load callback of the forward and the store callback of the inverse transform. */
export function convolvingCallbacks({ callbacks }: Pick<Problem, 'callbacks'>): BuiltCallbacks | null {
  if (!callbacks) return null;
  const { forward, inverse, arrays } = callbacks;
  return { forward: { load: forward.load, store: inverse.store }, inverse: { load: null, store: null }, arrays };
}

/** The number of bins of each axis that a spectral layer keeps. */
export function keptBins({
  transform,
  omit,
  convolution,
}: Pick<Problem, 'transform' | 'omit' | 'convolution'>): number[] {
  return convolution!.modes!.map((count, axis) => (transform[axis] === 'r2c' || omit[axis] ? count : 2 * count));
}

const perSystem = ['per-coordinate', 'per-batch', 'per-both'] as const;

function readKernels(reader: FieldReader, value: unknown): Convolution['kernels'] {
  if (value === undefined) return 1;
  const path = 'convolution.kernels';
  if (typeof value === 'string') return reader.oneOf(value, path, perSystem, 'per-coordinate');
  const what = `a number of kernels, or one of ${perSystem.map((word) => `'${word}'`).join(', ')}`;
  return reader.integer(value, path, 'invalid-field', what, 1);
}

function readMatrix(reader: FieldReader, value: unknown): Convolution['matrix'] {
  if (value === undefined) return 1;
  if (value === 1 || value === 2 || value === 3) return value;
  const path = 'convolution.matrix';
  reader.report('invalid-field', path, `${path} is ${show(value)}, but must be 1, 2 or 3.`);
  return 1;
}

/** Fields of a problem that exclude a convolution. */
export function checkConvolution(problem: Problem): FftProblem[] {
  const { coordinates, omit, placement, zeroPadding } = problem;
  const convolution = problem.convolution!;
  const found: FftProblem[] = [];
  const report = (code: FftProblem['code'], path: string, message: string) => found.push({ code, path, message });
  if (convolution.channels) return [...checkLayer(problem), ...checkAny(problem)];
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
  const lines = omit.findIndex((omitted, axis) => omitted && zeroPadding.frequency[axis] !== null);
  if (lines >= 0) {
    const path = `zeroPadding.frequency[${lines}]`;
    const message = `${path} is a block of an axis that is omitted, which a convolution does not take; zeroPadding.space does the same.`;
    report('unsupported-feature', path, message);
  }
  return [...found, ...checkAny(problem)];
}

/** Fields that exclude a convolution of any kind. */
function checkAny({ unordered, transform, omit, callbacks }: Problem): FftProblem[] {
  const found: FftProblem[] = [];
  const report = (code: FftProblem['code'], path: string, message: string) => found.push({ code, path, message });
  for (const path of [
    ...(callbacks?.forward.store ? ['callbacks.forward.store'] : []),
    ...(callbacks?.inverse.load ? ['callbacks.inverse.load'] : []),
  ]) {
    const message = `${path} would be called for bins, which a convolution does not leave in memory; callbacks.forward.load is called for the signal, callbacks.inverse.store for the result.`;
    report('unsupported-feature', path, message);
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

/** Fields that exclude a spectral layer, and modes that do not fit an axis. */
function checkLayer(problem: Problem): FftProblem[] {
  const { convolution, coordinates, size, transform, placement, zeroPadding, omit } = problem;
  const { kernels, matrix, symmetric, crossPower, channels, modes } = convolution!;
  const found: FftProblem[] = [];
  const report = (code: FftProblem['code'], path: string, message: string) => found.push({ code, path, message });
  const without = (path: string, is: boolean, why: string) => {
    if (is) report('unsupported-feature', path, `${path} does not go together with convolution.channels: ${why}.`);
  };
  if (coordinates !== channels!.in) {
    const given = `coordinates is ${coordinates} with convolution.channels.in ${channels!.in}`;
    report(
      'invalid-field',
      'coordinates',
      `${given}, which is the number of coordinates of the signal; leave coordinates out.`,
    );
  }
  without('convolution.kernels', kernels !== 1, 'a layer has one matrix for each of its bins');
  without('convolution.matrix', matrix !== 1, 'channels say how large the matrices are');
  without('convolution.symmetric', symmetric, 'its matrices are given whole');
  without('convolution.crossPower', crossPower, 'a product is a sum over channels');
  without(
    'omit',
    omit.some((one) => one),
    'use leftBatches or batches for what is only stepped over',
  );
  const blocked = zeroPadding.frequency.some((block) => block !== null);
  without('zeroPadding.frequency', blocked, 'convolution.modes says which bins there are');
  if (placement === 'in-place' && channels!.in !== channels!.out) {
    const given = `convolution.channels are ${channels!.in} in and ${channels!.out} out`;
    report('unsupported-feature', 'placement', `${given}: in place there are as many; use placement 'out-of-place'.`);
  }
  if (modes!.length !== size.length) {
    const message = `convolution.modes has ${modes!.length} entries, but must have one for each of the ${size.length} axes of size.`;
    report('invalid-field', 'convolution.modes', message);
    return found;
  }
  const counts = kernelCounts(problem);
  const elements = [...size, counts.coordinates, counts.batches].reduce((a, b) => a * b, 2);
  if (!Number.isSafeInteger(elements * elementBytes(problem, 'input'))) {
    const message = `convolution.channels are ${channels!.in} in and ${channels!.out} out, so that byte addresses of matrices pass 2^53 - 1; fewer would do.`;
    report('invalid-field', 'convolution.channels', message);
  }
  modes!.forEach((count, axis) => {
    const isReal = transform[axis] === 'r2c';
    const most = Math.floor(size[axis]! / 2) + (isReal ? 1 : 0);
    if (count <= most) return;
    const path = `convolution.modes[${axis}]`;
    const bins = isReal ? `bins 0 to ${most - 1} alone` : `${size[axis]} bins, of which as many are kept at both ends`;
    const remedy = most > 0 ? `${most} is the most` : 'make it a batch dimension';
    report(
      'invalid-field',
      path,
      `${path} is ${count}; an axis of ${size[axis]} ${isReal ? 'reals' : 'points'} has ${bins}: ${remedy}.`,
    );
  });
  return found;
}
