import { describe, expect, it, vi } from 'vitest';
import { asPairs, convolution, spectrum } from '../../../test/reference/signal.ts';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { type DeviceMemory, openDevice } from '../../index.ts';
import type { NumpyArray } from '../../numpy/index.ts';
import { correlate, correlationLags, fftconvolve, hilbert, oaconvolve } from '../index.ts';
import { blockLength } from './convolve.ts';

const random = randomFor('src/signal/convolve');

function signal(n: number, dtype: NumpyArray['dtype'] = 'float64'): NumpyArray {
  const single = dtype === 'float32' || dtype === 'complex64';
  const values = uniform(random, dtype.startsWith('complex') ? 2 * n : n, single ? 'single' : 'double');
  return { data: single ? Float32Array.from(values) : values, shape: [n], dtype };
}

const pairs = ({ data, dtype }: NumpyArray) => (dtype.startsWith('complex') ? data : asPairs(data));

describe.each([
  ['fftconvolve', fftconvolve],
  ['oaconvolve', oaconvolve],
] as const)('%s', (_name, convolve) => {
  it.each([
    ['float64', 'float64', 'float64'],
    ['float32', 'float32', 'float32'],
    ['float32', 'float64', 'float64'],
    ['complex64', 'float32', 'complex64'],
    ['float64', 'complex64', 'complex128'],
    ['complex128', 'complex128', 'complex128'],
  ] as const)('of %s and %s is the sum of products, in %s', async (first, second, dtype) => {
    for (const [n, m] of [
      [1, 1],
      [1000, 7],
      [5, 641],
      [random.integer(1, 300), random.integer(1, 300)],
    ] as const) {
      const [x, y] = [signal(n, first), signal(m, second)];
      const found = await convolve(x, y);
      expect(found).toMatchObject({ dtype, shape: [n + m - 1] });
      const most = dtype === 'float32' || dtype === 'complex64' ? 2e-6 : 1e-14;
      expect(relativeError(pairs(found as NumpyArray), convolution(pairs(x), pairs(y))), `${n}, ${m}`).toBeLessThan(
        most,
      );
    }
  });

  it('gives parts of it by mode', async () => {
    const [x, y] = [signal(20), signal(7)];
    const full = (await convolve(x, y)).data;
    const near = async (mode: 'same' | 'valid', a: NumpyArray, b: NumpyArray, from: number, to: number) =>
      expect(relativeError((await convolve(a, b, { mode })).data, full.subarray(from, to))).toBeLessThan(1e-14);
    await near('same', x, y, 3, 23);
    await near('same', y, x, 9, 16);
    await near('valid', x, y, 6, 20);
    await near('valid', y, x, 6, 20);
  });

  it('takes all axes, and those of one element', async () => {
    const x = { ...signal(24), shape: [4, 1, 6] };
    const y = { ...signal(6), shape: [2, 3, 1] };
    const found = await convolve(x, y);
    expect(found.shape).toEqual([5, 3, 6]);
    const wanted = new Float64Array(90);
    for (let a = 0; a < 4; a++)
      for (let c = 0; c < 6; c++)
        for (let d = 0; d < 2; d++)
          for (let e = 0; e < 3; e++) wanted[((a + d) * 3 + e) * 6 + c]! += x.data[a * 6 + c]! * y.data[d * 3 + e]!;
    expect(relativeError(found.data, wanted)).toBeLessThan(1e-14);
  });

  it.each(['fftconvolve', 'oaconvolve', 'correlate'] as const)(
    'over some axes is that of each slice with its own of the other array: %s',
    async (name) => {
      const by = { fftconvolve, oaconvolve, correlate }[name];
      for (const [n, m] of [
        [60, 7],
        [5, 9],
      ] as const) {
        const x = { ...signal(6 * n), shape: [3, n, 2] };
        const y = { ...signal(6 * m), shape: [3, m, 2] };
        const slice = (of: NumpyArray, a: number, c: number) =>
          of.data.filter((_, k) => Math.floor(k / (2 * of.shape[1]!)) === a && k % 2 === c) as Float64Array;
        for (const [left, right] of [
          [x, y],
          [{ ...x, data: x.data.slice(0, 2 * n), shape: [1, n, 2] }, y],
        ] as [NumpyArray, NumpyArray][]) {
          const found = await by(left, right, { axes: 1 });
          expect(found.shape).toEqual([3, n + m - 1, 2]);
          for (const a of [0, 1, 2])
            for (const c of [0, 1]) {
              const wanted = await by(slice(left, left.shape[0] === 1 ? 0 : a, c), slice(right, a, c));
              expect(relativeError(slice(found, a, c), wanted.data)).toBeLessThan(1e-14);
            }
        }
      }
    },
  );

  it('refuses what has no convolution', async () => {
    const x = new Float64Array(6);
    const plane = { data: x, shape: [2, 3], dtype: 'float64' } as const;
    const other = { data: x, shape: [3, 2], dtype: 'float64' } as const;
    const refusals: [() => Promise<unknown>, string, string?][] = [
      [() => convolve(x, plane), 'invalid-argument', 'y'],
      [() => convolve(plane, other, { mode: 'valid' }), 'invalid-argument', 'mode'],
      [() => convolve(x, x, { mode: 'fulll' as never }), 'invalid-argument', 'mode'],
      [() => convolve(x, x, { method: 'direct' } as never), 'unknown-field'],
      [() => convolve(x, new Float64Array(0)), 'invalid-size'],
      [() => convolve(x, x, { device: {} as never }), 'invalid-argument', 'device'],
      [() => convolve('x' as never, x), 'wrong-array-type'],
    ];
    for (const [call, code, path] of refusals) {
      await expect(call()).rejects.toMatchObject(path === undefined ? { code } : { code, problems: [{ path }] });
    }
  });
});

describe('calls of one shape', () => {
  it('keep their memory, and nothing of what was in it', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    // The period of all: what the long ones leave is beyond the ends of the short ones.
    const lengths = [
      [30, 35],
      [5, 58],
      [60, 2],
    ] as const;
    const wild = (n: number): NumpyArray => ({
      data: Float64Array.from({ length: n }, (_, k) => (k % 2 ? 1e300 : Number.NaN)),
      shape: [n],
      dtype: 'float64',
    });
    const alloc = vi.spyOn(device, 'alloc');
    const isLive = (memory: DeviceMemory) => {
      try {
        return memory.bytes > 0 && memory.array.length > 0;
      } catch {
        return false;
      }
    };
    for (const together of [1, 1, 3, 3]) {
      for (const [n, m] of lengths) {
        await fftconvolve(wild(n), wild(m), { device });
        const calls = Array.from({ length: together }, () => [signal(n), signal(m)] as const);
        const found = await Promise.all(calls.map(([x, y]) => fftconvolve(x, y, { device })));
        for (const [k, [x, y]] of calls.entries()) {
          expect(relativeError(pairs(found[k]!), convolution(pairs(x), pairs(y)))).toBeLessThan(1e-14);
        }
      }
      const made = alloc.mock.results.map(({ value }) => value as DeviceMemory);
      expect(made.filter(isLive)).toHaveLength(2);
      if (together === 1) expect(made).toHaveLength(2);
    }
    device.close();
  });
});

describe('oaconvolve', () => {
  it('cuts a signal into blocks where it is much longer than the other', async () => {
    expect(blockLength(100_000, 50)).toBeLessThan(2000);
    expect(blockLength(1000, 900)).toBe(1000);
    expect(blockLength(1, 1)).toBe(1);
    const [x, y] = [signal(100_003), signal(50)];
    const [whole, blocks] = [await fftconvolve(x, y), await oaconvolve(x, y)];
    expect(relativeError(blocks.data, whole.data)).toBeLessThan(1e-14);
  });

  it('says that a device is closed', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const x = new Float32Array([1, 2, 3]);
    await oaconvolve(x, x, { device });
    device.close();
    await expect(oaconvolve(x, x, { device })).rejects.toMatchObject({ code: 'device-closed' });
  });
});

describe('correlate', () => {
  it.each(['full', 'same', 'valid'] as const)(
    'is largest at the lag of a signal that comes later (%s)',
    async (mode) => {
      for (const [n, m] of [
        [60, 33],
        [61, 33],
        [61, 32],
        [60, 32],
      ] as const) {
        const y = signal(m, 'complex128');
        const x = { ...y, data: new Float64Array(2 * n), shape: [n] };
        x.data.set(y.data, 2 * 11);
        const { data } = await correlate(x, y, { mode });
        const sizes = Array.from({ length: data.length / 2 }, (_, k) => Math.hypot(data[2 * k]!, data[2 * k + 1]!));
        expect(correlationLags(n, m, mode)[sizes.indexOf(Math.max(...sizes))]).toBe(11);
      }
    },
  );
});

describe('hilbert', () => {
  it.each([1, 2, 3, 8, 60, 97])(
    'leaves no negative frequencies in %i samples, and the signal as the real part',
    async (n) => {
      for (const dtype of ['float32', 'float64'] as const) {
        const x = signal(n, dtype);
        const { data, dtype: made } = await hilbert(x);
        expect(made).toBe(dtype === 'float32' ? 'complex64' : 'complex128');
        const most = dtype === 'float32' ? 1e-6 : 1e-14;
        expect(
          relativeError(
            data.filter((_, k) => k % 2 === 0),
            x.data,
          ),
        ).toBeLessThan(most);
        const bins = spectrum(data);
        const negative = bins.subarray(2 * (Math.floor(n / 2) + 1));
        expect(Math.max(0, ...negative.map(Math.abs))).toBeLessThan(most * 100);
      }
    },
  );

  it('cuts and fills up lines along any axis', async () => {
    const { data } = await hilbert(
      { data: new Float64Array([1, 5, 0, 6, -1, 7, 0, 8]), shape: [4, 2], dtype: 'float64' },
      { axis: 0 },
    );
    // A cosine becomes e^(iωt).
    const wanted = [1, 0, 0, 1, -1, 0, 0, -1];
    wanted.forEach((value, k) => expect(data[4 * Math.floor(k / 2) + (k % 2)]).toBeCloseTo(value, 14));
    expect((await hilbert(new Float32Array(5), { n: 3 })).shape).toEqual([3]);
    expect((await hilbert(new Float32Array(5), { n: 9 })).shape).toEqual([9]);
  });

  it('refuses complex signals and lengths that are none', async () => {
    const x = { data: new Float64Array(4), shape: [2], dtype: 'complex128' } as const;
    await expect(hilbert(x)).rejects.toMatchObject({ code: 'wrong-array-type' });
    await expect(hilbert(new Float64Array(4), { n: 0 })).rejects.toMatchObject({ code: 'invalid-size' });
    await expect(hilbert(new Float64Array(4), { N: 3 } as never)).rejects.toMatchObject({ code: 'unknown-field' });
  });
});
