/**
 * The `.npy` file format: how arrays travel between NumPy and omnifft.
 *
 * Works on bytes, in browsers and in Node alike; opening files is the caller's affair.
 * Source: NumPy enhancement proposal 1, "A Simple File Format for NumPy Arrays", and the format's versions 2.0 and 3.0 as
 * described in the NumPy manual under `numpy.lib.format`.
 */

import { requireBytes } from '../problem/bytes.ts';
import { excerpt, FftError } from '../problem/errors.ts';
import { type ArrayInput, asArray, converted, fitting } from './array.ts';

/** Element types that omnifft computes with. */
export type NpyDtype = 'float32' | 'float64' | 'complex64' | 'complex128';

/** A dense array in C order. */
export interface NpyArray {
  /** All elements, slowest axis first; complex numbers interleaved as `re, im`, so twice as many entries. */
  readonly data: Float32Array | Float64Array;
  /** Lengths of the axes, row-major: slowest first. Empty for a single number. */
  readonly shape: readonly number[];
  readonly dtype: NpyDtype;
}

interface Element {
  readonly dtype: NpyDtype;
  /** Bytes of one element in the file. */
  readonly bytes: number;
  /** The elements that a buffer holds. */
  readonly decode: (bytes: ArrayBuffer) => Float32Array | Float64Array;
}

const integer = (bytes: number, view: new (buffer: ArrayBuffer) => ArrayLike<number | bigint>): Element => ({
  dtype: 'float64',
  bytes,
  decode: (buffer) => converted(new view(buffer)),
});

const single = (buffer: ArrayBuffer) => new Float32Array(buffer);
const double = (buffer: ArrayBuffer) => new Float64Array(buffer);

/** What a `descr` without its byte order mark stands for. Integers become doubles, as they do in `numpy.fft`. */
const ELEMENTS: Readonly<Record<string, Element>> = {
  f4: { dtype: 'float32', bytes: 4, decode: single },
  f8: { dtype: 'float64', bytes: 8, decode: double },
  c8: { dtype: 'complex64', bytes: 8, decode: single },
  c16: { dtype: 'complex128', bytes: 16, decode: double },
  // Whatever is not 0 is true.
  b1: {
    ...integer(1, Uint8Array),
    decode: (buffer) => converted(new Uint8Array(buffer).map((byte) => Number(byte !== 0))),
  },
  i1: integer(1, Int8Array),
  i2: integer(2, Int16Array),
  i4: integer(4, Int32Array),
  i8: integer(8, BigInt64Array),
  u1: integer(1, Uint8Array),
  u2: integer(2, Uint16Array),
  u4: integer(4, Uint32Array),
  u8: integer(8, BigUint64Array),
};

const DESCRIPTORS: Readonly<Record<NpyDtype, string>> = {
  float32: '<f4',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
};

const ACCEPTED =
  'omnifft reads little-endian float32, float64, complex64, complex128, integer and boolean arrays in C order';
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY

/**
 * Reads a `.npy` file of format 1.0, 2.0 or 3.0. Integer and boolean arrays come back as float64.
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array`, `detached-array`; `invalid-file` when they are no
 *   `.npy` file, end too early, or hold an array of another kind: big-endian, in Fortran order, of Python objects or
 *   records, of dates, texts or other floating-point formats; `out-of-memory`.
 */
export function readNpy(bytes: Uint8Array): NpyArray {
  const file = requireBytes(bytes, 'readNpy');
  const { header, start } = splitHeader(file);
  const shape = parseShape(header);
  const element = parseDescriptor(header);
  if (readField(header, /'fortran_order'\s*:\s*(True|False)/, 'fortran_order') === 'True') {
    throw invalid(
      `The array is stored in Fortran order; ${ACCEPTED}. Save it again with numpy.save(file, numpy.ascontiguousarray(a)).`,
    );
  }
  const count = shape.reduce((product, length) => product * length, 1);
  const expected = count * element.bytes;
  const present = file.byteLength - start;
  if (expected > present) {
    throw invalid(
      `The file is truncated: shape (${excerpt(shape.join(', '))}) of ${element.bytes}-byte elements takes ${expected} bytes of data, ` +
        `the file has ${present}.`,
    );
  }
  // A copy, because typed arrays need aligned starts and the header does not promise one. (Not by `slice`: that of
  // Node's Buffer is a view.)
  const copy = fitting(count, () => new Uint8Array(file.subarray(start, start + expected)));
  const data = element.decode(copy.buffer);
  return { data, shape, dtype: element.dtype };
}

/**
 * Writes an array as a `.npy` file of format 1.0 (2.0 when the shape does not fit), little-endian, C order.
 *
 * @param array with a shape, or a bare typed array, which is real and has one axis.
 * @throws FftError `wrong-array-type` when `data` is not the typed array of `dtype`; `invalid-argument` for a bad `shape`;
 *   `wrong-length` when it does not have as many entries as `shape` and `dtype` ask for; `detached-array`; `out-of-memory`.
 */
export function writeNpy(array: ArrayInput): Uint8Array<ArrayBuffer> {
  const { data, shape, dtype } = asArray(array);
  const header = encodeHeader(DESCRIPTORS[dtype], shape);
  const bytes = fitting(data.length, () => new Uint8Array(header.byteLength + data.byteLength));
  bytes.set(header);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), header.byteLength);
  return bytes;
}

function encodeHeader(descriptor: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${descriptor}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const version = text.length + 74 < 65536 ? 1 : 2;
  const prefix = MAGIC.length + 2 + (version === 1 ? 2 : 4);
  // The data starts at a multiple of 64, so that it may be mapped into memory; the header ends in a line feed.
  const total = Math.ceil((prefix + text.length + 1) / 64) * 64;
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([...MAGIC, version, 0]);
  const view = new DataView(bytes.buffer);
  if (version === 1) view.setUint16(8, total - prefix, true);
  else view.setUint32(8, total - prefix, true);
  bytes.set(new TextEncoder().encode(text), prefix);
  bytes[total - 1] = 0x0a;
  return bytes;
}

/** The header's text and where the data starts. */
function splitHeader(bytes: Uint8Array): { header: string; start: number } {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) {
    const short = bytes.length > 0 && bytes.length < MAGIC.length && bytes.every((byte, n) => byte === MAGIC[n]);
    if (short) throw invalid(`The file is truncated: it ends after ${bytes.length} bytes.`);
    throw invalid(
      `The file does not start as a .npy file does but ${describeStart(bytes)}; ${ACCEPTED}, written by numpy.save.`,
    );
  }
  const major = bytes[6];
  if (major === undefined) throw invalid('The file is truncated: it ends within the first 8 bytes of a .npy file.');
  if (major < 1 || major > 3) {
    throw invalid(`The file has .npy format version ${major}; versions 1, 2 and 3 are known.`);
  }
  const start = major === 1 ? 10 : 12;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < start) throw invalid('The file is truncated: it ends before the length of its header.');
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (bytes.byteLength < start + length) {
    throw invalid(
      `The file is truncated: its header takes ${length} bytes, the file has ${bytes.byteLength - start} after its start.`,
    );
  }
  // Version 1 and 2 headers are Latin-1, version 3 is UTF-8; all that can matter here is ASCII.
  const header = new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(bytes.subarray(start, start + length));
  // Python accepts both kinds of quotes; one of them is enough for the patterns below.
  return { header: header.replaceAll('"', "'"), start: start + length };
}

/** A tuple in Python's notation: one of a single number needs its comma. */
const TUPLE = /^(?:|\d+L?\s*,|\d+L?(?:\s*,\s*\d+L?)+\s*,?)$/;

function parseShape(header: string): number[] {
  // Python 2 wrote long integers with a trailing L.
  const text = readField(header, /'shape'\s*:\s*\(([\d\s,L]*)\)/, 'shape');
  if (!TUPLE.test(text.trim())) throw invalid(`The header has no valid 'shape': (${excerpt(text.trim())}).`);
  const shape = (text.match(/\d+/g) ?? []).map(Number);
  if (!Number.isSafeInteger(shape.reduce((product, length) => product * length, 16))) {
    throw invalid(`The header's shape (${excerpt(shape.join(', '))}) has more elements than any file could hold.`);
  }
  return shape;
}

function parseDescriptor(header: string): Element {
  if (/'descr'\s*:\s*\[/.test(header)) {
    throw invalid(`The array's elements are records (a structured dtype); ${ACCEPTED}.`);
  }
  const descriptor = readField(header, /'descr'\s*:\s*'([^']*)'/, 'descr');
  const [, order, kind] = /^([<>|=]?)(.*)$/.exec(descriptor) ?? [];
  const element = kind !== undefined && Object.hasOwn(ELEMENTS, kind) ? ELEMENTS[kind] : undefined;
  if (element === undefined) {
    const what = kind?.startsWith('O') ? 'are Python objects' : `have dtype '${excerpt(descriptor)}'`;
    throw invalid(`The array's elements ${what}; ${ACCEPTED}.`);
  }
  if (order === '>' && element.bytes > 1) {
    throw invalid(
      `The array is big-endian (dtype '${excerpt(descriptor)}'); ${ACCEPTED}. Convert it with a.astype(a.dtype.newbyteorder('<')).`,
    );
  }
  return element;
}

function readField(header: string, pattern: RegExp, name: string): string {
  const value = pattern.exec(header)?.[1];
  if (value === undefined) throw invalid(`The header has no valid '${name}': '${excerpt(header.trim(), 80)}'.`);
  return value;
}

/** Names what the file is instead, where its first bytes tell. */
function describeStart(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === undefined) return 'is empty';
  if (first === 0x50 && second === 0x4b) return 'as a .npz or other zip archive does';
  if (first === 0x80 && second !== undefined && second <= 5) return 'as a Python pickle does';
  if (first === 0x89 && second === 0x48) return 'as an HDF5 file does';
  return `with the bytes ${Array.from(bytes.subarray(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}

function invalid(message: string): FftError {
  return new FftError('invalid-file', message);
}
