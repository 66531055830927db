/**
 * `omnifft/numpy`: Fourier transforms under NumPy's names, cosine and sine transforms under SciPy's.
 *
 * Arrays are `{ data, shape, dtype }`, row-major, shape slowest first; complex numbers lie as `re, im`. A bare typed array
 * is real and has one axis; lists of numbers are real, too. Single precision stays single, all else is double.
 * Forward has the exponent sign −1. Arguments that NumPy takes by name are fields of the last argument.
 * @module omnifft/numpy
 */

import type { ArrayInput, NumpyArray, RealOnly, RealTransformed, SameArray, Transformed } from './arrays/array.ts';
import type { LineOptions, TensorOptions } from './calls/arguments.ts';
import type { DeviceChoice } from './calls/choice.ts';
import { lineRequest, tensorRequest } from './calls/request.ts';
import { runRequest } from './calls/run.ts';
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
export type { DeviceChoice } from './calls/choice.ts';
export type { SumLineOptions, SumTensorOptions, SumType } from './cosines.ts';
export { readNpy, writeNpy } from './files/npy.ts';
export { readNpz, writeNpz } from './files/npz.ts';
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

/**
 * Transforms one axis.
 * @param x must stay as it is until the promise resolves
 * @param options `n`, `axis`, `norm`, and the `device` to compute on: by default a CPU device that all calls share.
 * @returns complex64 or complex128, of the shape of `x` but for `n`
 * @throws FftError (as a rejection) `invalid-argument`, `unknown-field`, `invalid-size`, `wrong-array-type`, `wrong-length`, `detached-array`,
 *   `unsupported-length`, `out-of-memory`, and errors of `device.plan`
 */
export async function fft<X extends ArrayInput>(x: X, options?: LineOptions & DeviceChoice): Promise<Transformed<X>> {
  return runRequest(lineRequest('fft', x, options, ['device']));
}

/** Inverse of `fft`: the exponent has the sign +1, and the result is divided by the length unless `norm` says otherwise. */
export async function ifft<X extends ArrayInput>(x: X, options?: LineOptions & DeviceChoice): Promise<Transformed<X>> {
  return runRequest(lineRequest('ifft', x, options, ['device']));
}

/**
 * Transforms one axis of reals to the bins from 0 to half the sampling rate; the remaining bins are conjugates of these.
 * Options and errors as of `fft`; complex input is a `wrong-array-type`.
 * @returns complex64 or complex128, of the shape of `x` but for ⌊n/2⌋ + 1 bins along the axis
 */
export async function rfft<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: LineOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(lineRequest('rfft', x, options, ['device']));
}

/**
 * Inverse of `rfft`. Imaginary parts of bin 0 and, if n is even, of the last bin count as zero.
 * @param options as of `fft`, but `n` is the length of the result: by default 2(m − 1) for m bins, so an odd length has to be given.
 * @returns float32 or float64, of the shape of `x` but for n reals along the axis
 * @throws FftError as `fft`
 */
export async function irfft<X extends ArrayInput>(
  x: X,
  options?: LineOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(lineRequest('irfft', x, options, ['device']));
}

/**
 * The real spectrum of a Hermitian-symmetric signal, x(−t) = conj x(t), given from t = 0 on: `irfft` of the conjugate, without the division. (For
 * `norm`, it is the forward direction.) Options, shape and errors as of `irfft`.
 */
export async function hfft<X extends ArrayInput>(
  x: X,
  options?: LineOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(lineRequest('hfft', x, options, ['device']));
}

/** Inverse of `hfft`: the conjugate of `rfft`, divided by the length unless `norm` says otherwise. Takes reals and returns bins. */
export async function ihfft<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: LineOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(lineRequest('ihfft', x, options, ['device']));
}

/** Transforms two axes, the last two by default. Options: `s`, `axes`, `norm`, `device`. Everything else as in `fft`. */
export async function fft2<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('fft2', x, options, ['device']));
}

/** Inverse of `fft2`: an array of the same shape, or of the shape that `s` gives; options and errors as of `fft2`. */
export async function ifft2<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('ifft2', x, options, ['device']));
}

/** `rfftn` of two axes, the last two by default. */
export async function rfft2<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('rfft2', x, options, ['device']));
}

/** `irfftn` of two axes, the last two by default. */
export async function irfft2<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(tensorRequest('irfft2', x, options, ['device']));
}

/** Transforms any axes, all by default. Options: `s`, `axes`, `norm`, `device`. Everything else as in `fft`. */
export async function fftn<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('fftn', x, options, ['device']));
}

/** Inverse of `fftn`: an array of the same shape, or of the shape that `s` gives; options and errors as of `fftn`. */
export async function ifftn<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('ifftn', x, options, ['device']));
}

/**
 * Transforms any axes of reals, all by default: as `rfft` along the last of `axes`, then as `fft` along the others.
 * Options: `s`, `axes`, `norm`, `device`. Errors as of `rfft`, and `invalid-argument` for no axes at all.
 */
export async function rfftn<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('rfftn', x, options, ['device']));
}

/**
 * Inverse of `rfftn`: as `ifft` along all axes but the last of `axes`, then as `irfft` along that one. `s` is the shape of the result, and is needed
 * if its last length is odd. Options and errors as of `rfftn`.
 */
export async function irfftn<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(tensorRequest('irfftn', x, options, ['device']));
}

/** `hfftn` of two axes, the last two by default. */
export async function hfft2<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(tensorRequest('hfft2', x, options, ['device']));
}

/** `ihfftn` of two axes, the last two by default. */
export async function ihfft2<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('ihfft2', x, options, ['device']));
}

/**
 * SciPy's real spectrum of a Hermitian-symmetric signal of several axes: as `fft` along all axes but the last of `axes`, then as `hfft` along that
 * one. Options, shape and errors as of `irfftn`, but each axis can be named once only.
 */
export async function hfftn<X extends ArrayInput>(
  x: X,
  options?: TensorOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return runRequest(tensorRequest('hfftn', x, options, ['device']));
}

/** Inverse of `hfftn`: the conjugate of `rfftn`, divided by the number of points unless `norm` says otherwise. */
export async function ihfftn<X extends ArrayInput>(
  x: X & RealOnly<X>,
  options?: TensorOptions & DeviceChoice,
): Promise<Transformed<X>> {
  return runRequest(tensorRequest('ihfftn', x, options, ['device']));
}

/**
 * SciPy's cosine transform of one axis, of one of the types I to IV. Complex numbers are transformed part by part.
 * @param options `type`, `n`, `axis`, `norm`, `orthogonalize`, `device`
 * @returns an array of the type of `x`, but float64 for integers, and of its shape but for `n`
 * @throws FftError as `fft`; `invalid-size` also for type 1 of a single point
 */
export async function dct<X extends ArrayInput>(x: X, options?: SumLineOptions & DeviceChoice): Promise<SameArray<X>> {
  return runRequest(r2rLineRequest('dct', x, options, ['device']));
}

/** Inverse of `dct` with the same `type`, `norm` and `orthogonalize`. Options, result and errors as of `dct`. */
export async function idct<X extends ArrayInput>(x: X, options?: SumLineOptions & DeviceChoice): Promise<SameArray<X>> {
  return runRequest(r2rLineRequest('idct', x, options, ['device']));
}

/** SciPy's sine transform of one axis: as `dct`, but type 1 also takes a single point. */
export async function dst<X extends ArrayInput>(x: X, options?: SumLineOptions & DeviceChoice): Promise<SameArray<X>> {
  return runRequest(r2rLineRequest('dst', x, options, ['device']));
}

/** Inverse of `dst`, with everything else as in `idct`. */
export async function idst<X extends ArrayInput>(x: X, options?: SumLineOptions & DeviceChoice): Promise<SameArray<X>> {
  return runRequest(r2rLineRequest('idst', x, options, ['device']));
}

/** `dct` along any axes, each named once, all by default. Options: `type`, `s`, `axes`, `norm`, `orthogonalize`, `device`. */
export async function dctn<X extends ArrayInput>(
  x: X,
  options?: SumTensorOptions & DeviceChoice,
): Promise<SameArray<X>> {
  return runRequest(r2rTensorRequest('dctn', x, options, ['device']));
}

/** Inverse of `dctn`. */
export async function idctn<X extends ArrayInput>(
  x: X,
  options?: SumTensorOptions & DeviceChoice,
): Promise<SameArray<X>> {
  return runRequest(r2rTensorRequest('idctn', x, options, ['device']));
}

/** `dst` along any axes, each named once, all by default. Options as of `dctn`. */
export async function dstn<X extends ArrayInput>(
  x: X,
  options?: SumTensorOptions & DeviceChoice,
): Promise<SameArray<X>> {
  return runRequest(r2rTensorRequest('dstn', x, options, ['device']));
}

/** Inverse of `dstn`. */
export async function idstn<X extends ArrayInput>(
  x: X,
  options?: SumTensorOptions & DeviceChoice,
): Promise<SameArray<X>> {
  return runRequest(r2rTensorRequest('idstn', x, options, ['device']));
}

/**
 * SciPy's fast Hankel transform along the last axis, of reals on a logarithmic grid: A(k) = ∫ a(r) J_mu(kr) k dr, for points r = r_c · exp((j − (n −
 * 1)/2) · dln) and k alike, with k_c · r_c = exp(offset). The line is taken as one period.
 * @param dln the logarithm of the ratio of neighbouring points, other than 0
 * @param mu order of the Bessel function, any real number
 * @param options `offset`, `bias`, `device`. A transform that is singular for its `bias` is computed with a mean of 0, and a warning on the console.
 * @returns float32 for float32, else float64, of the shape of `a`
 * @throws FftError as `rfft`
 */
export async function fht<X extends ArrayInput>(
  a: X & RealOnly<X>,
  dln: number,
  mu: number,
  options?: HankelOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return hankel(hankelRequest('fht', a, [dln, mu], options, ['device']));
}

/** Inverse of `fht` with the same `dln`, `mu` and options: a(r) = ∫ A(k) J_mu(kr) r dk. Errors and warnings as of `fht`. */
export async function ifht<X extends ArrayInput>(
  a: X & RealOnly<X>,
  dln: number,
  mu: number,
  options?: HankelOptions & DeviceChoice,
): Promise<RealTransformed<X>> {
  return hankel(hankelRequest('ifht', a, [dln, mu], options, ['device']));
}

async function hankel<R extends NumpyArray>({ reals, n, device, convolve, finish }: HankelRequest): Promise<R> {
  const where = { device: device as DeviceChoice['device'] };
  const bins = await rfft(reals, where);
  convolve(bins);
  const lines = await irfft(bins, { n, ...where });
  finish(lines);
  return lines as NumpyArray as R;
}
