/** What comes behind calls that wait for host arrays: enqueued work, measurements, `finish` and `close`. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { Gate, overlappingDevices, quiescence } from '../../../test/support/gate.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { noWebGpu, testGpuDevice } from '../../../test/support/webgpu.ts';
import type { Backend } from '../../devices/device.ts';
import { create as createWebGpuBackend } from '../../devices/webgpu/index.ts';
import { FftError } from '../../problem/index.ts';
import type { DeviceMemory } from '../arguments/memory.ts';
import { Device } from '../device.ts';
import type { Plan } from '../index.ts';
import { quiet } from './call-hazards.ts';

const STORAGE = 0x80;
/** A list that is one array. */
type BufferList = GPUBuffer[];
const random = randomFor('engine/waiting');
const noise = (count: number) => Float32Array.from(uniform(random, count, 'single'));
const closed = { status: 'rejected', reason: { name: 'FftError', code: 'device-closed' } };
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

describe.each(overlappingDevices(simulator))('calls behind those that wait, on %s', (_name, open) => {
  const n = 8;
  let backend: Backend;
  let device: Device;
  let gate: Gate;
  let plan: Plan<{ size: number[] }>;

  beforeEach(async () => {
    backend = await open();
    gate = new Gate(backend);
    device = new Device(backend);
    plan = await device.plan({ size: [n] });
  });
  afterEach(() => {
    device.close();
    expect(quiet()).toBe(true);
  });

  it('enqueued work waits for calls that wait', async () => {
    const [x, w, u] = [noise(2 * n), noise(2 * n), noise(2 * n)];
    const [y, z] = [new Float32Array(2 * n), new Float32Array(2 * n)];
    const [a, b, c, d] = [1, 2, 3, 4].map(() => device.alloc(plan.input.bytes)) as [
      DeviceMemory,
      DeviceMemory,
      DeviceMemory,
      DeviceMemory,
    ];
    for (const there of [a, b, d]) await plan.forward(u, there);
    // What they are given may be changed while they wait.
    const options = { input: a, output: b };
    const calls = [
      plan.forward(x, y),
      plan.forward(y, a),
      plan.enqueue('forward', options),
      plan.inverse(b, z),
      plan.enqueue('forward', { input: d, output: a }),
      plan.enqueue('inverse', { input: d, output: c }),
    ] as const;
    Object.assign(options, { input: d, output: d });
    let over = false;
    void calls[2].then(() => {
      over = true;
    });
    // Memory that nobody waits for is free.
    await calls[5];
    expect(over).toBe(false);
    await gate.releaseAll(Promise.all(calls));
    gate.holding = false;
    const forwardOf = (there: DeviceMemory) => plan.forward(there);
    const early = await plan.forward(await plan.forward(u));
    expect(await forwardOf(d)).toEqual(early);
    expect(await forwardOf(a)).toEqual(await plan.forward(early));
    const last = await plan.forward(await plan.forward(await plan.forward(x)));
    expect(await forwardOf(b)).toEqual(await plan.forward(last));
    expect(z).toEqual(await plan.inverse(last));
    // And not what is scratch of another call.
    gate.holding = true;
    const more = [plan.forward(w, y), plan.forward(y, a), plan.enqueue('forward', { input: d, output: b, work: a })];
    let written = false;
    void more[2]!.then(() => {
      written = true;
    });
    await quiescence();
    expect(written).toBe(false);
    await gate.releaseAll(Promise.all(more));
  });

  it('enqueued work that waits says what is wrong then', async () => {
    const [x, y] = [noise(2 * n), new Float32Array(2 * n)];
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.input.bytes)];
    const brief = await device.plan({ size: [n] });
    const first = plan.forward(x, y);
    const calls = [
      plan.forward(y, a),
      plan.enqueue('forward', { input: a, output: b }),
      brief.enqueue('inverse', { input: a, output: device.alloc(plan.input.bytes) }),
    ];
    // At once, as ever.
    expect(() => plan.enqueue('forward', { input: a, output: a })).toThrow(/share memory/);
    b.free();
    brief.destroy();
    const ends = Promise.allSettled(calls);
    await gate.releaseAll(first);
    const failed = { status: 'rejected', reason: expect.objectContaining({ code: 'destroyed' }) };
    expect(await ends).toMatchObject([{ status: 'fulfilled' }, failed, failed]);
    expect(quiet()).toBe(true);
  });

  it("work for the caller's own, and measurements, are refused where they would come before calls that wait", async () => {
    const [x, y] = [noise(2 * n), new Float32Array(2 * n)];
    const [a, b, c] = [1, 2, 3].map(() => device.alloc(plan.input.bytes)) as [DeviceMemory, DeviceMemory, DeviceMemory];
    const calls = [plan.forward(x, y), plan.forward(y, a)];
    const first = { code: 'aliased-buffers', message: expect.stringContaining('await that call first') };
    for (const memory of [
      { input: a, output: b },
      { input: b, output: a },
      { input: b, output: c, work: a },
    ]) {
      await expect(plan.measure('forward', memory)).rejects.toMatchObject(first);
      if (!backend.target) continue;
      // It does not come to a closer look at the target.
      const enqueued = () => plan.enqueue('forward', { ...memory, [backend.target!]: {} });
      expect(enqueued).toThrow(expect.objectContaining(first));
    }
    expect(await plan.measure('forward', { input: b, output: c, repeats: 1 })).toBeGreaterThan(0);
    await gate.releaseAll(Promise.all(calls));
    expect(await plan.measure('forward', { input: a, output: b, repeats: 1 })).toBeGreaterThan(0);
  });

  it('finish waits for all calls before it, failed ones too, and for none behind it', async () => {
    const [x, y, z] = [noise(2 * n), new Float32Array(2 * n), new Float32Array(2 * n)];
    const a = device.alloc(plan.input.bytes);
    const ends: string[] = [];
    const say = (what: string) => () => void ends.push(what);
    plan.forward(x, y).then(say('first'));
    plan.forward(y, a).then(say('second'));
    plan.enqueue('forward', { input: a, output: device.alloc(plan.input.bytes) }).then(say('enqueued'));
    plan.inverse(a, z).then(say('third'), say('third failed'));
    void device.finish().then(say('finish'));
    const late = plan.forward(x, new Float32Array(2 * n)).then(say('late'));
    await quiescence();
    await gate.release();
    await expect.poll(() => gate.held.length).toBe(2);
    await expect.poll(() => ends).toEqual(['first', 'second', 'enqueued']);
    await gate.release(1, new FftError('launch-failed', 'for this test'));
    await expect.poll(() => ends).toEqual(['first', 'second', 'enqueued', 'third failed', 'finish']);
    await gate.releaseAll(late);
  });

  it('a device that closes rejects what waits', async () => {
    const [x, y] = [noise(2 * n), new Float32Array(2 * n)];
    const a = device.alloc(plan.input.bytes);
    // Copies come when the device sends them: closing must end them by itself.
    gate.holding = false;
    const first = plan.forward(x, y);
    const calls = [plan.forward(y, a), plan.enqueue('forward', { input: a, output: device.alloc(plan.input.bytes) })];
    const ends = Promise.allSettled([...calls, plan.inverse(y, x), device.finish()]);
    device.close();
    await first.catch(() => undefined);
    for (const end of await ends) expect(end).toMatchObject(closed);
    expect(quiet()).toBe(true);
  });
});

describe.skipIf(noWebGpu)('calls that wait, on buffers of the caller', () => {
  const n = 8;
  let gpu: GPUDevice;
  let device: Device;
  let gate: Gate;
  let plan: Plan<{ size: number[] }>;
  beforeEach(async () => {
    gpu = await testGpuDevice();
    const backend = await createWebGpuBackend({ device: gpu });
    gate = new Gate(backend);
    device = new Device(backend);
    plan = await device.plan({ size: [n] });
  });
  afterEach(() => {
    device.close();
    gpu.destroy();
    expect(quiet()).toBe(true);
  });
  /** Two of them are one array. */
  const half = () => gpu.createBuffer({ size: 4 * n, usage: STORAGE });

  it('a list that is changed meanwhile is the one that was given', async () => {
    const [x, u, y] = [noise(2 * n), noise(2 * n), new Float32Array(2 * n)];
    const [a, b, c, other] = [1, 2, 3, 4].map(() => [half(), half()]) as [
      BufferList,
      BufferList,
      BufferList,
      BufferList,
    ];
    const lists = [a, b, c].map((list) => [...list]) as [BufferList, BufferList, BufferList];
    await plan.forward(u, other);
    const calls = [
      plan.forward(x, y),
      plan.forward(y, lists[0]),
      plan.forward(lists[0], lists[1]),
      plan.enqueue('forward', { input: lists[1], output: lists[2] }),
    ] as const;
    expect(() => plan.enqueue('forward', { input: b, output: c, encoder: gpu.createCommandEncoder() })).toThrow(
      expect.objectContaining({ code: 'aliased-buffers', message: expect.stringContaining('await that call first') }),
    );
    for (const list of lists) list.splice(0, 2, ...other);
    await gate.releaseAll(Promise.all(calls));
    expect(await calls[1]).toBe(lists[0]);
    gate.holding = false;
    const wanted = [await plan.forward(await plan.forward(x))];
    for (let k = 0; k < 3; k++) wanted.push(await plan.forward(wanted[k]!));
    for (const [k, list] of [a, b, c].entries()) expect(await plan.forward(list)).toEqual(wanted[k + 1]);
    expect(await plan.forward(other)).toEqual(await plan.forward(await plan.forward(u)));
  });

  it('a device that closes rejects them', async () => {
    const [x, y] = [noise(2 * n), new Float32Array(2 * n)];
    const a = [half(), half()];
    gate.holding = false;
    const first = plan.forward(x, y);
    const calls = [
      plan.forward(y, a),
      plan.enqueue('forward', { input: a, output: [half(), half()] }),
      plan.inverse(y, x),
      device.finish(),
    ];
    device.close();
    for (const end of await Promise.allSettled([first, ...calls])) {
      expect(end).toMatchObject(closed);
    }
  });
});
