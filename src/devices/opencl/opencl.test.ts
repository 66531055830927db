/** The OpenCL device itself: memory, queues, the caller's objects, and refusals. Accuracy is tested elsewhere. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, fixed, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { Device } from '../../engine/device.ts';
import { openDevice } from '../../index.ts';
import type { Backend } from '../device.ts';
import { type Handle, type OpenCl, openCl, QUEUE } from './api.ts';
import { clFailure, errorName } from './errors.ts';
import { create as createOpenClBackend, type OpenClOptions, availability as openClAvailability } from './index.ts';
import { buildClKernel } from './kernel.ts';
import { chooseClDevice, clDevices } from './select.ts';

const random = randomFor('opencl device');
const READ_WRITE = 1;
const WRITE_ONLY = 2;
const READ_ONLY = 4;

describe.skipIf(noOpenCl)('the OpenCL device', () => {
  let cl: OpenCl;
  const cleanup: (() => void)[] = [];
  beforeAll(async () => {
    cl = await openCl();
  });
  afterEach(() => {
    for (const undo of cleanup.splice(0).reverse()) undo();
  });

  const open = async (options: OpenClOptions = {}): Promise<Backend> => {
    const backend = await createOpenClBackend(options);
    cleanup.push(() => backend.close());
    return backend;
  };
  /** A context of the caller's own, with memory and queues. */
  const caller = () => {
    const { platform, device } = chooseClDevice(clDevices(cl), {});
    const context = cl.createContext(platform, device);
    cleanup.push(() => cl.raw.clReleaseContext(context));
    const queue = (properties = 0): Handle => {
      const made = cl.make('clCreateCommandQueue', undefined, context, device, properties);
      cleanup.push(() => cl.raw.clReleaseCommandQueue(made));
      return made;
    };
    const memory = (bytes: number, flags = READ_WRITE): Handle => {
      const made = cl.make('clCreateBuffer', undefined, context, flags, bytes, null);
      cleanup.push(() => cl.raw.clReleaseMemObject(made));
      return made;
    };
    return { context, device, queue, memory };
  };
  const write = (queue: Handle, memory: Handle, data: Float32Array) =>
    cl.call('clEnqueueWriteBuffer', undefined, queue, memory, 1, 0, data.byteLength, data, 0, null, null);
  const read = (queue: Handle, memory: Handle, length: number): Float32Array => {
    const data = new Float32Array(length);
    cl.call('clEnqueueReadBuffer', undefined, queue, memory, 1, 0, data.byteLength, data, 0, null, null);
    return data;
  };

  describe('opening', () => {
    it('says what there is', async () => {
      const { name, available, software } = await openClAvailability();
      const best = chooseClDevice(clDevices(cl), {});
      expect(available).toBe(true);
      expect(name.startsWith(best.name)).toBe(true);
      expect(software === true).toBe(best.type === 'cpu');
    });

    it('is never taken by auto where it computes on the processor', async () => {
      const device = await openDevice('auto');
      cleanup.push(() => device.close());
      if ((await openClAvailability()).software) expect(device.kind).not.toBe('opencl');
    });

    it('takes a device by number or by a part of its name, and lists them where none fits', async () => {
      const [first] = clDevices(cl);
      for (const options of [
        { platform: 0, device: 0 },
        { device: first!.name.slice(2, 9) },
        { platform: first!.platformName },
      ]) {
        expect((await open(options)).name).toBe(first!.name);
      }
      for (const options of [{ device: 'no such device' }, { platform: 99 }]) {
        await expect(open(options)).rejects.toMatchObject({
          code: 'device-unavailable',
          message: expect.stringContaining(first!.name),
        });
      }
      for (const device of ['', -1, 1.5, {}]) expect(await codeOf(() => open({ device }))).toBe('invalid-argument');
      expect(await codeOf(() => open({ platform: -1 }))).toBe('invalid-argument');
    });

    it('reads its profile from the driver, and lets parts be replaced', async () => {
      const backend = await open({ profile: { passCost: 17 } });
      const { profile } = backend;
      expect(profile).toMatchObject({ lockstep: 'threads', passCost: 17 });
      expect(profile.maxBytes).toBeGreaterThan(2 ** 20);
      for (const number of [profile.lockstepBytes, profile.sharedBytes, profile.maxThreads, profile.multiprocessors]) {
        expect(number).toBeGreaterThan(0);
      }
    });

    it('refuses contexts and queues that are none or do not fit together', async () => {
      const { context, queue } = caller();
      const other = caller();
      for (const options of [
        { context: 0n },
        { queue: 0n },
        { context: 5 as unknown as bigint },
        { context: other.context, queue: queue() },
        { context, platform: 0 },
        { queue: queue(), device: 0 },
      ]) {
        expect(await codeOf(() => open(options))).toBe('invalid-argument');
      }
    });
  });

  describe('running', () => {
    it.each(['f32', 'f64'] as const)('runs kernels on %s', async (type) => {
      const device = await open();
      const size = 37 * 12;
      const bytes = size * (type === 'f32' ? 4 : 8);
      const [input, output] = [device.allocate(bytes), device.allocate(bytes)];
      const data = uniform(random, size, 'single');
      const typed = type === 'f32' ? new Float32Array(data) : data;
      await device.upload(whole(input), typed);
      const program = device.bind(steps(device, scaleKernel(37, 12, 3, type)), [whole(input), whole(output)]);
      await program.run();
      const got = typed.slice().fill(Number.NaN);
      await device.download(whole(output), got);
      // The device may contract 3x + x, which single-precision data makes exact in double.
      data.forEach((value, i) => expect(Math.abs(got[i]! - 4 * value)).toBeLessThanOrEqual(type === 'f32' ? 5e-7 : 0));
    });

    it('binds fixed memory and offsets, on both sides', async () => {
      const device = await open();
      const [input, output] = [device.allocate(4096), device.allocate(4096)];
      await device.upload(
        whole(input),
        Float32Array.from({ length: 1024 }, (_, i) => i),
      );
      await device.upload(whole(output), new Float32Array(1024).fill(-1));
      const kernel = device.compile(scaleKernel(2, 8, 1));
      const program = device.bind(
        [{ kernel, arguments: [fixed({ buffer: input, byteOffset: 64 }), { slot: 0, byteOffset: 128 }] }],
        [{ buffer: output, byteOffset: 64 }],
      );
      await program.run();
      const want = new Float32Array(1024).fill(-1);
      for (let i = 0; i < 16; i++) want[48 + i] = 2 * (16 + i);
      const got = new Float32Array(1024);
      await device.download(whole(output), got);
      expect(got).toEqual(want);
    });

    it('runs what it is given in order, without waiting in between, and reads host arrays at once', async () => {
      const device = await open();
      const data = device.allocate(64);
      const kernels = Array.from({ length: 4 }, (_, i) => device.compile(scaleKernel(1, 16, i + 1)));
      const bound = kernels.map((kernel) =>
        device.bind([{ kernel, arguments: [fixed(whole(data)), fixed(whole(data))] }], []),
      );
      const host = new Float32Array(16).fill(1);
      const up = device.upload(whole(data), host);
      host.fill(99);
      const runs = bound.map((program) => program.run());
      const got = new Float32Array(16);
      const down = device.download(whole(data), got);
      for (const program of bound) program.release();
      await Promise.all([up, ...runs, down]);
      expect(got).toEqual(new Float32Array(16).fill(120));
    });

    it('keeps memory that was freed while work on it is in flight', async () => {
      const device = await open();
      const length = 2 ** 16;
      const [input, output] = [device.allocate(4 * length), device.allocate(4 * length)];
      const program = device.bind(steps(device, scaleKernel(2 ** 10, 64, 3), 50), [whole(input), whole(output)]);
      const got = new Float32Array(length);
      const work = [
        device.upload(whole(input), new Float32Array(length).fill(2)),
        program.run(),
        device.download(whole(output), got),
      ];
      input.free();
      output.free();
      program.release();
      for (let n = 0; n < 20; n++) {
        const other = device.allocate(4 * length);
        work.push(device.upload(whole(other), new Float32Array(length).fill(7)));
        other.free();
      }
      await Promise.all(work);
      expect(got.every((value) => value === 8)).toBe(true);
    });

    it('measures by its own clock', async () => {
      const device = await open();
      const [input, output] = [device.allocate(2 ** 20), device.allocate(2 ** 20)];
      const program = device.bind(steps(device, scaleKernel(2 ** 12, 64, 3), 2), [whole(input), whole(output)]);
      await program.run();
      const start = performance.now();
      const milliseconds = await program.time!(5);
      const passed = performance.now() - start;
      expect(milliseconds).toBeGreaterThan(0);
      expect(5 * milliseconds).toBeLessThan(passed);
      await device.finish();
    });

    it('refuses to write to a detached array: its memory is somebody else’s by then', async () => {
      const device = await open();
      const memory = device.allocate(2 ** 16);
      await device.upload(whole(memory), new Float32Array(2 ** 14).fill(3));
      const into = new Float32Array(2 ** 14);
      const down = device.download(whole(memory), into);
      const moved = new Float32Array(structuredClone(into.buffer, { transfer: [into.buffer] }));
      expect(await codeOf(() => down)).toBe('detached-array');
      expect(moved.every((value) => value === 0)).toBe(true);
    });
  });

  describe('what the caller brings', () => {
    /** `size` points, on the caller's `cl_mem`. */
    const transformed = async (device: Device, size: number, input: Handle, output: Handle, queue?: Handle) => {
      const plan = await device.plan({ size: [size], directions: 'forward' });
      const done = plan.enqueue('forward', {
        input: { clMem: input },
        output: { clMem: output },
        ...(queue === undefined ? {} : { queue }),
      });
      plan.destroy();
      return done;
    };
    const impulse = (size: number): Float32Array => {
      const data = new Float32Array(2 * size);
      data[2] = 1;
      return data;
    };
    const expectWave = (got: Float32Array, size: number) => {
      for (let k = 0; k < size; k++) {
        const angle = (-2 * Math.PI * k) / size;
        expect(Math.hypot(got[2 * k]! - Math.cos(angle), got[2 * k + 1]! - Math.sin(angle))).toBeLessThan(1e-5);
      }
    };

    it.each([
      ['in order', 0],
      ['out of order', QUEUE.outOfOrder],
    ])('a queue, %s, for one call or for all', async (_, properties) => {
      const { context, queue, memory } = caller();
      const size = 96;
      const theirs = queue(properties);
      for (const options of [{ context }, { queue: theirs }]) {
        const [input, output] = [memory(8 * size), memory(8 * size)];
        const device = new Device(await createOpenClBackend(options));
        write(theirs, input, impulse(size));
        const done = transformed(device, size, input, output, 'queue' in options ? undefined : theirs);
        await done;
        cl.call('clEnqueueBarrierWithWaitList', undefined, theirs, 0, null, null);
        expectWave(read(theirs, output, 2 * size), size);
        device.close();
      }
      // The caller's queue, context and memory are still alive.
      expect(cl.number('queue', theirs, 0x1093)).toBe(properties);
    });

    it('work that goes from queue to queue runs in order', async () => {
      const { context, queue, memory } = caller();
      const device = await open({ context });
      const [a, b] = [queue(), queue()];
      const length = 2 ** 16;
      const shared = memory(4 * length);
      const adopted = device.adopt!({ clMem: shared }, 'input')!;
      const program = device.bind(steps(device, scaleKernel(2 ** 10, 64, 1)), [whole(adopted), whole(adopted)]);
      const got = new Float32Array(length);
      void device.upload(whole(adopted), new Float32Array(length).fill(1));
      for (let round = 0; round < 4; round++) {
        program.encode!(a);
        program.encode!(b);
        void program.run();
      }
      await device.download(whole(adopted), got);
      expect(got.every((value) => value === 2 ** 12)).toBe(true);
    });

    it('the same memory is the same buffer, and parts of one buffer overlap', async () => {
      const { context, memory } = caller();
      const device = await open({ context });
      const clMem = memory(4096);
      const adopted = device.adopt!({ clMem }, 'input')!;
      expect(device.adopt!({ clMem, bytes: 4096 }, 'output')).toBe(adopted);
      expect([adopted.bytes, device.owns(adopted)]).toEqual([4096, true]);
      adopted.free();
      expect(adopted.freed).toBe(false);
      expect(device.adopt!(new Float32Array(4), 'input')).toBeUndefined();
      const outer = new Device(device);
      const plan = await outer.plan({ size: [16] });
      expect(() => plan.enqueue('forward', { input: { clMem }, output: { clMem } })).toThrow(
        expect.objectContaining({ code: 'aliased-buffers' }),
      );
      plan.destroy();
    });

    it('refuses memory and queues that do not serve', async () => {
      const [{ context, memory, queue }, other] = [caller(), caller()];
      const device = await open({ context });
      const adopt = (memory: unknown) => codeOf(() => device.adopt!(memory, 'input'));
      for (const clMem of [0n, 1n, -1n]) expect(await adopt({ clMem })).toBe('invalid-argument');
      expect(await adopt({ clMem: 12 })).toBe('invalid-argument');
      expect(await adopt({ clMem: memory(64), bytes: 65 })).toBe('buffer-too-small');
      expect(await adopt({ clMem: other.memory(64) })).toBe('foreign-buffer');
      expect(await adopt({ clMem: memory(64, WRITE_ONLY) })).toBe('buffer-usage');
      const fixedSource = device.adopt!({ clMem: memory(256, READ_ONLY) }, 'input')!;
      const free = device.adopt!({ clMem: memory(256) }, 'output')!;
      const made = steps(device, scaleKernel(2, 8, 1));
      expect(await codeOf(() => device.bind(made, [whole(free), whole(fixedSource)]))).toBe('buffer-usage');
      const program = device.bind(made, [whole(fixedSource), whole(free)]);
      for (const target of ['queue', 7n, 7])
        expect(await codeOf(() => program.encode!(target))).toBe('invalid-encoder');
      expect(await codeOf(() => program.encode!(other.queue()))).toBe('invalid-encoder');
      program.encode!(queue());
    });
  });

  describe('what goes wrong', () => {
    it('refuses what cannot be bound or copied', async () => {
      const [device, other] = [await open(), await open()];
      const [mine, foreign] = [device.allocate(256), other.allocate(256)];
      expect([device.owns(mine), device.owns(foreign)]).toEqual([true, false]);
      const made = steps(device, scaleKernel(1, 8, 1));
      const bind = (...slots: Parameters<Backend['bind']>[1]) => codeOf(() => device.bind(made, slots));
      expect(await bind(whole(mine), whole(foreign))).toBe('foreign-buffer');
      expect(await bind(whole(mine), undefined)).toBe('missing-buffer');
      expect(await bind(whole(mine), { buffer: mine, byteOffset: 2 })).toBe('misaligned-buffer');
      expect(await codeOf(() => other.bind(made, [whole(foreign), whole(foreign)]))).toBe('internal-error');
      expect(await codeOf(() => device.upload(whole(foreign), new Float32Array(4)))).toBe('foreign-buffer');
      expect(await codeOf(() => device.upload(whole(mine), new Float32Array(65)))).toBe('wrong-length');
      expect(await codeOf(() => device.download({ buffer: mine, byteOffset: 8 }, new Float64Array(32)))).toBe(
        'wrong-length',
      );
      for (const bytes of [-1, 1.5, Number.NaN])
        expect(await codeOf(() => device.allocate(bytes))).toBe('invalid-argument');
    });

    it('shows that memory was freed, and may be freed twice', async () => {
      const device = await open();
      const [input, output] = [device.allocate(1024), device.allocate(1024)];
      const made = steps(device, scaleKernel(2, 8, 1));
      const program = device.bind(made, [whole(input), whole(output)]);
      await program.run();
      output.free();
      output.free();
      expect(output.freed).toBe(true);
      expect(await codeOf(() => program.run())).toBe('destroyed');
      expect(await codeOf(() => program.encode!(1n))).toBe('destroyed');
      expect(await codeOf(() => program.time!(1))).toBe('destroyed');
      expect(await codeOf(() => device.bind(made, [whole(input), whole(output)]))).toBe('destroyed');
      expect(await codeOf(() => device.upload(whole(output), new Float32Array(1)))).toBe('destroyed');
      const other = device.bind(made, [whole(input), whole(input)]);
      other.release();
      other.release();
      expect(await codeOf(() => other.run())).toBe('destroyed');
    });

    it('runs out of memory with a message that says how much there is, and works on', async () => {
      const device = await open();
      expect(() => device.allocate(2 ** 46)).toThrow(/70368744177664 bytes.* at most \d+ of them in one piece; 0 are/);
      expect(await codeOf(() => device.allocate(2 ** 46))).toBe('out-of-memory');
      const buffer = device.allocate(64);
      await device.upload(whole(buffer), new Float32Array(16).fill(2));
      const got = new Float32Array(16);
      await device.download(whole(buffer), got);
      expect(got[15]).toBe(2);
    });

    it('shows the compiler’s log', async () => {
      const { context, device } = caller();
      const source = '__kernel void f(__global float *x) { x[0] = misspelt; }';
      await expect((async () => buildClKernel(source, 'f', { cl, context, device }))()).rejects.toMatchObject({
        code: 'compile-failed',
        message: expect.stringMatching(/Compiling kernel f failed: CL_BUILD_PROGRAM_FAILURE.*said: .*misspelt/s),
      });
    });

    it('refuses groups that the device cannot run', async () => {
      const device = await open();
      expect(await codeOf(() => device.compile({ ...scaleKernel(1, 8, 1), threads: 2 ** 20 }))).toBe('device-limit');
      expect(await codeOf(() => device.compile(scaleKernel(1, 2 ** 26, 1)))).toBe('device-limit');
    });

    it('gives errors of the driver a code and its own name for them', () => {
      expect(clFailure('clX', -36)).toMatchObject({
        code: 'device-lost',
        message: expect.stringContaining('CL_INVALID_COMMAND_QUEUE'),
      });
      expect(clFailure('clX', -4).code).toBe('out-of-memory');
      expect(clFailure('clX', -5).code).toBe('launch-failed');
      expect(clFailure('clX', -5, { what: 'Allocating', allocates: true }).code).toBe('out-of-memory');
      expect(clFailure('clX', -9999).message).toContain('(-9999)');
      expect(errorName(-54)).toBe('CL_INVALID_WORK_GROUP_SIZE');
    });

    it('is closed to everything after close, and rejects what has not ended', async () => {
      const device = await open();
      const buffer = device.allocate(2 ** 18);
      const made = steps(device, scaleKernel(2 ** 10, 64, 1), 20);
      const program = device.bind(made, [whole(buffer), whole(buffer)]);
      const into = new Float32Array(2 ** 16);
      const waiting = [program.run(), device.download(whole(buffer), into)].map((work) => codeOf(() => work));
      device.close();
      device.close();
      expect(await Promise.all(waiting)).toEqual(['device-closed', 'device-closed']);
      expect(into.every((value) => value === 0)).toBe(true);
      const calls = [
        () => device.allocate(8),
        () => device.compile(scaleKernel(1, 8, 1)),
        () => device.warmUp([]),
        () => device.bind(made, []),
        () => device.adopt!({ clMem: 1n }, 'input'),
        () => device.upload(whole(buffer), new Float32Array(1)),
        () => device.download(whole(buffer), new Float32Array(1)),
        () => program.run(),
        () => program.encode!(1n),
      ];
      for (const call of calls) expect(await codeOf(call)).toBe('device-closed');
      expect(buffer.freed).toBe(true);
    });
  });

  it('10 000 plans leave nothing behind', { timeout: 120_000 }, async () => {
    const device = await openDevice('opencl');
    cleanup.push(() => device.close());
    const backend = (device as unknown as { readonly backend: { readonly memory: { readonly held: number } } }).backend;
    const signal = new Float32Array(2 * 256 * 3);
    const use = async (round: number) => {
      const plan = await device.plan({ size: [256], batches: 1 + (round % 3), directions: 'forward' });
      if (round % 10 === 0) await plan.forward(signal.subarray(0, plan.input.length * 2).slice());
      plan.destroy();
    };
    for (let round = 0; round < 300; round++) await use(round);
    await device.finish();
    const [held, resident] = [backend.memory.held, process.memoryUsage().rss];
    for (let round = 0; round < 10_000; round++) await use(round);
    await device.finish();
    expect(backend.memory.held).toBe(held);
    expect(process.memoryUsage().rss - resident).toBeLessThan(100 * 2 ** 20);
  });
});
