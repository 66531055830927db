/** The cache of calls finds a repeated call in any circumstances, takes no other call for it, and is safe from the callers' objects. */
import { describe, expect, it } from 'vitest';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { FftError, openDevice } from '../../index.ts';
import type { ArrayInput, NumpyArray } from '../arrays/array.ts';
import * as numpy from '../index.ts';
import * as sync from '../sync.ts';
import { KnownCalls } from './known.ts';
import type { Work } from './work.ts';

const random = randomFor('numpy/known');
type Transform = (x: ArrayInput, options?: object) => NumpyArray;
const faces = { ...sync } as unknown as Readonly<Record<string, Transform>>;

function reals(shape: readonly number[], single = false): NumpyArray {
  const data = uniform(
    random,
    shape.reduce((product, length) => product * length, 1),
  );
  return single
    ? { data: Float32Array.from(data), shape, dtype: 'float32' }
    : { data: Float64Array.from(data), shape, dtype: 'float64' };
}

/** Every function, with options that each has. */
const lines = ['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft', 'dct', 'idct', 'dst', 'idst'];
const tensors = [
  'fft2',
  'ifft2',
  'rfft2',
  'irfft2',
  'fftn',
  'ifftn',
  'rfftn',
  'irfftn',
  'hfft2',
  'ihfft2',
  'hfftn',
  'ihfftn',
  'dctn',
  'idctn',
  'dstn',
  'idstn',
];
const requested: readonly (readonly [string, object | undefined])[] = [
  ...lines.flatMap((name) =>
    [undefined, { n: 9 }, { axis: 0 }, { n: 6, axis: -2, norm: 'ortho' }].map((one) => [name, one] as const),
  ),
  ...tensors.flatMap((name) =>
    [undefined, { axes: [1, 0] }, { axes: 0, s: 3 }, { s: [5, 4], norm: 'forward' }].map((one) => [name, one] as const),
  ),
];

/** The same call in a form that the cache does not accept: its options are not an ordinary object. */
function anew(name: string, x: ArrayInput, options: object | undefined): NumpyArray {
  return faces[name]!(x, Object.assign(Object.create(null), options));
}

describe('a call like an earlier one', () => {
  it.each(requested)(
    '%s, %j: gives what the first gives, of the data as it is then, in new arrays',
    (name, options) => {
      for (const single of [false, true]) {
        const first = faces[name]!(reals([4, 8], single), options);
        const x = reals([4, 8], single);
        const expected = anew(name, x, options);
        const given = x.data.slice();
        const results = [0, 1].map(() => faces[name]!(x, options));
        expect(results).toEqual([expected, expected]);
        expect(x.data).toEqual(given);
        const [one, other] = results as [NumpyArray, NumpyArray];
        expect(one.data.buffer).not.toBe(other.data.buffer);
        expect(one.data.buffer.byteLength).toBe(one.data.byteLength);
        expect(one.shape).not.toBe(other.shape);
        // Changing a result does not change the next one.
        one.data.fill(Number.NaN);
        (one.shape as number[]).push(7);
        expect(faces[name]!(x, options)).toEqual(expected);
        expect(first.shape).toEqual(expected.shape);
      }
    },
  );

  it('keeps apart what differs in one fact only', () => {
    const x = reals([4, 8]);
    const bins: NumpyArray = { data: x.data, shape: [16], dtype: 'complex128' };
    const singles: NumpyArray = { data: Float32Array.from(x.data), shape: [32], dtype: 'float32' };
    const calls: readonly (readonly [ArrayInput, object | undefined])[] = [
      [x, undefined],
      [x.data, undefined],
      [singles, undefined],
      [singles.data, undefined],
      [bins, undefined],
      [{ ...x, shape: [8, 4] }, undefined],
      [{ ...x, shape: [1, 4, 8] }, undefined],
      [x, { axis: 0 }],
      [x, { axis: 1 }],
      [x, { n: 4 }],
      [x, { n: 4, norm: 'ortho' }],
      [x, { norm: 'ortho', n: 4 }],
      [x, { n: null, norm: null }],
    ];
    const apart = calls.map(([input, options]) => anew('fft', input, options));
    for (let round = 0; round < 3; round++) {
      for (const [k, [input, options]] of calls.entries()) expect(sync.fft(input, options)).toEqual(apart[k]);
    }
    expect(() => sync.rfft(x as never, { n: '4' } as never)).toThrow(FftError);
    expect(() => sync.rfft(bins as never)).toThrow(FftError);
    expect(() => sync.rfft({ ...x, shape: [4, 9] } as never)).toThrow(FftError);
  });

  it('fills up with zeros after longer data', () => {
    const long = reals([2, 12]);
    const short = reals([2, 5]);
    const expected = anew('fft', short, { n: 12 });
    sync.fft(long, { n: 12 });
    sync.fft(short, { n: 12 });
    sync.fft(long, { n: 12 });
    expect(sync.fft(short, { n: 12 })).toEqual(expected);
  });

  it('takes lists, whole numbers and arrays of other windows as the first one did', () => {
    for (let round = 0; round < 2; round++) {
      expect(sync.rfft([1, 2, 3, 4]).data).toEqual(Float64Array.of(10, 0, -2, 2, -2, 0));
      expect(sync.rfft(Int16Array.of(1, 2, 3, 4)).data).toEqual(Float64Array.of(10, 0, -2, 2, -2, 0));
      expect(sync.rfft([4, 3, 2, 1]).data).toEqual(Float64Array.of(10, 0, 2, -2, 2, 0));
    }
  });

  it('waits on a device, with the device among the options or without one', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const x = reals([32]);
    const expected = sync.rfft(x as never, { norm: 'ortho' });
    for (const options of [{ norm: 'ortho', device }, { device, norm: 'ortho' }, { norm: 'ortho' }] as const) {
      for (let round = 0; round < 2; round++) expect(await numpy.rfft(x as never, options)).toEqual(expected);
    }
    device.close();
    await expect(numpy.rfft(x as never, { norm: 'ortho', device })).rejects.toMatchObject({ code: 'device-closed' });
    await expect(numpy.rfft(x as never, { norm: 'ortho', device: 1 as never })).rejects.toBeInstanceOf(FftError);
    expect(() => sync.rfft(x as never, { norm: 'ortho', device } as never)).toThrow(/unknown|not known/);
  });
});

describe('a call that looks like an earlier one', () => {
  const x = reals([16]);
  const options = { n: 16, norm: 'ortho' } as const;
  const expected = sync.fft(x, options);

  function refused(input: unknown, given: unknown): FftError | NumpyArray {
    try {
      return sync.fft(input as ArrayInput, given as object);
    } catch (error) {
      expect(error).toBeInstanceOf(FftError);
      return error as FftError;
    }
  }

  it('is refused where its memory went away while it was read', () => {
    const data = x.data.slice();
    const detaching = {
      n: 16,
      get norm() {
        structuredClone(data.buffer, { transfer: [data.buffer as ArrayBuffer] });
        return 'ortho';
      },
    };
    expect(refused({ ...x, data }, detaching)).toMatchObject({ code: 'detached-array' });
    expect(refused({ ...x, data }, options)).toMatchObject({ code: 'detached-array' });
  });

  it('is refused where fields are inherited, throw, or are of another kind', () => {
    const boom = () => {
      throw new Error('boom');
    };
    expect(refused(Object.create(x), options)).toBeInstanceOf(FftError);
    expect(refused(x, Object.create(options))).toBeInstanceOf(FftError);
    expect(refused(x, { ...options, more: 1 })).toMatchObject({ code: 'unknown-field' });
    expect(refused(x, Object.defineProperty({ n: 16 }, 'norm', { get: boom, enumerable: true }))).toMatchObject({
      code: 'invalid-argument',
    });
    for (const trap of ['get', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor']) {
      expect(refused(x, new Proxy({ ...options }, { [trap]: boom }))).toBeInstanceOf(FftError);
      // A trap that is never called does no harm.
      const given = refused(new Proxy({ ...x }, { [trap]: boom }), options);
      if (!(given instanceof FftError)) expect(given).toEqual(expected);
    }
    expect(refused({ ...x, data: new Proxy(x.data, {}) }, options)).toMatchObject({ code: 'wrong-array-type' });
    expect(refused({ ...x, data: Float32Array.from(x.data) }, options)).toMatchObject({ code: 'wrong-array-type' });
    expect(refused(x, options)).toEqual(expected);
  });

  it('is what each look at it says where its fields change', () => {
    let looks = 0;
    const changing = {
      get n() {
        return looks++ % 2 === 0 ? 16 : 8;
      },
      norm: 'ortho',
    };
    const both = [expected, anew('fft', x, { n: 8, norm: 'ortho' })];
    for (let round = 0; round < 8; round++) expect(both).toContainEqual(refused(x, changing));
    expect(sync.fft(x, options)).toEqual(expected);
    expect(sync.fft(x, { n: 8, norm: 'ortho' })).toEqual(both[1]);
  });

  it('is computed from its numbers where the array lies about itself', () => {
    const lying = x.data.slice();
    for (const name of ['length', 'buffer', 'set', 'subarray', 'slice', 'constructor']) {
      Object.defineProperty(lying, name, { value: 3 });
    }
    for (let round = 0; round < 2; round++) {
      expect(sync.fft({ ...x, data: lying } as NumpyArray, options)).toEqual(expected);
      expect(sync.fft({ ...x, data: lying } as NumpyArray, { n: 8 })).toEqual(anew('fft', x, { n: 8 }));
    }
  });
});

describe('known calls', () => {
  const work: Work = { steps: [], shape: [4], dtype: 'complex128', entries: 4, takesSubarrays: false };
  const operand: NumpyArray = { data: new Float64Array(4), shape: [4], dtype: 'float64' };

  it('are few: of those alike the last ones, and all of them together are bounded', () => {
    const known = new KnownCalls();
    const find = (n: number) => known.find('fft', operand, { n }, false)?.work;
    for (let n = 1; n <= 9; n++) known.keep('fft', { operand, requested: { n } }, work);
    expect([1, 2, 9].map(find)).toEqual([undefined, work, work]);
    for (let entries = 8; entries < 8 + 600; entries++)
      known.keep('fft', { operand, requested: {} }, { ...work, entries });
    expect(find(9)).toBeUndefined();
  });

  it('are none of empty data and of long lists', () => {
    const known = new KnownCalls();
    const deep = { ...operand, shape: [...Array(8).fill(1), 4] };
    known.keep('fft', { operand: deep, requested: {} }, work);
    known.keep('fft', { operand: { ...operand, data: new Float64Array(0) }, requested: {} }, { ...work, entries: 0 });
    expect(known.find('fft', deep, undefined, false)).toBeUndefined();
    expect(known.find('fft', new Float64Array(0), undefined, false)).toBeUndefined();
  });
});
