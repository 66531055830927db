/**
 * The `.npy` file format, in which arrays travel between NumPy and omnifft.
 * The functions work on bytes, in browsers and in Node; the caller opens files.
 */

import { FftError } from '../../problem/errors.ts';
import type { NewUint8Array } from '../../problem/index.ts';
import { refuseDetached, requireBytes } from '../../problem/input/bytes.ts';
import { type ArrayInput, allocated, asArray, elementCount, floatZeros, isComplex, isSingle } from '../arrays/array.ts';
import type { NpyArray, NpyDtype } from '../arrays/npy-array.ts';
import { swapBytes } from './npy-elements.ts';
import { encodeHeader, readHeader, showShape } from './npy-header.ts';
import { type ByteSource, memorySource, PIECE } from './source.ts';

const DESCRIPTORS: Readonly<Record<NpyDtype, string>> = {
  float32: '<f4',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
};

/**
 * Reads a `.npy` file of format 1.0, 2.0 or 3.0, of either byte order, in C or Fortran order; what comes back is in C order.
 * Integers and booleans come back as float64 (those of 64 bits rounded to it), float16 and bfloat16 as float32. (bfloat16 is what ml_dtypes writes, `<V2`.)
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array`, `detached-array`; `invalid-file` when they are no
 *   `.npy` file, end too early, or hold an array of another kind: of Python objects or records, of dates, texts or other
 *   floating-point formats; `out-of-memory`.
 */
export function readNpy(bytes: Uint8Array): NpyArray {
  return readNpyFrom(memorySource(requireBytes(bytes, 'readNpy')));
}

/**
 * Reads a `.npy` file from any source, without holding the whole file in memory.
 * @param most the most bytes to decode at a time
 */
export function readNpyFrom(source: ByteSource, most = PIECE): NpyArray {
  const { shape, element, fortran, start } = readHeader(source);
  const { dtype, bytes, unit, bigEndian, decode } = element;
  const count = elementCount(shape);
  if (count * bytes > source.size - start) throw truncated(shape, bytes, source.size - start);
  const parts = isComplex(dtype) ? 2 : 1;
  const data = floatZeros(count * parts, isSingle(dtype));
  const place = fortran ? fortranOrder(data, shape, parts) : sequentialSink(data);
  const each = Math.max(1, Math.floor(most / bytes));
  for (let first = 0; first < count; first += each) {
    const length = Math.min(each, count - first) * bytes;
    const piece = source.read(start + first * bytes, length);
    if (piece.length < length) throw truncated(shape, bytes, first * bytes + piece.length);
    // The bytes are copied, because typed arrays have to be aligned. (`slice` would not do: Node's Buffer
    // returns a view from it.)
    const copy = allocated(length, () => new Uint8Array(piece));
    if (bigEndian) swapBytes(copy, unit);
    place(decode(copy.buffer));
  }
  return { data, shape, dtype };
}

function truncated(shape: readonly number[], bytes: number, present: number): FftError {
  const expected = elementCount(shape) * bytes;
  return new FftError(
    'invalid-file',
    `The file is truncated: shape ${showShape(shape)} of ${bytes}-byte elements takes ${expected} bytes of data, ` +
      `the file has ${present}.`,
  );
}

/** Takes the numbers of a file, piece by piece, to their places in C order. */
type EntrySink = (entries: ArrayLike<number>) => void;

function sequentialSink(data: Float32Array | Float64Array): EntrySink {
  let at = 0;
  return (entries) => {
    data.set(entries, at);
    at += entries.length;
  };
}

/** A sink for an array in Fortran order. @param parts numbers of an element */
function fortranOrder(data: Float32Array | Float64Array, shape: readonly number[], parts: number): EntrySink {
  const strides = shape.map(() => parts);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1]! * shape[axis + 1]!;
  const index = shape.map(() => 0);
  let at = 0;
  const next = () => {
    for (let axis = 0; axis < shape.length; axis++) {
      at += strides[axis]!;
      if (++index[axis]! < shape[axis]!) return;
      at -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  };
  return (entries) => {
    for (let k = 0; k < entries.length; k += parts, next()) {
      for (let part = 0; part < parts; part++) data[at + part] = entries[k + part]!;
    }
  };
}

/**
 * Writes an array as a `.npy` file of format 1.0 (2.0 when the shape does not fit), little-endian, C order.
 *
 * @param array with a shape, or a bare typed array, which is real and has one axis.
 * @throws FftError `wrong-array-type` when `data` is not the typed array of `dtype`; `invalid-argument` for a bad `shape`;
 *   `wrong-length` when it does not have as many entries as `shape` and `dtype` ask for; `detached-array`; `out-of-memory`.
 */
export function writeNpy(array: ArrayInput): NewUint8Array {
  const { size, pieces } = npyPieces(array);
  return joinBytes(size, pieces);
}

/** Joins pieces. @param size bytes of all pieces. @throws FftError `out-of-memory` */
export function joinBytes(size: number, pieces: Iterable<Uint8Array>): NewUint8Array {
  const bytes = allocated(size, () => new Uint8Array(size));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * A `.npy` file in pieces: the header, and views of the array. Together they may be longer than the longest array of bytes.
 * @throws FftError as `writeNpy`
 */
export function npyPieces(array: ArrayInput, most = PIECE): { size: number; pieces: Iterable<Uint8Array> } {
  const { data, shape, dtype } = asArray(array);
  const header = encodeHeader(DESCRIPTORS[dtype], shape);
  const bytes = data.byteLength;
  const pieces = {
    *[Symbol.iterator]() {
      yield header;
      for (let at = 0; at < bytes; at += most) {
        // Checked again for every piece, because an archive is written over several turns of the event loop.
        refuseDetached(data, 'data');
        yield new Uint8Array(data.buffer, data.byteOffset + at, Math.min(most, bytes - at));
      }
    },
  };
  return { size: header.length + bytes, pieces };
}
