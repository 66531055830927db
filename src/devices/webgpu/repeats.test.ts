/** Repeated calls share bound steps: they have to compute, fail and release memory like first calls. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { noWebGpu, testGpuDevice } from '../../../test/support/webgpu.ts';
import { type Device, openDevice, type Plan } from '../../index.ts';

const N = 32;
const BYTES = 8 * N;
const STORAGE = 0x80 | 0x4 | 0x8;
const random = randomFor('devices/webgpu/repeats');
const signal = () => new Float32Array(uniform(random, 2 * N, 'single'));

describe.skipIf(noWebGpu)('calls on WebGPU that repeat one another', () => {
  let gpu: GPUDevice;
  let device: Device;
  let plan: Plan;
  let groups = 0;
  const uncaptured: string[] = [];
  beforeAll(async () => {
    gpu = await testGpuDevice();
    gpu.addEventListener('uncapturederror', (event) =>
      uncaptured.push((event as GPUUncapturedErrorEvent).error.message),
    );
    const { createBindGroup } = gpu;
    gpu.createBindGroup = (descriptor) => {
      groups++;
      return createBindGroup.call(gpu, descriptor);
    };
    device = await openDevice('webgpu', { device: gpu });
    plan = await device.plan({ size: [N], directions: 'forward' });
  });
  afterAll(() => {
    expect(uncaptured).toEqual([]);
    device?.close();
    gpu?.destroy();
  });

  const buffer = (size = BYTES) => gpu.createBuffer({ size, usage: STORAGE });
  const filled = (data: Float32Array) => {
    const made = buffer(data.byteLength);
    gpu.queue.writeBuffer(made, 0, data.slice());
    return made;
  };
  const read = async (from: GPUBuffer) => {
    const staging = gpu.createBuffer({ size: from.size, usage: 0x9 });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, staging, 0, from.size);
    gpu.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const data = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return data;
  };
  const expectTransform = (x: Float32Array, y: Float32Array) => {
    const { hi, lo } = expectedOf(plan.problem, 'forward', Float64Array.from(x));
    expect(relativeError(y, hi, lo)).toBeLessThanOrEqual(tolerance('single', N));
  };
  /** The number of bind groups that an action makes. */
  const groupsOf = async (act: () => unknown) => {
    const before = groups;
    await act();
    return groups - before;
  };

  it('bind once, whatever kind of call they are', async () => {
    const [input, output] = [filled(signal()), buffer()];
    const steps = plan.kernels.length;
    const appended = () => {
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      const accepted = Array.from({ length: 20 }, () => plan.enqueue('forward', { input, output, encoder: pass }));
      pass.end();
      for (let n = 0; n < 20; n++) accepted.push(plan.enqueue('forward', { input, output, encoder }));
      gpu.queue.submit([encoder.finish()]);
      for (let n = 0; n < 20; n++) accepted.push(plan.enqueue('forward', { input, output }));
      return Promise.all(accepted);
    };
    expect(await groupsOf(appended)).toBe(steps);
    // Remembered bindings do not keep memory alive: the garbage collector may run between awaited calls.
    const waited = [
      () => plan.forward(input, output),
      () => plan.measure('forward', { input, output, repeats: 1 }),
      () => plan.forward(input, output),
    ];
    for (const call of waited) expect([0, steps]).toContain(await groupsOf(call));
  });

  it('go to the memory that they name, in any order', async () => {
    const signals = Array.from({ length: 4 }, signal);
    const inputs = signals.map(filled);
    const shared = buffer(4 * BYTES);
    for (let round = 0; round < 30; round++) {
      const [from, to] = [random.integer(0, 3), random.integer(0, 3)];
      const apart = round % 3 === 0 ? buffer() : undefined;
      const offsets = apart ? {} : { offsets: { output: to * N } };
      const encoder = gpu.createCommandEncoder();
      const accepted = plan.enqueue('forward', { input: inputs[from]!, output: apart ?? shared, ...offsets, encoder });
      gpu.queue.submit([encoder.finish()]);
      await accepted;
      const after = await read(apart ?? shared);
      expectTransform(signals[from]!, apart ? after : after.subarray(2 * N * to, 2 * N * (to + 1)));
      apart?.destroy();
    }
  });

  it('are refused for what is wrong since', async () => {
    const [input, output] = [buffer(), gpu.createBuffer({ size: BYTES, usage: STORAGE })];
    const encoder = gpu.createCommandEncoder();
    const enqueue = (more: object = {}) => codeOf(() => plan.enqueue('forward', { input, output, encoder, ...more }));
    expect(await enqueue()).toBe(undefined);
    expect(await enqueue({ offset: 1 })).toBe('unknown-field');
    expect(await enqueue({ kernel: 1 })).toBe('invalid-argument');
    expect(await enqueue({ stream: 1n })).toBe('invalid-argument');
    expect(await enqueue({ offsets: { output: 1 } })).toBe('buffer-too-small');
    expect(await enqueue({ output: input })).toBe('aliased-buffers');
    expect(await enqueue({ encoder: {} })).toBe('invalid-encoder');
    const memory = device.alloc(BYTES);
    expect(await enqueue({ output: memory })).toBe(undefined);
    memory.free();
    expect(await enqueue({ output: memory })).toBe('destroyed');
    expect(await enqueue()).toBe(undefined);
    encoder.finish();
    output.destroy();
    expect(await codeOf(() => plan.enqueue('forward', { input, output }))).toBe('destroyed');
  });

  it('look whether a buffer was mapped meanwhile', async () => {
    const [input, output] = [buffer(), buffer()];
    const encoder = gpu.createCommandEncoder();
    expect(await codeOf(() => plan.enqueue('forward', { input, output, encoder }))).toBe(undefined);
    Object.defineProperty(output, 'mapState', { value: 'pending', configurable: true });
    expect(await codeOf(() => plan.enqueue('forward', { input, output, encoder }))).toBe('buffer-usage');
    Reflect.deleteProperty(output, 'mapState');
    expect(await codeOf(() => plan.enqueue('forward', { input, output, encoder }))).toBe(undefined);
  });

  it('answer each for itself where their encoder ends between them', async () => {
    const memory = { input: buffer(), output: buffer() };
    const encoder = gpu.createCommandEncoder();
    const codes = [1, 2].map(() => codeOf(() => plan.enqueue('forward', { ...memory, encoder })));
    encoder.finish();
    codes.push(...[3, 4].map(() => codeOf(() => plan.enqueue('forward', { ...memory, encoder }))));
    expect(await Promise.all(codes)).toEqual([undefined, undefined, 'invalid-encoder', 'invalid-encoder']);
  });

  it('are refused every time where their memory cannot be bound', async () => {
    const other = await testGpuDevice();
    const output = other.createBuffer({ size: BYTES, usage: STORAGE });
    const input = buffer();
    for (let n = 0; n < 3; n++) {
      const encoder = gpu.createCommandEncoder();
      const calls = [1, 2].map(() => plan.enqueue('forward', { input, output, encoder }));
      for (const call of calls) expect(await codeOf(() => call)).toBe('foreign-buffer');
    }
    other.destroy();
  });

  it("leave the caller's error scopes as they are", async () => {
    const memory = { input: buffer(), output: buffer() };
    const encoder = gpu.createCommandEncoder();
    const lacking = () => gpu.createBuffer({ size: BYTES, usage: 0 });
    const accepted = [plan.enqueue('forward', { ...memory, encoder })];
    gpu.pushErrorScope('validation');
    accepted.push(plan.enqueue('forward', { ...memory, encoder }));
    gpu.pushErrorScope('validation');
    lacking();
    accepted.push(plan.enqueue('forward', { ...memory, encoder }), plan.enqueue('forward', memory));
    const verdicts = await Promise.all([gpu.popErrorScope(), gpu.popErrorScope()]);
    expect(verdicts[0]).toBeTruthy();
    expect(verdicts[1]).toBe(null);
    await Promise.all(accepted);
    encoder.finish();
  });

  it('keep no buffers that the caller lets go', { timeout: 60_000 }, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const dropped: WeakRef<GPUBuffer>[] = [];
    const once = async () => {
      const [input, output] = [buffer(), buffer()];
      dropped.push(new WeakRef(input), new WeakRef(output));
      const encoder = gpu.createCommandEncoder();
      await plan.enqueue('forward', { input, output, encoder });
      gpu.queue.submit([encoder.finish()]);
      await plan.enqueue('forward', { input, output });
    };
    for (let n = 0; n < 20; n++) await once();
    const left = () => dropped.filter((each) => each.deref()).length;
    // The last call of a direction is remembered with its memory.
    for (let round = 0; round < 50 && left() > 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      collect();
    }
    expect(left()).toBeLessThanOrEqual(2);
  });
});
