/** Short lists of numbers as arguments: the coefficients of a filter, band edges, frequencies. */
import { type ArrayInput, asArray, isComplex, type NumpyArray } from '../../numpy/arrays/array.ts';
import { excerpt, FftError } from '../../problem/errors.ts';
import { check } from './check.ts';

/** Numbers as a list or an array of one axis; a single number is a list of one. */
export type NumberList = ArrayInput | number;

/** Numbers that may be complex: real and imaginary parts as separate arrays. */
export interface Coefficients {
  readonly re: Float64Array;
  /** Imaginary parts; undefined where all numbers are real. */
  readonly im: Float64Array | undefined;
}

/**
 * Real or complex coefficients. @throws FftError `wrong-length` for more than one axis or no numbers, `invalid-argument` for numbers that are not
 * finite, and the errors of arrays
 */
export function coefficientsOf(given: NumberList, path: string): Coefficients {
  const { data, shape, dtype } = vectorOf(given, path);
  const [count] = shape as [number];
  for (const value of data) check(path, value, Number.isFinite(value), 'finite numbers');
  if (!isComplex(dtype)) return { re: Float64Array.from(data), im: undefined };
  const part = (at: 0 | 1) => Float64Array.from({ length: count }, (_, k) => data[2 * k + at]!);
  return { re: part(0), im: part(1) };
}

/** Real coefficients. @throws FftError `wrong-array-type` for complex numbers, and the errors of complex coefficients */
export function realCoefficients(given: NumberList, path: string): Float64Array {
  const { re, im } = coefficientsOf(given, path);
  if (!im) return re;
  throw new FftError('wrong-array-type', `${path} is complex; it takes real numbers.`, { path });
}

/** An array of one axis with at least one element. */
function vectorOf(given: NumberList, path: string): NumpyArray {
  const array = asArray(typeof given === 'number' ? [given] : given);
  if (array.shape.length === 1 && array.shape[0]! > 0) return array;
  const shape = excerpt(array.shape.join(', '));
  throw new FftError('wrong-length', `${path} has shape [${shape}]; it takes one axis with at least one number.`, {
    path,
  });
}

/** An array of real numbers. @throws FftError `wrong-array-type` for complex numbers, and the errors of arrays */
export function realArray(given: ArrayInput, path: string): NumpyArray {
  const array = asArray(given);
  if (!isComplex(array.dtype)) return array;
  throw new FftError('wrong-array-type', `${path} is ${array.dtype}; it takes real numbers.`, { path });
}

/**
 * Second-order sections, shape [sections, 6].
 * @throws FftError `wrong-length` for another shape, `wrong-array-type` for complex numbers, `invalid-argument` for numbers that are not finite and
 *   for sections whose denominator does not begin with 1
 */
export function sectionsOf(given: ArrayInput, path = 'sos'): Float64Array {
  const { data, shape } = realArray(given, path);
  if (shape.length !== 2 || shape[1] !== 6 || shape[0] === 0) {
    const message = `${path} has shape [${excerpt(shape.join(', '))}]; it takes [sections, 6], a row b0, b1, b2, 1, a1, a2 for each section.`;
    throw new FftError('wrong-length', message, { path });
  }
  const sections = Float64Array.from(data);
  sections.forEach((value, k) => {
    check(path, value, Number.isFinite(value), 'finite numbers');
    if (k % 6 === 3) check(`${path}[${(k - 3) / 6}][3]`, value, value === 1, '1, to which a section is normalised');
  });
  return sections;
}
