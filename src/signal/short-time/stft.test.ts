import { describe, expect, it } from 'vitest';
import { asPairs, spectrum } from '../../../test/reference/signal.ts';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openDevice } from '../../index.ts';
import type { NumpyArray } from '../../numpy/index.ts';
import { coherence, csd, istft, stft, welch, windowFunction } from '../index.ts';

const random = randomFor('src/signal/stft');

function signal(n: number, dtype: NumpyArray['dtype'] = 'float64'): NumpyArray {
  const single = dtype === 'float32' || dtype === 'complex64';
  const values = uniform(random, dtype.startsWith('complex') ? 2 * n : n, single ? 'single' : 'double');
  return { data: single ? Float32Array.from(values) : values, shape: [n], dtype };
}

/** Bins of one frame of a transform of one line. */
function frameOf({ data, shape }: NumpyArray, frame: number): Float64Array {
  const [bins, frames] = shape as [number, number];
  return Float64Array.from({ length: 2 * bins }, (_, k) => data[2 * ((k >> 1) * frames + frame) + (k % 2)]!);
}

describe('stft', () => {
  it.each([
    ['hann', 32, 24, 32],
    ['boxcar', 32, 24, 32],
    ['boxcar', 31, 0, 31],
    ['kaiser', 31, 5, 40],
  ] as const)(
    'is the transform of each frame times %s (%i samples, %i shared, %i points)',
    async (window, nperseg, noverlap, nfft) => {
      const windowOptions = window === 'kaiser' ? { beta: 4 } : {};
      const taper = windowFunction(window as 'kaiser', nperseg, windowOptions as { beta: number });
      const gain = taper.reduce((a, b) => a + b);
      for (const dtype of ['float32', 'float64', 'complex64', 'complex128'] as const) {
        const x = signal(200, dtype);
        const complex = dtype.startsWith('complex');
        const options = { window, windowOptions, nperseg, noverlap, nfft, boundary: null, padded: false, fs: 100 };
        const { f, t, zxx } = await stft(x, options);
        const frames = 1 + Math.floor((200 - nperseg) / (nperseg - noverlap));
        expect(zxx.shape).toEqual([complex ? nfft : Math.floor(nfft / 2) + 1, frames]);
        expect([f.length, t.length]).toEqual(zxx.shape);
        expect([f[1], t[0]]).toEqual([100 / nfft, nperseg / 200]);
        const pairs = complex ? x.data : asPairs(x.data);
        for (let frame = 0; frame < frames; frame++) {
          const start = 2 * frame * (nperseg - noverlap);
          const samples = Float64Array.from(
            { length: 2 * nperseg },
            (_, k) => (pairs[start + k]! * taper[k >> 1]!) / gain,
          );
          const wanted = spectrum(samples, nfft).subarray(0, 2 * f.length);
          const single = dtype === 'float32' || dtype === 'complex64';
          expect(relativeError(frameOf(zxx, frame), wanted)).toBeLessThan(single ? 2e-6 : 1e-13);
        }
      }
    },
  );

  it('gives the same in several blocks, of which the last one overlaps another', async () => {
    const x = signal(30_000, 'float32');
    const options = { nperseg: 4096, noverlap: 4096 - 37, boundary: null, padded: false };
    for (const window of ['hann', 'boxcar'] as const) {
      const whole = await stft(x, { ...options, window });
      const frames = whole.t.length;
      expect(frames).toBeGreaterThan(512);
      for (const frame of [0, 255, 256, 350, 351, 500, frames - 1]) {
        const data = x.data.subarray(frame * 37, frame * 37 + 4096) as Float32Array;
        const { zxx } = await stft(data, { ...options, window });
        expect(relativeError(frameOf(whole.zxx, frame), frameOf(zxx, 0))).toBeLessThan(1e-6);
      }
    }
  });

  it('is undone by istft, for windows that allow it, real and complex, on several lines', async () => {
    const cases = [
      ['hann', 64, 48],
      ['hamming', 33, 1],
      ['boxcar', 17, 0],
      ['boxcar', 1, 0],
      ['blackman', 50, 30],
      ['gaussian', 30, 15],
    ] as const;
    for (const [window, nperseg, noverlap] of cases) {
      for (const dtype of ['float32', 'float64', 'complex64', 'complex128'] as const) {
        const x = { ...signal(3 * 211, dtype), shape: [3, 211] };
        const windowOptions = window === 'gaussian' ? { std: 6 } : {};
        const scaling = random.pick(['spectrum', 'psd'] as const);
        const options = { window, windowOptions, nperseg, noverlap, scaling, fs: 8000 };
        const { zxx } = await stft(x, options);
        const back = await istft(zxx, { ...options, nfft: nperseg, inputOnesided: !dtype.startsWith('complex') });
        expect(back.x.dtype).toBe(dtype);
        const [lines, length] = back.x.shape as [number, number];
        expect(lines).toBe(3);
        expect(length).toBeGreaterThanOrEqual(211);
        const parts = x.data.length / (3 * 211);
        const cut = Array.from({ length: 3 }, (_, l) => [
          ...back.x.data.subarray(l * length * parts, (l * length + 211) * parts),
        ]);
        const single = dtype === 'float32' || dtype === 'complex64';
        expect(relativeError(Float64Array.from(cut.flat()), x.data), window).toBeLessThan(single ? 2e-6 : 1e-14);
        expect(back.t[1]).toBe(1 / 8000);
      }
    }
  });

  it('is undone along other axes', async () => {
    const x = { ...signal(2 * 100 * 3), shape: [2, 100, 3] };
    const options = { nperseg: 20, noverlap: 15 };
    const { zxx } = await stft(x, { ...options, axis: 1 });
    expect(zxx.shape).toEqual([2, 11, 3, 21]);
    const { x: back } = await istft(zxx, { ...options, freqAxis: 1, timeAxis: -1 });
    expect(back.shape).toEqual([2, 3, 100]);
    for (let k = 0; k < 600; k++) {
      const [a, t, c] = [Math.floor(k / 300), Math.floor(k / 3) % 100, k % 3];
      expect(back.data[(a * 3 + c) * 100 + t]).toBeCloseTo(x.data[k]!, 13);
    }
  });

  it('refuses options that are out of range', async () => {
    const x = new Float64Array(100).fill(1);
    const refusals: [object, string][] = [
      [{ nperseg: 101 }, 'nperseg'],
      [{ nperseg: 0 }, 'nperseg'],
      [{ nperseg: 10, noverlap: 10 }, 'noverlap'],
      [{ nperseg: 10, noverlap: -1 }, 'noverlap'],
      [{ nperseg: 10, nfft: 9 }, 'nfft'],
      [{ fs: 0 }, 'fs'],
      [{ boundary: 'mirror' }, 'boundary'],
      [{ padded: 1 }, 'padded'],
      [{ detrend: true }, 'detrend'],
      [{ scaling: 'density' }, 'scaling'],
      [{ window: 'han' }, 'window'],
      [{ window: new Float64Array(10), nperseg: 11 }, 'nperseg'],
      [{ window: new Float64Array(10) }, 'window'],
      [{ window: new Float64Array(10).fill(1), windowOptions: {} }, 'windowOptions'],
      [{ window: Float64Array.of(1, -1) }, 'window'],
      [{ axis: 1 }, 'axis'],
      [{ device: 'cpu' }, 'device'],
      [{ returnOnesided: null }, 'returnOnesided'],
    ];
    for (const [options, path] of refusals) {
      await expect(stft(x, options), path).rejects.toMatchObject({ code: 'invalid-argument', problems: [{ path }] });
    }
    await expect(stft(x, { hop: 3 } as never)).rejects.toMatchObject({ code: 'unknown-field' });
    await expect(stft(new Float64Array(0))).rejects.toMatchObject({ code: 'invalid-size' });
    const short = stft(new Float64Array(1), { boundary: 'odd', window: new Float64Array(2).fill(1), nperseg: 2 });
    await expect(short).rejects.toMatchObject({ code: 'invalid-argument' });
    const gone = new Float64Array(300);
    structuredClone(gone, { transfer: [gone.buffer] });
    await expect(stft(gone)).rejects.toMatchObject({ code: 'detached-array' });
  });
});

describe('istft', () => {
  it('refuses windows that leave samples out, and what is no transform', async () => {
    const { zxx } = await stft(new Float64Array(200), { nperseg: 20 });
    const refusals: [object, string, string][] = [
      [{ noverlap: 0 }, 'invalid-argument', 'window'],
      [{ boundary: 'zeros' }, 'invalid-argument', 'boundary'],
      [{ boundary: false, noverlap: 0 }, 'invalid-argument', 'window'],
      [{ length: 0 }, 'invalid-size', 'length'],
      [{ nfft: 25, nperseg: 20 }, 'wrong-length', 'zxx'],
      [{ nfft: 20, nperseg: 21 }, 'invalid-argument', 'nfft'],
      [{ timeAxis: 0, freqAxis: -2 }, 'invalid-argument', 'timeAxis'],
      [{ timeAxis: 2 }, 'invalid-argument', 'timeAxis'],
      [{ inputOnesided: 1 }, 'invalid-argument', 'inputOnesided'],
    ];
    for (const [options, code, path] of refusals) {
      await expect(istft(zxx, options)).rejects.toMatchObject({ code, problems: [{ path }] });
    }
    await expect(istft(new Float64Array(8) as never)).rejects.toMatchObject({ code: 'wrong-array-type' });
    await expect(istft(zxx, { axis: 1 } as never)).rejects.toMatchObject({ code: 'unknown-field' });
    // Ones at half overlap, or none at all, leave nothing out.
    const { undetermined } = await istft(zxx, { window: 'boxcar', noverlap: 0, boundary: false });
    expect(undetermined).toEqual([]);
  });

  it('without a boundary gives what the window allows, and names the rest, which is 0', async () => {
    // Zeros at both ends of a frame: of hann one, of values of one's own as many as one likes.
    const edged = Float64Array.from({ length: 20 }, (_, k) => (k < 3 || k > 17 ? 0 : 1));
    for (const [window, before, behind] of [
      ['hann', 1, 0],
      [edged, 3, 2],
    ] as const) {
      const x = signal(200, 'float64');
      const options = { window, nperseg: 20, noverlap: 14 };
      const { zxx } = await stft(x, { ...options, boundary: null });
      for (const boundary of [false, null]) {
        const { x: back, undetermined } = await istft(zxx, { ...options, boundary });
        const [length] = back.shape as [number];
        const ranges = [
          [0, before],
          [length - behind, length],
        ];
        expect(undetermined).toEqual(ranges.filter(([from, to]) => from! < to!));
        for (const [from, to] of undetermined) expect(back.data.slice(from, to)).toEqual(new Float64Array(to - from));
        const known = back.data.slice(before, Math.min(200, length - behind));
        known.forEach((value, k) => expect(value).toBeCloseTo(x.data[before + k]!, 12));
      }
    }
  });

  it('has the length that is asked for: cut, or filled up with zeros that are named', async () => {
    const x = signal(101, 'complex64');
    const options = { nperseg: 16, window: 'hamming' } as const;
    const { zxx } = await stft(x, options);
    const all = await istft(zxx, { ...options, inputOnesided: false });
    const [reached] = all.x.shape as [number];
    for (const length of [1, 101, reached, reached + 7]) {
      const { t, x: back, undetermined } = await istft(zxx, { ...options, inputOnesided: false, length });
      expect([back.shape, t.length, back.data.length]).toEqual([[length], length, 2 * length]);
      const kept = 2 * Math.min(length, reached);
      expect(back.data.slice(0, kept)).toEqual(all.x.data.slice(0, kept));
      expect(back.data.slice(kept).every((value) => value === 0)).toBe(true);
      expect(undetermined).toEqual(length > reached ? [[reached, length]] : []);
    }
  });
});

describe('welch, csd and coherence', () => {
  it('has the whole power of a signal, on one side or two', async () => {
    for (const dtype of ['float64', 'complex128'] as const) {
      const x = signal(64, dtype);
      const options = { window: 'boxcar', nperseg: 64, detrend: false, fs: 8, scaling: 'density' } as const;
      const power = Float64Array.from(x.data).reduce((sum, value) => sum + value * value, 0) / 64;
      for (const returnOnesided of [true, false]) {
        const { f, pxx } = await welch(x, { ...options, returnOnesided });
        expect(pxx.data.reduce((a, b) => a + b) * (8 / 64)).toBeCloseTo(power, 12);
        expect(f.length).toBe(returnOnesided && dtype === 'float64' ? 33 : 64);
      }
    }
  });

  it('finds how a signal follows another, and how well', async () => {
    const x = signal(4096);
    const y = { ...x, data: x.data.map((value) => -3 * value) };
    const { pxx } = await welch(x);
    const { pxy } = await csd(x, y);
    expect(relativeError(pxy.data, asPairs(pxx.data.map((value) => -3 * value)))).toBeLessThan(1e-13);
    const { cxy } = await coherence(x, y);
    for (const value of cxy.data) expect(value).toBeCloseTo(1, 10);
    const noise = (await coherence(x, signal(4096))).cxy.data;
    expect(noise.reduce((a, b) => a + b) / noise.length).toBeLessThan(0.2);
  });

  it('gives the same in several blocks', async () => {
    const [x, y] = [signal(30_000, 'float32'), signal(30_000, 'float32')];
    const options = { nperseg: 4096, noverlap: 4096 - 37 };
    const { pxy } = await csd(x, y, options);
    const one = { ...options, boundary: null, padded: false, detrend: 'constant', scaling: 'psd' } as const;
    const [a, b] = [(await stft(x, one)).zxx, (await stft(y, one)).zxx];
    const [bins, frames] = a.shape as [number, number];
    for (const bin of [1, 77, bins - 2]) {
      let [re, im] = [0, 0];
      for (let k = 2 * bin * frames; k < 2 * (bin + 1) * frames; k += 2) {
        re += a.data[k]! * b.data[k]! + a.data[k + 1]! * b.data[k + 1]!;
        im += a.data[k]! * b.data[k + 1]! - a.data[k + 1]! * b.data[k]!;
      }
      const wanted = Float64Array.of((2 * re) / frames, (2 * im) / frames);
      expect(relativeError(pxy.data.subarray(2 * bin, 2 * bin + 2), wanted)).toBeLessThan(1e-4);
    }
  });

  it('refuses signals that do not fit together, and words that there are not', async () => {
    const x = new Float64Array(300);
    await expect(csd(x, new Float64Array(299))).rejects.toMatchObject({
      code: 'wrong-length',
      problems: [{ path: 'y' }],
    });
    await expect(coherence(x, x, { average: 'mean' } as never)).rejects.toMatchObject({ code: 'unknown-field' });
    for (const [options, path] of [
      [{ average: 'mode' }, 'average'],
      [{ scaling: 'psd' }, 'scaling'],
    ] as const) {
      await expect(welch(x, options as never)).rejects.toMatchObject({
        code: 'invalid-argument',
        problems: [{ path }],
      });
    }
    const device = await openDevice('cpu', { threads: 1 });
    await welch(x, { device });
    device.close();
    await expect(welch(x, { device })).rejects.toMatchObject({ code: 'device-closed' });
  });
});
