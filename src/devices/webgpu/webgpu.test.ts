/** The parts of the device that only WebGPU has: the caller's buffers, encoders and devices, arrays beyond one binding, timestamps. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf, transformedPoints } from '../../../test/support/transforms.ts';
import { noWebGpu, openWebGpu, testAdapter, testGpuDevice } from '../../../test/support/webgpu.ts';
import { type Device, listDevices, openDevice, type Plan } from '../../index.ts';
import { namedProfiles } from '../profiles/index.ts';

const random = randomFor('devices/webgpu');
const signal = (points: number): Float32Array<ArrayBuffer> => new Float32Array(uniform(random, 2 * points, 'single'));
const USAGE = 0x80 | 0x4 | 0x8;

/** Expects the transform of `input`, both packed and interleaved. */
function expectTransform(
  plan: Plan,
  input: Float32Array,
  output: Float32Array,
  direction: 'forward' | 'inverse' = 'forward',
) {
  const { hi, lo } = expectedOf(plan.problem, direction, Float64Array.from(input));
  expect(relativeError(output, hi, lo)).toBeLessThanOrEqual(tolerance('single', transformedPoints(plan.problem)));
}

describe.skipIf(noWebGpu)('WebGPU', () => {
  let gpu: GPUDevice;
  let device: Device;
  const uncaptured: string[] = [];
  beforeAll(async () => {
    gpu = await testGpuDevice();
    gpu.addEventListener('uncapturederror', (event) =>
      uncaptured.push((event as GPUUncapturedErrorEvent).error.message),
    );
    device = await openDevice('webgpu', { device: gpu });
  });
  afterAll(() => {
    expect(uncaptured).toEqual([]);
    device?.close();
    gpu?.destroy();
  });

  /** A buffer of the caller with some data, behind `before` bytes. */
  const filled = (data: Float32Array, before = 0, of = gpu) => {
    const buffer = of.createBuffer({ size: before + data.byteLength, usage: USAGE });
    of.queue.writeBuffer(buffer, before, data.slice());
    return buffer;
  };
  const empty = (bytes: number) => gpu.createBuffer({ size: bytes, usage: USAGE });
  const read = async (buffer: GPUBuffer, of = gpu) => {
    const staging = of.createBuffer({ size: buffer.size, usage: 0x9 });
    const encoder = of.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    of.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const data = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return data;
  };
  /** Parts of arrays behind one another. */
  const joined = (parts: readonly Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]));

  it('is listed with its name and is not chosen by auto where it computes on the processor', async () => {
    const before = process.env.OMNIFFT_SOFTWARE_GPU;
    process.env.OMNIFFT_SOFTWARE_GPU = '1';
    try {
      const info = (await listDevices()).find(({ kind }) => kind === 'webgpu');
      expect(info).toMatchObject({ available: true, software: true, name: expect.stringContaining('SwiftShader') });
      const best = await openDevice();
      expect(best.kind).not.toBe('webgpu');
      best.close();
      const named = await openDevice('webgpu');
      expect(named.name).toContain('SwiftShader');
      named.close();
    } finally {
      if (before === undefined) delete process.env.OMNIFFT_SOFTWARE_GPU;
      else process.env.OMNIFFT_SOFTWARE_GPU = before;
    }
  });

  it('plans from what the device allows', async () => {
    expect(device.profile).toMatchObject({ sharedBytes: 16384, maxThreads: 256, precisions: ['single'] });
    const own = await openWebGpu();
    const { limits, info } = await testAdapter();
    expect(own.profile).toMatchObject({
      sharedBytes: limits.maxComputeWorkgroupStorageSize,
      lockstepBytes: 4 * (info.subgroupMaxSize as number),
    });
    // The profile of the adapter's name describes this adapter.
    const { name, maxBytes, ...numbers } = own.profile;
    expect(namedProfiles.swiftshader.profile).toMatchObject(numbers);
    own.close();
  });

  it("transforms the caller's buffers", async () => {
    const plan = await device.plan({ size: [32], batches: 2 });
    const x = signal(64);
    const [input, output] = [filled(x), empty(plan.output.bytes)];
    for (let n = 0; n < 2; n++) expect(await plan.forward(input, output)).toBe(output);
    expectTransform(plan, x, await read(output));
    await plan.inverse(input, output);
    expectTransform(plan, x, await read(output), 'inverse');
    // Host arrays and device memory may be mixed in one call.
    const result = new Float32Array(128);
    await plan.forward(input, result);
    expectTransform(plan, x, result);
    expect(await read(input)).toEqual(x);
  });

  it('begins at offsets, aligned or not, in one buffer or in several', async () => {
    const plan = await device.plan({ size: [32], directions: 'forward' });
    const x = signal(32);
    const whole = filled(x, 8 * 37);
    const [apart, both] = [empty(8 * 100), empty(8 * 200)];
    await plan.enqueue('forward', { input: whole, output: apart, offsets: { input: 37, output: 5 } });
    expectTransform(plan, x, (await read(apart)).subarray(10, 74));
    await plan.enqueue('forward', { input: whole, output: both, offsets: { input: 37, output: 128 } });
    expectTransform(plan, x, (await read(both)).subarray(256, 320));
    gpu.queue.writeBuffer(both, 8 * 3, x);
    await plan.enqueue('forward', { input: both, output: both, offsets: { input: 3, output: 35 } });
    const after = await read(both);
    expect(after.subarray(6, 70)).toEqual(x);
    expectTransform(plan, x, after.subarray(70, 134));
    expect(after.slice(134, 256).every((value) => value === 0)).toBe(true);
    const own = await device.plan({ size: [32], offsets: { input: 3, output: 70 }, directions: 'forward' });
    await own.forward(both, both);
    const last = await read(both);
    expect(last.subarray(0, 140)).toEqual(after.subarray(0, 140));
    expect(last.subarray(140, 204)).toEqual(after.subarray(70, 134));
    const planar = await device.plan({ size: [32], layout: 'planar', placement: 'in-place', directions: 'forward' });
    const planes = {
      re: filled(
        x.filter((_, i) => i % 2 === 0),
        4 * 7,
      ),
      im: filled(
        x.filter((_, i) => i % 2 === 1),
        4 * 7,
      ),
    };
    await planar.enqueue('forward', { output: planes, offsets: { output: 7 } });
    const [re, im] = [await read(planes.re), await read(planes.im)];
    expectTransform(
      plan,
      x,
      Float32Array.from(x, (_, i) => (i % 2 === 0 ? re : im)[7 + (i >> 1)] as number),
    );
  });

  it('takes one array in several buffers', async () => {
    const plan = await device.plan({ size: [64], batches: 3, directions: 'forward' });
    const x = signal(192);
    const cuts = [0, 30, 256, 384];
    const input = cuts.slice(1).map((end, n) => filled(x.subarray(cuts[n], end)));
    const output = [empty(8 * 100), empty(8 * 92)];
    await plan.forward(input, output);
    expectTransform(plan, x, joined([await read(output[0] as GPUBuffer), await read(output[1] as GPUBuffer)]));
    // A list with one buffer exchanged is another array.
    output[0] = empty(8 * 100);
    await plan.forward(input, output);
    expectTransform(plan, x, joined([await read(output[0]), await read(output[1] as GPUBuffer)]));
    const inPlace = await device.plan({ size: [64], batches: 3, placement: 'in-place', directions: 'forward' });
    await inPlace.forward(input);
    const parts = [];
    for (const each of input) parts.push(await read(each));
    expectTransform(plan, x, joined(parts));
  });

  it("is appended to the caller's encoder and pass, many plans in one submit", async () => {
    const rows = await device.plan({ size: [16], batches: 16, normalize: true });
    const image = await device.plan({ size: [16, 16], directions: 'forward', placement: 'in-place' });
    const x = signal(256);
    const [a, b, c] = [filled(x), empty(2048), empty(2048)];
    const encoder = gpu.createCommandEncoder();
    const accepted = [
      rows.enqueue('forward', { input: a, output: b, encoder }),
      rows.enqueue('inverse', { input: b, output: c, encoder }),
    ];
    const pass = encoder.beginComputePass();
    accepted.push(image.enqueue('forward', { input: c, output: c, encoder: pass }));
    pass.end();
    await Promise.all(accepted);
    expect((await read(c)).every((value) => value === 0)).toBe(true);
    gpu.queue.submit([encoder.finish()]);
    expectTransform(rows, x, await read(b));
    const { hi, lo } = expectedOf(image.problem, 'forward', Float64Array.from(x));
    expect(relativeError(await read(c), hi, lo)).toBeLessThanOrEqual(3 * tolerance('single', 256));
  });

  it('keeps calls of every kind in order, also many at once', async () => {
    const plan = await device.plan({ size: [128], directions: 'forward' });
    const inputs = Array.from({ length: 12 }, () => signal(128));
    const kept = inputs.map((x) => x.slice());
    const results = inputs.map((x) => plan.forward(x));
    for (const x of inputs) x.fill(0);
    for (const [n, result] of results.entries()) expectTransform(plan, kept[n] as Float32Array, await result);
    const shared = new Float32Array(new SharedArrayBuffer(1024));
    shared.set(kept[0] as Float32Array);
    expectTransform(plan, kept[0] as Float32Array, await plan.forward(shared));
  });

  it('measures itself, with timestamps and without', async () => {
    const plan = await device.plan({ size: [256], batches: 4, directions: 'forward' });
    const [input, output] = [empty(plan.input.bytes), empty(plan.output.bytes)];
    expect(await plan.measure('forward')).toBeGreaterThan(0);
    expect(await plan.measure('forward', { input, output, repeats: 3 })).toBeGreaterThan(0);
    await expect(plan.measure('forward', { repeats: 0 })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(plan.measure('forward', { input, output: input })).rejects.toMatchObject({ code: 'aliased-buffers' });
    const adapter = await testAdapter();
    const plain = await adapter.requestDevice();
    const without = await openDevice('webgpu', { device: plain });
    const other = await without.plan({ size: [256], directions: 'forward', placement: 'in-place' });
    expect(await other.measure('forward')).toBeGreaterThan(0);
    without.close();
    plain.destroy();
  });

  it.each([
    { maxStorageBufferBindingSize: 9000 },
    { maxBufferSize: 9000 },
    { maxBufferSize: 12000, maxStorageBufferBindingSize: 9000 },
  ])('arrays beyond one binding: %j', async (limits) => {
    const limited = await openWebGpu({ limits, profile: { sharedBytes: 4096 } });
    for (const problem of [
      { size: [1024], batches: 2 },
      { size: [120], batches: 20, placement: 'in-place' as const },
      { size: [100], batches: 40, layout: { input: 'planar' as const } },
    ]) {
      const plan = await limited.plan({ ...problem, directions: 'forward' });
      const x = signal(plan.input.length);
      const planar = plan.problem.layout.input === 'planar';
      const planes = { re: x.filter((_, i) => i % 2 === 0), im: x.filter((_, i) => i % 2 === 1) };
      const own = x.slice();
      const y = await plan.forward(planar ? planes : own);
      expectTransform(plan, x, y as Float32Array);
      plan.destroy();
    }
    limited.close();
  });

  it('compiles equal kernels once', async () => {
    const own = await testGpuDevice();
    let pipelines = 0;
    const { createComputePipelineAsync, createComputePipeline } = own;
    own.createComputePipelineAsync = (descriptor) => {
      pipelines++;
      return createComputePipelineAsync.call(own, descriptor);
    };
    own.createComputePipeline = (descriptor) => {
      pipelines++;
      return createComputePipeline.call(own, descriptor);
    };
    const shared = await openDevice('webgpu', { device: own });
    const problem = { size: [8], directions: 'forward' as const };
    const plans = await Promise.all([1, 2, 3].map(() => shared.plan(problem)));
    for (const plan of plans) await plan.forward(signal(8));
    expect(pipelines).toBe(1);
    for (const plan of plans) plan.destroy();
    await shared.plan(problem);
    expect(pipelines).toBe(1);
    shared.close();
    own.destroy();
  });

  it('10 000 plans leave nothing', { timeout: 300_000 }, async () => {
    const own = await testGpuDevice();
    const live = new Set<GPUBuffer>();
    const { createBuffer } = own;
    own.createBuffer = (descriptor) => {
      const buffer = createBuffer.call(own, descriptor);
      live.add(buffer);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        live.delete(buffer);
        return destroy();
      };
      return buffer;
    };
    const churned = await openDevice('webgpu', { device: own });
    const problems = [{ size: [4] }, { size: [6], batches: 2, layout: 'planar' as const }, { size: [2, 3] }];
    let filled = 0;
    for (let n = 0; n < 10_000; n++) {
      const plan = await churned.plan({ ...problems[n % 3]!, directions: 'forward' });
      if (n % 100 === 0) {
        const length = plan.input.length;
        const planar = plan.problem.layout.input === 'planar';
        await plan.forward(planar ? { re: new Float32Array(length), im: new Float32Array(length) } : signal(length));
      }
      plan.destroy();
      if (n === 300) filled = live.size;
    }
    expect(live.size).toBeLessThanOrEqual(filled);
    churned.close();
    expect(live.size).toBe(0);
    own.destroy();
  });

  it.each(['closed', 'left open'])('a process ends by itself, devices %s', { timeout: 60_000 }, async (how) => {
    const index = fileURLToPath(new URL('../../index.ts', import.meta.url));
    const program = `
      import { openDevice } from ${JSON.stringify(index)};
      const device = await openDevice('webgpu', { software: true });
      const plan = await device.plan({ size: [8], directions: 'forward' });
      const y = await plan.forward(new Float32Array(16).fill(1));
      console.log(y[0]);
      ${how === 'closed' ? 'device.close();' : ''}`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      timeout: 50_000,
    });
    expect(stdout.trim()).toBe('8');
  });
});
