/** What WebGPU is measured by: the copy copies everything, and the peers transform what omnifft transforms. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../src/devices/device.ts';
import { create as createWebGpuBackend } from '../../src/devices/webgpu/index.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import { Device } from '../../src/engine/device.ts';
import { randomFor, uniform } from '../support/random.ts';
import { noWebGpu } from '../support/webgpu.ts';
import { besidePeers, COPY_WAYS, webGpuCases, webGpuCopier } from './webgpu.ts';

describe.skipIf(noWebGpu)('the benchmark of WebGPU', () => {
  const random = randomFor('device/webgpu');
  let backend: Backend;
  beforeEach(async () => {
    vi.stubEnv('OMNIFFT_SOFTWARE_GPU', '1');
    // Two pieces: 3 MiB exceed what one buffer holds.
    backend = await createWebGpuBackend({ limits: { maxBufferSize: 2 ** 21 } });
  });
  afterEach(() => {
    backend.close();
    vi.unstubAllEnvs();
  });

  it.each(COPY_WAYS)('copies every byte, %i vectors by each thread', async (count) => {
    const reals = 3 * 2 ** 18 + 4;
    const data = Float32Array.from(uniform(random, reals, 'single'));
    const [input, output] = [0, 1].map(() => new DeviceMemory(backend.allocate(4 * reals), 'f32'));
    await backend.upload({ buffer: DeviceMemory.bufferOf(input)!, byteOffset: 0 }, data);
    const copier = await webGpuCopier(backend, [count]);
    expect(await copier(input!, output!, 4 * reals, 1)).toBeGreaterThan(0);
    const copied = new Float32Array(reals);
    await backend.download({ buffer: DeviceMemory.bufferOf(output)!, byteOffset: 0 }, copied);
    expect(Buffer.from(copied.buffer).equals(Buffer.from(data.buffer))).toBe(true);
  });

  it('times lengths of one upload in regions of their own', () => {
    const cases = webGpuCases({ ...backend.profile, sharedBytes: 48 * 1024 }, 2 ** 26);
    const regionOf = (length: number) => cases.find(({ size }) => size[0] === length)?.region;
    expect([4096, 6000, 8192, 10000].map(regionOf)).toEqual(['pow2', 'smooth', 'larger', 'larger']);
    expect(cases.every(({ size, batches }) => size.reduce((a, b) => a * b, batches) <= 2 ** 25)).toBe(true);
  });

  it('finds the same spectra in its peers, and leaves the process as it was', { timeout: 60_000 }, async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    const effort = { samples: 1, sampleMs: 0.001 };
    const { results, failures } = await besidePeers(new Device(backend), backend, 2, effort);
    expect(failures).toEqual([]);
    expect(results.map(({ name }) => name.split(/[ ,]/)[0])).toEqual(['omnifft', 'omnifft', 'tfjs', 'jax-js']);
    // Sines of large angles, straight from the GPU: the peers are good to three digits.
    for (const { name, error } of results) expect(error).toBeLessThan(name.startsWith('omnifft') ? 1e-6 : 1e-2);
    expect(Object.getOwnPropertyDescriptor(globalThis, 'navigator')).toEqual(before);
  });
});
