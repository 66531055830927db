/** The backend of CUDA and HIP on a simulated GPU, which delays work as long as the rules of streams allow. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { codeOf, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import type { DeviceBuffer } from '../device.ts';
import type { CudaBackend } from './backend.ts';

const random = randomFor('devices/cuda');
const simulator = await buildSimulator();
const INVALID_VALUE = 1;
const ILLEGAL_ADDRESS = 700;
const MEBIBYTE = 2 ** 20;

const GROUPS = 6;
const LENGTH = 40;
const COUNT = GROUPS * LENGTH;
/** output = 3 · input. */
const kernel = scaleKernel(GROUPS, LENGTH, 2);

afterAll(() => simulator?.remove());

describe.runIf(simulator)('on a simulated GPU', () => {
  const sim = simulator as Simulator;
  let backend: CudaBackend;

  beforeEach(async () => {
    sim.setMemory(2 ** 32);
    backend = (await sim.open()) as CudaBackend;
  });
  afterEach(() => {
    sim.lose(0);
    backend.close();
    const { memory, host, streams, events, modules, graphs, contexts, programs, faults } = sim.counts();
    expect({ memory, host, streams, events, modules, graphs, contexts, programs, faults }).toEqual({
      ...{ memory: 0, host: 0, streams: 0, events: 0, modules: 0, graphs: 0, contexts: 0, programs: 0, faults: 0 },
    });
  });

  const signal = (length = COUNT) => new Float32Array(uniform(random, length, 'single'));
  const tripled = (x: Float32Array) => x.map((value) => 3 * value);
  const buffers = (): [DeviceBuffer, DeviceBuffer] => [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
  /** Bound from the first buffer to the second. */
  const bound = (from: DeviceBuffer, to: DeviceBuffer, times = 1) =>
    backend.bind(steps(backend, kernel, times), [whole(from), whole(to)]);
  const read = async (buffer: DeviceBuffer, length = COUNT) => {
    const result = new Float32Array(length);
    await backend.download(whole(buffer), result);
    return result;
  };
  const caller = () => {
    const out = new BigUint64Array(1);
    expect(sim.driver('cuStreamCreate', ['void *', 'uint'])(out, 1)).toBe(0);
    const stream = out[0] as bigint;
    return {
      stream,
      finish: () => expect(sim.driver('cuStreamSynchronize', ['void *'])(stream)).toBe(0),
      destroy: () => expect(sim.driver('cuStreamDestroy_v2', ['void *'])(stream)).toBe(0),
    };
  };

  describe('work', () => {
    it('runs in the order in which it was given', async () => {
      const [from, to] = buffers();
      const program = bound(from, to);
      const [first, second] = [signal(), signal()];
      const results = [new Float32Array(COUNT), new Float32Array(COUNT)];
      await Promise.all([
        backend.upload(whole(from), first),
        program.run(),
        backend.download(whole(to), results[0] as Float32Array),
        backend.upload(whole(from), second),
        program.run(),
        backend.download(whole(to), results[1] as Float32Array),
      ]);
      expect(results).toEqual([tripled(first), tripled(second)]);
    });

    it('waits behind copies that do not fit into staging memory', async () => {
      const length = 11 * MEBIBYTE;
      const big = backend.allocate(4 * length);
      const x = new Float32Array(length).map((_, i) => i % 4099);
      const to = backend.allocate(4 * COUNT);
      const whenUploaded = backend.upload(whole(big), x);
      const run = bound(big, to).run();
      const back = new Float32Array(length);
      const whenBack = backend.download(whole(big), back);
      const part = new Float32Array(COUNT);
      const whenPart = backend.download(whole(to), part);
      await Promise.all([whenUploaded, run, whenBack, whenPart]);
      expect(part).toEqual(tripled(x.subarray(0, COUNT)));
      expect(back.every((value, i) => value === x[i])).toBe(true);
    });

    it('of several steps becomes a graph when it runs again', async () => {
      const [from, to] = buffers();
      const program = bound(from, to, 3);
      const x = signal();
      void backend.upload(whole(from), x);
      await program.run();
      const before = sim.counts().graphLaunches;
      await program.run();
      await program.run();
      expect(sim.counts().graphLaunches - before).toBe(2);
      expect(await read(to)).toEqual(tripled(x));
      program.release();
    });

    it('is timed by events', async () => {
      const [from, to] = buffers();
      for (const times of [1, 2]) {
        const program = bound(from, to, times);
        // The simulated clock measures 1.5 ms for any work.
        expect(await program.time?.(3)).toBe(0.5);
        expect(await codeOf(() => program.time?.(0))).toBe('invalid-argument');
        program.release();
      }
    });

    it('ends when finish() does, and at once with finishSync()', async () => {
      const [from, to] = buffers();
      const x = signal();
      let ended = false;
      void backend.upload(whole(from), x);
      void bound(from, to)
        .run()
        .then(() => (ended = true));
      await backend.finish();
      expect(ended).toBe(true);
      void bound(to, from).run();
      backend.finishSync();
      expect(await read(from)).toEqual(tripled(tripled(x)));
    });
  });

  describe("in a caller's stream", () => {
    it('comes after what the device was given before, and before what it is given next', async () => {
      const [from, to] = buffers();
      const { stream, destroy } = caller();
      const x = signal();
      void backend.upload(whole(from), x);
      bound(from, to).encode?.(stream);
      void bound(to, from).run();
      expect(await read(from)).toEqual(tripled(tripled(x)));
      destroy();
    });

    it('comes after what another stream does with the same memory', async () => {
      const [from, to] = buffers();
      const streams = Array.from({ length: 20 }, caller);
      let expected = signal();
      await backend.upload(whole(from), expected);
      streams.forEach(({ stream }, n) => {
        bound(...((n % 2 === 0 ? [from, to] : [to, from]) as [DeviceBuffer, DeviceBuffer])).encode?.(stream);
        expected = tripled(expected);
      });
      streams.at(-1)?.finish();
      expect(await read(from)).toEqual(expected);
      for (const { destroy } of streams) destroy();
    });

    it('may be captured', async () => {
      const [from, to] = buffers();
      const { stream, destroy, finish } = caller();
      const x = signal();
      await backend.upload(whole(from), x);
      expect(sim.driver('cuStreamBeginCapture_v2', ['void *', 'int'])(stream, 2)).toBe(0);
      bound(from, to).encode?.(stream);
      const out = new BigUint64Array(2);
      expect(sim.driver('cuStreamEndCapture', ['void *', 'void *'])(stream, out)).toBe(0);
      expect(
        sim.driver('cuGraphInstantiateWithFlags', ['void *', 'void *', 'uint64_t'])(out.subarray(1), out[0], 0),
      ).toBe(0);
      await backend.finish();
      expect((await read(to)).every(Number.isNaN)).toBe(true);
      expect(sim.driver('cuGraphLaunch', ['void *', 'void *'])(out[1], stream)).toBe(0);
      finish();
      expect(await read(to)).toEqual(tripled(x));
      sim.driver('cuGraphExecDestroy', ['void *'])(out[1]);
      sim.driver('cuGraphDestroy', ['void *'])(out[0]);
      destroy();
    });

    it('keeps memory alive that is freed meanwhile', async () => {
      const [from, to] = buffers();
      const { stream, finish, destroy } = caller();
      const x = signal();
      await backend.upload(whole(from), x);
      bound(from, to).encode?.(stream);
      from.free();
      const next = backend.allocate(4 * COUNT);
      void backend.upload(whole(next), signal());
      finish();
      expect(await read(to)).toEqual(tripled(x));
      destroy();
    });

    it('is refused where that is no stream', async () => {
      const [from, to] = buffers();
      for (const target of [undefined, null, 'stream', 7, -1n, 2n ** 64n, {}, Symbol('stream')]) {
        expect(await codeOf(() => bound(from, to).encode?.(target))).toBe('invalid-encoder');
      }
    });
  });

  describe("a caller's memory", () => {
    const allocate = (bytes: number): bigint => {
      const out = new BigUint64Array(1);
      expect(sim.driver('cuMemAlloc_v2', ['void *', 'size_t'])(out, bytes)).toBe(0);
      return out[0] as bigint;
    };

    it("is used where it is, and stays the caller's", async () => {
      const pointer = allocate(8 * COUNT);
      const [from, to] = [0, 4 * COUNT].map(
        (offset) =>
          backend.adopt({ devicePointer: pointer + BigInt(offset), bytes: 4 * COUNT }, 'input') as DeviceBuffer,
      ) as [DeviceBuffer, DeviceBuffer];
      expect(backend.owns(from)).toBe(true);
      expect(backend.adopt({ devicePointer: pointer, bytes: 4 * COUNT }, 'input')).toBe(from);
      const x = signal();
      void backend.upload(whole(from), x);
      void bound(from, to).run();
      expect(await read(to)).toEqual(tripled(x));
      from.free();
      expect(from.freed).toBe(false);
      expect(sim.driver('cuMemFree_v2', ['void *'])(pointer)).toBe(0);
    });

    it('is refused where it is not what it is said to be', async () => {
      const pointer = allocate(1024);
      const adopt = (memory: unknown) => codeOf(() => backend.adopt(memory, 'input'));
      expect(backend.adopt(new Float32Array(4), 'input')).toBeUndefined();
      expect(backend.adopt({ clMem: 1n }, 'input')).toBeUndefined();
      expect(await adopt({ devicePointer: pointer, bytes: 1025 })).toBe('buffer-too-small');
      expect(await adopt({ devicePointer: pointer + 1000n, bytes: 32 })).toBe('buffer-too-small');
      expect(await adopt({ devicePointer: 4096n, bytes: 8 })).toBe('foreign-buffer');
      for (const devicePointer of [0n, -1n, 1.5, 'x', undefined]) {
        expect(await adopt({ devicePointer, bytes: 8 })).toBe('invalid-argument');
      }
      for (const bytes of [0, -1, 1.5, undefined, 8n]) {
        expect(await adopt({ devicePointer: pointer, bytes })).toBe('invalid-argument');
      }
      expect(sim.driver('cuMemFree_v2', ['void *'])(pointer)).toBe(0);
    });
  });

  describe('memory', () => {
    it('that is freed in flight is not handed out before the work is done', async () => {
      const [from, to] = buffers();
      const x = signal();
      void backend.upload(whole(from), x);
      const program = bound(from, to);
      const run = program.run();
      const old = (from as unknown as { handle: bigint }).handle;
      from.free();
      const other = backend.allocate(4 * COUNT);
      expect((other as unknown as { handle: bigint }).handle).not.toBe(old);
      await run;
      expect(await read(to)).toEqual(tripled(x));
      await backend.finish();
      const again = backend.allocate(4 * COUNT);
      expect((again as unknown as { handle: bigint }).handle).toBe(old);
      expect(await codeOf(() => program.run())).toBe('destroyed');
    });

    it('of which there is too little is refused with sizes; what is idle is given back first', async () => {
      sim.setMemory(3 * MEBIBYTE);
      const first = backend.allocate(2 * MEBIBYTE);
      expect(await codeOf(() => backend.allocate(2 * MEBIBYTE))).toBe('out-of-memory');
      expect(() => backend.allocate(2 * MEBIBYTE)).toThrow(/2097152 bytes .* 3145728 bytes 1048576 are free/);
      first.free();
      backend.allocate(2.5 * MEBIBYTE).free();
      const [from, to] = buffers();
      const x = signal();
      void backend.upload(whole(from), x);
      await bound(from, to).run();
      expect(await read(to)).toEqual(tripled(x));
    });

    it('cannot be copied to or from beyond its end, or after it was freed', async () => {
      const [from] = buffers();
      expect(await codeOf(() => backend.upload(whole(from), signal(COUNT + 1)))).toBe('wrong-length');
      expect(await codeOf(() => backend.download({ buffer: from, byteOffset: 4 }, signal()))).toBe('wrong-length');
      from.free();
      expect(await codeOf(() => backend.upload(whole(from), signal()))).toBe('destroyed');
      expect(await codeOf(() => backend.allocate(-1))).toBe('invalid-argument');
    });

    it('of a host array that was transferred away fails the copy', async () => {
      const length = 11 * MEBIBYTE;
      const big = backend.allocate(4 * length);
      const x = new Float32Array(length);
      const upload = backend.upload(whole(big), x);
      structuredClone(x.buffer, { transfer: [x.buffer] });
      expect(await codeOf(() => upload)).toBe('detached-array');
      const into = new Float32Array(COUNT);
      const download = backend.download(whole(big), into);
      structuredClone(into.buffer, { transfer: [into.buffer] });
      expect(await codeOf(() => download)).toBe('detached-array');
      await backend.finish();
    });
  });

  describe('failures', () => {
    it('of a launch name what the driver said; the device goes on', async () => {
      const [from, to] = buffers();
      const x = signal();
      void backend.upload(whole(from), x);
      const program = bound(from, to);
      sim.failNext('cuLaunchKernel', INVALID_VALUE);
      await expect(program.run()).rejects.toThrow(/CUDA_ERROR_INVALID_VALUE \(1\) from cuLaunchKernel/);
      sim.failNext('cuLaunchKernel', INVALID_VALUE);
      expect(await codeOf(() => program.run())).toBe('launch-failed');
      await program.run();
      expect(await read(to)).toEqual(tripled(x));
    });

    it('of a capture leave the steps as they were', async () => {
      const [from, to] = buffers();
      const x = signal();
      void backend.upload(whole(from), x);
      for (const name of ['cuStreamBeginCapture_v2', 'cuStreamEndCapture', 'cuGraphInstantiateWithFlags']) {
        const program = bound(from, to, 2);
        await program.run();
        sim.failNext(name, INVALID_VALUE);
        await program.run();
        await program.run();
        expect(await read(to)).toEqual(tripled(x));
        program.release();
      }
    });

    it('that lose the device end everything that waits; a new device works', async () => {
      const [from, to] = buffers();
      const program = bound(from, to);
      await backend.upload(whole(from), signal());
      const waiting = [program.run(), backend.download(whole(to), signal()), backend.finish()];
      const codes = Promise.all(waiting.map((promise) => codeOf(() => promise)));
      sim.lose(ILLEGAL_ADDRESS);
      expect(await codes).toEqual(['device-lost', 'device-lost', 'device-lost']);
      expect(await codeOf(() => program.run())).toBe('device-lost');
      expect(await codeOf(() => backend.allocate(8))).toBe('device-lost');
      from.free();
      to.free();
      backend.close();
      sim.lose(0);
      backend = (await sim.open()) as CudaBackend;
      const [a, b] = buffers();
      const x = signal();
      void backend.upload(whole(a), x);
      await bound(a, b).run();
      expect(await read(b)).toEqual(tripled(x));
    });

    it('of the compiler come with its log, and can be tried again', async () => {
      const compiled = backend.compile(kernel);
      const { program } = compiled as unknown as { program: { source: string } };
      const { source } = program;
      program.source = 'extern "C" __global__ void broken() { undeclared = 1; }';
      await expect(backend.warmUp([compiled])).rejects.toThrow(/undeclared/);
      expect(await codeOf(() => backend.warmUp([compiled]))).toBe('compile-failed');
      program.source = source;
      await backend.warmUp([compiled, compiled]);
      backend.discard(compiled);
      expect(await codeOf(() => backend.bind([{ kernel: compiled, arguments: [] }], []))).toBe('internal-error');
    });

    it('of binding name the array', async () => {
      const [from, to] = buffers();
      const own = steps(backend, kernel);
      expect(await codeOf(() => backend.bind(own, [whole(from)]))).toBe('missing-buffer');
      expect(await codeOf(() => backend.bind(own, [whole(from), { buffer: to, byteOffset: 2 }]))).toBe(
        'misaligned-buffer',
      );
      to.free();
      expect(await codeOf(() => backend.bind(own, [whole(from), whole(to)]))).toBe('destroyed');
      const other = (await sim.open()) as CudaBackend;
      const foreign = other.allocate(4 * COUNT);
      expect(backend.owns(foreign)).toBe(false);
      expect(await codeOf(() => backend.bind(own, [whole(from), whole(foreign)]))).toBe('foreign-buffer');
      expect(await codeOf(() => other.bind(own, [whole(foreign), whole(foreign)]))).toBe('internal-error');
      other.close();
    });
  });

  describe('closing', () => {
    it('ends calls in flight, and kernels that are still being compiled', async () => {
      const [from, to] = buffers();
      const program = bound(from, to, 2);
      const length = 11 * MEBIBYTE;
      const big = backend.allocate(4 * length);
      const pending = [
        program.run(),
        backend.download(whole(to), signal()),
        backend.upload(whole(big), new Float32Array(length)),
        program.run(),
        backend.warmUp([backend.compile(scaleKernel(1, 2, 5))]),
        backend.finish(),
      ];
      const codes = Promise.all(pending.map((promise) => codeOf(() => promise)));
      await Promise.resolve();
      backend.close();
      expect(new Set(await codes)).toEqual(new Set(['device-closed']));
      backend.close();
      expect(await codeOf(() => program.run())).toBe('device-closed');
      expect(await codeOf(() => backend.allocate(8))).toBe('device-closed');
      expect(await codeOf(() => backend.upload(whole(from), signal()))).toBe('device-closed');
      from.free();
      program.release();
    });
  });

  describe('opening', () => {
    it('takes a context and a stream of the caller, and leaves them', async () => {
      const { stream, destroy } = caller();
      const before = sim.counts();
      const guest = (await sim.open({ context: 0xc0den, stream })) as CudaBackend;
      expect(guest.driver.stream).toBe(stream);
      const buffer = guest.allocate(4 * COUNT);
      await guest.upload(whole(buffer), signal());
      guest.close();
      expect(sim.counts().contexts).toBe(before.contexts);
      expect(sim.counts().streams).toBe(before.streams);
      destroy();
    });

    it('is refused for what cannot be', async () => {
      const open = (options: object) => codeOf(() => sim.open(options));
      expect(await open({ device: 1 })).toBe('device-unavailable');
      expect(await open({ device: 'no such name' })).toBe('device-unavailable');
      for (const device of [-1, 0.5, '', {}]) expect(await open({ device })).toBe('invalid-argument');
      expect(await open({ context: 5 })).toBe('invalid-argument');
      expect(await open({ stream: 5n })).toBe('invalid-argument');
      expect(await open({ context: 0xc0den, device: 1 })).toBe('device-unavailable');
    });
  });
});
