/**
 * omnifft/nufft: non-uniform fast Fourier transforms of types 1, 2 and 3 in one to three dimensions, on every device. Names and conventions
 * are FINUFFT's: `plan`, `setPoints`, `execute`, and single calls such as `nufft2d1`.
 * @module nufft
 */
export type { NufftOptions, NufftPlanOptions } from './options.ts';
export { type ComplexFloats, type NufftEnqueueOptions, NufftPlan, plan } from './plan.ts';
export type { Coordinates } from './points.ts';
export {
  nufft1d1,
  nufft1d2,
  nufft1d3,
  nufft2d1,
  nufft2d2,
  nufft2d3,
  nufft3d1,
  nufft3d2,
  nufft3d3,
} from './simple.ts';
