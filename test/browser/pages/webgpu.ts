/** Runs in the page: what Chromium's WebGPU does differently from Dawn in Node. */
import { FftError, openDevice } from '../../../src/index.ts';

/** A transform of memory that can change its size, which Chromium copies from no more than it must. */
async function tryResizable(): Promise<number> {
  const device = await openDevice('webgpu');
  const plan = await device.plan({ size: [8] });
  // As the language has it; the types of this project's libraries are older.
  const Resizable = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  const data = new Float32Array(new Resizable(64, { maxByteLength: 128 }));
  data[0] = 1;
  const spectrum = await plan.forward(data);
  device.close();
  return spectrum.reduce((sum, value) => sum + value, 0);
}

/** What a call is told that waits when its GPU device goes away. */
async function tryLoss(): Promise<string> {
  const adapter = await (
    navigator as unknown as { gpu: { requestAdapter(): Promise<{ requestDevice(): Promise<{ destroy(): void }> }> } }
  ).gpu.requestAdapter();
  const gpu = await adapter.requestDevice();
  const device = await openDevice('webgpu', { device: gpu as never });
  const plan = await device.plan({ size: [1024], batches: 16 });
  const call = plan.forward(new Float32Array(2 * 1024 * 16)).then(
    () => 'resolved',
    (error: unknown) => (error instanceof FftError ? error.code : String(error)),
  );
  await new Promise((resolve) => setTimeout(resolve, 0));
  gpu.destroy();
  return call;
}

/** What the test finds in the page. */
export interface WebGpuPage {
  webGpu: { tryResizable: typeof tryResizable; tryLoss: typeof tryLoss };
}

Object.assign(globalThis, { webGpu: { tryResizable, tryLoss } } satisfies WebGpuPage);
