import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { damage } from '../../../test/support/damage.ts';
import { randomFor, seedFor } from '../../../test/support/random.ts';
import { FftError } from '../../problem/errors.ts';
import { allocated, asArray } from '../arrays/array.ts';
import type { NpyArray, NpyDtype } from '../arrays/npy-array.ts';
import { npyPieces, readNpy, readNpyFrom, writeNpy } from './npy.ts';
import { memorySource, pieceSource, sourceSlice } from './source.ts';

/** A file that is put together by hand, so that the reader is tested independently of the writer. */
function file(dict: string, data: ArrayBufferView, version = 1, lengthBytes = version === 1 ? 2 : 4): Uint8Array {
  const text = new TextEncoder().encode(`${dict}\n`);
  const bytes = new Uint8Array(8 + lengthBytes + text.length + data.byteLength);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  for (let i = 0; i < lengthBytes; i++) bytes[8 + i] = (text.length >> (8 * i)) & 0xff;
  bytes.set(text, 8 + lengthBytes);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 8 + lengthBytes + text.length);
  return bytes;
}

const dict = (descr: string, shape: string, order = 'False') =>
  `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`;

function failure(run: () => unknown): FftError {
  try {
    run();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('readNpy', () => {
  it.each([1, 2, 3])('reads format version %i at any alignment', (version) => {
    const values = Float64Array.of(1.5, -2, Number.MIN_VALUE, Infinity, -0, 3);
    const bytes = file(dict('<f8', '(2, 3)'), values, version);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    const array = readNpy(shifted.subarray(3));
    expect(array).toEqual({ data: values, shape: [2, 3], dtype: 'float64' });
  });

  it('reads a Buffer, a view of memory that others use', () => {
    const values = Float32Array.of(1, 2, 3);
    expect(readNpy(Buffer.from(file(dict('<f4', '(3,)'), values))).data).toEqual(values);
  });

  it('keeps single precision single and complex numbers interleaved', () => {
    const values = Float32Array.of(1, 2, 3, 4);
    expect(readNpy(file(dict('<c8', '(2,)'), values))).toEqual({ data: values, shape: [2], dtype: 'complex64' });
    expect(readNpy(file(dict('<f4', '(4,)'), values)).dtype).toBe('float32');
    expect(readNpy(file(dict('<c16', '()'), Float64Array.of(1, 2)))).toMatchObject({ shape: [], dtype: 'complex128' });
  });

  it.each<[string, ArrayBufferView, number[]]>([
    ['|i1', Int8Array.of(-128, 127), [-128, 127]],
    ['|u1', Uint8Array.of(0, 255), [0, 255]],
    ['|b1', Uint8Array.of(0, 1, 2, 255), [0, 1, 1, 1]],
    ['<i2', Int16Array.of(-32768, 5), [-32768, 5]],
    ['<u2', Uint16Array.of(65535, 5), [65535, 5]],
    ['<i4', Int32Array.of(-(2 ** 31), 5), [-(2 ** 31), 5]],
    ['<u4', Uint32Array.of(2 ** 32 - 1, 5), [2 ** 32 - 1, 5]],
    ['<i8', BigInt64Array.of(-5n, 2n ** 40n), [-5, 2 ** 40]],
    ['<u8', BigUint64Array.of(5n, 2n ** 40n), [5, 2 ** 40]],
  ])('converts %s to float64', (descr, raw, values) => {
    const array = readNpy(file(dict(descr, `(${values.length},)`), raw));
    expect(array.dtype).toBe('float64');
    expect([...array.data]).toEqual(values);
  });

  /** Big-endian numbers of `unit` bytes each. */
  const reversed = (raw: ArrayBufferView, unit: number) => {
    const bytes = new Uint8Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
    for (let at = 0; at < bytes.length; at += unit) bytes.subarray(at, at + unit).reverse();
    return bytes;
  };

  it.each<[string, ArrayBufferView, number]>([
    ['i2', Int16Array.of(-32768, 5, 258, 7), 2],
    ['u2', Uint16Array.of(65535, 5, 258, 7), 2],
    ['i4', Int32Array.of(-(2 ** 31), 5, 66051, 7), 4],
    ['u4', Uint32Array.of(2 ** 32 - 1, 5, 66051, 7), 4],
    ['i8', BigInt64Array.of(-5n, 2n ** 40n, -(2n ** 63n), 7n), 8],
    ['u8', BigUint64Array.of(5n, 2n ** 40n, 2n ** 64n - 2n ** 11n, 7n), 8],
    ['f2', Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x7bff), 2],
    ['V2', Uint16Array.of(0x3f80, 0xc000, 0x0001, 0x7f80), 2],
    ['f4', Float32Array.of(1.5, -2, Infinity, 7), 4],
    ['f8', Float64Array.of(1.5, -2, Number.MIN_VALUE, 7), 8],
    ['c8', Float32Array.of(1.5, -2, Infinity, 7, 1, 2, 3, 4), 4],
    ['c16', Float64Array.of(1.5, -2, Infinity, 7, 1, 2, 3, 4), 8],
  ])('reads big-endian %s as the same numbers', (kind, raw, unit) => {
    const little = readNpy(file(dict(`<${kind}`, '(2, 2)'), raw));
    expect(readNpy(file(dict(`>${kind}`, '(2, 2)'), reversed(raw, unit)))).toEqual(little);
  });

  it('rounds 64-bit integers once, to the nearest, ties to even', () => {
    const random = randomFor('npy 64-bit integers');
    const near = [2n ** 53n + 1n, 2n ** 53n + 3n, 2n ** 62n + 2n ** 9n, 2n ** 62n + 3n * 2n ** 9n, 2n ** 63n - 1n];
    const some = Array.from({ length: 1000 }, () => (BigInt(random.bits()) << 31n) | BigInt(random.bits() >>> 1));
    const all = [...near, ...some].flatMap((value) => [value, -value]);
    const shape = `(${all.length},)`;
    expect([...readNpy(file(dict('<i8', shape), BigInt64Array.from(all))).data]).toEqual(all.map(Number));
    const unsigned = all.map((value) => BigInt.asUintN(64, value));
    expect([...readNpy(file(dict('<u8', shape), BigUint64Array.from(unsigned))).data]).toEqual(unsigned.map(Number));
  });

  it('reads every bfloat16, which ml_dtypes writes, as float32', () => {
    const bits = Uint16Array.from({ length: 2 ** 16 }, (_, k) => k);
    const { data, dtype } = readNpy(file(dict('<V2', '(65536,)'), bits));
    // 1 bit of sign, 8 of the exponent, 7 of the fraction.
    const expected = Array.from(bits, (number) => {
      const [sign, exponent, fraction] = [number >> 15 ? -1 : 1, (number >> 7) & 255, number & 127];
      if (exponent === 255) return fraction === 0 ? sign * Infinity : Number.NaN;
      return sign * (exponent === 0 ? fraction * 2 ** -133 : (1 + fraction / 128) * 2 ** (exponent - 127));
    });
    expect(dtype).toBe('float32');
    expect([...data]).toEqual(expected);
  });

  // IEEE 754-2008, binary16: 1 bit of sign, 5 of the exponent, 10 of the fraction.
  it('reads every half-precision number as float32', () => {
    const bits = Uint16Array.from({ length: 2 ** 16 }, (_, k) => k);
    const { data, dtype } = readNpy(file(dict('<f2', '(65536,)'), bits));
    const expected = Array.from(bits, (half) => {
      const [sign, exponent, fraction] = [half >> 15 ? -1 : 1, (half >> 10) & 31, half & 1023];
      if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
      return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
    });
    expect(dtype).toBe('float32');
    expect([...data]).toEqual(expected);
  });

  it.each([1, 2])('brings Fortran order into C order, %i numbers an element', (parts) => {
    const random = randomFor('npy Fortran order');
    for (const shape of [[], [5], [2, 3], [1, 4], [3, 1, 2], [2, 3, 4], [2, 1, 3, 2], [0, 3]]) {
      const count = shape.reduce((total, length) => total * length, 1);
      const expected = Float64Array.from({ length: parts * count }, () => random.unit());
      const raw = new Float64Array(expected.length);
      for (let k = 0; k < count; k++) {
        // From the place in C order to the coordinates, and on to the place in Fortran order.
        let [rest, place, stride] = [k, 0, count];
        for (const length of shape.toReversed()) {
          stride /= length;
          place += (rest % length) * stride;
          rest = Math.floor(rest / length);
        }
        for (let part = 0; part < parts; part++) raw[parts * place + part] = expected[parts * k + part]!;
      }
      const bytes = file(
        dict(parts === 2 ? '<c16' : '<f8', `(${shape.join(', ')}${shape.length ? ',' : ''})`, 'True'),
        raw,
      );
      const wanted = { data: expected, shape, dtype: parts === 2 ? 'complex128' : 'float64' };
      expect(readNpy(bytes)).toEqual(wanted);
      // The result does not depend on the number of bytes that are read at a time.
      for (const most of [1, 16, 40]) expect(readNpyFrom(memorySource(bytes), most)).toEqual(wanted);
    }
  });

  // What is iterated over is collected first, in a list: 2^27 entries of it end the process.
  it('converts large integer arrays without listing their entries', () => {
    const random = randomFor('npy integers');
    const values = Int32Array.from({ length: 1000 }, () => random.bits() | 0);
    const wide = BigInt64Array.from(values, BigInt);
    const expected = Float64Array.from(values);
    const iterate = vi.spyOn(Object.getPrototypeOf(Int8Array.prototype), Symbol.iterator as never);
    const read = [
      readNpy(file(dict('<i4', '(1000,)'), values)).data,
      readNpy(file(dict('<i8', '(1000,)'), wide)).data,
      asArray(values).data,
      asArray(wide).data,
    ];
    const calls = iterate.mock.calls.length;
    iterate.mockRestore();
    expect(calls).toBe(0);
    for (const data of read) expect(data).toEqual(expected);
  });

  it('converts arrays of no entries', () => {
    for (const descr of ['<i2', '<i8'])
      expect(readNpy(file(dict(descr, '(0,)'), new Int8Array(0))).data.length).toBe(0);
  });

  it('accepts double quotes, other key orders and the long integers of Python 2', () => {
    const text = '{"shape": (2L, 1L), "fortran_order": False, "descr": "<f4"}';
    expect(readNpy(file(text, Float32Array.of(7, 8))).shape).toEqual([2, 1]);
    expect(readNpy(file(dict('<f4', '( 2 , 1 , )'), Float32Array.of(7, 8))).shape).toEqual([2, 1]);
  });

  const two = Float64Array.of(1, 2);
  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /is empty/],
    ['text', new TextEncoder().encode('1,2,3\n4,5,6\n'), /does not start as a \.npy file does.*31 2c/],
    ['an archive', Uint8Array.of(0x50, 0x4b, 3, 4), /npz/],
    ['a pickle', Uint8Array.of(0x80, 4, 0x95, 0), /pickle/],
    ['the magic alone', Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59), /truncated/],
    ['no header length', file(dict('<f8', '(2,)'), two).subarray(0, 9), /truncated/],
    ['half a header', file(dict('<f8', '(2,)'), two).subarray(0, 30), /header takes/],
    ['missing data', file(dict('<f8', '(2,)'), two).subarray(0, -1), /takes 16 bytes of data, the file has 15/],
    ['an unknown version', file(dict('<f8', '(2,)'), two, 9), /version 9/],
    ['objects', file(dict('|O', '(2,)'), two), /Python objects.*numpy\.save\(file, a\.astype\('complex128'\)\)/],
    [
      'records',
      file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", two),
      /records.*numpy\.save\(file, a\['name'\]\)/,
    ],
    ['80-bit floats', file(dict('<f16', '(1,)'), two), /dtype '<f16'.*numpy\.save\(file, a\.astype\('float64'\)\)/],
    ['float8', file(dict('<V1', '(2,)'), two), /'<V1'.*a\.view\(ml_dtypes\.float8_e4m3fn\)\.astype\('float32'\)\) or/],
    ['float8 that NumPy has saved again', file(dict('|V1', '(2,)'), two), /'\|V1'.*float8_e4m3fn/],
    ['float8 of type e5m2', file(dict('<f1', '(2,)'), two), /'<f1'.*a\.astype\('float32'\)\) where/],
    ['bytes of no meaning', file(dict('|V2', '(2,)'), two), /'\|V2'.*a\.view\(ml_dtypes\.bfloat16\)\.astype/],
    ['dates', file(dict('<M8[ns]', '(2,)'), two), /dtype '<M8\[ns\]'.*astype\('int64'\)/],
    ['texts', file(dict('<U4', '(1,)'), two), /dtype '<U4'.*astype\('float64'\)/],
    ['a dtype of many letters', file(dict(`<U${'4'.repeat(5000)}`, '(1,)'), two), /^.{1,400}$/],
    ['a shape of many axes', file(dict('<f8', `(${'2, '.repeat(60000)})`), two, 2), /^.{1,400}$/],
    ['a shape of many digits', file(dict('<f8', `(0, ${'9'.repeat(5000)})`), two), /^.{1,400}more elements.{1,200}$/],
    ['a header beyond reason', file(`${dict('<f8', '(2,)')}${' '.repeat(2 ** 20)}`, two, 2), /header takes/],
    ['a dtype that names what every object has', file(dict('toString', '(2,)'), two), /dtype 'toString'/],
    ['a constructor of numbers', file(dict('<constructor', '(2,)'), two), /dtype '<constructor'/],
    ['a prototype', file(dict('__proto__', '(2,)'), two), /dtype '__proto__'/],
    ['no shape', file("{'descr': '<f8', 'fortran_order': False}", two), /no valid 'shape'/],
    ['a negative length', file(dict('<f8', '(-2,)'), two), /no valid 'shape'/],
    ['a number for a shape', file(dict('<f8', '(2)'), two), /no valid 'shape': \(2\)/],
    ['commas only', file(dict('<f8', '(,)'), two), /no valid 'shape'/],
    ['numbers without a comma', file(dict('<f8', '(2 1)'), two), /no valid 'shape'/],
    ['two commas', file(dict('<f8', '(2,,1)'), two), /no valid 'shape'/],
    ['an absurd shape', file(dict('<f8', '(9007199254740991, 4)'), two), /more elements/],
    ['no order', file("{'descr': '<f8', 'shape': (2,)}", two), /no valid 'fortran_order'/],
  ])('refuses %s', (_name, bytes, message) => {
    const error = failure(() => readNpy(bytes));
    expect(error.code).toBe('invalid-file');
    expect(error.message).toMatch(message);
  });

  it('never fails otherwise, whatever the bytes', async () => {
    const values = Float64Array.of(1, 2, 3, 4);
    const files = ['<f8', '>f8', '<c16', '<i8', '<f2', '|b1'].map((descr) =>
      file(dict(descr, '(2, 1)', 'True'), values),
    );
    expect(await damage('npy damage', [...files, writeNpy(values)], 3000, readNpy)).toBeGreaterThan(1000);
  });
});

describe('what is no file', () => {
  it.each([null, undefined, 'x', new ArrayBuffer(4), new Float32Array(4), [1, 2]])('%s', (given) => {
    expect(failure(() => readNpy(given as never)).code).toBe('invalid-argument');
  });

  it('bytes that were transferred away', () => {
    const bytes = writeNpy(Float32Array.of(1, 2));
    structuredClone(bytes, { transfer: [bytes.buffer] });
    expect(failure(() => readNpy(bytes)).code).toBe('detached-array');
    expect(failure(() => readNpy(new Uint8Array(0))).code).toBe('invalid-file');
  });

  it('is told from what is cut short, and from a header that names no numbers', () => {
    const bytes = writeNpy(Float32Array.of(1, 2));
    expect(failure(() => readNpy(bytes.subarray(0, 3))).message).toMatch(/truncated/);
    const text = Buffer.from(bytes).toString('latin1').replace('(2,)', '(1 2,)');
    const broken = Uint8Array.from(text, (character) => character.charCodeAt(0));
    expect(failure(() => readNpy(broken)).message).toMatch(/no valid 'shape'/);
  });
});

describe('writeNpy', () => {
  it('is read back bit by bit, with the data at a multiple of 64 bytes', () => {
    const dtypes = fc.constantFrom<NpyDtype>('float32', 'float64', 'complex64', 'complex128');
    fc.assert(
      fc.property(
        dtypes,
        fc.array(fc.nat(5), { maxLength: 4 }),
        fc.infiniteStream(fc.double()),
        (dtype, shape, stream) => {
          const entries = shape.reduce((product, length) => product * length, dtype.startsWith('complex') ? 2 : 1);
          const values = Array.from({ length: entries }, () => stream.next().value as number);
          const data =
            dtype === 'float32' || dtype === 'complex64' ? Float32Array.from(values) : Float64Array.from(values);
          const array: NpyArray = { data, shape, dtype };
          const bytes = writeNpy(array);
          expect((bytes.length - data.byteLength) % 64).toBe(0);
          expect(readNpy(bytes)).toEqual(array);
        },
      ),
      { seed: seedFor('numpy/npy') | 0 },
    );
  });

  it('uses format 2 for a header that format 1 cannot hold', () => {
    const shape = new Array<number>(30000).fill(1);
    const bytes = writeNpy({ data: Float32Array.of(9), shape, dtype: 'float32' });
    expect(bytes[6]).toBe(2);
    expect(readNpy(bytes).shape).toEqual(shape);
  });

  it('refuses data that does not fit its shape or dtype', () => {
    const data = new Float32Array(4);
    expect(failure(() => writeNpy({ data, shape: [4], dtype: 'complex64' })).code).toBe('wrong-length');
    expect(failure(() => writeNpy({ data, shape: [4], dtype: 'float64' })).code).toBe('wrong-array-type');
    for (const shape of [[-2, -2], [0.5, 8], null] as number[][]) {
      expect(failure(() => writeNpy({ data, shape, dtype: 'float32' })).code).toBe('invalid-argument');
    }
    for (const given of [null, undefined, 'x', {}, { data, shape: [4], dtype: 'bogus' }, { data, dtype: 'float32' }]) {
      expect(failure(() => writeNpy(given as never)).code).toMatch(/^(wrong-array-type|invalid-argument)$/);
    }
  });

  it('takes a bare typed array, which is real and has one axis', () => {
    expect(readNpy(writeNpy(Float32Array.of(1, 2)))).toEqual({
      data: Float32Array.of(1, 2),
      shape: [2],
      dtype: 'float32',
    });
  });
});

describe('in pieces', () => {
  const random = randomFor('npy pieces');
  const array = {
    data: Float64Array.from({ length: 300 }, () => random.unit()),
    shape: [10, 15],
    dtype: 'complex128',
  } as const;
  const whole = writeNpy(array);

  it.each([1, 16, 24, 100, 5000])('of at most %i bytes, arrays are written and read as in one', (most) => {
    const { size, pieces } = npyPieces(array, most);
    const parts = [...pieces];
    expect(size).toBe(whole.length);
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
    // The header is the first piece.
    for (const { length } of parts.slice(1)) expect(length).toBeLessThanOrEqual(most);
    expect(readNpyFrom(pieceSource(parts), most)).toEqual(array);
    expect(readNpyFrom(memorySource(whole), most)).toEqual(array);
  });

  it('a source of pieces is read from anywhere, as its bytes are', () => {
    for (let round = 0; round < 200; round++) {
      const parts = Array.from({ length: random.integer(0, 6) }, () =>
        Uint8Array.from({ length: random.integer(0, 9) }, () => random.integer(0, 255)),
      );
      const all = Buffer.concat(parts);
      const [start, size] = [random.integer(0, 20), random.integer(0, 40)];
      const inside = all.subarray(start, start + size);
      for (const [source, bytes] of [
        [pieceSource(parts), all],
        [sourceSlice(pieceSource(parts), start, size), inside],
      ] as const) {
        expect(source.size).toBe(bytes.length);
        for (let call = 0; call < 5; call++) {
          const [at, length] = [random.integer(0, 50), random.integer(0, 50)];
          expect([...source.read(at, length)]).toEqual([...bytes.subarray(at, at + length)]);
        }
      }
    }
  });

  it('a file that becomes shorter while it is read is truncated', () => {
    const source = {
      size: whole.length,
      read: (at: number, length: number) => whole.subarray(at, Math.min(at + length, 200)),
    };
    expect(failure(() => readNpyFrom(source)).message).toMatch(/truncated/);
  });
});

it('says that memory is short where the engine throws a RangeError, and nothing else', () => {
  const none = () => allocated(2 ** 40, () => new Uint8Array(2 ** 53));
  expect(none).toThrow(expect.objectContaining({ name: 'FftError', code: 'out-of-memory' }));
  expect(() => allocated(1, () => (undefined as unknown as Uint8Array).slice())).toThrow(TypeError);
  expect(allocated(2, () => [1, 2])).toEqual([1, 2]);
});
