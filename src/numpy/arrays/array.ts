/** Arrays as the functions of this room take and return them: arguments are checked here and brought into one form. */

import { excerpt, FftError, show } from '../../problem/errors.ts';
import { arrayClass, arrayLength, plainView, refuseDetached } from '../../problem/input/bytes.ts';
import { isRecord, type Reading, snapshot } from '../../problem/input/snapshot.ts';
import { fromLists, type NumberLists } from './lists.ts';
import { converted, type Floats } from './memory.ts';
import type { NpyArray, NpyDtype } from './npy-array.ts';

export type { NumberLists } from './lists.ts';
export { allocated, converted, type Floats, floatZeros } from './memory.ts';

/** A dense array in C order: `shape` is slowest first, complex numbers are interleaved in `data` (re, im). */
export type NumpyArray<T extends NpyDtype = NpyDtype, S extends readonly number[] = readonly number[]> = NpyArray<T, S>;

export type ComplexDtype = 'complex64' | 'complex128';
export type RealDtype = 'float32' | 'float64';

/** The result of a transform to complex numbers. */
export type ComplexArray<
  T extends ComplexDtype = ComplexDtype,
  S extends readonly number[] = readonly number[],
> = NumpyArray<T, S>;

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/**
 * Arguments that are arrays: an array with a shape; a bare typed array, which is real and has one axis; or numbers in lists, nested as deep as there
 * are axes.
 */
export type ArrayInput = NumpyArray | TypedArray | NumberLists;

/** The rules by which the fields of an array, and its lengths, are read. */
const READING: Reading = { code: 'wrong-array-type', depth: 2, keep: true, most: 2 ** 17 };

/** The type of the elements of an array, a bare typed array or a list. */
export type DtypeOf<X extends ArrayInput> = X extends { readonly dtype: infer T extends NpyDtype }
  ? T
  : X extends Float32Array
    ? 'float32'
    : 'float64';

/** The type of an array with the same shape and elements: a bare typed array gets a shape. */
export type SameArray<X extends ArrayInput> = NumpyArray<DtypeOf<X>, ShapeOf<X>>;

/** The lengths of an array's axes, as far as the compiler knows them: a bare typed array has one axis. */
export type ShapeOf<X extends ArrayInput> = X extends { readonly shape: infer S extends readonly number[] }
  ? { readonly [K in keyof S]: number }
  : X extends TypedArray | readonly number[]
    ? readonly [number]
    : readonly number[];

/** The type of an array's transform: single precision stays single. */
export type Transformed<X extends ArrayInput, S extends readonly number[] = ShapeOf<X>> = ComplexArray<
  DtypeOf<X> extends infer T ? (T extends 'float32' | 'complex64' ? 'complex64' : 'complex128') : never,
  S
>;

/** The type of a transform from complex numbers to reals: single precision stays single. */
export type RealTransformed<X extends ArrayInput> = NumpyArray<
  DtypeOf<X> extends infer T ? (T extends 'float32' | 'complex64' ? 'float32' : 'float64') : never,
  ShapeOf<X>
>;

/** A constraint for arguments that have to be real: no type that is known to be complex satisfies it. */
export type RealOnly<X extends ArrayInput> = DtypeOf<X> extends ComplexDtype ? never : unknown;

const dtypes: readonly NpyDtype[] = ['float32', 'float64', 'complex64', 'complex128'];

export function isComplex(dtype: NpyDtype): dtype is ComplexDtype {
  return dtype === 'complex64' || dtype === 'complex128';
}

export function isSingle(dtype: NpyDtype): boolean {
  return dtype === 'float32' || dtype === 'complex64';
}

export function elementCount(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total * length, 1);
}

/** The element type of complex numbers or reals in single or double precision. */
export function dtypeOf(complex: boolean, single: boolean): NpyDtype {
  if (complex) return single ? 'complex64' : 'complex128';
  return single ? 'float32' : 'float64';
}

/**
 * The argument in checked form; `data` is the caller's own array unless it has to be converted.
 * Integers become doubles, as in `numpy.fft`.
 * @throws FftError `wrong-array-type`, `invalid-argument`, `wrong-length`, `detached-array`, `out-of-memory`
 */
export function asArray(input: ArrayInput): NumpyArray {
  if (arrayClass(input) !== undefined) {
    const data = asFloats(input as TypedArray);
    return { data, shape: [data.length], dtype: arrayClass(data) === 'Float32Array' ? 'float32' : 'float64' };
  }
  if (isList(input)) return { ...fromLists(input), dtype: 'float64' };
  const given = snapshot(input, 'The array', READING);
  if (!isRecord(given) || !Object.hasOwn(given, 'data')) {
    throw wrongType(
      `The array is ${show(given)}; it must be a typed array, a list of numbers or { data, shape, dtype }.`,
    );
  }
  const { data, shape, dtype } = given;
  if (!isDtype(dtype)) {
    throw wrongType(`dtype is ${show(dtype)}; it must be one of ${dtypes.join(', ')}.`, 'dtype');
  }
  const wanted = isSingle(dtype) ? 'Float32Array' : 'Float64Array';
  if (!isFloatArray(data) || arrayClass(data) !== wanted) {
    throw wrongType(`data is ${show(data)}; that of dtype ${dtype} must be a ${wanted}.`, 'data');
  }
  refuseDetached(data, 'data');
  if (!isShape(shape)) {
    const accepted = 'it must list the lengths of the axes, slowest first, as integers from 0';
    throw new FftError('invalid-argument', `shape is ${show(shape)}; ${accepted}.`, { path: 'shape' });
  }
  const entries = elementCount(shape) * (isComplex(dtype) ? 2 : 1);
  if (arrayLength(data) !== entries) {
    throw new FftError(
      'wrong-length',
      `Shape [${excerpt(shape.join(', '))}] of ${dtype} takes ${entries} entries; data has ${arrayLength(data)}.`,
      { path: 'data' },
    );
  }
  return { data: plainView(data, wanted), shape, dtype };
}

function asFloats(input: TypedArray): Floats {
  refuseDetached(input as Float64Array, 'The array');
  if (isFloatArray(input)) return plainView(input, arrayClass(input) as 'Float32Array' | 'Float64Array');
  // In engines with half precision: single is the smallest precision that holds all halves.
  const half = arrayClass(input) === 'Float16Array';
  return converted(input, half);
}

function isList(value: unknown): value is NumberLists {
  try {
    return Array.isArray(value);
  } catch {
    // A revoked proxy is not an array.
    return false;
  }
}

function isDtype(value: unknown): value is NpyDtype {
  return dtypes.some((known) => known === value);
}

function isShape(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isLength);
}

function isLength(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function wrongType(message: string, path = ''): FftError {
  return new FftError('wrong-array-type', message, { path });
}

/** Like `isFloats` of signal/, which stays out of the chunk that the bundle for browsers makes of this file. */
function isFloatArray(value: unknown): value is Floats {
  return arrayClass(value) === 'Float32Array' || arrayClass(value) === 'Float64Array';
}
