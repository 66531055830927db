/** The transforms of this room by name, and what each call of one comes to. */
import { FftError } from '../problem/errors.ts';
import {
  type Arguments,
  type LineOptions,
  lineArguments,
  type OtherOptions,
  type TensorOptions,
  tensorArguments,
} from './arguments.ts';
import { type ArrayInput, asArray, dtypeOf, isComplex, isSingle, type NumpyArray, product } from './array.ts';
import { resolveDistinctAxes } from './axes.ts';
import { conjugate, copyOf, fitted } from './fit.ts';
import { type Floats, zeros } from './memory.ts';
import { stepsOf, type TransformStep, type TransformWay } from './steps.ts';

const complex = { transform: 'c2c', conjugate: false } as const;
const real = { transform: 'r2c', conjugate: false } as const;
const hermitian = { transform: 'r2c', conjugate: true } as const;

/** Along one axis. */
const lines = {
  fft: { ...complex, direction: 'forward' },
  ifft: { ...complex, direction: 'inverse' },
  rfft: { ...real, direction: 'forward' },
  irfft: { ...real, direction: 'inverse' },
  hfft: { ...hermitian, direction: 'inverse' },
  ihfft: { ...hermitian, direction: 'forward' },
} as const satisfies Record<string, TransformWay>;

/** Along several axes: `usual` are the default ones, all where there are none. */
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

/** What is to be done. */
export interface TransformRequest {
  /** Where, as the caller says. */
  readonly device: unknown;
  /**
   * Does it but for what plans do: asks for that, job by job, and is to be given what comes out, a new array. What it returns
   * are new numbers, none of the caller's. It throws `out-of-memory`.
   */
  readonly work: Generator<PlannedTransform, NumpyArray, Floats>;
}

/** A transform for a plan to do. */
export interface PlannedTransform {
  readonly step: TransformStep;
  readonly problem: NonNullable<TransformStep['problem']>;
  readonly data: Floats;
}

/**
 * @param more options that the caller looks after
 * @throws FftError `invalid-argument`, `unknown-field`, `invalid-size`, and those of `asArray`
 */
export function lineRequest(
  name: keyof typeof lines,
  input: ArrayInput,
  options: LineOptions & OtherOptions,
  more: readonly string[] = [],
): TransformRequest {
  const kind = lines[name];
  const operand = operandOf(name, kind, input);
  return request(name, kind, operand, lineArguments(operand.shape, options, { name, toReals: toReals(kind), more }));
}

/** For transforms along several axes; parameters and errors as above. */
export function tensorRequest(
  name: keyof typeof tensors,
  input: ArrayInput,
  options: TensorOptions & OtherOptions,
  more: readonly string[] = [],
): TransformRequest {
  const kind = tensors[name];
  const operand = operandOf(name, kind, input);
  const signature = { name, toReals: toReals(kind), more };
  const given = tensorArguments(operand.shape, options, signature, kind.usual);
  // Of the functions that NumPy does not have, SciPy says that each axis is taken once.
  if (kind.conjugate) resolveDistinctAxes(given.axes, operand.shape.length);
  return request(name, kind, operand, given);
}

function toReals({ transform, direction }: TransformWay): boolean {
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
  const steps = stepsOf(operand.shape, given, kind, isSingle(operand.dtype));
  return { device: given.device, work: carryOut(kind, steps, operand) };
}

function* carryOut(
  kind: TransformWay,
  steps: readonly TransformStep[],
  operand: NumpyArray,
): Generator<PlannedTransform, NumpyArray, Floats> {
  const single = isSingle(operand.dtype);
  const own = (data: Floats) => (data === operand.data ? copyOf(data) : data);
  let array = operand;
  for (const step of steps) {
    const { problem, from, to } = step;
    let data = fitted(array, from.shape, from.complex);
    if (kind.conjugate && from.complex) {
      data = own(data);
      conjugate(data);
    }
    if (problem) data = yield { step, problem, data };
    // Axes of one element are their own transforms; and of nothing comes nothing.
    else data = product(to.shape) > 0 ? own(data) : zeros(0, single);
    if (kind.conjugate && !from.complex) conjugate(data);
    array = { data, shape: to.shape, dtype: dtypeOf(to.complex, single) };
  }
  if (steps.length > 0) return array;
  const { shape } = operand;
  return { data: own(fitted(operand, shape, true)), shape: [...shape], dtype: dtypeOf(true, single) };
}
