/** Signal functions on devices whose memory the host cannot see. */
import { describe, expect, it } from 'vitest';
import { sumsAt, turn } from '../../test/reference/chirp-z.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { exhaustive } from '../../test/support/transforms.ts';
import { noWebGpu, openWebGpu } from '../../test/support/webgpu.ts';
import type { Device } from '../index.ts';
import {
  coherence,
  correlate,
  czt,
  fftconvolve,
  hilbert,
  istft,
  oaconvolve,
  planCzt,
  StftStream,
  stft,
  welch,
  zoomFft,
} from './index.ts';
import { levelSpectrogram } from './short-time/level-spectrogram.ts';

const random = randomFor('src/signal/devices');
const both = ['single', 'double'] as const;

async function check(device: Device, precision: 'single' | 'double'): Promise<void> {
  const [lines, n, m] = [5, 61, 32];
  const values = uniform(random, 2 * lines * n, precision);
  const x =
    precision === 'single'
      ? ({ data: Float32Array.from(values), shape: [lines, n], dtype: 'complex64' } as const)
      : ({ data: values, shape: [lines, n], dtype: 'complex128' } as const);
  const plan = await planCzt({ n, m, precision, batches: 2, device });
  const around = (k: number) => turn(BigInt(-k), BigInt(m));
  // From an eighth of the rate to a quarter.
  const part = (k: number) => turn(BigInt(-m - k), BigInt(8 * m));
  for (const [found, pointAt] of [
    [await czt(x, { m, device }), around],
    [await plan.transform(x), around],
    [await zoomFft(x, [0.25, 0.5], { m, device }), part],
  ] as const) {
    const points = Array.from({ length: m }, (_, k) => pointAt(k));
    for (let line = 0; line < lines; line++) {
      const wanted = sumsAt(x.data.subarray(2 * n * line, 2 * n * (line + 1)), points);
      const result = found.data.subarray(2 * m * line, 2 * m * (line + 1));
      expect(relativeError(result, wanted)).toBeLessThan(tolerance(precision, 128, 5));
    }
  }
  plan.destroy();
}

/** The other functions give what they give on the CPU. */
async function checkOthers(device: Device, precision: 'single' | 'double'): Promise<void> {
  const values = (n: number) => {
    const made = uniform(random, n, precision);
    return precision === 'single' ? Float32Array.from(made) : made;
  };
  const [x, y] = [values(3000), values(70)];
  const frames = { nperseg: 100, noverlap: 80 };
  const pairs = {
    data: values(2 * 400),
    shape: [400],
    dtype: precision === 'single' ? 'complex64' : 'complex128',
  } as const;
  const functions: readonly ((chosen: { device?: Device }) => Promise<ArrayLike<number>>)[] = [
    async (chosen) => (await stft(x, { ...frames, ...chosen })).zxx.data,
    async (chosen) => (await stft(x, { ...frames, window: 'boxcar', boundary: null, ...chosen })).zxx.data,
    async (chosen) => (await stft(pairs as never, { ...frames, window: 'boxcar', ...chosen })).zxx.data,
    async (chosen) => (await istft((await stft(x, frames)).zxx, { ...frames, ...chosen })).x.data,
    async (chosen) => (await welch(x, { ...frames, ...chosen })).pxx.data,
    async (chosen) => (await coherence(x, x.slice().reverse(), { ...frames, ...chosen })).cxy.data,
    async (chosen) => (await fftconvolve(x, y, chosen)).data,
    async (chosen) => (await oaconvolve(x, y, chosen)).data,
    async (chosen) => (await correlate(pairs as never, y, chosen)).data,
    async (chosen) => (await hilbert(x.subarray(0, 97), chosen)).data,
  ];
  for (const [k, run] of functions.entries()) {
    const error = relativeError(Float64Array.from(await run({ device })), Float64Array.from(await run({})));
    expect(error, `function ${k}`).toBeLessThan(precision === 'single' ? 1e-5 : 1e-13);
  }
}

async function checkSpectrogram(device: Device): Promise<void> {
  const samples = Float32Array.from({ length: 2000 }, (_, k) => Math.sin((2 * Math.PI * 20 * k) / 256));
  for (const window of ['hann', 'rectangular'] as const) {
    const { levels, bins } = await levelSpectrogram(samples, { sampleRate: 8000, device, size: 256, window });
    expect(levels[3 * bins + 20]).toBeCloseTo(0, 3);
  }
}

describe('signal functions', () => {
  it.skipIf(noOpenCl)(
    'on OpenCL',
    async () => {
      const device = await openOpenCl();
      try {
        // In one precision, each time another, of a device whose compiler is slow.
        for (const precision of exhaustive ? both : [random.pick(both)]) await check(device, precision);
        for (const precision of exhaustive ? both : [random.pick(both)]) await checkOthers(device, precision);
        await checkSpectrogram(device);
        const stream = new StftStream({ device, nperseg: 8, window: 'boxcar' });
        stream.push(new Float32Array(8).fill(1), (bins) =>
          expect(Array.from(bins, (value) => value + 0)).toEqual([8, ...Array(9).fill(0)]),
        );
      } finally {
        device.close();
      }
    },
    120_000,
  );

  it.skipIf(noWebGpu)(
    'on WebGPU, whose doubles are two singles',
    async () => {
      const device = await openWebGpu();
      try {
        await check(device, 'single');
        await checkOthers(device, 'single');
        await checkSpectrogram(device);
        const stream = new StftStream({ device, nperseg: 8 });
        expect(() => stream.push(new Float32Array(8), () => undefined)).toThrow(
          expect.objectContaining({ code: 'unsupported-feature' }),
        );
        const x = Float64Array.from({ length: 8 }, (_, n) => Math.cos(n * n));
        const [pairs, doubles] = [await czt(x, { device }), await czt(x)];
        pairs.data.forEach((value, n) => {
          expect(Math.abs(value - doubles.data[n]!)).toBeLessThan(1e-12);
        });
      } finally {
        device.close();
      }
    },
    120_000,
  );
});
