/** A WebGPU adapter for tests: SwiftShader in Node, which computes on the processor. */
import { findGpu } from '../../src/devices/webgpu/host.ts';
import { create as createWebGpuBackend } from '../../src/devices/webgpu/index.ts';
import type { WebGpuSettings } from '../../src/devices/webgpu/options.ts';
import { Device } from '../../src/engine/device.ts';
import { missing } from './optional.ts';

/**
 * Dawn asks by `setImmediate`, again and again, whether something has happened: a core that its compiler could have. A
 * millisecond in between is soon enough. Its callbacks are the ones that are no JavaScript.
 */
const immediately = globalThis.setImmediate;
const patiently = (callback: (...values: unknown[]) => void, ...values: unknown[]) =>
  /\[native code\]/.test(Function.prototype.toString.call(callback))
    ? setTimeout(callback, 1, ...values)
    : immediately(callback, ...values);
globalThis.setImmediate = Object.assign(patiently, immediately) as typeof setImmediate;

const reason = await findGpu(true)
  .then((gpu) => gpu.requestAdapter())
  .then((adapter) => (adapter ? undefined : 'SwiftShader gives no adapter'))
  .catch((error: Error) => error.message);

/** Why tests on WebGPU cannot run here, and are to be skipped. */
export const noWebGpu: string | undefined = missing('webgpu', reason);

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
