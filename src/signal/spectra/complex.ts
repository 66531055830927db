/** Element-wise operations on complex arrays, which programs apply to spectra between transforms. Names are NumPy's. */
import {
  type ArrayInput,
  asArray,
  type ComplexArray,
  dtypeOf,
  elementCount,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
  type RealTransformed,
  type SameArray,
  type Transformed,
} from '../../numpy/arrays/array.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import type { Floats } from '../arguments/floats.ts';

/** Real and imaginary parts in separate arrays, as plans with `layout: 'planar'` take them. */
export interface PlanarArrays<X extends ArrayInput = ArrayInput> {
  readonly re: RealTransformed<X>;
  readonly im: RealTransformed<X>;
}

/**
 * Absolute values.
 * @param x real or complex, of any shape
 * @throws FftError `wrong-array-type`, `wrong-length`, `detached-array`, `out-of-memory`
 */
export function abs<X extends ArrayInput>(x: X): RealTransformed<X> {
  return realOf(x, Math.abs, Math.hypot) as RealTransformed<X>;
}

/** Angles in radians, from −π to π; 0 or π for real numbers. Errors as `abs`. */
export function angle<X extends ArrayInput>(x: X): RealTransformed<X> {
  const ofReal = (value: number) => Math.atan2(0, value);
  return realOf(x, ofReal, (re, im) => Math.atan2(im, re)) as RealTransformed<X>;
}

/** Complex conjugates, in a new array; real numbers are their own. Errors as `abs`. */
export function conj<X extends ArrayInput>(x: X): SameArray<X> {
  const { data, shape, dtype } = asArray(x);
  const result = zerosOfShape(shape, dtype);
  (result.data as Floats).set(data as Floats);
  if (isComplex(dtype)) for (let k = 1; k < data.length; k += 2) result.data[k] = -data[k]!;
  return result as unknown as SameArray<X>;
}

/**
 * Products, element by element.
 *
 * @param y of the shape of x, or one number, which all are multiplied by
 * @returns complex where one of the two is; single where both are
 * @throws FftError as `abs`, and `wrong-length` for different shapes
 */
export function multiply<X extends ArrayInput, Y extends ArrayInput>(x: X, y: Y | number): NumpyArray {
  const a = asArray(x);
  const b = typeof y === 'number' ? constantLike(a, y) : asArray(y);
  checkShapes(a, b);
  const [re, im] = [isComplex(a.dtype), isComplex(b.dtype)];
  const single = isSingle(a.dtype) && isSingle(b.dtype);
  const result = zerosOfShape(a.shape, dtypeOf(re || im, single));
  const [p, q, z] = [a.data as Floats, b.data as Floats, result.data as Floats];
  if (!re && !im) for (let k = 0; k < z.length; k++) z[k] = p[k]! * q[k]!;
  else if (re && im) {
    for (let k = 0; k < z.length; k += 2) {
      z[k] = p[k]! * q[k]! - p[k + 1]! * q[k + 1]!;
      z[k + 1] = p[k]! * q[k + 1]! + p[k + 1]! * q[k]!;
    }
  } else {
    const [complex, real] = re ? [p, q] : [q, p];
    for (let k = 0; k < z.length; k++) z[k] = complex[k]! * real[k >> 1]!;
  }
  return result;
}

/**
 * Complex numbers from absolute values and angles.
 *
 * @param modulus real, of any shape
 * @param argument angles in radians, of the same shape
 * @throws FftError as `abs`, `wrong-array-type` for complex numbers, and `wrong-length` for different shapes
 */
export function fromPolar<X extends ArrayInput>(modulus: X, argument: ArrayInput): Transformed<X> {
  return zipped(modulus, argument, (r, angle) => [r * Math.cos(angle), r * Math.sin(angle)]) as Transformed<X>;
}

/** Complex numbers from separate real and imaginary parts. Errors as `fromPolar`. */
export function interleave<X extends ArrayInput>(re: X, im: ArrayInput): Transformed<X> {
  return zipped(re, im, (a, b) => [a, b]) as Transformed<X>;
}

/** Separate real and imaginary parts; imaginary parts are 0 where x is real. Errors as `abs`. */
export function planar<X extends ArrayInput>(x: X): PlanarArrays<X> {
  const zero = () => 0;
  const re = realOf(
    x,
    (value) => value,
    (value) => value,
  );
  return { re, im: realOf(x, zero, (_, im) => im) } as unknown as PlanarArrays<X>;
}

function realOf(x: ArrayInput, ofReal: (value: number) => number, of: (re: number, im: number) => number): NumpyArray {
  const { data, shape, dtype } = asArray(x);
  const result = zerosOfShape(shape, dtypeOf(false, isSingle(dtype)));
  const [from, to] = [data as Floats, result.data as Floats];
  if (isComplex(dtype)) for (let k = 0; k < to.length; k++) to[k] = of(from[2 * k]!, from[2 * k + 1]!);
  else for (let k = 0; k < to.length; k++) to[k] = ofReal(from[k]!);
  return result;
}

function zipped(x: ArrayInput, y: ArrayInput, join: (a: number, b: number) => readonly [number, number]): ComplexArray {
  const [a, b] = [asArray(x), asArray(y)];
  checkShapes(a, b);
  if (isComplex(a.dtype) || isComplex(b.dtype)) {
    const message = 'Two arrays of real numbers are needed to make complex ones of; one of them is complex.';
    throw new FftError('wrong-array-type', message, { path: 'x' });
  }
  const result = zerosOfShape(a.shape, dtypeOf(true, isSingle(a.dtype) && isSingle(b.dtype)));
  for (let k = 0; k < a.data.length; k++) {
    const [re, im] = join(a.data[k] as number, b.data[k] as number);
    result.data[2 * k] = re;
    result.data[2 * k + 1] = im;
  }
  return result as ComplexArray;
}

function zerosOfShape(shape: readonly number[], dtype: NumpyArray['dtype']): NumpyArray {
  const data = floatZeros(elementCount(shape) * (isComplex(dtype) ? 2 : 1), isSingle(dtype));
  return { data, shape: [...shape], dtype } as NumpyArray;
}

function constantLike({ shape, dtype }: NumpyArray, value: number): NumpyArray {
  const constant = zerosOfShape(shape, dtypeOf(false, isSingle(dtype)));
  (constant.data as Floats).fill(value);
  return constant;
}

function checkShapes(a: NumpyArray, b: NumpyArray): void {
  if (a.shape.length === b.shape.length && a.shape.every((length, d) => length === b.shape[d])) return;
  const message = `The arrays have shapes [${excerpt(a.shape.join(', '))}] and [${excerpt(b.shape.join(', '))}]; two of the same shape are needed.`;
  throw new FftError('wrong-length', message, { path: 'y' });
}
