/**
 * Arrays as the functions of this room take and return them: what was given is checked here and brought into one form.
 */
import { refuseDetached } from '../problem/bytes.ts';
import { FftError, show } from '../problem/errors.ts';
import type { NpyArray, NpyDtype } from './npy.ts';

/** A dense array in C order: `shape` is slowest first, complex numbers lie as `re, im` in `data`. */
export type NumpyArray = NpyArray;

export type ComplexDtype = 'complex64' | 'complex128';

/** What a transform returns. */
export interface ComplexArray extends NumpyArray {
  readonly dtype: ComplexDtype;
}

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

/** What the functions take: an array with a shape, or a bare typed array, which is real and has one axis. */
export type ArrayInput = NumpyArray | TypedArray;

const dtypes: readonly NpyDtype[] = ['float32', 'float64', 'complex64', 'complex128'];

export function isComplex(dtype: NpyDtype): dtype is ComplexDtype {
  return dtype === 'complex64' || dtype === 'complex128';
}

export function isSingle(dtype: NpyDtype): boolean {
  return dtype === 'float32' || dtype === 'complex64';
}

export function product(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total * length, 1);
}

/**
 * The checked form of what was given; `data` is the caller's own wherever it need not be converted.
 * Integers become doubles, as they do in `numpy.fft`.
 * @throws FftError `wrong-array-type`, `invalid-argument`, `wrong-length`, `detached-array`, `out-of-memory`
 */
export function asArray(input: ArrayInput): NumpyArray {
  if (ArrayBuffer.isView(input) && classOf(input) !== 'DataView') {
    const data = asFloats(input);
    return { data, shape: [data.length], dtype: classOf(data) === 'Float32Array' ? 'float32' : 'float64' };
  }
  if (typeof input !== 'object' || input === null || !('data' in input)) {
    throw wrongType(`The array is ${show(input)}; it must be a typed array or { data, shape, dtype }.`);
  }
  const { data, shape, dtype } = input;
  if (!dtypes.includes(dtype)) {
    throw wrongType(`dtype is ${show(dtype)}; it must be one of ${dtypes.join(', ')}.`, 'dtype');
  }
  const wanted = isSingle(dtype) ? 'Float32Array' : 'Float64Array';
  if (!ArrayBuffer.isView(data) || classOf(data) !== wanted) {
    throw wrongType(`data is ${show(data)}; that of dtype ${dtype} must be a ${wanted}.`, 'data');
  }
  refuseDetached(data, 'data');
  if (!Array.isArray(shape) || !Array.from<unknown>(shape).every(isLength)) {
    const given = Array.isArray(shape) ? `[${shape.map(show).join(', ')}]` : show(shape);
    const accepted = 'it must list the lengths of the axes, slowest first, as integers from 0';
    throw new FftError('invalid-argument', `shape is ${given}; ${accepted}.`, { path: 'shape' });
  }
  const entries = product(shape) * (isComplex(dtype) ? 2 : 1);
  if (data.length !== entries) {
    throw new FftError(
      'wrong-length',
      `Shape [${shape.join(', ')}] of ${dtype} takes ${entries} entries; data has ${data.length}.`,
      { path: 'data' },
    );
  }
  return { data, shape: [...shape], dtype };
}

/** An array of zeros for `length` numbers. @throws FftError `out-of-memory` */
export function zeros(length: number, single: boolean): Float32Array | Float64Array {
  return fitting(length, () => (single ? new Float32Array(length) : new Float64Array(length)));
}

/** Makes an array of `length` entries. @throws FftError `out-of-memory` where the engine cannot */
export function fitting<T>(length: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new FftError('out-of-memory', `An array of ${length} entries does not fit in host memory.`, { cause });
  }
}

/**
 * The same numbers in floating point. (`Float64Array.from` lists them all before it converts them, and V8 ends the process
 * where the list gets too long.)
 * @throws FftError `out-of-memory`
 */
export function converted(values: ArrayLike<number | bigint>, single = false): Float32Array | Float64Array {
  const floats = zeros(values.length, single);
  // `set` converts numbers faster than a loop, but refuses the entries of 64-bit arrays.
  if (typeof values[0] === 'number') floats.set(values as ArrayLike<number>);
  else for (let k = 0; k < floats.length; k++) floats[k] = Number(values[k]);
  return floats;
}

function asFloats(input: ArrayBufferView): Float32Array | Float64Array {
  refuseDetached(input as Float64Array, 'The array');
  if (isFloats(input)) return input;
  // Where the engine has half precision, single is the smallest that holds all of it.
  const half = classOf(input) === 'Float16Array';
  return converted(input as unknown as ArrayLike<number | bigint>, half);
}

function isFloats(value: ArrayBufferView): value is Float32Array | Float64Array {
  return classOf(value) === 'Float32Array' || classOf(value) === 'Float64Array';
}

/** By its tag, which arrays from another window or context have too. */
function classOf(value: ArrayBufferView): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function isLength(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function wrongType(message: string, path = ''): FftError {
  return new FftError('wrong-array-type', message, { path });
}
