/** The Vulkan device itself: memory, the queue, the caller's objects, and refusals. Accuracy is tested elsewhere. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, fixed, scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { missing } from '../../../test/support/optional.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { lavapipeFile, noVulkan, openVulkan, vulkanOptions } from '../../../test/support/vulkan.ts';
import { Device } from '../../engine/device.ts';
import { openDevice } from '../../index.ts';
import type { Backend } from '../device.ts';
import { MEMORY, TYPE, type Vulkan, vkFailure, vulkan } from './api.ts';
import type { VkDriver } from './driver.ts';
import { create as createVulkanBackend, type VulkanOptions } from './index.ts';
import type { VkKernel } from './kernel.ts';
import { vkDevices } from './select.ts';

const random = randomFor('vulkan device');

describe.each(['lavapipe', 'swiftshader'] as const)('the Vulkan device on %s', (name) => {
  const skipped = noVulkan[name] !== undefined;
  const cleanup: (() => void)[] = [];
  let base: VulkanOptions;
  let api: Vulkan;
  beforeAll(async () => {
    if (skipped) return;
    base = await vulkanOptions(name);
    api = await vulkan();
  });
  afterEach(() => {
    for (const undo of cleanup.splice(0).reverse()) undo();
  });
  const open = async (options: VulkanOptions = {}): Promise<Backend> => {
    const backend = await createVulkanBackend({ ...base, ...options });
    cleanup.push(() => backend.close());
    return backend;
  };
  /** The device's driver object, whose handles stand for a caller's. */
  const partsOf = (backend: Backend) => (backend as unknown as { readonly driver: VkDriver }).driver;

  describe.skipIf(skipped)('opening', () => {
    it('takes a device by number or by a part of its name, and lists them where none fits', async () => {
      const [first] = await vkDevices(api, base.driver);
      for (const device of [0, first!.name.slice(1, 7)]) expect((await open({ device })).name).toBe(first!.name);
      for (const device of ['no such device', 99]) {
        await expect(open({ device })).rejects.toMatchObject({
          code: 'device-unavailable',
          message: expect.stringContaining(first!.name),
        });
      }
      for (const device of ['', -1, 1.5, {}]) expect(await codeOf(() => open({ device }))).toBe('invalid-argument');
    });

    it('says that there is no device where the only driver is none', async () => {
      expect(await codeOf(() => createVulkanBackend({ driver: join(tmpdir(), 'no-such-driver.json') }))).toBe(
        'device-unavailable',
      );
    });

    it('reads its profile from the driver, and lets parts be replaced', async () => {
      const { profile } = await open({ profile: { passCost: 17 } });
      expect(profile).toMatchObject({ lockstep: 'threads', passCost: 17 });
      expect(profile.precisions).toEqual(name === 'lavapipe' ? ['single', 'double'] : ['single']);
      for (const number of [profile.lockstepBytes, profile.sharedBytes, profile.maxThreads, profile.maxBytes]) {
        expect(number).toBeGreaterThan(0);
      }
    });
  });

  describe.skipIf(skipped)('running', () => {
    it('runs kernels, with fixed memory and offsets on both sides', async () => {
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

    it.each([true, false])('runs what it is given in order; memory that the host sees: %s', async (seen) => {
      const device = await open();
      if (!seen) hideMemory(device);
      const data = device.allocate(64);
      const kernels = Array.from({ length: 4 }, (_, i) => device.compile(scaleKernel(1, 16, i + 1)));
      const bound = kernels.map((kernel) =>
        device.bind([{ kernel, arguments: [fixed(whole(data)), fixed(whole(data))] }], []),
      );
      const up = device.upload(whole(data), new Float32Array(16).fill(1));
      const runs = bound.map((program) => program.run());
      const got = new Float32Array(16);
      const down = device.download(whole(data), got);
      for (const program of bound) program.release();
      await Promise.all([up, ...runs, down]);
      expect(got).toEqual(new Float32Array(16).fill(120));
      device.uploadSync!(whole(data), new Float32Array(16).fill(2));
      device.downloadSync!(whole(data), got);
      expect(got[15]).toBe(2);
    });

    it('launches in many parts, and with more arguments than push constants have room for', async () => {
      const device = await open();
      const { limits } = partsOf(device).setup.physical;
      Object.assign(limits, { groups: 3, pushBytes: 8 });
      const size = 37 * 12;
      const [input, output] = [device.allocate(4 * size), device.allocate(4 * size)];
      const data = new Float32Array(uniform(random, size, 'single'));
      await device.upload(whole(input), data);
      const program = device.bind(steps(device, scaleKernel(37, 12, 3)), [whole(input), whole(output)]);
      await program.run();
      const got = new Float32Array(size);
      await device.download(whole(output), got);
      data.forEach((value, i) => expect(Math.abs(got[i]! - 4 * value)).toBeLessThanOrEqual(5e-7));
    });

    it('makes pipelines of the group size that the program has, and of the subgroup size that is asked for', async () => {
      const device = await open();
      const { api, setup } = partsOf(device);
      const required: number[] = [];
      const struct = api.struct.bind(api);
      api.struct = (type, next, ...fields) => {
        if (type === TYPE.requiredSubgroupSize) required.push(fields[0] as number);
        return struct(type, next, ...fields);
      };
      cleanup.push(() => Object.assign(api, { struct }));
      const size = 5 * 12;
      const data = new Float32Array(uniform(random, size, 'single'));
      const [input, output] = [device.allocate(4 * size), device.allocate(4 * size)];
      await device.upload(whole(input), data);
      const { least = 1, most = 0 } = setup.features.subgroups ?? {};
      for (const subgroupSize of [most, 2 * most, least / 2, undefined]) {
        const options = subgroupSize === undefined ? {} : { subgroupSize };
        const kernel = device.compile({ ...scaleKernel(5, 12, 3), threads: 4 }, options);
        // Without specialization, groups of the module have one thread, and three quarters of the items would be left out.
        const words = new Uint32Array((kernel as unknown as VkKernel).program.source.slice().buffer);
        const SPEC_CONSTANT = 0x40032;
        words[words.indexOf(SPEC_CONSTANT) + 3] = 1;
        (kernel as unknown as VkKernel).program.source.set(new Uint8Array(words.buffer));
        await device.upload(whole(output), new Float32Array(size).fill(Number.NaN));
        const given = [input, output].map((buffer) => fixed(whole(buffer)));
        await device.bind([{ kernel, arguments: given }], []).run();
        const got = new Float32Array(size);
        await device.download(whole(output), got);
        data.forEach((value, i) => expect(Math.abs(got[i]! - 4 * value)).toBeLessThanOrEqual(5e-7));
      }
      expect(required).toEqual(setup.features.subgroups ? [most] : []);
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
      const other = device.allocate(4 * length);
      work.push(device.upload(whole(other), new Float32Array(length).fill(7)));
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

    it('packs kernels as SPIR-V and unpacks them', async () => {
      const device = await open();
      const other = await open();
      const packed = device.pack!(device.compile(scaleKernel(2, 8, 1)), true);
      expect(new DataView(packed.code.buffer, packed.code.byteOffset).getUint32(0, true)).toBe(0x07230203);
      const kernel = other.unpack!(structuredClone(packed) as typeof packed, () => scaleKernel(2, 8, 1));
      await other.warmUp([kernel]);
      const data = other.allocate(64);
      await other.upload(whole(data), new Float32Array(16).fill(3));
      await other.bind([{ kernel, arguments: [fixed(whole(data)), fixed(whole(data))] }], []).run();
      const got = new Float32Array(16);
      await other.download(whole(data), got);
      expect(got).toEqual(new Float32Array(16).fill(6));
    });
  });

  describe.skipIf(skipped)('what the caller brings', () => {
    it('a device, a queue, a command buffer and buffers', async () => {
      const theirs = partsOf(await open());
      const { physical, device: vkDevice, queue: vkQueue, queueFamily } = theirs.setup;
      const handles = { vkPhysicalDevice: physical.handle, vkDevice, vkQueue, queueFamily };
      const features = ['shaderInt64', 'shaderFloat64'].filter(() => name === 'lavapipe');
      const device = new Device(await createVulkanBackend({ ...base, device: { ...handles, features } }));
      const size = 96;
      const made = [0, 1].map(() => theirs.allocate(8 * size, MEMORY.hostVisible | MEMORY.hostCoherent));
      const views = made.map(({ mapped }) => new Float32Array(theirs.view(mapped!, 8 * size).buffer, 0, 2 * size));
      const commands = theirs.commands();
      const plan = await device.plan({ size: [size], directions: 'forward' });
      const [input, output] = made.map(({ buffer: vkBuffer }) => ({ vkBuffer, bytes: 8 * size }));
      views[0]!.fill(0)[2] = 1;
      theirs.record(commands, true, () => void plan.enqueue('forward', { input, output, encoder: commands } as never));
      theirs.submit([commands]);
      theirs.synchronize();
      for (let k = 0; k < size; k++) {
        const angle = (-2 * Math.PI * k) / size;
        const [re, im] = views[1]!.subarray(2 * k);
        expect(Math.hypot(re! - Math.cos(angle), im! - Math.sin(angle))).toBeLessThan(1e-5);
      }
      expect(() => plan.enqueue('forward', { input, output: input } as never)).toThrow(
        expect.objectContaining({ code: 'aliased-buffers' }),
      );
      plan.destroy();
      device.close();
      // The caller's device and queue are still alive.
      theirs.freeCommands(commands);
      for (const each of made) theirs.free(each);
    });

    it('refuses what does not serve', async () => {
      const device = await open();
      const adopt = (memory: unknown) => codeOf(() => device.adopt!(memory, 'input'));
      for (const vkBuffer of [0n, -1n, 12]) expect(await adopt({ vkBuffer, bytes: 8 })).toBe('invalid-argument');
      const driver = partsOf(device);
      const made = driver.allocate(64, MEMORY.hostVisible);
      for (const bytes of [undefined, 0, 1.5])
        expect(await adopt({ vkBuffer: made.buffer, bytes })).toBe('invalid-argument');
      expect(await adopt({ vkBuffer: made.buffer, bytes: 2 ** 30 })).toBe('buffer-too-small');
      driver.free(made);
      const data = device.allocate(256);
      const program = device.bind(steps(device, scaleKernel(2, 8, 1)), [whole(data), whole(data)]);
      for (const target of ['encoder', 7n, 7]) {
        expect(await codeOf(() => program.encode!(target))).toBe('invalid-encoder');
      }
      const handles = { vkPhysicalDevice: 0n, vkDevice: 0n, vkQueue: 0n, queueFamily: 0 };
      expect(await codeOf(() => open({ device: handles }))).toBe('invalid-argument');
    });
  });

  describe.skipIf(skipped)('what goes wrong', () => {
    it('refuses what cannot be bound, copied or run', async () => {
      const [device, other] = [await open(), await open()];
      const [mine, foreign] = [device.allocate(256), other.allocate(256)];
      const made = steps(device, scaleKernel(1, 8, 1));
      const bind = (...slots: Parameters<Backend['bind']>[1]) => codeOf(() => device.bind(made, slots));
      expect(await bind(whole(mine), whole(foreign))).toBe('foreign-buffer');
      expect(await bind(whole(mine), undefined)).toBe('missing-buffer');
      expect(await bind(whole(mine), { buffer: mine, byteOffset: 2 })).toBe('misaligned-buffer');
      expect(await codeOf(() => device.upload(whole(foreign), new Float32Array(4)))).toBe('foreign-buffer');
      expect(await codeOf(() => device.upload(whole(mine), new Float32Array(65)))).toBe('wrong-length');
      const program = device.bind(made, [whole(mine), whole(mine)]);
      mine.free();
      expect(await codeOf(() => program.run())).toBe('destroyed');
      expect(await codeOf(() => device.compile({ ...scaleKernel(1, 8, 1), threads: 2 ** 20 }))).toBe('device-limit');
      expect(await codeOf(() => device.compile(scaleKernel(1, 2 ** 26, 1)))).toBe('device-limit');
    });

    it('runs out of memory with a message that says how much there is, and works on', async () => {
      const device = await open();
      expect(() => device.allocate(2 ** 46)).toThrow(/70368744177664 bytes are more than .* \d+ of \d+/);
      expect(await codeOf(() => device.allocate(2 ** 46))).toBe('out-of-memory');
      const buffer = device.allocate(64);
      await device.upload(whole(buffer), new Float32Array(16).fill(2));
      const got = new Float32Array(16);
      await device.download(whole(buffer), got);
      expect(got[15]).toBe(2);
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
      for (const call of [
        () => device.allocate(8),
        () => device.compile(scaleKernel(1, 8, 1)),
        () => device.bind(made, []),
        () => device.adopt!({ vkBuffer: 1n, bytes: 8 }, 'input'),
        () => device.upload(whole(buffer), new Float32Array(1)),
        () => program.run(),
      ]) {
        expect(await codeOf(call)).toBe('device-closed');
      }
    });
  });

  it.skipIf(skipped)('plans that come and go leave nothing behind', async () => {
    const device = await openVulkan(name);
    cleanup.push(() => device.close());
    const backend = (device as unknown as { readonly backend: { readonly memory: { readonly held: number } } }).backend;
    const use = async (round: number) => {
      const plan = await device.plan({ size: [256], batches: 1 + (round % 3), directions: 'forward' });
      if (round % 10 === 0) await plan.forward(new Float32Array(512 * (1 + (round % 3))));
      plan.destroy();
    };
    for (let round = 0; round < 60; round++) await use(round);
    await device.finish();
    const { held } = backend.memory;
    for (let round = 0; round < 600; round++) await use(round);
    await device.finish();
    expect(backend.memory.held).toBe(held);
  });
});

/** Hides host access to memory, as on a GPU with memory of its own. */
function hideMemory(device: Backend): void {
  const { driver } = device as unknown as { driver: { allocate: VkDriver['allocate'] } };
  const allocate = driver.allocate.bind(driver);
  driver.allocate = (bytes, needed, wanted) => {
    const made = allocate(bytes, needed, wanted);
    return needed === MEMORY.deviceLocal ? { ...made, mapped: undefined } : made;
  };
}

describe('results of Vulkan', () => {
  it('get a code and the name that Vulkan gives them', () => {
    expect(vkFailure('vkX', -4)).toMatchObject({
      code: 'device-lost',
      message: expect.stringContaining('VK_ERROR_DEVICE_LOST'),
    });
    expect(vkFailure('vkX', -2).code).toBe('out-of-memory');
    expect(vkFailure('vkX', -13).code).toBe('launch-failed');
    expect(vkFailure('vkX', -9, { what: 'Opening', otherwise: 'device-unavailable' }).code).toBe('device-unavailable');
    expect(vkFailure('vkX', -9999).message).toContain('(-9999');
  });
});

describe('software on demand', () => {
  const skipped = noVulkan.lavapipe ?? noVulkan.swiftshader;
  it.skipIf(skipped)('is a device on the processor', async () => {
    const device = await openDevice('vulkan', { software: true });
    expect(device.name).toMatch(/llvmpipe|SwiftShader/);
    device.close();
  });
});

const LAYERS = '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json';
const noLayers = (() => {
  try {
    readFileSync(LAYERS);
    return noVulkan.lavapipe;
  } catch {
    return missing('lavapipe', noVulkan.lavapipe ?? 'the system has no validation layers');
  }
})();

/** A typical program with a device. */
const PROGRAM = `
import { openDevice } from 'omnifft';
const device = await openDevice('vulkan');
const numbers = { single: Float32Array, double: Float64Array, half: Uint16Array };
for (const [problem, type, reals] of [
  [{ size: [1024], batches: 3 }, 'single', 6 * 1024],
  [{ size: [2 ** 14], placement: 'in-place', precision: 'double' }, 'double', 2 ** 15],
  [{ size: [45], transform: 'r2c', precision: 'half' }, 'half', 45],
  [{ size: [64], batches: 4, tuning: { warpSize: 8 } }, 'single', 512],
]) {
  const plan = await device.plan(problem);
  await plan.inverse(await plan.forward(new numbers[type](reals)));
  const input = device.alloc(plan.input.bytes);
  const output = plan.problem.placement === 'in-place' ? input : device.alloc(plan.output.bytes);
  await plan.enqueue('forward', { input, output });
  plan.destroy();
  input.free();
  output.free();
}
device.close();
`;

describe.skipIf(noLayers)('under validation layers', () => {
  it('nothing is amiss', () => {
    const folder = mkdtempSync(join(tmpdir(), 'omnifft-layers-'));
    try {
      const [log, settings] = [join(folder, 'log.txt'), join(folder, 'vk_layer_settings.txt')];
      const lines = [
        'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG',
        `log_filename = ${log}`,
        'report_flags = error,warn',
      ];
      writeFileSync(settings, lines.map((line) => `khronos_validation.${line}\n`).join(''));
      const env = {
        ...process.env,
        VK_DRIVER_FILES: lavapipeFile,
        VK_LAYER_SETTINGS_PATH: settings,
        VK_INSTANCE_LAYERS: 'VK_LAYER_KHRONOS_validation',
        OMNIFFT_CACHE: 'off',
      };
      const root = join(import.meta.dirname, '../../..');
      execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { cwd: root, env, stdio: 'pipe' });
      expect(readFileSync(log, 'utf8')).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
