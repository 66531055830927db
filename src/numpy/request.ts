/**
 * From NumPy's arguments to a problem of the engine: which axes, how long, scaled by what.
 *
 * Meanings are those of `numpy.fft` and `scipy.fft` (their reference manuals); where the two differ, the stricter counts:
 * an axis is transformed once.
 */
import { readOptions } from '../engine/options.ts';
import { excerpt, FftError, show } from '../problem/errors.ts';
import type { Direction, ProblemInput } from '../problem/index.ts';
import { type ArrayInput, asArray, type ComplexArray, isSingle, type NumpyArray, product } from './array.ts';
import { checkLength, resolveAxes, resolveAxis } from './axes.ts';
import { fitComplex } from './fit.ts';

/** Which direction is divided: the inverse by n, both by √n, or the forward one by n. */
export type Norm = 'backward' | 'ortho' | 'forward';

/** Options of `fft` and `ifft`. */
export interface LineOptions {
  /** Length of the transformed axis: longer data is cropped at its end, shorter is filled with zeros. Default: as it is. */
  readonly n?: number | undefined;
  /** Default −1, the last. */
  readonly axis?: number | undefined;
  /** Default `backward`. */
  readonly norm?: Norm | undefined;
}

/** Options of the transforms over several axes. */
export interface TensorOptions {
  /** A length for each of `axes`; −1 leaves one as it is. Default: all as they are. */
  readonly s?: readonly number[] | undefined;
  /** Default: the last two (`fft2`, `ifft2`), the last `s.length` or all (`fftn`, `ifftn`). */
  readonly axes?: readonly number[] | undefined;
  /** Default `backward`. */
  readonly norm?: Norm | undefined;
}

/** Options and the lists in them. */
const LEVELS = 2;

/** Where there is a choice. */
interface DeviceOption {
  readonly device?: unknown;
}

/** Problems of this room: interleaved, out of place, stored as they are computed. */
export type DenseProblem = Omit<
  ProblemInput,
  'layout' | 'placement' | 'transform' | 'precision' | 'storage' | 'edgeStorage'
> & {
  readonly precision?: 'single' | 'double' | undefined;
};

/** Both sides of the problem: what stands in for host arrays on the device. */
export function bytesOfSides({ size, leftBatches = 1, batches = 1, precision }: DenseProblem): number {
  return product(size) * leftBatches * batches * (precision === 'single' ? 16 : 32);
}

/** What is to be done. */
export interface TransformRequest {
  readonly direction: Direction;
  /** Undefined where the transform leaves the numbers as they are: over axes of length 1, no axes, or no numbers. */
  readonly problem: DenseProblem | undefined;
  /** Which axis of the array each length of the problem is of. */
  readonly axes: readonly number[];
  /** What is transformed, in `dtype` and `shape` of the result. May be the caller's own. */
  readonly operand: ComplexArray;
  /** Where, as the caller says. */
  readonly device: unknown;
}

/**
 * @param more options that the caller looks after
 * @throws FftError `invalid-argument`, `unknown-field`, `invalid-size`, and those of `asArray`
 */
export function lineRequest(
  direction: Direction,
  input: ArrayInput,
  options: LineOptions & DeviceOption,
  more: readonly string[] = [],
): TransformRequest {
  const own = readOptions(options, { works: ['n', 'axis', 'norm', ...more] }, direction === 'forward' ? 'fft' : 'ifft');
  const { n, norm } = own;
  const array = asArray(input);
  const axis = resolveAxis(own.axis ?? -1, array.shape.length, 'axis');
  const length = n === undefined ? checkLength(array.shape[axis]!, `The length of axis ${axis}`) : checkLength(n, 'n');
  return { ...request(direction, array, [axis], [length], norm), device: own.device };
}

/** For `fft2` and `ifft2`; parameters and errors as above. */
export function planeRequest(
  direction: Direction,
  input: ArrayInput,
  options: TensorOptions & DeviceOption,
  more: readonly string[] = [],
): TransformRequest {
  const name = direction === 'forward' ? 'fft2' : 'ifft2';
  const own = readOptions(options, { works: ['s', 'axes', 'norm', ...more] }, name, LEVELS);
  return { ...tensorRequest(direction, asArray(input), own, [-2, -1]), device: own.device };
}

/** For `fftn` and `ifftn`; parameters and errors as above. */
export function spaceRequest(
  direction: Direction,
  input: ArrayInput,
  options: TensorOptions & DeviceOption,
  more: readonly string[] = [],
): TransformRequest {
  const name = direction === 'forward' ? 'fftn' : 'ifftn';
  const own = readOptions(options, { works: ['s', 'axes', 'norm', ...more] }, name, LEVELS);
  return { ...tensorRequest(direction, asArray(input), own), device: own.device };
}

function tensorRequest(
  direction: Direction,
  array: NumpyArray,
  options: TensorOptions,
  usual?: readonly number[],
): Omit<TransformRequest, 'device'> {
  const { s, norm } = options;
  const dimensions = array.shape.length;
  if (s !== undefined && !Array.isArray(s)) {
    throw new FftError('invalid-argument', `s is ${show(s)}; it must list lengths, such as [64, 64].`, { path: 's' });
  }
  const given = options.axes ?? usual ?? lastAxes(s?.length ?? dimensions);
  const axes = resolveAxes(given, dimensions);
  if (s !== undefined && s.length !== axes.length) {
    const message = `s has ${s.length} lengths for ${axes.length} axes [${excerpt(given.join(', '))}]; it takes one for each.`;
    throw new FftError('invalid-argument', message, { path: 's' });
  }
  const lengths = axes.map((axis, k) => {
    const asked = s?.[k] ?? -1;
    return asked === -1 ? checkLength(array.shape[axis]!, `The length of axis ${axis}`) : checkLength(asked, `s[${k}]`);
  });
  return request(direction, array, axes, lengths, norm);
}

function lastAxes(count: number): number[] {
  return Array.from({ length: count }, (_, k) => k - count);
}

function request(
  direction: Direction,
  array: NumpyArray,
  axes: readonly number[],
  lengths: readonly number[],
  norm: Norm = 'backward',
): Omit<TransformRequest, 'device'> {
  const scale = scaleOf(norm, direction, product(lengths));
  const shape = [...array.shape];
  axes.forEach((axis, k) => {
    shape[axis] = lengths[k]!;
  });
  if (!Number.isSafeInteger(16 * product(shape))) {
    throw new FftError(
      'invalid-size',
      `Shape [${excerpt(shape.join(', '))}] has more numbers than any memory; crop to less.`,
    );
  }
  const dtype = isSingle(array.dtype) ? 'complex64' : 'complex128';
  const operand = { data: fitComplex(array, shape), shape, dtype } as const;
  if (product(shape) === 0) return { direction, problem: undefined, axes: [], operand };
  return { direction, ...problemOf(shape, axes, { direction, dtype, scale }), operand };
}

/** An error about the lengths of a problem in the words of the array: which of its axes they are of. */
export function inAxes(error: unknown, { axes }: TransformRequest): unknown {
  if (!(error instanceof FftError) || !error.problems.some(({ path }) => path.startsWith('size['))) return error;
  const worded = (text: string) =>
    text.replace(/size\[(\d+)\](?: = (\d+) has)?/g, (_, n, length) =>
      length ? `axis ${axes[n]} has length ${length}, which has` : `the length of axis ${axes[n]}`,
    );
  const problems = error.problems.map((problem) => ({ ...problem, message: worded(problem.message) }));
  return new FftError(error.code, worded(error.message), { problems, cause: error });
}

/** The factor of one direction. */
function scaleOf(norm: Norm, direction: Direction, points: number): number {
  switch (norm) {
    case 'ortho':
      return 1 / Math.sqrt(points);
    case 'backward':
      return direction === 'inverse' ? 1 / points : 1;
    case 'forward':
      return direction === 'forward' ? 1 / points : 1;
    default:
      throw new FftError('invalid-argument', `norm is ${show(norm)}; it must be 'backward', 'ortho' or 'forward'.`, {
        path: 'norm',
      });
  }
}

/**
 * The problem in as few dimensions as it has, so that arrays of different shapes share plans: axes of length 1 vanish,
 * neighbours that are not transformed become one, and those at the ends become batches.
 */
function problemOf(
  shape: readonly number[],
  axes: readonly number[],
  { direction, dtype, scale }: { direction: Direction; dtype: ComplexArray['dtype']; scale: number },
): Pick<TransformRequest, 'problem' | 'axes'> {
  const size: number[] = [];
  const omit: boolean[] = [];
  const from: number[] = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis]!;
    const omitted = !axes.includes(axis);
    if (length === 1) continue;
    if (omitted && omit.at(-1)) size[size.length - 1]! *= length;
    else {
      size.push(length);
      omit.push(omitted);
      from.push(axis);
    }
  }
  if (omit.every((omitted) => omitted)) return { problem: undefined, axes: [] };
  const leftBatches = omit[0] ? takeEnd('shift') : 1;
  const batches = omit.at(-1) ? takeEnd('pop') : 1;
  const precision = dtype === 'complex64' ? 'single' : 'double';
  const scales = { [direction]: scale };
  return {
    problem: { size, omit, leftBatches, batches, precision, directions: direction, scale: scales },
    axes: from,
  };

  function takeEnd(end: 'shift' | 'pop'): number {
    omit[end]();
    from[end]();
    return size[end]()!;
  }
}
