/**
 * `omnifft/numpy/sync`: the functions of `omnifft/numpy` for callers that cannot wait. They run on the calling thread, on
 * a CPU device of their own that is opened on first use.
 */
import type { Plan } from '../engine/index.ts';
import { openCpuSync } from '../engine/open-sync.ts';
import { type ArrayInput, type ComplexArray, fitting } from './array.ts';
import { PlanCache } from './plans.ts';
import {
  inAxes,
  type LineOptions,
  lineRequest,
  planeRequest,
  spaceRequest,
  type TensorOptions,
  type TransformRequest,
} from './request.ts';

export type { ArrayInput, ComplexArray, ComplexDtype, NumpyArray, TypedArray } from './array.ts';
export { fftfreq, fftshift, ifftshift, nextFastLength, type ShiftAxes } from './helpers.ts';
export { type NpyArray, type NpyDtype, readNpy, writeNpy } from './npy.ts';
export type { LineOptions, Norm, TensorOptions } from './request.ts';

/** `fft` of `omnifft/numpy`, at once. */
export function fft(x: ArrayInput, options: LineOptions = {}): ComplexArray {
  return transform(lineRequest('forward', x, options));
}

/** `ifft` of `omnifft/numpy`, at once. */
export function ifft(x: ArrayInput, options: LineOptions = {}): ComplexArray {
  return transform(lineRequest('inverse', x, options));
}

/** `fft2` of `omnifft/numpy`, at once. */
export function fft2(x: ArrayInput, options: TensorOptions = {}): ComplexArray {
  return transform(planeRequest('forward', x, options));
}

/** `ifft2` of `omnifft/numpy`, at once. */
export function ifft2(x: ArrayInput, options: TensorOptions = {}): ComplexArray {
  return transform(planeRequest('inverse', x, options));
}

/** `fftn` of `omnifft/numpy`, at once. */
export function fftn(x: ArrayInput, options: TensorOptions = {}): ComplexArray {
  return transform(spaceRequest('forward', x, options));
}

/** `ifftn` of `omnifft/numpy`, at once. */
export function ifftn(x: ArrayInput, options: TensorOptions = {}): ComplexArray {
  return transform(spaceRequest('inverse', x, options));
}

let plans: PlanCache<Plan> | undefined;

function ownPlans(): PlanCache<Plan> {
  const device = openCpuSync();
  return new PlanCache(
    (problem) => device.planSync(problem),
    (plan) => plan.destroy(),
  );
}

function transform(request: TransformRequest): ComplexArray {
  try {
    return run(request);
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
