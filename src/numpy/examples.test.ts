/** The examples of NumPy's reference manual (numpy.fft), by value, on both faces. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import * as numpy from './index.ts';
import * as sync from './sync.ts';

type Lists = number | readonly Lists[];

const faces = [
  { name: 'omnifft/numpy', face: numpy },
  { name: 'omnifft/numpy/sync', face: sync },
];

it.each(faces)('$name takes arrays of another window for what they are', async ({ face }) => {
  const other = <T>(name: string) => runInNewContext(name) as { from(values: readonly number[]): T };
  const singles = other<Float32Array>('Float32Array').from([1, 2, 3, 4]);
  expect(singles).not.toBeInstanceOf(Float32Array);
  expect(await face.fft(singles)).toMatchObject({ dtype: 'complex64', shape: [4] });
  expect(await face.fft({ data: singles, shape: [2, 2], dtype: 'float32' })).toMatchObject({ dtype: 'complex64' });
  expect(face.fftshift(singles)).toMatchObject({ dtype: 'float32', data: Float32Array.of(3, 4, 1, 2) });
  const doubles = other<Float64Array>('Float64Array').from([1, 2]);
  expect(await face.fft(doubles)).toMatchObject({ dtype: 'complex128', data: Float64Array.of(3, 0, -1, 0) });
  expect(await face.fft(other<Int8Array>('Int8Array').from([1, 2]))).toMatchObject({ dtype: 'complex128' });
  await expect((async () => face.fft(runInNewContext('new DataView(new ArrayBuffer(8))')))()).rejects.toMatchObject({
    code: 'wrong-array-type',
  });
});

function shapeOf(lists: Lists): number[] {
  return typeof lists === 'number' ? [] : [lists.length, ...shapeOf(lists[0] ?? 0)];
}

/** An array of reals from nested lists. */
function real(lists: Lists): numpy.NumpyArray {
  const flat = (part: Lists): number[] => (typeof part === 'number' ? [part] : part.flatMap(flat));
  return { data: Float64Array.from(flat(lists)), shape: shapeOf(lists), dtype: 'float64' };
}

/** Row, column or layer number: numpy.mgrid[:length, …][0]. */
function mgrid(shape: readonly number[]): numpy.NumpyArray {
  const inner = shape.slice(1).reduce((a, b) => a * b, 1);
  const data = Float64Array.from({ length: inner * shape[0]! }, (_, k) => Math.floor(k / inner));
  return { data, shape, dtype: 'float64' };
}

const eye = (n: number, value = 1) =>
  real(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? value : 0))));

function expectComplex(
  array: numpy.NumpyArray,
  shape: readonly number[],
  re: readonly number[],
  im: readonly number[] = [],
): void {
  expect(array).toMatchObject({ shape, dtype: 'complex128' });
  expect(array.data).toBeInstanceOf(Float64Array);
  expect(array.data.length).toBe(2 * re.length);
  re.forEach((value, k) => {
    expect(array.data[2 * k], `real part ${k}`).toBeCloseTo(value, 12);
    expect(array.data[2 * k + 1], `imaginary part ${k}`).toBeCloseTo(im[k] ?? 0, 12);
  });
}

function expectReal(array: numpy.NumpyArray, shape: readonly number[], values: readonly number[]): void {
  expect(array).toMatchObject({ shape, dtype: 'float64' });
  expect(array.data).toBeInstanceOf(Float64Array);
  expect(array.data.length).toBe(values.length);
  values.forEach((value, k) => {
    expect(array.data[k], `number ${k}`).toBeCloseTo(value, 12);
  });
}

describe.each(faces)("NumPy's examples, $name", ({ face }) => {
  it('fft of a complex exponential', async () => {
    const data = Float64Array.from({ length: 16 }, (_, k) =>
      (k % 2 ? Math.sin : Math.cos)((2 * Math.PI * (k >> 1)) / 8),
    );
    expectComplex(await face.fft({ data, shape: [8], dtype: 'complex128' }), [8], [0, 8, 0, 0, 0, 0, 0, 0]);
  });

  it('ifft', async () => {
    expectComplex(await face.ifft(Float64Array.of(0, 4, 0, 0)), [4], [1, 0, -1, 0], [0, 1, 0, -1]);
  });

  it('fft2', async () => {
    const column = (values: number[]) => values.flatMap((value) => [value, 0, 0, 0, 0]);
    const cotangent = (k: number) => 12.5 / Math.tan((Math.PI * k) / 5);
    const result = await face.fft2(mgrid([5, 5]));
    expectComplex(
      result,
      [5, 5],
      column([50, -12.5, -12.5, -12.5, -12.5]),
      column([0, cotangent(1), cotangent(2), cotangent(3), cotangent(4)]),
    );
    // As printed in the manual.
    expect(result.data[11]).toBeCloseTo(17.20477401, 7);
    expect(result.data[21]).toBeCloseTo(4.0614962, 7);
  });

  it('ifft2', async () => {
    expectComplex(await face.ifft2(eye(4, 4)), [4, 4], [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0]);
  });

  it('fftn over chosen axes', async () => {
    const layers = [0, 9, 18].flatMap((value) => [value, ...new Array(8).fill(0)]);
    expectComplex(await face.fftn(mgrid([3, 3, 3]), { axes: [1, 2] }), [3, 3, 3], layers);
  });

  it('fftn with s and axes', async () => {
    const values = [2, 2, 2, 0, 0, 0, -2, -2, -2, 0, 0, 0];
    expectComplex(await face.fftn(mgrid([3, 3, 3]), { s: [2, 2], axes: [0, 1] }), [2, 2, 3], values);
  });

  it('ifftn after fftn over another axis', async () => {
    const half = await face.fftn(eye(4), { axes: [0] });
    expectComplex(await face.ifftn(half, { axes: [1] }), [4, 4], [...eye(4).data]);
  });

  it('rfft and irfft', async () => {
    expectComplex(await face.rfft([0, 1, 0, 0]), [3], [1, 0, -1], [0, -1, 0]);
    const bins: numpy.NumpyArray = { data: Float64Array.of(1, 0, 0, -1, -1, 0), shape: [3], dtype: 'complex128' };
    expectReal(await face.irfft(bins), [4], [0, 1, 0, 0]);
    // All bins, of which the first three count.
    const all = { data: Float64Array.of(1, 0, 0, -1, -1, 0, 0, 1), shape: [4], dtype: 'complex128' } as const;
    expectReal(await face.irfft(all, { n: 4 }), [4], [0, 1, 0, 0]);
  });

  it('irfft of an odd length, which has to be said', async () => {
    const bins = await face.rfft([1, 2, 4, 8, 16]);
    expect(bins.shape).toEqual([3]);
    expectReal(await face.irfft(bins, { n: 5 }), [5], [1, 2, 4, 8, 16]);
    expect((await face.irfft(bins)).shape).toEqual([4]);
  });

  it('hfft and ihfft', async () => {
    expectReal(await face.hfft([1, 2, 3, 4, 3, 2], { n: 6 }), [6], [15, -4, 0, -1, 0, -4]);
    expectReal(await face.hfft([1, 2, 3, 4]), [6], [15, -4, 0, -1, 0, -4]);
    const signal: numpy.NumpyArray = {
      data: Float64Array.of(1, 0, 0, 1, 0, -1, 2, 0),
      shape: [2, 2],
      dtype: 'complex128',
    };
    expectReal(await face.hfft(signal), [2, 2], [1, 1, 2, -2]);
    expect(signal.data).toEqual(Float64Array.of(1, 0, 0, 1, 0, -1, 2, 0));
    expectComplex(await face.ihfft([15, -4, 0, -1, 0, -4]), [4], [1, 2, 3, 4]);
  });

  it('rfft2 and irfft2', async () => {
    const cotangent = (k: number) => 12.5 / Math.tan((Math.PI * k) / 5);
    const column = (values: number[]) => values.flatMap((value) => [value, 0, 0]);
    const bins = await face.rfft2(mgrid([5, 5]));
    expectComplex(
      bins,
      [5, 3],
      column([50, -12.5, -12.5, -12.5, -12.5]),
      column([0, cotangent(1), cotangent(2), cotangent(3), cotangent(4)]),
    );
    expectReal(await face.irfft2(bins, { s: [5, 5] }), [5, 5], [...mgrid([5, 5]).data]);
  });

  it('rfftn and irfftn', async () => {
    const ones = { data: new Float64Array(8).fill(1), shape: [2, 2, 2], dtype: 'float64' } as const;
    expectComplex(await face.rfftn(ones), [2, 2, 2], [8, 0, 0, 0, 0, 0, 0, 0]);
    expectComplex(await face.rfftn(ones, { axes: [2, 0] }), [2, 2, 2], [4, 0, 4, 0, 0, 0, 0, 0]);
    const impulse = {
      data: Float64Array.of(12, ...new Array(11).fill(0)),
      shape: [3, 2, 2],
      dtype: 'float64',
    } as const;
    expectReal(await face.irfftn(impulse), [3, 2, 2], new Array(12).fill(1));
  });

  it('a single number for axes or s is a list of one', async () => {
    const x = mgrid([4, 4, 4]);
    const [one, many] = [
      { n: 6, axis: 1 },
      { s: 6, axes: 1 },
    ] as const;
    for (const [single, several] of [
      [face.fft, [face.fft2, face.fftn]],
      [face.ifft, [face.ifft2, face.ifftn]],
      [face.rfft, [face.rfft2, face.rfftn]],
      [face.irfft, [face.irfft2, face.irfftn]],
      [face.hfft, [face.hfft2, face.hfftn]],
      [face.ihfft, [face.ihfft2, face.ihfftn]],
      [face.dct, [face.dctn]],
      [face.idct, [face.idctn]],
      [face.dst, [face.dstn]],
      [face.idst, [face.idstn]],
    ] as const) {
      const wanted = await single(x, one);
      const last = await single(x, { n: 6 });
      for (const transform of several) {
        expect(await transform(x, many)).toEqual(wanted);
        expect(await transform(x, { s: [6], axes: [1] })).toEqual(wanted);
        expect(await transform(x, { s: 6, axes: null })).toEqual(last);
      }
    }
  });

  it('hfftn of a Hermitian signal, and ihfftn', async () => {
    const ones: numpy.NumpyArray = { data: new Float64Array(24).fill(1), shape: [3, 4, 2], dtype: 'float64' };
    expectReal(await face.hfftn(ones), [3, 4, 2], [24, ...new Array(23).fill(0)]);
    expectReal(await face.hfft2([[1, 0, 1]]), [1, 4], [2, 0, 2, 0]);
    expectComplex(await face.ihfftn(ones, { axes: [0, 1] }), [3, 3, 2], [1, 1, ...new Array(16).fill(0)]);
    // SciPy's manual: fft2 of an array of which half is known from the other is hfft2 of one half.
    expectComplex(await face.ihfft2([[2, 0, 2, 0]], { norm: 'forward' }), [1, 3], [4, 0, 4]);
  });

  it('rfftfreq', () => {
    expect(face.rfftfreq(10, 1 / 100)).toEqual({
      data: Float64Array.of(0, 10, 20, 30, 40, 50),
      shape: [6],
      dtype: 'float64',
    });
    expect([...face.rfftfreq(5).data]).toEqual([0, 1, 2].map((k) => k * (1 / 5)));
    expect(face.rfftfreq(8, { d: 0.5 })).toEqual(face.rfftfreq(8, 0.5));
    expect([...face.rfftfreq(1).data]).toEqual([0]);
  });

  it('fftfreq', () => {
    expect(face.fftfreq(8, 0.1)).toEqual({
      data: Float64Array.of(0, 1.25, 2.5, 3.75, -5, -3.75, -2.5, -1.25),
      shape: [8],
      dtype: 'float64',
    });
    expect(face.fftfreq(8, { d: 0.1 })).toEqual(face.fftfreq(8, 0.1));
    expect([...face.fftfreq(5).data]).toEqual([0, 1, 2, -2, -1].map((k) => k * (1 / 5)));
  });

  it('fftshift', () => {
    expect([...face.fftshift(face.fftfreq(10, 0.1)).data]).toEqual([-5, -4, -3, -2, -1, 0, 1, 2, 3, 4]);
    const frequencies = { ...face.fftfreq(9, 1 / 9), shape: [3, 3] };
    const shifted = face.fftshift(frequencies, { axes: [1] });
    expect(shifted).toEqual(
      real([
        [2, 0, 1],
        [-4, 3, 4],
        [-1, -3, -2],
      ]),
    );
    for (const axes of [1, -1, [1], { axes: 1 }]) expect(face.fftshift(frequencies, axes)).toEqual(shifted);
    for (const axes of [null, { axes: null }])
      expect(face.fftshift(frequencies, axes)).toEqual(face.fftshift(frequencies));
  });

  it('shifts of an axis that is named twice', () => {
    expect([...face.fftshift([0, 1, 2, 3, 4], [0, 0]).data]).toEqual([1, 2, 3, 4, 0]);
    expect([...face.ifftshift([0, 1, 2, 3, 4], { axes: [-1, 0] }).data]).toEqual([4, 0, 1, 2, 3]);
  });

  it('ifftshift', () => {
    const frequencies = real([
      [0, 1, 2],
      [3, 4, -4],
      [-3, -2, -1],
    ]);
    expect(face.ifftshift(face.fftshift(frequencies))).toEqual(frequencies);
    expect(face.fftshift(frequencies)).toEqual(
      real([
        [-1, -3, -2],
        [2, 0, 1],
        [-4, 3, 4],
      ]),
    );
  });

  it('nextFastLength', () => {
    const isFast = (n: number) =>
      [2, 3, 5, 7, 11, 13].reduce((rest, p) => {
        while (rest % p === 0) rest /= p;
        return rest;
      }, n) === 1;
    for (let target = 1; target < 3000; target++) {
      let expected = target;
      while (!isFast(expected)) expected++;
      expect(face.nextFastLength(target)).toBe(expected);
    }
    // scipy.fft.next_fast_len(93059, real=True) is 93312 = 2^7·3^6; with 7, 11 and 13 a nearer one can be had.
    expect(face.nextFastLength(93059)).toBe(2 * 5 * 7 * 11 ** 3);
    expect(face.nextFastLength(2 ** 52 - 1)).toBeLessThanOrEqual(2 ** 52);
  });

  it('prevFastLength, also of real data', () => {
    for (let target = 1; target < 1000; target++) {
      let expected = target;
      while (face.nextFastLength(expected) !== expected) expected--;
      expect(face.prevFastLength(target)).toBe(expected);
      if (target > 1) expected = target - (target % 2);
      while (expected > 1 && face.nextFastLength(expected, { real: true }) !== expected) expected -= 2;
      expect(face.prevFastLength(target, { real: true })).toBe(expected);
    }
    expect(face.prevFastLength(2 ** 53 - 1)).toBeGreaterThan(2 ** 52);
  });

  it('nextFastLength of real data', () => {
    expect(face.nextFastLength(1, { real: true })).toBe(1);
    for (let target = 2; target < 2000; target++) {
      // An even length is as smooth as its half.
      let expected = target + (target % 2);
      while (face.nextFastLength(expected) !== expected) expected += 2;
      expect(face.nextFastLength(target, { real: true })).toBe(expected);
      expect(face.nextFastLength(target, { real: false })).toBe(face.nextFastLength(target));
    }
    expect(face.nextFastLength(2 ** 52 - 1, { real: true })).toBeLessThanOrEqual(2 ** 52);
  });

  it('lengths of any primes, and 1', async () => {
    for (const n of [1, 17, 101, 1009, 2 * 4099]) {
      const x = Float64Array.from({ length: n }, (_, k) => Math.cos(k * k));
      const { data, shape } = await face.fft(x);
      expect(shape).toEqual([n]);
      expect(data[0]).toBeCloseTo(
        x.reduce((a, b) => a + b),
        9,
      );
      const back = await face.ifft({ data, shape, dtype: 'complex128' });
      x.forEach((value, k) => {
        expect(back.data[2 * k]).toBeCloseTo(value, 10);
      });
    }
    // Filled with zeros to a prime, and cropped to 1.
    expect((await face.fft(Float32Array.of(1, 2), { n: 19 })).shape).toEqual([19]);
    expectComplex(await face.fft(Float64Array.of(5, 2), { n: 1 }), [1], [5]);
    expect((await face.fftn(mgrid([17, 1, 23]))).data[0]).toBeCloseTo(23 * 136, 9);
  });

  it('.npy files go in and come out', async () => {
    const spectrum = await face.fft(
      face.readNpy(
        face.writeNpy(
          real([
            [1, 2],
            [3, 4],
          ]),
        ),
      ),
    );
    expect(face.readNpy(face.writeNpy(spectrum))).toEqual(spectrum);
  });
});
