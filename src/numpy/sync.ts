/**
 * `omnifft/numpy/sync`: the functions of `omnifft/numpy` for callers that cannot wait. They run on the calling thread, on
 * a CPU device of their own that is opened on first use.
 */
import type { Plan } from '../engine/index.ts';
import { openCpuSync } from '../engine/open-sync.ts';
import { type ArrayInput, type ComplexArray, fitting, type Transformed } from './array.ts';
import { PlanCache } from './plans.ts';
import {
  bytesOfSides,
  type DenseProblem,
  inAxes,
  type LineOptions,
  lineRequest,
  planeRequest,
  spaceRequest,
  type TensorOptions,
  type TransformRequest,
} from './request.ts';

export type {
  ArrayInput,
  ComplexArray,
  ComplexDtype,
  DtypeOf,
  NumpyArray,
  SameArray,
  Transformed,
  TypedArray,
} from './array.ts';
export { type FastLengthOptions, fftfreq, fftshift, ifftshift, nextFastLength, type ShiftAxes } from './helpers.ts';
export { type NpyArray, type NpyDtype, readNpy, writeNpy } from './npy.ts';
export type { LineOptions, Norm, TensorOptions } from './request.ts';

/** `fft` of `omnifft/numpy`, at once. */
export function fft<X extends ArrayInput>(x: X, options: LineOptions = {}): Transformed<X> {
  return transform<X>(lineRequest('forward', x, options));
}

/** `ifft` of `omnifft/numpy`, at once. */
export function ifft<X extends ArrayInput>(x: X, options: LineOptions = {}): Transformed<X> {
  return transform<X>(lineRequest('inverse', x, options));
}

/** `fft2` of `omnifft/numpy`, at once. */
export function fft2<X extends ArrayInput>(x: X, options: TensorOptions = {}): Transformed<X> {
  return transform<X>(planeRequest('forward', x, options));
}

/** `ifft2` of `omnifft/numpy`, at once. */
export function ifft2<X extends ArrayInput>(x: X, options: TensorOptions = {}): Transformed<X> {
  return transform<X>(planeRequest('inverse', x, options));
}

/** `fftn` of `omnifft/numpy`, at once. */
export function fftn<X extends ArrayInput>(x: X, options: TensorOptions = {}): Transformed<X> {
  return transform<X>(spaceRequest('forward', x, options));
}

/** `ifftn` of `omnifft/numpy`, at once. */
export function ifftn<X extends ArrayInput>(x: X, options: TensorOptions = {}): Transformed<X> {
  return transform<X>(spaceRequest('inverse', x, options));
}

type Plans = PlanCache<DenseProblem, Plan<DenseProblem>>;

let plans: Plans | undefined;

function ownPlans(): Plans {
  const device = openCpuSync();
  return new PlanCache({
    make: (problem) => device.planSync(problem),
    destroy: (plan) => plan.destroy(),
    bytesOf: bytesOfSides,
  });
}

/** Carries out a request that was made of an `X`. */
function transform<X extends ArrayInput>(request: TransformRequest): Transformed<X> {
  try {
    return run(request) as Transformed<X>;
  } catch (error) {
    throw inAxes(error, request);
  }
}

function run({ direction, problem, operand }: TransformRequest): ComplexArray {
  if (!problem) return { ...operand, data: fitting(operand.data.length, () => operand.data.slice()) };
  plans ??= ownPlans();
  const lease = plans.take(problem);
  try {
    return { ...operand, data: lease.plan[`${direction}Sync`](operand.data) };
  } catch (error) {
    plans.forget(lease);
    throw error;
  } finally {
    plans.give(lease);
  }
}
