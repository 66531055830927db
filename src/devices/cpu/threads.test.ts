import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { codeOf, fixed, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import type { Backend } from '../device.ts';
import { create as createCpuBackend, openCpuBackend } from './index.ts';
import { writtenWasmKernel } from './kernel.ts';
import { Scratch } from './launch.ts';
import { CpuAllocator } from './memory.ts';
import { Pool } from './pool.ts';

const random = randomFor('cpu threads');
/** Threads may take long to start and end on a busy machine. */
const PATIENCE = { timeout: 10_000 };
const opened: Backend[] = [];

/** Opens a device with the given number of threads on any machine. */
async function open(options: { readonly threads: number }): Promise<Backend> {
  const device = openCpuBackend({ ...options, workers: Pool });
  opened.push(device);
  return device;
}

/** A program that fails at run time: its output begins near the end of memory. */
function failing(device: Backend) {
  const data = device.allocate(500 * 4096 * 4);
  const made = steps(device, scaleKernel(500, 4096, 1));
  const bad = device.bind(made, [whole(data), { buffer: data, byteOffset: 2 ** 32 - 4096 - 2 ** 20 }]);
  return { data, made, bad };
}

afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});

describe('worker threads', () => {
  it('are no more than the machine has processors, however many are asked for', async () => {
    for (const threads of [availableParallelism() + 1, 1000]) {
      const device = await createCpuBackend({ threads });
      opened.push(device);
      expect(device.profile.multiprocessors).toBe(availableParallelism());
    }
  });

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
      // Gives the workers time to start and to fall asleep.
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
    const calls = 20;
    // On a busy machine the calling thread may take all groups before another thread wakes; then the calls are repeated.
    for (let ended = calls, end = performance.now() + 20_000; ended === calls; ) {
      expect(performance.now()).toBeLessThan(end);
      const device = await open({ threads: 3 });
      const [groups, length] = [512, 8192];
      const data = device.allocate(groups * length * 4);
      const program = device.bind(steps(device, scaleKernel(groups, length, 1), 3), [whole(data), whole(data)]);
      await program.run();
      await new Promise((resolve) => setTimeout(resolve, 200));
      const running = Array.from({ length: calls }, () => codeOf(() => program.run()));
      device.close();
      const codes = await Promise.all(running);
      // The calls that ended were the first ones in the queue.
      ended = codes.filter((code) => code === undefined).length;
      expect(codes).toEqual(codes.map((_, n) => (n < ended ? undefined : 'device-closed')));
      expect(await codeOf(() => program.run())).toBe('device-closed');
    }
  });

  it('all join when they are awake, sleep between jobs and join again', async () => {
    const memory = new CpuAllocator(true, { whenUnused: (release) => release(), drain: () => {} });
    const kernel = writtenWasmKernel(scaleKernel(2000, 4096, 1), memory);
    const scratch = new Scratch(memory, 3);
    scratch.reserve(kernel.sharedBytes);
    const pool = new Pool(memory, scratch, 3);
    const data = memory.allocate(2000 * 4096 * 4);
    const pointers = [data.address | 0, data.address | 0];
    for (let round = 0; round < 3; round++) {
      let helpers = 0;
      for (const end = performance.now() + 10_000; helpers < 2 && performance.now() < end; ) {
        pool.launch(kernel, 0, 2000, pointers);
        while (!pool.settled(false)) await pool.wait();
        helpers = Math.max(helpers, pool.helpers);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      expect(helpers).toBe(2);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    pool.close();
  });

  it('report a kernel that fails and work on', async () => {
    for (const threads of [1, 2]) {
      const device = await open({ threads });
      const { data, made, bad } = failing(device);
      const good = device.bind(made, [whole(data), whole(data)]);
      for (let round = 0; round < 8; round++) {
        expect(await codeOf(() => bad.run())).toBe('launch-failed');
        expect(await codeOf(() => bad.runSync!())).toBe('launch-failed');
        data.view!('f32').fill(1);
        await good.run();
        expect(data.view!('f32').every((value) => value === 2)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });

  it('leave the rest of a call undone where a part of it has failed', async () => {
    for (const threads of [1, 2]) {
      const device = await open({ threads });
      const { data, bad } = failing(device);
      const into = new Float32Array(4096).fill(7);
      for (let round = 0; round < 4; round++) {
        const call = device.together!(() => [bad.run(), device.download(whole(data), into)]);
        expect(await Promise.all(call.map((part) => codeOf(() => part)))).toEqual(['launch-failed', 'launch-failed']);
        expect(into.every((value) => value === 7)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await device.download(whole(data), into);
      expect(into.every((value) => value !== 7)).toBe(true);
    }
  });

  it('know nothing of kernels that were discarded', async () => {
    const memory = new CpuAllocator(true, { whenUnused: (release) => release(), drain: () => {} });
    const kernel = writtenWasmKernel(scaleKernel(2, 64, 1), memory);
    const scratch = new Scratch(memory, 2);
    scratch.reserve(kernel.sharedBytes);
    const pool = new Pool(memory, scratch, 2);
    const data = memory.allocate(2 * 64 * 4);
    const posted = vi.spyOn(pool as unknown as { post(): void }, 'post');
    kernel.discarded = true;
    data.view('f32').fill(1);
    pool.launch(kernel, 0, 2, [data.address | 0, data.address | 0]);
    expect(pool.settled(true)).toBe(true);
    expect(data.view('f32').every((value) => value === 2)).toBe(true);
    expect(posted).not.toHaveBeenCalled();
    pool.close();
  });

  it('that died at work are given up by a call that may not return to the event loop', async () => {
    const workers: Worker[] = [];
    const note = (worker: Worker) => workers.push(worker);
    process.on('worker', note);
    const device = await open({ threads: 2 });
    const data = device.allocate(2000 * 4096 * 4);
    const program = device.bind(steps(device, scaleKernel(2000, 4096, 1), 4), [whole(data), whole(data)]);
    await vi.waitUntil(() => workers.length === 1, PATIENCE);
    process.off('worker', note);
    for (let round = 0; round < 10; round++) {
      await program.run();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const running = codeOf(() => program.run());
    void workers[0]!.terminate();
    program.runSync!();
    expect([undefined, 'device-lost']).toContain(await running);
  });

  it('can be lost: the calling thread goes on alone', async () => {
    const workers: Worker[] = [];
    const note = (worker: Worker) => workers.push(worker);
    process.on('worker', note);
    const device = await open({ threads: 3 });
    const data = device.allocate(500 * 4096 * 4);
    const program = device.bind(steps(device, scaleKernel(500, 4096, 1)), [whole(data), whole(data)]);
    await vi.waitUntil(() => workers.length === 2, PATIENCE);
    process.off('worker', note);
    for (let round = 0; round < 10; round++) {
      await program.run();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await workers[0]!.terminate();
    await vi.waitUntil(() => workers[1]!.threadId === -1, PATIENCE);
    data.view!('f32').fill(1);
    for (let round = 0; round < 5; round++) await program.run();
    expect(data.view!('f32').every((value) => value === 32)).toBe(true);
  });

  it('do not keep a process alive, closed or forgotten, but a run in flight does', async () => {
    const url = new URL('./index.ts', import.meta.url).href;
    const source = `
      import { openCpuBackend } from '${url}';
      import { Pool } from '${new URL('./pool.ts', import.meta.url).href}';
      import { add, Expressions, scale, variable } from '${new URL('../../ir/index.ts', import.meta.url).href}';
      const device = openCpuBackend({ threads: 3, workers: Pool });
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
      const right = buffer.view('f32').every((value) => value === 40);
      // The compiler that runs this file wraps functions in helpers: workers must start all the same.
      let helpers = 0;
      for (const end = performance.now() + 10_000; helpers === 0 && performance.now() < end; ) {
        await program.run();
        helpers = device.pool.helpers;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      console.log(right, helpers > 0);
      if (process.argv.includes('--close')) device.close();
    `;
    const run = promisify(execFile);
    for (const extra of [[], ['--close']]) {
      const options = ['--import', 'tsx', '--input-type=module', '-e', source, '--', ...extra];
      const { stdout } = await run(process.execPath, options, { timeout: 50_000 });
      expect(stdout.trim()).toBe('true true');
    }
  }, 110_000);
});
