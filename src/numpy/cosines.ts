/** SciPy's cosine and sine transforms (`scipy.fft.dct`, `dst` and similar functions): the work of each call. */

import { FftError, show } from '../problem/errors.ts';
import { logicalLength } from '../problem/index.ts';
import { copyInto } from '../problem/input/bytes.ts';
import {
  type ArrayInput,
  asArray,
  dtypeOf,
  elementCount,
  isComplex,
  isSingle,
  type NumpyArray,
} from './arrays/array.ts';
import type { Floats } from './arrays/memory.ts';
import {
  type Arguments,
  type LineOptions,
  lineArguments,
  type Norm,
  type OtherOptions,
  type TensorOptions,
  tensorArguments,
} from './calls/arguments.ts';
import { resolveDistinctAxes } from './calls/axes.ts';
import { fitFor } from './calls/fit.ts';
import { KnownCalls } from './calls/known.ts';
import { denseProblemOf, type R2rKind } from './calls/problem.ts';
import { checkShapeFits, resized, type TransformStep } from './calls/steps.ts';
import type { TransformRequest, Work } from './calls/work.ts';

/** The types I to IV. */
export type SumType = 1 | 2 | 3 | 4;

interface R2rOptions {
  /** Default 2. Types 2 and 3 are inverses of each other; types 1 and 4 are their own inverses. */
  readonly type?: SumType | undefined;
  /**
   * Whether first or last numbers are scaled by √2 so that the matrix is orthogonal but for one factor: in `dct` of types 1 to 3, in `dst` of types 2
   * and 3. Default: true if `norm` is `ortho`.
   */
  readonly orthogonalize?: boolean | null | undefined;
}

/** Options of the cosine and sine transforms along one axis. */
export interface SumLineOptions extends LineOptions, R2rOptions {}

/** Options of the cosine and sine transforms along several axes: all by default, each named once. */
export interface SumTensorOptions extends TensorOptions, R2rOptions {}

type Family = 'dct' | 'dst';
type LineName = `${'' | 'i'}${Family}`;

/** An end of a line. */
type End = 'first' | 'last';

/** The ends that are multiplied by √2 before the transform, and the ends that are divided by √2 after it. */
const scaledEnds: Readonly<
  Partial<Record<R2rKind, { readonly before: readonly End[]; readonly after: readonly End[] }>>
> = {
  dct1: { before: ['first', 'last'], after: ['first', 'last'] },
  dct2: { before: [], after: ['first'] },
  dct3: { before: ['first'], after: [] },
  dst2: { before: [], after: ['last'] },
  dst3: { before: ['last'], after: [] },
};

const known = new KnownCalls();
const NONE: readonly string[] = [];

/**
 * The request of a transform along one axis.
 * @param more names of options that the caller checks
 * @throws FftError `invalid-argument`, `unknown-field`, `invalid-size`; for the array `wrong-array-type`, `wrong-length`, `detached-array`,
 *   `out-of-memory`
 */
export function r2rLineRequest(
  name: LineName,
  input: ArrayInput,
  options?: SumLineOptions & OtherOptions,
  more: readonly string[] = NONE,
): TransformRequest {
  const found = known.find(name, input, options, more.length > 0);
  if (found) return found;
  const operand = asArray(input);
  return r2rRequest(
    name,
    operand,
    lineArguments(operand.shape, options === undefined ? {} : options, signatureOf(name, more)),
  );
}

/** The request of a transform along several axes; parameters and errors as above. */
export function r2rTensorRequest(
  name: `${LineName}n`,
  input: ArrayInput,
  options?: SumTensorOptions & OtherOptions,
  more: readonly string[] = NONE,
): TransformRequest {
  const found = known.find(name, input, options, more.length > 0);
  if (found) return found;
  const operand = asArray(input);
  const given = tensorArguments(operand.shape, options === undefined ? {} : options, signatureOf(name, more));
  resolveDistinctAxes(given.axes, operand.shape.length);
  return r2rRequest(name, operand, given);
}

function signatureOf(name: string, more: readonly string[]) {
  return { name, toReals: false, more: ['type', 'orthogonalize', ...more] };
}

function r2rRequest(name: LineName | `${LineName}n`, operand: NumpyArray, given: Arguments): TransformRequest {
  const inverse = name.startsWith('i');
  const kind = r2rKind(name.includes('dct') ? 'dct' : 'dst', checkType(given.type), inverse);
  const orthogonal = checkOrthogonalize(given);
  given.lengths.forEach((length, k) => {
    if (kind !== 'dct1' || length > 1) return;
    const message = `Axis ${given.axes[k]} has one point; ${name} of type 1 takes 2 points or more.`;
    throw new FftError('invalid-size', message);
  });
  const { device, axes } = given;
  // Real and imaginary parts are adjacent along one more axis, the last, which is not transformed.
  const parts = isComplex(operand.dtype) ? [2] : [];
  const single = isSingle(operand.dtype);
  const reals = { data: operand.data, shape: [...operand.shape, ...parts], dtype: dtypeOf(false, single) };
  const step = r2rStep(reals, given, kind, inverse);
  const after = step.to.shape.slice(0, operand.shape.length);
  const work = r2rWork(reals, step, { kind, axes, orthogonal, shape: after, dtype: operand.dtype });
  known.keep(name, { operand, requested: given.requested }, work);
  return { device, work, data: operand.data };
}

/** The kind of a transform: the inverses of types 2 and 3 are each other. */
function r2rKind(family: Family, type: SumType, inverse: boolean): R2rKind {
  return `${family}${inverse && (type === 2 || type === 3) ? ((5 - type) as 2 | 3) : type}`;
}

function checkType(type: unknown = 2): SumType {
  if (type === 1 || type === 2 || type === 3 || type === 4) return type;
  throw new FftError('invalid-argument', `type is ${show(type)}; it must be 1, 2, 3 or 4.`, { path: 'type' });
}

function checkOrthogonalize({ orthogonalize, norm }: Arguments): boolean {
  const wish = orthogonalize ?? norm === 'ortho';
  if (typeof wish === 'boolean') return wish;
  const message = `orthogonalize is ${show(wish)}; it must be true or false.`;
  throw new FftError('invalid-argument', message, { path: 'orthogonalize' });
}

function r2rStep(
  reals: NumpyArray,
  { axes, lengths, norm }: Arguments,
  kind: R2rKind,
  inverse: boolean,
): TransformStep {
  const shape = resized(
    reals.shape,
    axes.map((axis, k) => ({ axis, length: lengths[k]! })),
  );
  checkShapeFits(shape);
  const side = { shape, complex: false };
  const direction = 'forward';
  if (elementCount(shape) === 0) return { direction, problem: undefined, axes: [], from: side, to: side };
  const scale = r2rScale(norm, inverse, elementCount(lengths.map((length) => logicalLength(kind, length))));
  const wanted = { shape, axes, r2r: kind, direction, single: isSingle(reals.dtype), scale } as const;
  return { direction, ...denseProblemOf(wanted), from: side, to: side };
}

/** The factor of a direction. @param points the factor of a forward transform followed by its unscaled inverse */
function r2rScale(norm: Norm, inverse: boolean, points: number): number {
  if (norm === 'ortho') return 1 / Math.sqrt(points);
  return inverse === (norm === 'backward') ? 1 / points : 1;
}

interface R2rFacts {
  readonly kind: R2rKind;
  readonly axes: readonly number[];
  readonly orthogonal: boolean;
  /** The shape of the result. */
  readonly shape: readonly number[];
  readonly dtype: NumpyArray['dtype'];
}

function r2rWork(
  { data, shape: given, dtype: parts }: NumpyArray,
  { direction, problem, axes: sizes, from }: TransformStep,
  { kind, axes, orthogonal, shape, dtype }: R2rFacts,
): Work {
  const scaled = (orthogonal && scaledEnds[kind]) || { before: [], after: [] };
  const fit = fitFor({ shape: given, complex: false }, from);
  const before = (target: Floats, source: Floats) => {
    if (fit) fit.fill(target, source);
    else copyInto(target, source);
    for (const axis of axes) scaleEnds(target, from.shape, { axis, at: scaled.before, factor: Math.SQRT2 });
  };
  const after = (result: Floats) => {
    for (const axis of axes) scaleEnds(result, from.shape, { axis, at: scaled.after, factor: Math.SQRT1_2 });
  };
  const step = {
    ...{ direction, problem, axes: sizes, single: isSingle(parts) },
    key: problem ? JSON.stringify(problem) : '',
    length: elementCount(from.shape),
    fill: scaled.before.length > 0 ? before : fit?.fill,
    finish: scaled.after.length > 0 ? after : undefined,
  };
  return { steps: [step], shape, dtype, entries: data.length, takesSubarrays: fit?.takesSubarrays === true };
}

/** Multiplies one or both ends of all lines along an axis, in place. */
function scaleEnds(
  data: Floats,
  shape: readonly number[],
  { axis, at, factor }: { readonly axis: number; readonly at: readonly End[]; readonly factor: number },
): void {
  if (data.length === 0) return;
  const inner = elementCount(shape.slice(axis + 1));
  const block = shape[axis]! * inner;
  for (const end of at) {
    for (let start = end === 'first' ? 0 : block - inner; start < data.length; start += block) {
      for (let k = start; k < start + inner; k++) data[k] = data[k]! * factor;
    }
  }
}
