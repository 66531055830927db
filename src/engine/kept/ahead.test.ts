/** Plans compiled ahead of time without a device: devices that they fit run them without a compiler, others refuse them by name. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildLevelZero } from '../../../test/device/level-zero.ts';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { triedComplex } from '../../../test/support/complex.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noOcloc } from '../../../test/support/spirv.ts';
import { noVulkan, vulkanOptions } from '../../../test/support/vulkan.ts';
import { create as createCpu } from '../../devices/cpu/index.ts';
import type { Backend } from '../../devices/device.ts';
import { create as createVulkan } from '../../devices/vulkan/index.ts';
import type { ProblemInput } from '../../problem/index.ts';
import { compilingDevices } from '../compiling-devices.ts';
import { Device } from '../device.ts';
import { joinBinaries } from './binaries.ts';

const random = randomFor('engine/kept/ahead');
const simulator = await buildSimulator();
const levelZero = await buildLevelZero();
afterAll(() => {
  simulator?.remove();
  levelZero?.remove();
});

const opened: Device[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
  vi.restoreAllMocks();
});

function held(device: Device): Device {
  opened.push(device);
  return device;
}

const problems: readonly ProblemInput[] = [
  { size: [random.pick([48, 60, 100])], batches: 2, directions: 'forward' },
  { size: [random.pick([16, 30]), 4], layout: 'planar', directions: 'forward' },
];

/** The plans of all problems for all devices that a profile stands for. */
async function bundleOf(...settings: Parameters<typeof compilingDevices>): Promise<Uint8Array> {
  const saved: Uint8Array[] = [];
  for (const device of await compilingDevices(...settings)) {
    held(device);
    for (const problem of problems) {
      saved.push((await device.plan({ ...problem, debug: true })).serialize({ binaries: true }));
    }
  }
  return joinBinaries(saved);
}

const kinds = [
  {
    name: 'a CPU with one thread',
    missing: false,
    bundle: () => bundleOf('wasm-cpu'),
    open: () => createCpu({ threads: 1 }),
  },
  {
    name: 'a CPU with two threads',
    missing: false,
    bundle: () => bundleOf('wasm-cpu'),
    open: () => createCpu({ threads: 2 }),
  },
  {
    name: 'CUDA without NVRTC, simulated',
    missing: !simulator,
    bundle: () => bundleOf('h100', { kinds: { cuda: simulator!.kind } }),
    open: () => simulator!.open({}, false),
  },
  {
    name: 'Vulkan',
    missing: Boolean(noVulkan.swiftshader),
    bundle: () => bundleOf('webgpu-default', { language: 'spirv' }),
    open: async () => createVulkan(await vulkanOptions('swiftshader')),
  },
  {
    name: 'the stand-in for Level Zero, which takes the SPIR-V beside the code',
    missing: !levelZero || Boolean(noOcloc),
    bundle: async () => {
      const bundle = await bundleOf('arc', { language: 'spirv', architecture: 'dg2' });
      // One kernel for each problem, as ocloc writes code.
      expect(new TextDecoder('latin1').decode(bundle).split('\x7fELF').length - 1).toBe(problems.length);
      return bundle;
    },
    open: () => levelZero!.open(),
  },
] as const;

describe.each(kinds)('a bundle compiled ahead of time, on $name', ({ missing, bundle, open }) => {
  it.skipIf(missing)('runs without a compiler, and as the reference does', async () => {
    const from = await bundle();
    const backend: Backend = await open();
    const compiled = vi.spyOn(backend, 'compile');
    const device = held(new Device(backend));
    const loading = { plan: (problem: ProblemInput) => device.plan(problem, { from }) } as unknown as Device;
    for (const problem of problems) {
      const { error, allowed, damage, what } = await triedComplex(loading, problem, 'forward', random);
      expect(error, what).toBeLessThanOrEqual(allowed);
      expect(damage, what).toEqual([]);
    }
    expect(compiled).not.toHaveBeenCalled();
  });
});

describe('a bundle compiled ahead of time', () => {
  const says = (text: string) =>
    expect.objectContaining({ code: 'invalid-saved-plan', message: expect.stringContaining(text) });

  it('is refused where it does not fit, by what differs', async () => {
    const from = await bundleOf('wasm-cpu');
    const [problem] = problems as [ProblemInput];
    const refused = (backend: Backend, bytes: Uint8Array, of = problem) =>
      expect(held(new Device(backend)).plan({ ...of, debug: true }, { from: bytes })).rejects;
    await refused(await createCpu({ threads: 1 }), from, { size: [7] }).toEqual(says('none of them for this problem'));
    const other = await createCpu({ threads: 1 });
    vi.spyOn(other, 'codeFacts', 'get').mockReturnValue({ sharedMemory: 'another' });
    await refused(other, from).toEqual(says('sharedMemory'));
    const spirv = await bundleOf('webgpu-default', { language: 'spirv' });
    await refused(await createCpu({ threads: 1 }), spirv).toEqual(says("'vulkan'"));
    for (let n = 0; n < 20; n++) {
      const damaged = from.slice();
      damaged[random.integer(0, from.length - 9)]! ^= 1 << random.integer(0, 7);
      const device = held(new Device(await createCpu({ threads: 1 })));
      const plan = await device.plan({ ...problem, debug: true }, { from: damaged }).catch((error) => error);
      // A bit of another plan, or of the padding between them, does this one no harm.
      if (plan instanceof Error) expect(plan).toMatchObject({ code: 'invalid-saved-plan' });
    }
  });

  it('of doubles is refused where there are none', async () => {
    const problem: ProblemInput = { size: [8], precision: 'double' };
    const [compiling] = await compilingDevices('h100', { language: 'spirv' });
    const from = (await held(compiling!).plan(problem)).serialize({ binaries: true });
    const backend = await createCpu({ threads: 1 });
    vi.spyOn(backend, 'kind', 'get').mockReturnValue('vulkan' as never);
    vi.spyOn(backend, 'profile', 'get').mockReturnValue({ ...backend.profile, precisions: ['single'] });
    await expect(held(new Device(backend)).plan(problem, { from })).rejects.toEqual(says('precisions'));
  });

  it('is not made for what its compiler cannot know', async () => {
    const refusals = [
      ['h100', { architecture: 'gfx90a' }, 'invalid-argument'],
      ['m2', {}, 'unsupported-feature'],
      ['wasm-cpu', { architecture: 'sm_90' }, 'invalid-argument'],
      ['h100', { language: 'wasm' }, 'invalid-argument'],
      ['h100', { language: 'opencl' }, 'invalid-argument'],
      ['nothing', {}, 'unknown-device'],
    ] as const;
    for (const [name, settings, code] of refusals) {
      await expect(compilingDevices(name as 'h100', settings)).rejects.toMatchObject({ code });
    }
  });
});
