/** The transforms of this room by name, and the work of each call. */

import { FftError } from '../../problem/errors.ts';
import { copyInto } from '../../problem/input/bytes.ts';
import {
  type ArrayInput,
  asArray,
  dtypeOf,
  elementCount,
  isComplex,
  isSingle,
  type NumpyArray,
} from '../arrays/array.ts';
import {
  type Arguments,
  type LineOptions,
  lineArguments,
  type OtherOptions,
  type TensorOptions,
  tensorArguments,
} from './arguments.ts';
import { resolveDistinctAxes } from './axes.ts';
import { conjugateInPlace, fitFor } from './fit.ts';
import { KnownCalls } from './known.ts';
import { fftSteps, type OperandShape, type TransformStep, type TransformWay } from './steps.ts';
import type { Fill, TransformRequest, Work, WorkStep } from './work.ts';

const complex = { transform: 'c2c', conjugate: false } as const;
const real = { transform: 'r2c', conjugate: false } as const;
const hermitian = { transform: 'r2c', conjugate: true } as const;

/** Transforms along one axis. */
const lines = {
  fft: { ...complex, direction: 'forward' },
  ifft: { ...complex, direction: 'inverse' },
  rfft: { ...real, direction: 'forward' },
  irfft: { ...real, direction: 'inverse' },
  hfft: { ...hermitian, direction: 'inverse' },
  ihfft: { ...hermitian, direction: 'forward' },
} as const satisfies Record<string, TransformWay>;

/** Transforms along several axes. `usual` are their default axes, all if left out. */
const tensors = {
  fft2: { ...lines.fft, usual: [-2, -1] },
  ifft2: { ...lines.ifft, usual: [-2, -1] },
  rfft2: { ...lines.rfft, usual: [-2, -1] },
  irfft2: { ...lines.irfft, usual: [-2, -1] },
  fftn: { ...lines.fft, usual: undefined },
  ifftn: { ...lines.ifft, usual: undefined },
  rfftn: { ...lines.rfft, usual: undefined },
  irfftn: { ...lines.irfft, usual: undefined },
  hfft2: { ...lines.hfft, usual: [-2, -1] },
  ihfft2: { ...lines.ihfft, usual: [-2, -1] },
  hfftn: { ...lines.hfft, usual: undefined },
  ihfftn: { ...lines.ihfft, usual: undefined },
} as const satisfies Record<string, TransformWay & { readonly usual: readonly number[] | undefined }>;

const known = new KnownCalls();
const NONE: readonly string[] = [];

/**
 * The request of a call along one axis.
 * @param more names of options that the caller checks
 * @throws FftError `invalid-argument`, `unknown-field`, `invalid-size`; for the array `wrong-array-type`, `wrong-length`, `detached-array`,
 *   `out-of-memory`
 */
export function lineRequest(
  name: keyof typeof lines,
  input: ArrayInput,
  options?: LineOptions & OtherOptions,
  more: readonly string[] = NONE,
): TransformRequest {
  const found = known.find(name, input, options, more.length > 0);
  if (found) return found;
  const kind = lines[name];
  const operand = operandOf(name, kind, input);
  const signature = { name, toReals: yieldsReals(kind), more };
  return request(name, kind, operand, lineArguments(operand.shape, options === undefined ? {} : options, signature));
}

/** The request of a call along several axes; parameters and errors as for `lineRequest`. */
export function tensorRequest(
  name: keyof typeof tensors,
  input: ArrayInput,
  options?: TensorOptions & OtherOptions,
  more: readonly string[] = NONE,
): TransformRequest {
  const found = known.find(name, input, options, more.length > 0);
  if (found) return found;
  const kind = tensors[name];
  const operand = operandOf(name, kind, input);
  const signature = { name, toReals: yieldsReals(kind), more };
  const given = tensorArguments(operand.shape, options === undefined ? {} : options, signature, kind.usual);
  // SciPy's functions, which NumPy lacks, allow each axis once only.
  if (kind.conjugate) resolveDistinctAxes(given.axes, operand.shape.length);
  return request(name, kind, operand, given);
}

function yieldsReals({ transform, direction }: TransformWay): boolean {
  return transform === 'r2c' && direction === 'inverse';
}

function operandOf(name: string, { transform, direction }: TransformWay, input: ArrayInput): NumpyArray {
  const array = asArray(input);
  if (transform === 'c2c' || direction === 'inverse' || !isComplex(array.dtype)) return array;
  const message = `${name} takes real numbers, and the array is of ${array.dtype}; ${name.slice(name.indexOf('f'))} takes complex ones.`;
  throw new FftError('wrong-array-type', message, { path: 'dtype' });
}

function request(name: string, kind: TransformWay, operand: NumpyArray, given: Arguments): TransformRequest {
  if (kind.transform === 'r2c' && given.axes.length === 0) {
    throw new FftError('invalid-argument', `axes is []; ${name} takes at least one axis.`, { path: 'axes' });
  }
  const work = fftWork(kind, fftSteps(operand.shape, given, kind, isSingle(operand.dtype)), operand);
  known.keep(name, { operand, requested: given.requested }, work);
  return { device: given.device, work, data: operand.data };
}

function fftWork(kind: TransformWay, steps: readonly TransformStep[], { data, shape, dtype }: NumpyArray): Work {
  const single = isSingle(dtype);
  let current: OperandShape = { shape, complex: isComplex(dtype) };
  let takesSubarrays = false;
  // A transform of no axes still converts the numbers to complex.
  const all = steps.length > 0 ? steps : [nothingOf(shape)];
  const made = all.map((step, n): WorkStep => {
    const { direction, problem, axes, from, to } = step;
    const fit = fitFor(current, from);
    if (n === 0 && fit?.takesSubarrays) takesSubarrays = true;
    current = to;
    return {
      ...{ direction, problem, axes, single },
      key: problem ? JSON.stringify(problem) : '',
      length: elementCount(from.shape) * (from.complex ? 2 : 1),
      // Bins are conjugated once, when they are read or written.
      fill: kind.conjugate && kind.direction === 'inverse' && n === 0 ? conjugatingFill(fit?.fill) : fit?.fill,
      finish: kind.conjugate && kind.direction === 'forward' && n === all.length - 1 ? conjugateInPlace : undefined,
    };
  });
  return {
    steps: made,
    shape: current.shape,
    dtype: dtypeOf(current.complex, single),
    entries: data.length,
    takesSubarrays,
  };
}

/** A step that computes nothing, for complex numbers. */
function nothingOf(shape: readonly number[]): TransformStep {
  const side = { shape, complex: true };
  return { direction: 'forward', problem: undefined, axes: [], from: side, to: side };
}

function conjugatingFill(fill: Fill | undefined): Fill {
  return (target, data) => {
    if (fill) fill(target, data);
    else copyInto(target, data);
    conjugateInPlace(target);
  };
}
