/**
 * `omnifft/numpy`: Fourier transforms under NumPy's names.
 *
 * Arrays are `{ data, shape, dtype }`, row-major, shape slowest first; complex numbers lie as `re, im`. A bare typed array
 * is real and has one axis. Single precision stays single (float32 and complex64 give complex64), all else is double.
 * Forward has the exponent sign −1. Arguments that NumPy takes by name are fields of the last argument.
 */
import type { ArrayInput, Transformed } from './array.ts';
import type { DeviceChoice } from './choice.ts';
import { type LineOptions, lineRequest, planeRequest, spaceRequest, type TensorOptions } from './request.ts';
import { transform } from './run.ts';

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
export type { DeviceChoice } from './choice.ts';
export { type FastLengthOptions, fftfreq, fftshift, ifftshift, nextFastLength, type ShiftAxes } from './helpers.ts';
export { type NpyArray, type NpyDtype, readNpy, writeNpy } from './npy.ts';
export { readNpz, writeNpz } from './npz.ts';
export type { LineOptions, Norm, TensorOptions } from './request.ts';

/**
 * Transforms one axis.
 *
 * @param x must stay as it is until the promise resolves
 * @param options `n`, `axis`, `norm`, and the `device` to work on: by default a CPU device that all calls share.
 * @returns complex64 or complex128, of the shape of `x` but for `n`
 * @throws FftError (as a rejection) `invalid-argument`, `unknown-field`, `invalid-size`, `wrong-array-type`,
 *   `wrong-length`, `detached-array`, `unsupported-length`, `out-of-memory`, and those of `device.plan`
 */
export async function fft<X extends ArrayInput>(
  x: X,
  options: LineOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(lineRequest('forward', x, options, ['device']));
}

/** Undoes `fft`: the exponent sign is +1, and the result is divided by the length unless `norm` says otherwise. */
export async function ifft<X extends ArrayInput>(
  x: X,
  options: LineOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(lineRequest('inverse', x, options, ['device']));
}

/** Transforms two axes, the last two by default. Options: `s`, `axes`, `norm`, `device`. Otherwise as `fft`. */
export async function fft2<X extends ArrayInput>(
  x: X,
  options: TensorOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(planeRequest('forward', x, options, ['device']));
}

/** Undoes `fft2`: an array of the same shape, or of the one that `s` asks for; options and errors as there. */
export async function ifft2<X extends ArrayInput>(
  x: X,
  options: TensorOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(planeRequest('inverse', x, options, ['device']));
}

/** Transforms any axes, all by default. Options: `s`, `axes`, `norm`, `device`. Otherwise as `fft`. */
export async function fftn<X extends ArrayInput>(
  x: X,
  options: TensorOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(spaceRequest('forward', x, options, ['device']));
}

/** Undoes `fftn`: an array of the same shape, or of the one that `s` asks for; options and errors as there. */
export async function ifftn<X extends ArrayInput>(
  x: X,
  options: TensorOptions & DeviceChoice = {},
): Promise<Transformed<X>> {
  return transform<X>(spaceRequest('inverse', x, options, ['device']));
}
