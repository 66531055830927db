/** The element types of `.npy` files, and their conversion to floating point. */

import { FftError, show } from '../../problem/errors.ts';
import type { NpyDtype } from '../arrays/npy-array.ts';

type Entries = ArrayLike<number>;

/** An element type. */
interface NpyKind {
  /** The element type of the resulting array. */
  readonly dtype: NpyDtype;
  /** Bytes of one element in the file. */
  readonly bytes: number;
  /** Bytes of one number, which are reversed in big-endian files. */
  readonly unit: number;
  /** Converts a buffer of whole, little-endian elements to numbers, two for each complex element. */
  readonly decode: (buffer: ArrayBuffer) => Entries;
}

export interface NpyElement extends NpyKind {
  readonly bigEndian: boolean;
}

function realElements(dtype: NpyDtype, bytes: number, decode: NpyKind['decode']): NpyKind {
  return { dtype, bytes, unit: bytes, decode };
}

/** Element types by `descr` without its byte order mark. Integers become doubles, and halves singles, as in `numpy.fft`. */
const KINDS: Readonly<Record<string, NpyKind>> = {
  f2: realElements('float32', 2, halfEntries),
  bfloat16: realElements('float32', 2, upperHalves),
  f4: realElements('float32', 4, (buffer) => new Float32Array(buffer)),
  f8: realElements('float64', 8, (buffer) => new Float64Array(buffer)),
  c8: { ...realElements('complex64', 8, (buffer) => new Float32Array(buffer)), unit: 4 },
  c16: { ...realElements('complex128', 16, (buffer) => new Float64Array(buffer)), unit: 8 },
  // Every byte but 0 is true.
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
 * NumPy itself has no bfloat16. The ones of ml_dtypes, which JAX and TensorFlow use, are written as `<V2`: 2 bytes of a meaning that NumPy does not
 * know, with a byte order. No other type is written so, because bytes without a meaning have no order: `|V2`.
 */
const BFLOAT16 = /^[<>]V2$/;

/** The code to run in Python for types that are not read, where `a` is the array; and where necessary a hint. */
const CONVERSIONS: readonly (readonly [RegExp, string, string?])[] = [
  [/^O/, "a.astype('complex128')"],
  // Types as NumPy loads them. `V2` is bfloat16 that NumPy has written again, or one of the types of 1 byte in ml_dtypes other than float8_e5m2.
  [/^V2$/, "a.view(ml_dtypes.bfloat16).astype('float32')"],
  [/^V1$/, "a.view(ml_dtypes.float8_e4m3fn).astype('float32')", ' or with another type of 1 byte that they have'],
  // NumPy cannot load this type, so the conversion has to happen where the array is made.
  [/^f1$/, "a.astype('float32')", ' where the array was made'],
  [/^f/, "a.astype('float64')"],
  [/^c/, "a.astype('complex128')"],
  [/^[mM]8/, "a.astype('int64')"],
  [/^[SU]/, "a.astype('float64')"],
];

/**
 * The element type of a descriptor. @param descriptor such as `<f8`.
 * @throws FftError `invalid-file` for other types, with code to convert them.
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

/** Reverses the bytes of each number in place. */
export function swapBytes(bytes: Uint8Array, unit: number): void {
  for (let at = 0; at + unit <= bytes.length; at += unit) {
    for (let low = at, high = at + unit - 1; low < high; low++, high--) {
      const byte = bytes[low]!;
      bytes[low] = bytes[high]!;
      bytes[high] = byte;
    }
  }
}

/**
 * Converts half precision: the bits are shifted to their place in single precision, and the difference of the exponents' biases is added by a
 * multiplication.
 */
function halfEntries(buffer: ArrayBuffer): Entries {
  const given = new Uint16Array(buffer);
  const floats = new Float32Array(given.length);
  const bits = new Uint32Array(floats.buffer);
  for (let k = 0; k < given.length; k++) {
    const half = given[k]!;
    bits[k] = (half & 0x7fff) << 13;
    floats[k] = floats[k]! * 2 ** 112;
    // Infinities and NaNs have all bits of the exponent set.
    if ((half & 0x7c00) === 0x7c00) bits[k] = bits[k]! | 0x7f800000;
    bits[k] = bits[k]! | ((half & 0x8000) << 16);
  }
  return floats;
}

/** Converts bfloat16, the upper 16 bits of single precision. */
function upperHalves(buffer: ArrayBuffer): Entries {
  return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (upper) => upper * 2 ** 16).buffer);
}

/** Converts 64-bit integers by their halves: both are exact, so the sum is rounded once. */
function longs(buffer: ArrayBuffer, words: Int32Array | Uint32Array): Entries {
  const low = new Uint32Array(buffer);
  const values = new Float64Array(words.length / 2);
  for (let k = 0; k < values.length; k++) values[k] = words[2 * k + 1]! * 2 ** 32 + low[2 * k]!;
  return values;
}
