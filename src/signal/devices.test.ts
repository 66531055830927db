/** Chirp z-transforms on devices whose memory the host cannot see. */
import { describe, expect, it } from 'vitest';
import { sumsAt, turn } from '../../test/reference/chirp-z.ts';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { noWebGpu, openWebGpu } from '../../test/support/webgpu.ts';
import type { Device } from '../index.ts';
import { czt, planCzt, zoomFft } from './index.ts';

const random = randomFor('src/signal/devices');

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

describe('chirp z-transforms', () => {
  it.skipIf(noOpenCl)(
    'on OpenCL',
    async () => {
      const device = await openOpenCl();
      try {
        await check(device, 'single');
        await check(device, 'double');
      } finally {
        device.close();
      }
    },
    120_000,
  );

  it.skipIf(noWebGpu)(
    'on WebGPU, which has no double precision',
    async () => {
      const device = await openWebGpu();
      try {
        await check(device, 'single');
        await expect(czt(new Float64Array(8), { device })).rejects.toMatchObject({ code: 'unsupported-precision' });
      } finally {
        device.close();
      }
    },
    120_000,
  );
});
