/** Chirp z-transforms against direct sums in 256-bit fixed point, and against laws. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixed, inversePoints, sumsAt, turn } from '../../../test/reference/chirp-z.ts';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { type Device, openDevice } from '../../index.ts';
import { fft } from '../../numpy/index.ts';
import { czt, cztPoints, planCzt, planZoomFft, zoomFft } from '../index.ts';

const random = randomFor('src/signal/czt');
let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 2 });
});
afterAll(() => device.close());

type Pair = readonly [re: number, im: number];

/** A complex array of random numbers. */
function complex(shape: readonly number[], precision: 'single' | 'double' = 'double') {
  const count = 2 * shape.reduce((a, b) => a * b, 1);
  const values = uniform(random, count, precision);
  return precision === 'single'
    ? ({ data: Float32Array.from(values), shape, dtype: 'complex64' } as const)
    : ({ data: values, shape, dtype: 'complex128' } as const);
}

/** What Bluestein's algorithm may lose, of as many points as the circle has. */
const allowed = (precision: 'single' | 'double', n: number, m: number) => tolerance(precision, 2 * (n + m), 5);

/**
 * Relative to what so many sums are like: a few may cancel out and come out smaller, but not their rounding errors.
 * @param x the points, complex or real, that were summed
 */
function errorOf(found: ArrayLike<number>, wanted: Float64Array, x: ArrayLike<number>): number {
  const norm = (values: ArrayLike<number>) => Math.hypot(...Array.from(values));
  const usual = Math.sqrt(wanted.length / 2) * norm(x);
  return relativeError(found, wanted) * Math.min(1, norm(wanted) / usual);
}

describe('czt', () => {
  it.each([
    [1, 1],
    [1, 5],
    [5, 1],
    [2, 2],
    [17, 17],
    [97, 30],
    [30, 97],
    [128, 128],
  ])('%i points in, %i out, around the circle', async (n, m) => {
    for (const precision of ['single', 'double'] as const) {
      const x = complex([n], precision);
      const { data, shape, dtype } = await czt(x, { m, device });
      expect({ shape, dtype }).toEqual({ shape: [m], dtype: x.dtype });
      const points = Array.from({ length: m }, (_, k) => turn(BigInt(-k), BigInt(m)));
      expect(errorOf(data, sumsAt(x.data, points), x.data)).toBeLessThan(allowed(precision, n, m));
    }
  });

  it('without options is the transform', async () => {
    for (const x of [complex([101]), Float32Array.from(uniform(random, 64, 'single'))]) {
      const [found, wanted] = [await czt(x), await fft(x)];
      expect({ shape: found.shape, dtype: found.dtype }).toEqual({ shape: wanted.shape, dtype: wanted.dtype });
      const precision = wanted.dtype === 'complex64' ? 'single' : 'double';
      expect(relativeError(found.data, wanted.data)).toBeLessThan(2 * allowed(precision, 101, 101));
    }
  });

  it.each([
    ['an arc', { w: [Math.cos(0.01), -Math.sin(0.01)], a: [Math.cos(1), Math.sin(1)] }],
    ['a turn the other way', { w: [Math.cos(2), Math.sin(2)], a: [0, -1] }],
    ['a spiral inwards', { w: [1.002 * Math.cos(0.1), -1.002 * Math.sin(0.1)], a: [0.98, 0.1] }],
    ['a spiral outwards', { w: [0.998 * Math.cos(0.1), -0.998 * Math.sin(0.1)], a: [1.01, 0] }],
    ['the real axis', { w: [-1.001, 0], a: [-1.02, 0] }],
  ] as const satisfies readonly (readonly [string, { w: Pair; a: Pair }])[])('%s', async (_, { w, a }) => {
    const [n, m] = [60, 50];
    for (const precision of ['single', 'double'] as const) {
      const x = complex([n], precision);
      const [wNumber, aNumber] = [w, a].map(([re, im]) => (im === 0 ? re : { re, im }));
      const { data } = await czt(x, { m, device, w: wNumber, a: aNumber });
      const points = inversePoints(m, fixed(w[0], w[1]), fixed(a[0], a[1]));
      const expected = sumsAt(x.data, points);
      // Factors away from 1 make the sums of the convolution larger than what comes out.
      const spread = Math.hypot(...w) === 1 ? 1 : Math.max(...[60, 50].map((k) => Math.hypot(...w) ** (k ** 2 / 2)));
      expect(relativeError(data, expected)).toBeLessThan(allowed(precision, n, m) * Math.max(spread, 1 / spread) * 4);
    }
  });

  it('takes every axis, real and complex arrays, and more lines than run at once', async () => {
    const shape = [3, 7, 4];
    for (const axis of [0, 1, 2, -1, -3]) {
      const along = (axis + 3) % 3;
      const n = shape[along]!;
      const real = { data: uniform(random, 84), shape, dtype: 'float64' } as const;
      for (const x of [real, complex(shape), complex(shape, 'single')]) {
        const precision = x.dtype === 'complex64' ? 'single' : 'double';
        const plan = await planCzt({ n, m: 5, batches: 5, device, precision });
        const results = [await czt(x, { axis, m: 5, device }), await plan.transform(x, { axis })];
        plan.destroy();
        for (const { data, shape: found } of results) {
          expect(found).toEqual(shape.map((length, k) => (k === along ? 5 : length)));
          const inner = shape.slice(along + 1).reduce((p, q) => p * q, 1);
          for (let line = 0; line < 84 / n; line++) {
            const start = (length: number) => Math.floor(line / inner) * length * inner + (line % inner);
            const at = (k: number) => (x.dtype === 'float64' ? [x.data[k]!, 0] : [x.data[2 * k]!, x.data[2 * k + 1]!]);
            const read = Array.from({ length: n }, (_, j) => at(start(n) + j * inner)).flat();
            const points = Array.from({ length: 5 }, (_, k) => turn(BigInt(-k), 5n));
            const found = Array.from({ length: 5 }, (_, k) => start(5) + k * inner);
            const values = found.flatMap((k) => [data[2 * k]!, data[2 * k + 1]!]);
            expect(errorOf(values, sumsAt(read, points), Float64Array.from(read))).toBeLessThan(
              2 * allowed(precision, n, 5),
            );
          }
        }
      }
    }
  });

  it('of an array without lines is empty, and the input stays as it is', async () => {
    expect(await czt({ data: new Float32Array(0), shape: [0, 4], dtype: 'float32' }, { m: 3, device })).toEqual({
      data: new Float32Array(0),
      shape: [0, 3],
      dtype: 'complex64',
    });
    const x = complex([9]);
    const before = x.data.slice();
    await czt(x, { device });
    expect(x.data).toEqual(before);
  });

  it('keeps the lines of others from NaN', async () => {
    const data = new Float64Array(8).fill(1);
    data[1] = Number.NaN;
    const result = await czt({ data, shape: [2, 4], dtype: 'float64' }, { device });
    expect(result.data.subarray(0, 8).every(Number.isNaN)).toBe(true);
    expect(result.data[8]).toBeCloseTo(4, 12);
  });
});

describe('zoomFft', () => {
  it.each([
    [[0.25, 0.5], 2, false],
    [[0.25, 0.5], 2, true],
    [[-3, 12], 100, false],
    [[99, 101], 1000, true],
    [[-8, 8], 8, false],
  ] as const)('%j of %d samples a second, with its end: %s', async (fn, fs, endpoint) => {
    const [n, m] = [75, 40];
    const steps = BigInt(endpoint ? m - 1 : m);
    for (const precision of ['single', 'double'] as const) {
      const x = complex([n], precision);
      const { data } = await zoomFft(x, fn, { m, fs, endpoint, device });
      // In quarters, so that all is whole.
      const [from, to, rate] = [fn[0], fn[1], fs].map((value) => BigInt(4 * value)) as [bigint, bigint, bigint];
      const points = Array.from({ length: m }, (_, k) => turn(-(from * steps + BigInt(k) * (to - from)), rate * steps));
      expect(errorOf(data, sumsAt(x.data, points), x.data)).toBeLessThan(allowed(precision, n, m));
    }
  });

  it('of one number begins at 0; of one point is its first, also with the end', async () => {
    const x = complex([33]);
    expect(await zoomFft(x, 0.5, { device })).toEqual(await zoomFft(x, [0, 0.5], { device, m: 33, fs: 2 }));
    const sum = (await zoomFft(x, 0.5, { m: 1, endpoint: true, device })).data;
    const [re, im] = [0, 1].map((part) => [...x.data].filter((_, k) => k % 2 === part).reduce((a, b) => a + b, 0));
    expect(sum[0]).toBeCloseTo(re!, 12);
    expect(sum[1]).toBeCloseTo(im!, 12);
  });

  it('over the whole rate is the transform', async () => {
    const x = complex([64]);
    const whole = await zoomFft(x, [0, 44100], { fs: 44100, device });
    expect(relativeError(whole.data, (await fft(x)).data)).toBeLessThan(2 * allowed('double', 64, 64));
  });
});

describe('transforms that are kept', () => {
  it('give the same at every call, also where calls overlap', async () => {
    const plan = await planCzt({ n: 50, m: 20, precision: 'double', device });
    expect(plan).toMatchObject({ n: 50, m: 20, precision: 'double', batches: 1 });
    const inputs = Array.from({ length: 5 }, () => complex([50]));
    const alone = [];
    for (const x of inputs) alone.push(await plan.transform(x));
    expect(await Promise.all(inputs.map((x) => plan.transform(x)))).toEqual(alone);
    expect(alone[3]).toEqual(await czt(inputs[3]!, { m: 20, device }));
    expect(plan.points()).toEqual(cztPoints(20));
    plan.destroy();
  });

  it('finish the calls made before they are destroyed, and refuse later ones', async () => {
    const plan = await planZoomFft([0.1, 0.2], { n: 16, m: 8, device });
    const x = Float32Array.from(uniform(random, 16, 'single'));
    const [first, second] = [plan.transform(x), plan.transform(x)];
    plan.destroy();
    plan.destroy();
    expect((await first).data).toEqual((await second).data);
    await expect(plan.transform(x)).rejects.toMatchObject({ code: 'destroyed' });
  });

  it('in double precision take singles, too', async () => {
    const plan = await planCzt({ n: 8, precision: 'double', device });
    expect((await plan.transform(new Float32Array(8).fill(1))).dtype).toBe('complex128');
    const half = await planCzt({ n: 8, device });
    await expect(half.transform(new Float64Array(8))).rejects.toMatchObject({ code: 'wrong-array-type' });
    await expect(half.transform(new Float32Array(16))).rejects.toMatchObject({
      code: 'wrong-length',
      message: expect.stringMatching(/complex numbers need a shape/),
    });
    await expect(half.transform(new Float32Array(8), { axes: 1 } as never)).rejects.toMatchObject({
      code: 'unknown-field',
    });
    for (const one of [plan, half]) one.destroy();
  });

  it('end with their device', async () => {
    const mine = await openDevice('cpu', { threads: 1 });
    const plan = await planCzt({ n: 8, device: mine });
    const x = new Float32Array(8);
    await czt(x, { device: mine });
    mine.close();
    await expect(plan.transform(x)).rejects.toMatchObject({ code: 'destroyed' });
    await expect(czt(x, { device: mine })).rejects.toMatchObject({ code: 'device-closed' });
    await expect(planCzt({ n: 8, device: mine })).rejects.toMatchObject({ code: 'device-closed' });
  });
});

describe('cztPoints', () => {
  it('are a·w^−k', () => {
    const points = cztPoints(6, { a: 2 });
    expect(points).toMatchObject({ shape: [6], dtype: 'complex128' });
    for (let k = 0; k < 6; k++) {
      expect(points.data[2 * k]).toBeCloseTo(2 * Math.cos((2 * Math.PI * k) / 6), 14);
      expect(points.data[2 * k + 1]).toBeCloseTo(2 * Math.sin((2 * Math.PI * k) / 6), 14);
    }
    const spiral = cztPoints(3, { w: 0.5, a: { re: 0, im: 1 } });
    expect([...spiral.data].map((value) => value + 0)).toEqual([0, 1, 0, 2, 0, 4]);
  });
});

describe('what is refused, before anything is done', () => {
  const x = Float32Array.of(1, 2, 3, 4);
  const inf = Number.POSITIVE_INFINITY;
  it.each<[string, () => unknown, string, string]>([
    ['w of 0', () => czt(x, { w: 0 }), 'invalid-argument', 'w'],
    ['an endless w', () => czt(x, { w: { re: 1, im: inf } }), 'invalid-argument', 'w'],
    ['w that is none', () => czt(x, { w: '1' as never }), 'invalid-argument', 'w'],
    ['w without a part', () => czt(x, { w: { re: 1 } as never }), 'invalid-argument', 'w'],
    ['a of 0', () => czt(x, { a: { re: 0, im: -0 } }), 'invalid-argument', 'a'],
    ['a that is NaN', () => czt(x, { a: Number.NaN }), 'invalid-argument', 'a'],
    ['a list', () => cztPoints(4, { a: [1, 0] as never }), 'invalid-argument', 'a'],
    ['too wide a spiral', () => czt(new Float32Array(64), { w: 1.1 }), 'invalid-argument', 'w'],
    ['too small a spiral', () => planCzt({ n: 1000, a: 0.5, precision: 'double' }), 'invalid-argument', 'a'],
    ['no points', () => czt(x, { m: 0 }), 'invalid-size', 'm'],
    ['half a point', () => zoomFft(x, 1, { m: 1.5 }), 'invalid-size', 'm'],
    ['points that are no number', () => cztPoints('8' as never), 'invalid-size', 'm'],
    ['no input', () => czt(new Float64Array(0)), 'invalid-size', 'The length of axis 0'],
    ['a plan of nothing', () => planCzt({} as never), 'invalid-size', 'n'],
    ['batches', () => planCzt({ n: 4, batches: 0 }), 'invalid-batches', 'batches'],
    ['a precision', () => planCzt({ n: 4, precision: 'half' as never }), 'invalid-argument', 'precision'],
    ['a range that goes down', () => zoomFft(x, [0.5, 0.25]), 'invalid-argument', 'fn'],
    ['a range of nothing', () => zoomFft(x, 0), 'invalid-argument', 'fn'],
    ['a range without an end', () => zoomFft(x, [0] as never), 'invalid-argument', 'fn'],
    ['a range of texts', () => zoomFft(x, ['0', '1'] as never), 'invalid-argument', 'fn'],
    ['a range beyond the rate', () => zoomFft(x, [50, 60]), 'invalid-argument', 'fn'],
    ['no rate', () => zoomFft(x, 1, { fs: 0 }), 'invalid-argument', 'fs'],
    ['an end that is no answer', () => zoomFft(x, 1, { endpoint: 1 as never }), 'invalid-argument', 'endpoint'],
    ['an axis', () => czt(x, { axis: 1 }), 'invalid-argument', 'axis'],
    ['a device', () => czt(x, { device: {} as never }), 'invalid-argument', 'device'],
    ['another option', () => czt(x, { n: 8 } as never), 'unknown-field', 'czt.n'],
    ['an option of the other', () => planZoomFft(1, { n: 4, w: 1 } as never), 'unknown-field', 'planZoomFft.w'],
    ['no array', () => czt('abc' as never), 'wrong-array-type', ''],
    ['too many points', () => planCzt({ n: 2 ** 52, m: 2 ** 52 }), 'unsupported-length', 'm'],
  ])('%s', async (_, call, code, path) => {
    const error = await (async () => call())().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ name: 'FftError', code, problems: [{ code, path }] });
  });

  it('arrays that were transferred away, also while they wait', async () => {
    const plan = await planCzt({ n: 4, device });
    const [one, other] = [Float32Array.from(x), Float32Array.from(x)];
    const [first, second] = [plan.transform(one), plan.transform(other)];
    structuredClone(other, { transfer: [other.buffer] });
    expect((await first).data[0]).toBeCloseTo(10, 5);
    await expect(second).rejects.toMatchObject({ code: 'detached-array' });
    expect((await plan.transform(one)).data[0]).toBeCloseTo(10, 5);
    plan.destroy();
  });
});
