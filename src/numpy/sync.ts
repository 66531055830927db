/**
 * `omnifft/numpy/sync`: the functions of `omnifft/numpy` for callers that cannot wait. They run on the calling thread, on a CPU device of their own
 * that is opened on first use.
 * @module omnifft/numpy/sync
 */
import { openCpuSync } from '../engine/open-sync.ts';
import { FftError } from '../problem/errors.ts';
import type { ArrayInput, NumpyArray, RealOnly, RealTransformed, SameArray, Transformed } from './arrays/array.ts';
import { type Floats, floatZeros } from './arrays/memory.ts';
import type { LineOptions, TensorOptions } from './calls/arguments.ts';
import { PlanCache } from './calls/plans.ts';
import { bytesOfSides, type DenseProblem } from './calls/problem.ts';
import { lineRequest, tensorRequest } from './calls/request.ts';
import { inAxes } from './calls/steps.ts';
import { SyncPlan } from './calls/sync-plan.ts';
import { callResult, filled, type TransformRequest, type WorkStep } from './calls/work.ts';
import { r2rLineRequest, r2rTensorRequest, type SumLineOptions, type SumTensorOptions } from './cosines.ts';
import { type HankelOptions, type HankelRequest, hankelRequest } from './hankel.ts';

export type {
  ArrayInput,
  ComplexArray,
  ComplexDtype,
  DtypeOf,
  NumberLists,
  NumpyArray,
  RealDtype,
  RealOnly,
  RealTransformed,
  SameArray,
  Transformed,
  TypedArray,
} from './arrays/array.ts';
export type { NpyArray, NpyDtype } from './arrays/npy-array.ts';
export type { LineOptions, Norm, TensorOptions } from './calls/arguments.ts';
export type { SumLineOptions, SumTensorOptions, SumType } from './cosines.ts';
export { readNpy, writeNpy } from './files/npy.ts';
export { fhtoffset, type HankelOffsetOptions, type HankelOptions } from './hankel.ts';
export {
  type FastLengthOptions,
  fftfreq,
  fftshift,
  ifftshift,
  nextFastLength,
  prevFastLength,
  rfftfreq,
  type ShiftAxes,
  type Spacing,
} from './helpers.ts';

/** `fft` of `omnifft/numpy`, at once. */
export function fft<X extends ArrayInput>(x: X, options?: LineOptions): Transformed<X> {
  return transformSync(lineRequest('fft', x, options));
}

/** `ifft` of `omnifft/numpy`, at once. */
export function ifft<X extends ArrayInput>(x: X, options?: LineOptions): Transformed<X> {
  return transformSync(lineRequest('ifft', x, options));
}

/** `rfft` of `omnifft/numpy`, at once. */
export function rfft<X extends ArrayInput>(x: X & RealOnly<X>, options?: LineOptions): Transformed<X> {
  return transformSync(lineRequest('rfft', x, options));
}

/** `irfft` of `omnifft/numpy`, at once. */
export function irfft<X extends ArrayInput>(x: X, options?: LineOptions): RealTransformed<X> {
  return transformSync(lineRequest('irfft', x, options));
}

/** `hfft` of `omnifft/numpy`, at once. */
export function hfft<X extends ArrayInput>(x: X, options?: LineOptions): RealTransformed<X> {
  return transformSync(lineRequest('hfft', x, options));
}

/** `ihfft` of `omnifft/numpy`, at once. */
export function ihfft<X extends ArrayInput>(x: X & RealOnly<X>, options?: LineOptions): Transformed<X> {
  return transformSync(lineRequest('ihfft', x, options));
}

/** `fft2` of `omnifft/numpy`, at once. */
export function fft2<X extends ArrayInput>(x: X, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('fft2', x, options));
}

/** `ifft2` of `omnifft/numpy`, at once. */
export function ifft2<X extends ArrayInput>(x: X, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('ifft2', x, options));
}

/** `rfft2` of `omnifft/numpy`, at once. */
export function rfft2<X extends ArrayInput>(x: X & RealOnly<X>, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('rfft2', x, options));
}

/** `irfft2` of `omnifft/numpy`, at once. */
export function irfft2<X extends ArrayInput>(x: X, options?: TensorOptions): RealTransformed<X> {
  return transformSync(tensorRequest('irfft2', x, options));
}

/** `fftn` of `omnifft/numpy`, at once. */
export function fftn<X extends ArrayInput>(x: X, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('fftn', x, options));
}

/** `ifftn` of `omnifft/numpy`, at once. */
export function ifftn<X extends ArrayInput>(x: X, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('ifftn', x, options));
}

/** `rfftn` of `omnifft/numpy`, at once. */
export function rfftn<X extends ArrayInput>(x: X & RealOnly<X>, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('rfftn', x, options));
}

/** `irfftn` of `omnifft/numpy`, at once. */
export function irfftn<X extends ArrayInput>(x: X, options?: TensorOptions): RealTransformed<X> {
  return transformSync(tensorRequest('irfftn', x, options));
}

/** `hfft2` of `omnifft/numpy`, at once. */
export function hfft2<X extends ArrayInput>(x: X, options?: TensorOptions): RealTransformed<X> {
  return transformSync(tensorRequest('hfft2', x, options));
}

/** `ihfft2` of `omnifft/numpy`, at once. */
export function ihfft2<X extends ArrayInput>(x: X & RealOnly<X>, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('ihfft2', x, options));
}

/** `hfftn` of `omnifft/numpy`, at once. */
export function hfftn<X extends ArrayInput>(x: X, options?: TensorOptions): RealTransformed<X> {
  return transformSync(tensorRequest('hfftn', x, options));
}

/** `ihfftn` of `omnifft/numpy`, at once. */
export function ihfftn<X extends ArrayInput>(x: X & RealOnly<X>, options?: TensorOptions): Transformed<X> {
  return transformSync(tensorRequest('ihfftn', x, options));
}

/** `dct` of `omnifft/numpy`, at once. */
export function dct<X extends ArrayInput>(x: X, options?: SumLineOptions): SameArray<X> {
  return transformSync(r2rLineRequest('dct', x, options));
}

/** `idct` of `omnifft/numpy`, at once. */
export function idct<X extends ArrayInput>(x: X, options?: SumLineOptions): SameArray<X> {
  return transformSync(r2rLineRequest('idct', x, options));
}

/** `dst` of `omnifft/numpy`, at once. */
export function dst<X extends ArrayInput>(x: X, options?: SumLineOptions): SameArray<X> {
  return transformSync(r2rLineRequest('dst', x, options));
}

/** `idst` of `omnifft/numpy`, at once. */
export function idst<X extends ArrayInput>(x: X, options?: SumLineOptions): SameArray<X> {
  return transformSync(r2rLineRequest('idst', x, options));
}

/** `dctn` of `omnifft/numpy`, at once. */
export function dctn<X extends ArrayInput>(x: X, options?: SumTensorOptions): SameArray<X> {
  return transformSync(r2rTensorRequest('dctn', x, options));
}

/** `idctn` of `omnifft/numpy`, at once. */
export function idctn<X extends ArrayInput>(x: X, options?: SumTensorOptions): SameArray<X> {
  return transformSync(r2rTensorRequest('idctn', x, options));
}

/** `dstn` of `omnifft/numpy`, at once. */
export function dstn<X extends ArrayInput>(x: X, options?: SumTensorOptions): SameArray<X> {
  return transformSync(r2rTensorRequest('dstn', x, options));
}

/** `idstn` of `omnifft/numpy`, at once. */
export function idstn<X extends ArrayInput>(x: X, options?: SumTensorOptions): SameArray<X> {
  return transformSync(r2rTensorRequest('idstn', x, options));
}

/** `fht` of `omnifft/numpy`, at once. */
export function fht<X extends ArrayInput>(
  a: X & RealOnly<X>,
  dln: number,
  mu: number,
  options?: HankelOptions,
): RealTransformed<X> {
  return hankel(hankelRequest('fht', a, [dln, mu], options));
}

/** `ifht` of `omnifft/numpy`, at once. */
export function ifht<X extends ArrayInput>(
  a: X & RealOnly<X>,
  dln: number,
  mu: number,
  options?: HankelOptions,
): RealTransformed<X> {
  return hankel(hankelRequest('ifht', a, [dln, mu], options));
}

function hankel<R extends NumpyArray>({ reals, n, convolve, finish }: HankelRequest): R {
  const bins = rfft(reals);
  convolve(bins);
  const lines = irfft(bins, { n });
  finish(lines);
  return lines as NumpyArray as R;
}

type SyncPlans = PlanCache<DenseProblem, SyncPlan>;

let plans: SyncPlans | undefined;

function ownPlans(): SyncPlans {
  const device = openCpuSync();
  return new PlanCache({
    make: (problem) => new SyncPlan(device, problem),
    destroy: (plan) => plan.destroy(),
    bytesOf: bytesOfSides,
  });
}

/** Runs a request whose result is known to be an `R`. */
function transformSync<R extends NumpyArray>({ work, data }: TransformRequest): R {
  const { steps } = work;
  let current = data;
  for (let n = 0; n < steps.length; n++) {
    const step = steps[n]!;
    current = step.problem ? runStepSync(step, step.problem, current) : filled(step, current);
    step.finish?.(current);
  }
  return callResult(work, current);
}

function runStepSync(step: WorkStep, problem: DenseProblem, data: Floats): Floats {
  plans ??= ownPlans();
  try {
    const lease = plans.take(problem, step.key);
    try {
      return lease.plan.transform(step, data);
    } catch (error) {
      plans.forget(lease);
      throw error;
    } finally {
      plans.give(lease);
    }
  } catch (error) {
    // A result that exceeds the longest array is refused for that, before the device's own limits are checked.
    if (error instanceof FftError && error.code === 'device-limit') floatZeros(step.length, step.single);
    throw inAxes(error, step);
  }
}
