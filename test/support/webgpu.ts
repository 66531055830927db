/** A WebGPU adapter for tests: SwiftShader in Node, which computes on the processor. */
import { type TestContext, test } from 'vitest';
import { findGpu } from '../../src/devices/webgpu/host.ts';
import { createWebGpuBackend } from '../../src/devices/webgpu/index.ts';
import type { WebGpuSettings } from '../../src/devices/webgpu/options.ts';
import { Device } from '../../src/engine/device.ts';

const missing = await findGpu(true)
  .then((gpu) => gpu.requestAdapter())
  .then((adapter) => (adapter ? undefined : 'SwiftShader gives no adapter'))
  .catch((error: Error) => error.message);

/** Why tests on WebGPU cannot run here; then they are skipped, or fail in continuous integration. */
export const noWebGpu: string | undefined = missing;
if (missing !== undefined) console.warn(`tests on WebGPU are skipped: ${missing}`);
if (missing !== undefined && process.env.CI) {
  test('a WebGPU adapter is there', ({ expect }: TestContext) => expect(missing).toBe(undefined));
}

/** An adapter that nobody has taken a device from. */
export async function testAdapter(): Promise<GPUAdapter> {
  const adapter = await (await findGpu(true)).requestAdapter();
  if (!adapter) throw new Error('SwiftShader gives no adapter');
  return adapter;
}

/** A `GPUDevice` of the test's own, with the adapter's limits and features. */
export async function testGpuDevice(): Promise<GPUDevice> {
  const adapter = await testAdapter();
  const { maxStorageBuffersPerShaderStage, maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  return adapter.requestDevice({
    requiredFeatures: ['timestamp-query'],
    requiredLimits: { maxStorageBuffersPerShaderStage, maxStorageBufferBindingSize, maxBufferSize },
  });
}

/** A device of omnifft on WebGPU. */
export async function openWebGpu(settings: WebGpuSettings = {}): Promise<Device> {
  return new Device(await createWebGpuBackend({ software: true, ...settings }));
}
