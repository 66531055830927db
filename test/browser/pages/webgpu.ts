/** Runs in the page: what WebGPU does differently in browsers from Dawn in Node. */
import { FftError, openDevice } from '../../../src/index.ts';

/** A transform of memory that can change its size, which browsers copy from no more than they must. */
export async function tryResizable(): Promise<number> {
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

/** What the types of this project's libraries lack. */
interface Gpu {
  createBuffer(of: { size: number; usage: number }): { destroy(): void };
  createCommandEncoder(): { finish(): unknown };
  destroy(): void;
}

async function newGpu(): Promise<Gpu> {
  const { gpu } = navigator as unknown as { gpu: { requestAdapter(): Promise<{ requestDevice(): Promise<Gpu> }> } };
  return (await gpu.requestAdapter()).requestDevice();
}

/**
 * What calls are told that wait when their GPU device goes away. The failure and the news of the loss come in any order, so
 * that it takes several to see both.
 */
export async function tryLoss(): Promise<string[]> {
  const codes = [];
  for (const milliseconds of [0, 0, 0, 0, 1, 2, 4, 8]) {
    const gpu = await newGpu();
    const device = await openDevice('webgpu', { device: gpu as never });
    // SwiftShader compiles kernels anew for each device, and in seconds where groups have barriers: this one has none.
    const plan = await device.plan({ size: [8], batches: 2048, directions: 'forward' });
    const call = codeOf(plan.forward(new Float32Array(2 * 8 * 2048)));
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    gpu.destroy();
    const code = await call;
    // A fast GPU may have been done before.
    codes.push(code === 'resolved' ? await codeOf(plan.forward(new Float32Array(2 * 8 * 2048))) : code);
  }
  return codes;
}

/** What calls are told about memory and encoders that only WebGPU itself can tell from good ones. */
export async function tryRefusals(): Promise<string[]> {
  const [gpu, other] = [await newGpu(), await newGpu()];
  const device = await openDevice('webgpu', { device: gpu as never });
  const plan = await device.plan({ size: [64] });
  // STORAGE, COPY_SRC and COPY_DST.
  const buffer = (of: Gpu) => of.createBuffer({ size: plan.input.bytes, usage: 0x80 | 0x4 | 0x8 });
  const run = async (input: unknown, encoder?: unknown) =>
    codeOf(
      (async () => plan.enqueue('forward', { input, output: buffer(gpu), ...(encoder ? { encoder } : {}) } as never))(),
    );
  const destroyed = buffer(gpu);
  destroyed.destroy();
  const ended = gpu.createCommandEncoder();
  ended.finish();
  const codes = [await run(buffer(gpu)), await run(destroyed), await run(buffer(other)), await run(buffer(gpu), ended)];
  device.close();
  return codes;
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'resolved',
    (error: unknown) => (error instanceof FftError ? error.code : String(error)),
  );
}

/** What the test finds in the page. */
export interface WebGpuPage {
  webGpu: { tryResizable: typeof tryResizable; tryLoss: typeof tryLoss; tryRefusals: typeof tryRefusals };
}

Object.assign(globalThis, { webGpu: { tryResizable, tryLoss, tryRefusals } } satisfies WebGpuPage);
