/** Errors about memory, encoders and devices on WebGPU, and their messages. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { noWebGpu, openWebGpu, testAdapter, testGpuDevice } from '../../../test/support/webgpu.ts';
import { type Device, openDevice, type Plan } from '../../index.ts';

const N = 16;
const BYTES = 8 * N;
const STORAGE = 0x80 | 0x4 | 0x8;

describe.skipIf(noWebGpu)('WebGPU refuses', () => {
  let gpu: GPUDevice;
  let other: GPUDevice;
  let device: Device;
  let plan: Plan;
  const uncaptured: string[] = [];
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(async () => {
    process.on('unhandledRejection', note);
    [gpu, other] = await Promise.all([testGpuDevice(), testGpuDevice()]);
    for (const each of [gpu, other]) {
      each.addEventListener('uncapturederror', (event) =>
        uncaptured.push((event as GPUUncapturedErrorEvent).error.message),
      );
    }
    device = await openDevice('webgpu', { device: gpu });
    plan = await device.plan({ size: [N], directions: 'forward' });
  });
  afterAll(() => {
    process.off('unhandledRejection', note);
    device?.close();
    gpu?.destroy();
    other?.destroy();
  });
  beforeEach(() => {
    uncaptured.length = unhandled.length = 0;
  });
  afterEach(async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect([uncaptured, unhandled]).toEqual([[], []]);
  });

  const buffer = (size = BYTES, usage = STORAGE, of = gpu) => of.createBuffer({ size, usage });
  const forward = (input: object, output: object) =>
    codeOf(() => plan.forward(input as GPUBuffer, output as GPUBuffer));
  const enqueue = (options: object) => codeOf(() => plan.enqueue('forward', options));

  it('memory that is none, or of another kind', async () => {
    expect(await forward({}, buffer())).toBe('wrong-array-type');
    expect(await forward({ devicePointer: 1n, bytes: BYTES }, buffer())).toBe('wrong-array-type');
    expect(await forward(gpu.createQuerySet({ type: 'occlusion', count: 1 }), buffer())).toBe('wrong-array-type');
    expect(await forward([], buffer())).toBe('missing-buffer');
    expect(await enqueue({ input: new Float32Array(2 * N), output: buffer() })).toBe('foreign-buffer');
  });

  it('buffers without the usage STORAGE, and mapped ones', async () => {
    expect(await forward(buffer(BYTES, 0xc), buffer())).toBe('buffer-usage');
    expect(await forward(buffer(), buffer(BYTES, 0xc))).toBe('buffer-usage');
    const mapped = gpu.createBuffer({ size: BYTES, usage: STORAGE, mappedAtCreation: true });
    expect(await forward(buffer(), mapped)).toBe('buffer-usage');
    mapped.unmap();
    expect(await forward(buffer(), mapped)).toBe(undefined);
  });

  it('buffers that are too small', async () => {
    expect(await forward(buffer(BYTES - 4), buffer())).toBe('buffer-too-small');
    expect(await forward(buffer(), [buffer(BYTES / 2), buffer(BYTES / 2 - 8)])).toBe('buffer-too-small');
    expect(await enqueue({ input: buffer(), output: buffer(), offsets: { input: 1 } })).toBe('buffer-too-small');
    expect(await enqueue({ input: buffer(), output: buffer(), work: buffer(8) })).toBe('buffer-too-small');
  });

  it('lists that tear a number apart, hold a buffer twice or mix with others', async () => {
    expect(await forward([buffer(BYTES - 4), buffer()], buffer())).toBe('misaligned-buffer');
    const [a, b, c] = [buffer(), buffer(), buffer()];
    expect(await forward([a, a], b)).toBe('aliased-buffers');
    expect(await forward([a, b], [c, b])).toBe(undefined);
    expect(await enqueue({ input: [a, b], output: [c, b], offsets: { input: 4, output: 4 } })).toBe('aliased-buffers');
  });

  it('memory that overlaps', async () => {
    const whole = buffer(2 * BYTES);
    expect(await forward(whole, whole)).toBe('aliased-buffers');
    expect(await enqueue({ input: whole, output: whole, offsets: { output: N - 1 } })).toBe('aliased-buffers');
    expect(await enqueue({ input: whole, output: whole, offsets: { output: N } })).toBe(undefined);
    expect(await enqueue({ input: whole, output: buffer(), work: whole })).toBe('aliased-buffers');
  });

  it('offsets that are none', async () => {
    for (const offsets of [{ input: -1 }, { output: 0.5 }, { input: '1' }, { input: Number.NaN }]) {
      expect(await enqueue({ input: buffer(), output: buffer(), offsets })).toBe('invalid-argument');
    }
    expect(await enqueue({ input: buffer(), output: buffer(), offsets: { work: 1 } })).toBe('unknown-field');
    expect(await enqueue({ input: buffer(), output: buffer(), offsets: 3 })).toBe('invalid-argument');
  });

  it('destroyed buffers, whether seen before or not', async () => {
    const [a, b] = [buffer(), buffer()];
    expect(await forward(a, b)).toBe(undefined);
    a.destroy();
    expect(await forward(a, b)).toBe('destroyed');
    expect(await forward(b, a)).toBe('destroyed');
    expect(await enqueue({ input: b, output: a })).toBe('destroyed');
    expect(await forward(b, buffer())).toBe(undefined);
  });

  it('buffers of another device', async () => {
    const foreign = buffer(BYTES, STORAGE, other);
    expect(await forward(foreign, buffer())).toBe('foreign-buffer');
    expect(await forward(buffer(), [foreign])).toBe('foreign-buffer');
    const encoder = gpu.createCommandEncoder();
    expect(await enqueue({ input: buffer(), output: foreign, encoder })).toBe('foreign-buffer');
    const second = await openWebGpu();
    expect(await forward(second.alloc(BYTES), buffer())).toBe('foreign-buffer');
    second.close();
  });

  it('encoders that are none or have ended', async () => {
    const memory = { input: buffer(), output: buffer() };
    for (const encoder of [{}, null, 1, gpu, gpu.queue]) {
      expect(await enqueue({ ...memory, encoder })).toBe('invalid-encoder');
    }
    const finished = gpu.createCommandEncoder();
    finished.finish();
    expect(await enqueue({ ...memory, encoder: finished })).toBe('invalid-encoder');
    const around = gpu.createCommandEncoder();
    const pass = around.beginComputePass();
    pass.end();
    around.finish();
    expect(await enqueue({ ...memory, encoder: pass })).toBe('invalid-encoder');
    expect(await enqueue({ ...memory, encoder: gpu.createCommandEncoder(), stream: 1n })).toBe('invalid-argument');
  });

  it('calls that cannot wait', async () => {
    const x = new Float32Array(2 * N);
    expect(await codeOf(() => plan.forwardSync(x))).toBe('unsupported-feature');
    expect(await codeOf(() => device.alloc(64).array)).toBe('unsupported-feature');
  });

  it('double-doubles, before anything else', async () => {
    const refused = device.plan({ size: [N], precision: 'double-double' });
    await expect(refused).rejects.toMatchObject({ code: 'unsupported-precision' });
    await expect(refused).rejects.toThrow(/single.*'double-double'/);
  });

  it('to be opened for double precision, while auto finds another device', async () => {
    const opened = openDevice('webgpu', { software: true, precision: 'double' });
    await expect(opened).rejects.toMatchObject({ code: 'unsupported-precision' });
    expect(await codeOf(() => openDevice('auto', { precision: 'half' as never }))).toBe('invalid-argument');
    const found = await openDevice('auto', { precision: 'double' });
    expect(found.profile.precisions ?? ['double']).toContain('double');
    found.close();
  });

  it('kernels that do not compile, with what the compiler says', async () => {
    const broken = await testGpuDevice();
    const { createShaderModule } = broken;
    broken.createShaderModule = ({ code, ...rest }) =>
      createShaderModule.call(broken, { ...rest, code: code.replace('workgroup_id', 'no_such_id') });
    const own = await openDevice('webgpu', { device: broken });
    const refused = own.plan({ size: [N], directions: 'forward' });
    await expect(refused).rejects.toMatchObject({ code: 'compile-failed' });
    await expect(refused).rejects.toThrow(/line \d+:\d+: .*builtin/);
    const hasty = own.planSync({ size: [N], directions: 'forward' });
    expect(await codeOf(() => hasty.forward(new Float32Array(2 * N)))).toBe('compile-failed');
    own.close();
    broken.destroy();
  });

  it('what the device could never bind', async () => {
    const limited = await openWebGpu({ limits: { maxStorageBufferBindingSize: 1024 } });
    const long = await limited.plan({ size: [64], batches: 100, directions: 'forward' });
    const refused = long.forward(new Float32Array(2 * 6400));
    await expect(refused).rejects.toMatchObject({ code: 'device-limit' });
    await expect(refused).rejects.toThrow(
      /101 storage|maxStorageBufferBindingSize = 1024.*maxStorageBuffersPerShaderStage = \d/,
    );
    expect(await codeOf(() => limited.alloc(2 ** 45))).toBe('device-limit');
    expect(await codeOf(() => limited.plan({ size: [2 ** 40] }))).toBe('device-limit');
    limited.close();
  });

  it('options that are none', async () => {
    for (const options of [{ device: {} }, { adapter: 3 as never }, { gpu: {} }, { software: 'yes' as never }]) {
      expect(await codeOf(() => openDevice('webgpu', options))).toBe('invalid-argument');
    }
    expect(await codeOf(() => openDevice('webgpu', { powerPreference: 'fast' as never }))).toBe('invalid-argument');
    const none = { requestAdapter: async () => null };
    expect(await codeOf(() => openDevice('webgpu', { gpu: none }))).toBe('device-unavailable');
    const adapter = await testAdapter();
    await adapter.requestDevice().then((taken) => taken.destroy());
    expect(await codeOf(() => openDevice('webgpu', { adapter }))).toBe('device-unavailable');
  });

  it('more memory than there is, and goes on', async () => {
    const memory = Array.from({ length: 3 }, () => device.alloc(1000));
    const most = gpu.limits.maxBufferSize;
    const huge = Array.from({ length: 64 }, () => device.alloc(most));
    const codes = new Set<string | undefined>();
    for (const input of huge) codes.add(await codeOf(() => plan.enqueue('forward', { input, output: memory[0]! })));
    for (const each of huge) each.free();
    codes.delete(undefined);
    expect([...codes]).toEqual(['out-of-memory']);
    expect(await codeOf(() => plan.forward(new Float32Array(2 * N)))).toBe(undefined);
  });
});

describe.skipIf(noWebGpu)('a WebGPU device that goes away', () => {
  const pending = async (device: Device, end: () => void) => {
    const plan = await device.plan({ size: [N], directions: 'forward' });
    const calls = [
      plan.forward(new Float32Array(2 * N)),
      plan.enqueue('forward', { input: device.alloc(BYTES), output: device.alloc(BYTES) }),
      device.finish(),
      device.plan({ size: [N], batches: 3 }),
    ];
    end();
    const codes = await Promise.all(calls.map((call) => codeOf(() => call)));
    return { plan, codes };
  };

  it('known by its verdicts before its news: memory and kernels that are new to it', async () => {
    const gpu = await testGpuDevice();
    const device = await openDevice('webgpu', { device: gpu });
    const plan = await device.plan({ size: [N] });
    const apart = await device.plan({ size: [N], offsets: { output: N } });
    const memory = device.alloc(apart.output.bytes);
    const pop = gpu.popErrorScope.bind(gpu);
    gpu.popErrorScope = () => pop().then(() => ({ message: 'Parent device is lost' }) as GPUError);
    // If both sides share one buffer, another kernel runs.
    const calls = [
      () => apart.enqueue('forward', { input: memory, output: memory }),
      () => plan.forward(new Float32Array(2 * N)),
    ];
    const codes = Promise.all(calls.map(codeOf));
    setTimeout(() => gpu.destroy(), 50);
    expect(await codes).toEqual(['device-lost', 'device-lost']);
    device.close();
  });

  it('in mid-flight: calls reject with device-lost, and a new device works', async () => {
    const gpu = await testGpuDevice();
    const device = await openDevice('webgpu', { device: gpu });
    const { plan, codes } = await pending(device, () => gpu.destroy());
    expect(codes).toEqual(['device-lost', 'device-lost', 'device-lost', 'device-lost']);
    expect(await codeOf(() => plan.forward(new Float32Array(2 * N)))).toBe('device-lost');
    expect(await codeOf(() => device.plan({ size: [N], batches: 5 }))).toBe('device-lost');
    expect(await codeOf(() => device.alloc(16))).toBe('device-lost');
    expect(await codeOf(() => device.finish())).toBe('device-lost');
    plan.destroy();
    device.close();
    // A device that is already lost cannot be opened.
    expect(await codeOf(() => openDevice('webgpu', { device: gpu }))).toBe('device-lost');
    const next = await openWebGpu();
    const again = await next.plan({ size: [N], directions: 'forward' });
    const result = await again.forward(new Float32Array(2 * N).fill(1));
    expect([result[0], result[1], result[2]]).toEqual([N, N, 0]);
    next.close();
  });

  it('by close: calls and half-finished plans reject with device-closed', async () => {
    const device = await openWebGpu();
    const { plan, codes } = await pending(device, () => device.close());
    expect(codes).toEqual(['device-closed', 'device-closed', 'device-closed', 'device-closed']);
    expect(await codeOf(() => plan.forward(new Float32Array(2 * N)))).toBe('destroyed');
    expect(await codeOf(() => device.plan({ size: [N] }))).toBe('device-closed');
  });

  it("closing leaves the caller's GPUDevice open and frees what was allocated", async () => {
    const gpu = await testGpuDevice();
    const device = await openDevice('webgpu', { device: gpu });
    const memory = device.alloc(64);
    device.close();
    expect(await codeOf(() => memory.array)).toBe('destroyed');
    const second = await openDevice('webgpu', { device: gpu });
    const plan = await second.plan({ size: [N], directions: 'forward' });
    await plan.forward(new Float32Array(2 * N));
    second.close();
    gpu.destroy();
  });
});
