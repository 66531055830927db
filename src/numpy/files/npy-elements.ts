/** What the elements of a `.npy` file are, and how their bytes become floating-point numbers. */

import { FftError, show } from '../../problem/errors.ts';
import type { NpyDtype } from '../arrays/npy-array.ts';

type Entries = ArrayLike<number>;

/** A kind of element. */
interface NpyKind {
  /** What its arrays become. */
  readonly dtype: NpyDtype;
  /** Bytes of one element in the file. */
  readonly bytes: number;
  /** Bytes of a number: those that stand the other way round in big-endian files. */
  readonly unit: number;
  /** The numbers that a buffer of whole, little-endian elements holds: two for each where they are complex. */
  readonly decode: (buffer: ArrayBuffer) => Entries;
}

export interface NpyElement extends NpyKind {
  readonly bigEndian: boolean;
}

function realElements(dtype: NpyDtype, bytes: number, decode: NpyKind['decode']): NpyKind {
  return { dtype, bytes, unit: bytes, decode };
}

/** What a `descr` without its byte order mark stands for. Integers become doubles, and halves singles, as in `numpy.fft`. */
const KINDS: Readonly<Record<string, NpyKind>> = {
  f2: realElements('float32', 2, halfEntries),
  bfloat16: realElements('float32', 2, upperHalves),
  f4: realElements('float32', 4, (buffer) => new Float32Array(buffer)),
  f8: realElements('float64', 8, (buffer) => new Float64Array(buffer)),
  c8: { ...realElements('complex64', 8, (buffer) => new Float32Array(buffer)), unit: 4 },
  c16: { ...realElements('complex128', 16, (buffer) => new Float64Array(buffer)), unit: 8 },
  // Whatever is not 0 is true.
  b1: realElements('float64', 1, (buffer) => new Uint8Array(buffer).map((byte) => Number(byte !== 0))),
  i1: realElements('float64', 1, (buffer) => new Int8Array(buffer)),
  i2: realElements('float64', 2, (buffer) => new Int16Array(buffer)),
  i4: realElements('float64', 4, (buffer) => new Int32Array(buffer)),
  i8: realElements('float64', 8, (buffer) => longs(buffer, new Int32Array(buffer))),
  u1: realElements('float64', 1, (buffer) => new Uint8Array(buffer)),
  u2: realElements('float64', 2, (buffer) => new Uint16Array(buffer)),
  u4: realElements('float64', 4, (buffer) => new Uint32Array(buffer)),
  u8: realElements('float64', 8, (buffer) => longs(buffer, new Uint32Array(buffer))),
};

export const ACCEPTED =
  'omnifft reads arrays of bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 and complex128';

/**
 * NumPy itself has no bfloat16. That of ml_dtypes, which JAX and TensorFlow use, is written as `<V2`: 2 bytes of a meaning that NumPy
 * does not know, in an order. No other type is: bytes without a meaning have no order, `|V2`.
 */
const BFLOAT16 = /^[<>]V2$/;

/** What to run in Python, for kinds that are not read; `a` is the array. With what is to be minded, where there is something. */
const CONVERSIONS: readonly (readonly [RegExp, string, string?])[] = [
  [/^O/, "a.astype('complex128')"],
  // As NumPy loads them. What was bfloat16 before NumPy wrote it again, and what of 1 byte ml_dtypes has besides float8_e5m2.
  [/^V2$/, "a.view(ml_dtypes.bfloat16).astype('float32')"],
  [/^V1$/, "a.view(ml_dtypes.float8_e4m3fn).astype('float32')", ' or with another type of 1 byte that they have'],
  // NumPy does not load this one: it is for where the array comes from.
  [/^f1$/, "a.astype('float32')", ' where the array was made'],
  [/^f/, "a.astype('float64')"],
  [/^c/, "a.astype('complex128')"],
  [/^[mM]8/, "a.astype('int64')"],
  [/^[SU]/, "a.astype('float64')"],
];

/**
 * @param descriptor such as `<f8`.
 * @throws FftError `invalid-file` for elements of another kind, with what to run.
 */
export function npyElementOf(descriptor: string): NpyElement {
  const [, order, name = ''] = /^([<>|=]?)(.*)$/s.exec(descriptor)!;
  const known = BFLOAT16.test(descriptor) ? 'bfloat16' : name;
  const kind = Object.hasOwn(KINDS, known) ? KINDS[known] : undefined;
  if (kind) return { ...kind, bigEndian: order === '>' && kind.unit > 1 };
  const what = name.startsWith('O') ? 'are Python objects' : `have dtype ${show(descriptor)}`;
  const [, conversion, note = ''] = CONVERSIONS.find(([pattern]) => pattern.test(name)) ?? [];
  const remedy = conversion === undefined ? '' : `; if they are numbers, run numpy.save(file, ${conversion})${note}`;
  throw new FftError('invalid-file', `The array's elements ${what}; ${ACCEPTED}${remedy}.`);
}

/** Reverses the bytes of each number, where they stand. */
export function swapBytes(bytes: Uint8Array, unit: number): void {
  for (let at = 0; at + unit <= bytes.length; at += unit) {
    for (let low = at, high = at + unit - 1; low < high; low++, high--) {
      const byte = bytes[low]!;
      bytes[low] = bytes[high]!;
      bytes[high] = byte;
    }
  }
}

/** Half precision: its bits, moved to where single precision has them, are smaller by the two exponents' difference. */
function halfEntries(buffer: ArrayBuffer): Entries {
  const given = new Uint16Array(buffer);
  const floats = new Float32Array(given.length);
  const bits = new Uint32Array(floats.buffer);
  for (let k = 0; k < given.length; k++) {
    const half = given[k]!;
    bits[k] = (half & 0x7fff) << 13;
    floats[k] = floats[k]! * 2 ** 112;
    // Infinity and what is no number have all bits of the exponent set.
    if ((half & 0x7c00) === 0x7c00) bits[k] = bits[k]! | 0x7f800000;
    bits[k] = bits[k]! | ((half & 0x8000) << 16);
  }
  return floats;
}

/** bfloat16: the upper 16 bits of single precision. */
function upperHalves(buffer: ArrayBuffer): Entries {
  return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (upper) => upper * 2 ** 16).buffer);
}

/** Integers of 64 bits in two halves: both are exact, so that their sum is rounded once. */
function longs(buffer: ArrayBuffer, words: Int32Array | Uint32Array): Entries {
  const low = new Uint32Array(buffer);
  const values = new Float64Array(words.length / 2);
  for (let k = 0; k < values.length; k++) values[k] = words[2 * k + 1]! * 2 ** 32 + low[2 * k]!;
  return values;
}
