import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { codeOf, fixed, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { randomFor, seedFor, uniform } from '../../../test/support/random.ts';
import type { Backend } from '../device.ts';
import { hasSeparateAdders } from './host.ts';
import { type CpuOptions, availability as cpuAvailability, create as createCpuBackend } from './index.ts';
import { CpuAllocator } from './memory.ts';

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

describe('the CPU device', () => {
  it('is available here and says what it is', async () => {
    expect(cpuAvailability()).toMatchObject({ available: true, name: expect.stringMatching(/./) });
    const device = await open({ threads: 2, profile: { passCost: 9 } });
    expect(device.profile).toMatchObject({ multiprocessors: 2, lockstepBytes: 16, passCost: 9 });
    expect(device.profile.name).toContain('2 threads');
  });

  it('knows processors that add beside their multiplications by name', () => {
    for (const name of [
      'AMD EPYC 9B14 96-Core Processor',
      'AMD Ryzen 7 7840U w/ Radeon 780M Graphics',
      'Hygon C86 7185',
    ]) {
      expect(hasSeparateAdders(name), name).toBe(true);
    }
    for (const name of ['Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz', 'Apple M3', 'AMD FX(tm)-8350', 'CPU', '']) {
      expect(hasSeparateAdders(name), name).toBe(false);
    }
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
    // The shortest of several times, because other processes may interrupt any of them.
    const times: number[] = [];
    for (let i = 0; i < 10; i++) {
      const start = performance.now();
      await device.warmUp(kernels);
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThan(0.5);
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
          expect(() => device.locate(new Uint8Array(view.buffer, view.byteOffset, buffer.bytes + 1))).toThrow(
            /reaches beyond/,
          );
          expect(device.locate(new Float32Array(4))).toBeUndefined();
          for (const one of buffers) one.free();
          expect(() => device.locate(view)).toThrow(/has been freed/);
        },
      ),
      { seed: seedFor('locate'), numRuns: 50 },
    );
  });

  it('knows a view of what was freed, whoever owns the place now', async () => {
    const device = await open({ threads: 1 });
    const gone = device.allocate(128);
    const stale = gone.view!('f32');
    gone.free();
    const next = device.allocate(128);
    expect(next.view!('f32').byteOffset).toBe(stale.byteOffset);
    expect(() => device.locate(stale)).toThrow(/has been freed/);
    expect(device.locate(next.view!('f32'))).toEqual({ buffer: next, byteOffset: 0 });
  });

  it('waits for what is in flight where only memory that was freed is left', () => {
    const waiting: (() => void)[] = [];
    const drain = () => {
      for (const release of waiting.splice(0)) release();
    };
    const memory = new CpuAllocator(false, { whenUnused: (release) => waiting.push(release), drain }, 4096);
    const bytes = 200 * 2 ** 20;
    for (let round = 0; round < 3; round++) memory.allocate(bytes).free();
    memory.allocate(bytes);
    expect(() => memory.allocate(bytes)).toThrow(/were asked for/);
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
