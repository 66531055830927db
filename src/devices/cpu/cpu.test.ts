import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { randomFor, seedFor, uniform } from '../../../test/support/random.ts';
import { type ArrayRef, add, Expressions, type Kernel, scale, variable, verify } from '../../ir/index.ts';
import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import type { Backend, Binding, Step } from '../device.ts';
import { type CpuOptions, cpuAvailability, createCpuBackend } from './index.ts';

const random = randomFor('cpu device');
const opened: Backend[] = [];

async function open(options: CpuOptions): Promise<Backend> {
  const device = await createCpuBackend(options);
  opened.push(device);
  return device;
}

afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});

/** output = factor · input + input, over `groups` groups of `length` elements, by way of a shared array; `weight` repeats the work. */
function scaleKernel(groups: number, length: number, factor: number, type: 'f32' | 'f64' = 'f32'): Kernel {
  const input: ArrayRef = { name: 'input', space: 'global', type };
  const output: ArrayRef = { name: 'output', space: 'global', type };
  const shared: ArrayRef = { name: 'shared', space: 'shared', type, length };
  const group = variable('group', groups);
  const at = (item: ReturnType<typeof variable>) => add(scale(group, length), item);
  const x = new Expressions();
  const y = new Expressions();
  const first = variable('item', length);
  const second = variable('item', length);
  const kernel: Kernel = {
    name: `scale${factor}`,
    precision: type,
    group,
    threads: 1,
    globals: [input, output],
    tables: [],
    shared: [shared],
    phases: [
      {
        loops: [{ variable: first }],
        lanes: first,
        stores: [{ array: shared, index: add(first), value: x.mul(x.constant(factor), x.load(input, at(first))) }],
        repeatable: true,
        exchange: 'group',
      },
      {
        loops: [{ variable: second }],
        lanes: second,
        stores: [{ array: output, index: at(second), value: y.add(y.load(shared, second), y.load(input, at(second))) }],
        repeatable: false,
        exchange: 'group',
      },
    ],
  };
  expect(verify(kernel)).toEqual([]);
  return kernel;
}

const fixed = (binding: Binding) => ({ fixed: binding });
const whole = (buffer: Binding['buffer']): Binding => ({ buffer, byteOffset: 0 });

/** The same kernel `times` times from slot 0 to slot 1. */
function steps(device: Backend, kernel: Kernel, times = 1): Step[] {
  const compiled = device.compile(kernel);
  const step: Step = {
    kernel: compiled,
    arguments: [
      { slot: 0, byteOffset: 0 },
      { slot: 1, byteOffset: 0 },
    ],
  };
  return Array.from({ length: times }, () => step);
}

async function codeOf(work: () => unknown): Promise<FftErrorCode | undefined> {
  try {
    await work();
  } catch (error) {
    if (error instanceof FftError) return error.code;
    throw error;
  }
  return undefined;
}

describe('the CPU device', () => {
  it('is available here and says what it is', async () => {
    expect(cpuAvailability()).toMatchObject({ available: true, name: expect.stringMatching(/./) });
    const device = await open({ threads: 2, profile: { passCost: 9 } });
    expect(device.profile).toMatchObject({ multiprocessors: 2, lockstepBytes: 16, passCost: 9 });
    expect(device.profile.name).toContain('2 threads');
  });

  it.each([0, -1, 1.5, Number.NaN, 100_000])('refuses %s threads', async (threads) => {
    expect(await codeOf(() => createCpuBackend({ threads }))).toBe('invalid-argument');
  });

  it.each([1, 2, 3])('runs kernels on %i threads, synchronously and not', async (threads) => {
    const device = await open({ threads });
    for (const type of ['f32', 'f64'] as const) {
      const [groups, length] = [37, 12];
      const size = groups * length;
      const [input, output] = [device.allocate(size * 8), device.allocate(size * 8)];
      const data = uniform(random, size, 'single');
      await device.upload(whole(input), type === 'f32' ? new Float32Array(data) : data);
      const program = device.bind(steps(device, scaleKernel(groups, length, 3, type)), [whole(input), whole(output)]);
      const want = Array.from(data, (value) =>
        type === 'f32' ? Math.fround(Math.fround(3 * value) + value) : 3 * value + value,
      );
      const got = type === 'f32' ? new Float32Array(size) : new Float64Array(size);
      await program.run();
      await device.download(whole(output), got);
      expect(Array.from(got)).toEqual(want);
      output.view!(type).fill(Number.NaN);
      program.runSync!();
      expect(Array.from(output.view!(type).subarray(0, size))).toEqual(want);
    }
  });

  it('binds fixed memory and offsets, on both sides', async () => {
    const device = await open({ threads: 1 });
    const [input, output] = [device.allocate(4096), device.allocate(4096)];
    input.view!('f32').forEach((_, i, all) => (all[i] = i));
    const kernel = device.compile(scaleKernel(2, 8, 1));
    const program = device.bind(
      [{ kernel, arguments: [fixed({ buffer: input, byteOffset: 64 }), { slot: 0, byteOffset: 128 }] }],
      [{ buffer: output, byteOffset: 64 }],
    );
    output.view!('f32').fill(-1);
    await program.run();
    const want = new Float32Array(1024).fill(-1);
    for (let i = 0; i < 16; i++) want[48 + i] = 2 * (16 + i);
    expect(output.view!('f32')).toEqual(want);
  });

  it.each([1, 2, 3, 4, 9])('runs programs of %i steps in order', async (count) => {
    const device = await open({ threads: 1 });
    const data = device.allocate(64);
    data.view!('f32').fill(1);
    const kernels = Array.from({ length: count }, (_, i) => device.compile(scaleKernel(1, 16, i + 1)));
    const program = device.bind(
      kernels.map((kernel) => ({ kernel, arguments: [fixed(whole(data)), fixed(whole(data))] })),
      [],
    );
    program.runSync!();
    // Each step multiplies by (i + 1) + 1: the product is (count + 1)!
    const factorial = kernels.reduce((product, _, i) => product * (i + 2), 1);
    expect(data.view!('f32')[7]).toBe(factorial);
  });

  it('keeps programs right when a later kernel needs more scratch', async () => {
    const device = await open({ threads: 1 });
    const [input, output] = [device.allocate(2 ** 20), device.allocate(2 ** 20)];
    input.view!('f32').fill(2);
    const small = device.bind(steps(device, scaleKernel(4, 16, 3)), [whole(input), whole(output)]);
    small.runSync!();
    const large = device.bind(steps(device, scaleKernel(4, 50_000, 4)), [whole(input), whole(output)]);
    const elsewhere = Array.from({ length: 20 }, () => device.allocate(10_000));
    for (const buffer of elsewhere) buffer.view!('f32').fill(7);
    small.runSync!();
    large.runSync!();
    small.runSync!();
    expect(output.view!('f32').subarray(0, 65)).toEqual(new Float32Array(65).fill(8).fill(10, 64));
    for (const buffer of elsewhere) expect(buffer.view!('f32').every((value) => value === 7)).toBe(true);
  });

  it('warms kernels up once', async () => {
    const device = await open({ threads: 1 });
    const kernels = [device.compile(scaleKernel(4, 16, 3)), device.compile(scaleKernel(4, 64, 3))];
    await device.warmUp(kernels);
    const start = performance.now();
    for (let i = 0; i < 10; i++) await device.warmUp(kernels);
    expect(performance.now() - start).toBeLessThan(5);
  });
});

describe('worker threads', () => {
  it.each([2, 3])('give the same as one thread, on %i threads', async (threads) => {
    const kernel = scaleKernel(500, 4096, 3);
    const size = 500 * 4096;
    const device = await open({ threads });
    const [input, output] = [device.allocate(size * 4), device.allocate(size * 4)];
    input.view!('f32').set(uniform(random, size));
    const program = device.bind(steps(device, kernel), [whole(input), whole(output)]);
    program.runSync!();
    const want = output.view!('f32').slice();
    for (let round = 0; round < 30; round++) {
      output.view!('f32').fill(Number.NaN);
      await program.run();
      expect(Buffer.compare(Buffer.from(want.buffer), Buffer.from(output.view!('f32').slice().buffer))).toBe(0);
      // Leaves the workers time to start and to fall asleep.
      await new Promise((resolve) => setTimeout(resolve, round < 10 ? 10 : 0));
    }
  });

  it('run what was submitted in order, uploads and downloads included', async () => {
    const device = await open({ threads: 2 });
    const [groups, length] = [64, 4096];
    const size = groups * length;
    const [data, scratch] = [device.allocate(size * 4), device.allocate(size * 4)];
    const double = device.compile(scaleKernel(groups, length, 1));
    const back = device.compile(scaleKernel(groups, length, 0.5));
    const program = device.bind(
      [
        { kernel: double, arguments: [fixed(whole(data)), fixed(whole(scratch))] },
        { kernel: back, arguments: [fixed(whole(scratch)), fixed(whole(data))] },
      ],
      [],
    );
    await program.run();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const ended: number[] = [];
    const results = [new Float32Array(size), new Float32Array(size), new Float32Array(size)];
    const submitted = [
      device.upload(whole(data), new Float32Array(size).fill(1)),
      program.run(),
      program.run(),
      device.download(whole(data), results[0]!),
      program.run(),
      device.download(whole(data), results[1]!),
      device.upload(whole(data), new Float32Array(size).fill(-1)),
      program.run(),
      device.download(whole(data), results[2]!),
      device.finish(),
    ].map((promise, i) => promise.then(() => ended.push(i)));
    await Promise.all(submitted);
    expect(ended).toEqual(submitted.map((_, i) => i));
    expect(results.map((result) => [result[0], result[size - 1]])).toEqual([
      [9, 9],
      [27, 27],
      [-3, -3],
    ]);
  });

  it('are waited for by a synchronous run', async () => {
    const device = await open({ threads: 2 });
    const [groups, length] = [256, 4096];
    const data = device.allocate(groups * length * 4);
    const kernel = device.compile(scaleKernel(groups, length, 1));
    const program = device.bind([{ kernel, arguments: [fixed(whole(data)), fixed(whole(data))] }], []);
    await program.run();
    await new Promise((resolve) => setTimeout(resolve, 200));
    data.view!('f32').fill(1);
    const earlier = [program.run(), program.run(), program.run()];
    program.runSync!();
    const view = data.view!('f32');
    expect([view[0], view[view.length - 1]]).toEqual([16, 16]);
    await Promise.all(earlier);
    expect(view.every((value) => value === 16)).toBe(true);
  });

  it('keep memory that was freed until the runs that use it have ended', async () => {
    const device = await open({ threads: 2 });
    const [groups, length] = [256, 4096];
    const bytes = groups * length * 4;
    const [input, output] = [device.allocate(bytes), device.allocate(bytes)];
    const program = device.bind(steps(device, scaleKernel(groups, length, 1), 4), [whole(input), whole(output)]);
    await program.run();
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (let round = 0; round < 20; round++) {
      const free = device.allocate(bytes);
      const bound = device.bind(steps(device, scaleKernel(groups, length, 1), 4), [whole(input), whole(free)]);
      const running = [bound.run(), bound.run()];
      free.free();
      const fresh = device.allocate(bytes);
      fresh.view!('f32').fill(5);
      await Promise.all(running);
      const untouched = fresh.view!('f32').every((value) => value === 5);
      expect(untouched).toBe(true);
      fresh.free();
    }
  });

  it('are gone when the device closes, and calls in flight are rejected', async () => {
    const device = await open({ threads: 3 });
    const [groups, length] = [512, 8192];
    const data = device.allocate(groups * length * 4);
    const program = device.bind(steps(device, scaleKernel(groups, length, 1), 3), [whole(data), whole(data)]);
    await program.run();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const running = Array.from({ length: 20 }, () => codeOf(() => program.run()));
    device.close();
    const codes = await Promise.all(running);
    expect(codes.every((code) => code === undefined || code === 'device-closed')).toBe(true);
    expect(await codeOf(() => program.run())).toBe('device-closed');
  });

  it('do not keep a process alive, closed or forgotten, but a run in flight does', async () => {
    const url = new URL('./index.ts', import.meta.url).href;
    const source = `
      import { createCpuBackend } from '${url}';
      import { add, Expressions, scale, variable } from '${new URL('../../ir/index.ts', import.meta.url).href}';
      const device = await createCpuBackend({ threads: 3 });
      const array = (name) => ({ name, space: 'global', type: 'f32' });
      const [input, output] = [array('input'), array('output')];
      const group = variable('group', 300);
      const item = variable('item', 4096);
      const at = add(scale(group, 4096), item);
      const x = new Expressions();
      const phase = { loops: [{ variable: item }], lanes: item, repeatable: false, exchange: 'group',
        stores: [{ array: output, index: at, value: x.add(x.load(input, at), x.constant(1)) }] };
      const kernel = device.compile({ name: 'increment', precision: 'f32', group, threads: 1, globals: [input, output],
        tables: [], shared: [], phases: [phase] });
      const buffer = device.allocate(300 * 4096 * 4);
      const data = { fixed: { buffer, byteOffset: 0 } };
      const program = device.bind([{ kernel, arguments: [data, data] }], []);
      for (let i = 0; i < 40; i++) {
        await program.run();
        if (i < 20) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      console.log(buffer.view('f32').every((value) => value === 40));
      if (process.argv.includes('--close')) device.close();
    `;
    const run = promisify(execFile);
    for (const extra of [[], ['--close']]) {
      const options = ['--import', 'tsx', '--input-type=module', '-e', source, '--', ...extra];
      const { stdout } = await run(process.execPath, options, { timeout: 20_000 });
      expect(stdout.trim()).toBe('true');
    }
  });
});

describe('memory of the CPU device', () => {
  it('is found again from any view of it', async () => {
    const device = await open({ threads: 1 });
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 8, max: 20_000 }), { minLength: 1, maxLength: 20 }),
        fc.nat(),
        (sizes, pick) => {
          const buffers = sizes.map((bytes) => device.allocate(bytes));
          const buffer = buffers[pick % buffers.length]!;
          const view = buffer.view!('f32');
          expect(device.locate(view)).toEqual({ buffer, byteOffset: 0 });
          expect(device.locate(view.subarray(1))).toEqual({ buffer, byteOffset: 4 });
          expect(device.locate(new Uint8Array(view.buffer, view.byteOffset, buffer.bytes + 1))).toBeUndefined();
          expect(device.locate(new Float32Array(4))).toBeUndefined();
          for (const one of buffers) one.free();
          expect(device.locate(view)).toBeUndefined();
        },
      ),
      { seed: seedFor('locate'), numRuns: 50 },
    );
  });

  it('shows that it was freed, and may be freed twice', async () => {
    const device = await open({ threads: 1 });
    const [input, output] = [device.allocate(1024), device.allocate(1024)];
    const program = device.bind(steps(device, scaleKernel(2, 8, 1)), [whole(input), whole(output)]);
    program.runSync!();
    expect(output.freed).toBe(false);
    output.free();
    output.free();
    expect(output.freed).toBe(true);
    const next = device.allocate(1024);
    expect(next.view!('f32').byteOffset).toBeGreaterThan(0);
    expect(await codeOf(() => output.view!('f32'))).toBe('destroyed');
    expect(await codeOf(() => program.runSync!())).toBe('destroyed');
    expect(await codeOf(() => program.run())).toBe('destroyed');
    expect(await codeOf(() => device.bind(steps(device, scaleKernel(2, 8, 1)), [whole(input), whole(output)]))).toBe(
      'destroyed',
    );
  });

  it('runs out with a message that says how much was asked for and how much is left', async () => {
    const device = await open({ threads: 1 });
    const most = 2 ** 32;
    expect(await codeOf(() => device.allocate(most))).toBe('out-of-memory');
    expect(() => device.allocate(most)).toThrow(new RegExp(`${most} bytes.* are free`));
    expect(device.allocate(64).bytes).toBe(64);
    for (const bytes of [-1, 1.5, Number.NaN])
      expect(await codeOf(() => device.allocate(bytes))).toBe('invalid-argument');
  });

  it('refuses memory of another device and copies that do not fit', async () => {
    const [device, other] = [await open({ threads: 1 }), await open({ threads: 1 })];
    const [mine, foreign] = [device.allocate(256), other.allocate(256)];
    expect([device.owns(mine), device.owns(foreign)]).toEqual([true, false]);
    const made = steps(device, scaleKernel(1, 8, 1));
    expect(await codeOf(() => device.bind(made, [whole(mine), whole(foreign)]))).toBe('foreign-buffer');
    expect(await codeOf(() => device.bind(made, [whole(mine), undefined]))).toBe('missing-buffer');
    expect(await codeOf(() => device.upload(whole(foreign), new Float32Array(4)))).toBe('foreign-buffer');
    expect(await codeOf(() => device.upload(whole(mine), new Float32Array(65)))).toBe('wrong-length');
    expect(await codeOf(() => device.download({ buffer: mine, byteOffset: 8 }, new Float64Array(32)))).toBe(
      'wrong-length',
    );
  });

  it('is closed to everything after close', async () => {
    const device = await open({ threads: 1 });
    const buffer = device.allocate(256);
    const made = steps(device, scaleKernel(1, 8, 1));
    const program = device.bind(made, [whole(buffer), whole(buffer)]);
    device.close();
    device.close();
    const calls = [
      () => device.allocate(8),
      () => device.compile(scaleKernel(1, 8, 1)),
      () => device.warmUp([]),
      () => device.bind(made, []),
      () => device.upload(whole(buffer), new Float32Array(1)),
      () => device.download(whole(buffer), new Float32Array(1)),
      () => program.run(),
      () => program.runSync!(),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe('device-closed');
    expect(buffer.freed).toBe(true);
  });
});
