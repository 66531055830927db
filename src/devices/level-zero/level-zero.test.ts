/** The Level Zero device on a stand-in for the driver, which runs kernels on the processor and reorders commands as freely as the rules allow. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { buildLevelZero, type LevelZeroStandIn } from '../../../test/device/level-zero.ts';
import { codeOf, fixed, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { expectOnDevice } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { Device } from '../../engine/device.ts';
import type { Backend, PackedKernel } from '../device.ts';
import { levelZero } from './api.ts';
import { availability } from './select.ts';

const random = randomFor('devices/level-zero');
const built = await buildLevelZero();
const DEVICE_LOST = 0x70000001;
const BUILD_FAILURE = 0x70000004;
const OUT_OF_MEMORY = 0x70000003;

afterAll(() => built?.remove());

describe.runIf(built)('the Level Zero device', () => {
  const sim = built as LevelZeroStandIn;
  const opened: Backend[] = [];
  const open = async (options: Parameters<LevelZeroStandIn['open']>[0] = {}) => {
    const backend = await sim.open(options);
    opened.push(backend);
    return backend;
  };
  afterEach(() => {
    sim.lose(0);
    for (const backend of opened.splice(0)) backend.close();
    sim.setIntegrated(false);
    sim.setMemory(2 ** 32);
    expect(sim.faults()).toBe('');
    const { launches, ...left } = sim.counts();
    expect(
      Object.values(left).every((count) => count === 0),
      JSON.stringify(left),
    ).toBe(true);
  });

  const COUNT = 16;
  const kernel = scaleKernel(2, 8, 2);
  /** A packed kernel as another process reads it. */
  const reread = (packed: PackedKernel) => ({ ...packed, facts: JSON.parse(JSON.stringify(packed.facts)) });
  const signal = () => new Float32Array(uniform(random, COUNT, 'single'));
  const tripled = (x: Float32Array) => x.map((value) => 3 * value);
  const read = async (backend: Backend, buffer: ReturnType<Backend['allocate']>) => {
    const result = new Float32Array(COUNT);
    await backend.download(whole(buffer), result);
    return result;
  };

  describe('opening', () => {
    it('lists the devices of all drivers, takes one by number or by a part of its name, and none that is no GPU', async () => {
      expect(await availability(false, sim.library)).toMatchObject({
        name: 'Simulated Xe',
        available: true,
        devices: [
          { name: 'Simulated Xe', memory: 2 ** 32, driver: 'Level Zero 1.3, driver 4242' },
          { name: 'Simulated NPU', fault: 'is no GPU' },
        ],
      });
      for (const device of [0, 'xe', undefined]) expect((await open({ device })).name).toBe('Simulated Xe');
      for (const device of [1, 'NPU', 2, 'no such device'])
        expect(await codeOf(() => open({ device }))).toBe('device-unavailable');
      for (const device of ['', -1, 1.5, {}]) expect(await codeOf(() => open({ device }))).toBe('invalid-argument');
      for (const context of [0n, 12n, 5 as never])
        expect(await codeOf(() => open({ context }))).toBe('invalid-argument');
    });

    it('reads its profile from the driver', async () => {
      const { profile } = await open({ profile: { passCost: 17 } });
      expect(profile).toMatchObject({
        ...{ lockstepBytes: 64, sharedBytes: 65536, maxThreads: 512, multiprocessors: 8, maxBytes: 2 ** 32 },
        ...{ precisions: ['single', 'double'], passCost: 17 },
      });
    });

    it('says what is missing: the loader, or a driver behind it', async () => {
      const loader = await availability(false, '/nowhere/libze_loader.so.1');
      expect(loader).toMatchObject({ available: false, reason: expect.stringContaining('libze1') });
      // Another path of the same library is loaded anew.
      const again = sim.library.replace('/libze', '//libze');
      sim.setDrivers(0);
      expect(await codeOf(() => levelZero(again))).toBe('device-unavailable');
      expect(await availability(false, again)).toMatchObject({ reason: expect.stringContaining('UNINITIALIZED') });
      sim.setDrivers(2);
      expect(await availability(false, again)).toMatchObject({ available: true });
    });

    it('gives back what it took where opening fails', async () => {
      for (const name of ['zeContextCreate', 'zeCommandListCreateImmediate']) {
        sim.failNext(name, DEVICE_LOST);
        expect(await codeOf(() => open())).toBe('device-lost');
      }
    });
  });

  describe('running', () => {
    it.each([false, true])('runs what it is given in order; memory that the host sees: %s', async (integrated) => {
      sim.setIntegrated(integrated);
      const backend = await open();
      const [from, to] = [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
      const program = backend.bind(steps(backend, kernel), [whole(from), whole(to)]);
      const [first, second] = [signal(), signal()];
      const results = [new Float32Array(COUNT), new Float32Array(COUNT)] as const;
      await Promise.all([
        backend.upload(whole(from), first),
        program.run(),
        backend.download(whole(to), results[0]),
        backend.upload(whole(from), second),
        program.run(),
        backend.download(whole(to), results[1]),
      ]);
      expect(results).toEqual([tripled(first), tripled(second)]);
      backend.uploadSync!(whole(from), first);
      program.runSync!();
      backend.downloadSync!(whole(to), results[1]);
      expect(results[1]).toEqual(tripled(first));
      // A program of two steps, where the second step reads the results of the first.
      const step = ([input, output]: (typeof from)[]) => ({
        kernel: backend.compile(kernel),
        arguments: [fixed(whole(input!)), fixed(whole(output!))],
      });
      const third = backend.allocate(4 * COUNT);
      const chain = backend.bind([step([from, third]), step([third, to])], []);
      await chain.run();
      expect(await read(backend, to)).toEqual(tripled(tripled(first)));
      expect(await chain.time!(4)).toBeGreaterThan(0);
    });

    it('says what the kernel language says, in launches of many groups', async () => {
      const backend = await open();
      const samples = (['f32', 'f64'] as const).map((type) => random.pick(languageSamples(random, type)));
      for (const sample of samples) await expectOnDevice(backend, sample, { maxGroups: 3 });
    });

    it('transforms', async () => {
      const device = new Device(await open());
      const plan = await device.plan({ size: [24], batches: 5, normalize: true });
      const x = new Float32Array(uniform(random, 240, 'single'));
      const back = await plan.inverse(await plan.forward(x));
      for (const [n, value] of x.entries()) expect(back[n]).toBeCloseTo(value, 5);
      expect(await plan.measure('forward')).toBeGreaterThan(0);
      expect(plan.kernels.every(({ language }) => language === 'spirv')).toBe(true);
    });
  });

  describe("what is the caller's", () => {
    it('is its context, memory by pointers, and a list that runs when the caller likes', async () => {
      const out = new BigUint64Array(1);
      const own = await open();
      const { context } = (own as unknown as { readonly driver: { readonly context: bigint } }).driver;
      const backend = await open({ context });
      const [from, to] = [own.allocate(4 * COUNT), own.allocate(4 * COUNT)];
      const pointers = [from, to].map((buffer) => (buffer as unknown as { readonly handle: bigint }).handle);
      const adopted = pointers.map((devicePointer) => backend.adopt!({ devicePointer, bytes: 4 * COUNT }, 'x')!);
      const x = signal();
      await own.upload(whole(from), x);
      await own.finish();
      const list = sim.driver('zeCommandListCreate', ['uint64_t', 'uint64_t', 'void *', 'void *']);
      expect(list(context, 0xe0000n, null, out)).toBe(0);
      const program = backend.bind(steps(backend, kernel, 1), [whole(adopted[0]!), whole(adopted[1]!)]);
      await program.encode!(out[0]);
      const before = sim.counts().launches;
      const execute = sim.driver('sim_execute', ['uint64_t']);
      expect([execute(out[0]), execute(out[0])]).toEqual([0, 0]);
      expect(sim.counts().launches - before).toBe(2);
      expect(await read(own, to)).toEqual(tripled(x));
      sim.driver('zeCommandListDestroy', ['uint64_t'])(out[0]);
      for (const target of [0n, 7n, 'list', undefined]) {
        expect(await codeOf(async () => program.encode!(target))).toBe('invalid-encoder');
      }
      expect(await codeOf(() => backend.adopt!({ devicePointer: pointers[0]!, bytes: 4 * COUNT + 1 }, 'x'))).toBe(
        'buffer-too-small',
      );
      expect(await codeOf(() => backend.adopt!({ devicePointer: 4096n, bytes: 4 }, 'x'))).toBe('foreign-buffer');
      backend.close();
      expect(await read(own, from)).toEqual(x);
    });
  });

  describe('compiled code', () => {
    it('is packed as SPIR-V and as what the driver made of it, and compiled anew where that is not taken', async () => {
      const backend = await open();
      const [from, to] = [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
      const x = signal();
      await backend.upload(whole(from), x);
      const compiled = backend.compile(kernel);
      const [all, source] = [backend.pack!(compiled, true), backend.pack!(compiled, false)];
      expect(new TextDecoder('latin1').decode(all.code)).toContain('SIMZEBIN');
      const broken = { ...all, code: all.code.map((byte, n) => (n < source.code.length ? byte : 0)) };
      for (const packed of [all, source, broken]) {
        const again = backend.unpack!(reread(packed), () => kernel);
        await backend.warmUp([again]);
        const step = { kernel: again, arguments: [fixed(whole(from)), fixed(whole(to))] };
        await backend.bind([step], []).run();
        expect(await read(backend, to)).toEqual(tripled(x));
      }
    });

    it('is looked for in the store before the compiler is asked', async () => {
      const kept = new Map<string, Uint8Array>();
      const store = {
        build: 'test',
        get: (key: string) => kept.get(key),
        put: (key: string, value: Uint8Array) => kept.set(key, value),
      };
      const backend = await open({ store });
      await backend.warmUp([backend.compile(kernel)]);
      expect(kept.size).toBe(1);
      const other = await open({ store });
      const compiled = other.compile(kernel);
      // SPIR-V would be rejected now, but is not needed.
      await other.warmUp([compiled]);
      expect(kept.size).toBe(1);
      expect(sim.counts().modules).toBe(2);
    });
  });

  describe('failures', () => {
    it('of the compiler come with what it says', async () => {
      const backend = await open();
      for (const sync of [true, false]) {
        const compiled = backend.compile(kernel);
        sim.failNext('zeModuleCreate', BUILD_FAILURE);
        const attempt = async () => (sync ? backend.pack!(compiled, true) : backend.warmUp([compiled]));
        await expect(attempt()).rejects.toMatchObject({
          code: 'compile-failed',
          message: expect.stringContaining('MODULE_BUILD_FAILURE'),
        });
      }
      // Invalid SPIR-V.
      const broken = reread(backend.pack!(backend.compile(kernel), false));
      const none = backend.unpack!({ ...broken, code: broken.code.map(() => 1) }, () => kernel);
      await expect(backend.warmUp([none])).rejects.toMatchObject({
        code: 'compile-failed',
        message: expect.stringContaining('The compiler said: llvm-spirv'),
      });
      for (const name of ['zeKernelCreate', 'zeKernelSetGroupSize']) {
        sim.failNext(name, 0x78000011);
        expect(await codeOf(() => backend.warmUp([backend.compile(kernel)]))).toBe('compile-failed');
      }
    });

    it('of memory say how much was asked for, and groups that do not fit are refused', async () => {
      const backend = await open();
      sim.failNext('zeMemAllocDevice', OUT_OF_MEMORY);
      sim.setMemory(2 ** 20);
      // Freed memory may become available again, so an allocation is tried twice.
      expect(backend.allocate(64).bytes).toBe(64);
      expect(await codeOf(() => backend.allocate(2 ** 19 + 1e6))).toBe('out-of-memory');
      expect(await codeOf(() => backend.compile({ ...kernel, threads: 513 }))).toBe('device-limit');
    });

    it('of the device end all calls, and closing it still gives everything back', async () => {
      const backend = await open();
      const [from, to] = [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
      const program = backend.bind(steps(backend, kernel), [whole(from), whole(to)]);
      await backend.upload(whole(from), signal());
      const run = program.run();
      sim.lose(DEVICE_LOST);
      await expect(run).rejects.toMatchObject({ code: 'device-lost' });
      expect(await codeOf(() => program.run())).toBe('device-lost');
      backend.close();
    });

    it('of calls that wait when it is closed are told so', async () => {
      const backend = await open();
      const [from, to] = [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
      const program = backend.bind(steps(backend, kernel), [whole(from), whole(to)]);
      const run = program.run();
      backend.close();
      await expect(run).rejects.toMatchObject({ code: 'device-closed' });
    });
  });
});
