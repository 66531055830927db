/**
 * The header of a `.npy` file: the format's mark and version, then a dictionary in Python's notation.
 * Source: NumPy enhancement proposal 1, "A Simple File Format for NumPy Arrays", and the format's versions 2.0 and 3.0 as described in the NumPy
 * manual under `numpy.lib.format`.
 */

import { excerpt, FftError } from '../../problem/errors.ts';
import type { NewUint8Array } from '../../problem/index.ts';
import { elementCount } from '../arrays/array.ts';
import { ACCEPTED, type NpyElement, npyElementOf } from './npy-elements.ts';
import type { ByteSource } from './source.ts';

export interface NpyHeader {
  readonly shape: readonly number[];
  readonly element: NpyElement;
  /** Whether the array is in Fortran order, the first axis fastest. */
  readonly fortran: boolean;
  /** The offset of the elements in the file. */
  readonly start: number;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY
/** The longest header in bytes, a hundred times NumPy's own limit. */
const LONGEST = 2 ** 20;

/** Reads a header. @throws FftError `invalid-file` */
export function readHeader(source: ByteSource): NpyHeader {
  const { text, start } = readHeaderText(source);
  const shape = parseShape(text);
  const element = parseElement(text);
  const fortran = field(text, /'fortran_order'\s*:\s*(True|False)/, 'fortran_order') === 'True';
  return { shape, element, fortran, start };
}

/** A header of format 1.0 (2.0 when the shape does not fit), for elements in C order. */
export function encodeHeader(descriptor: string, shape: readonly number[]): NewUint8Array {
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

/** A shape for messages. */
export function showShape(shape: readonly number[]): string {
  return shape.length > 8 ? `of ${shape.length} axes` : `(${shape.join(', ')})`;
}

/** The header's text, and the offset of the data. */
function readHeaderText(source: ByteSource): { text: string; start: number } {
  // Copied, because the next call may reuse the memory.
  const first = new Uint8Array(source.read(0, 12));
  if (!MAGIC.every((byte, index) => first[index] === byte)) {
    const short = first.length > 0 && first.length < MAGIC.length && first.every((byte, n) => byte === MAGIC[n]);
    if (short) throw new FftError('invalid-file', `The file is truncated: it ends after ${first.length} bytes.`);
    throw new FftError(
      'invalid-file',
      `The file does not start as a .npy file does but ${describeStart(first)}; ${ACCEPTED}.`,
    );
  }
  const major = first[6];
  if (major === undefined)
    throw new FftError('invalid-file', 'The file is truncated: it ends within the first 8 bytes of a .npy file.');
  if (major < 1 || major > 3) {
    throw new FftError('invalid-file', `The file has .npy format version ${major}; versions 1, 2 and 3 are known.`);
  }
  const start = major === 1 ? 10 : 12;
  if (first.length < start)
    throw new FftError('invalid-file', 'The file is truncated: it ends before the length of its header.');
  const view = new DataView(first.buffer);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (source.size < start + length) {
    throw new FftError(
      'invalid-file',
      `The file is truncated: its header takes ${length} bytes, the file has ${source.size - start} after its start.`,
    );
  }
  if (length > LONGEST)
    throw new FftError('invalid-file', `The header takes ${length} bytes; at most ${LONGEST} are read.`);
  // Headers of versions 1 and 2 are Latin-1, those of version 3 are UTF-8; every character that matters is ASCII.
  const text = new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(source.read(start, length));
  // Python allows both kinds of quotes; the patterns below expect single ones.
  return { text: text.replaceAll('"', "'"), start: start + length };
}

/** A tuple in Python's notation: a single number needs a comma behind it. */
const TUPLE = /^(?:|\d+L?\s*,|\d+L?(?:\s*,\s*\d+L?)+\s*,?)$/;

function parseShape(header: string): number[] {
  // Python 2 wrote long integers with a trailing L.
  const text = field(header, /'shape'\s*:\s*\(([\d\s,L]*)\)/, 'shape').trim();
  if (!TUPLE.test(text)) throw new FftError('invalid-file', `The header has no valid 'shape': (${excerpt(text, 80)}).`);
  const shape = (text.match(/\d+/g) ?? []).map(Number);
  // Bytes have to be countable for elements of up to 16 bytes.
  if (!shape.every(Number.isSafeInteger) || !Number.isSafeInteger(16 * elementCount(shape))) {
    throw new FftError(
      'invalid-file',
      `The header's shape ${showShape(shape)} has more elements than any file could hold.`,
    );
  }
  return shape;
}

function parseElement(header: string): NpyElement {
  if (/'descr'\s*:\s*\[/.test(header)) {
    throw new FftError(
      'invalid-file',
      `The array's elements are records (a structured dtype); ${ACCEPTED}. Save one field: numpy.save(file, a['name']).`,
    );
  }
  return npyElementOf(field(header, /'descr'\s*:\s*'([^']*)'/, 'descr'));
}

function field(header: string, pattern: RegExp, name: string): string {
  const value = pattern.exec(header)?.[1];
  if (value === undefined)
    throw new FftError('invalid-file', `The header has no valid '${name}': '${excerpt(header.trim(), 80)}'.`);
  return value;
}

/** A description of another file format, if the first bytes tell which. */
function describeStart(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === undefined) return 'is empty';
  if (first === 0x50 && second === 0x4b) return 'as a .npz or other zip archive does';
  if (first === 0x80 && second !== undefined && second <= 5) return 'as a Python pickle does';
  if (first === 0x89 && second === 0x48) return 'as an HDF5 file does';
  return `with the bytes ${Array.from(bytes.subarray(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}
