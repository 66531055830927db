/** Callbacks on every device that runs here: random ones, in random problems, against the same functions of numbers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { Device as EngineDevice } from '../../src/engine/device.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import { buildSimulator } from '../device/simulator.ts';
import type { Tried } from '../support/accuracy.ts';
import { type CalledKind, calledKinds, calledProblem, triedCalled } from '../support/called-problems.ts';
import { randomThreads, variedDevices, vectorProfile } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { repeated } from '../support/optional.ts';
import { randomFor } from '../support/random.ts';
import type { RealTransform } from '../support/sums.ts';
import { exhaustive, precisionsOf } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/callbacks');
/** Profiles with little memory have no plan for large primes. */
async function fits(device: Device, problem: ProblemInput): Promise<boolean> {
  try {
    (await device.plan(problem)).destroy();
    return true;
  } catch (error) {
    if (!String(error).includes('No plan fits')) throw error;
    return false;
  }
}

/** @param launches that each direction takes at least */
async function check(device: Device, kind: CalledKind, problem: ProblemInput, launches = 1): Promise<void> {
  let all: readonly Tried[];
  try {
    all = await triedCalled(device, kind, problem, random);
  } catch (error) {
    // Callbacks change nothing about that.
    if (await fits(device, problem)) throw error;
    return;
  }
  for (const { what, error, allowed, damage } of all) {
    expect(damage, what).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
    expect(what.split('; ').length, what).toBeGreaterThanOrEqual(launches);
  }
}

describe.skipIf(repeated)('on the CPU', () => {
  let devices: Device[];
  beforeAll(async () => {
    devices = await variedDevices(random, 3);
  });
  afterAll(() => {
    for (const device of devices) device.close();
  });

  it.each(calledKinds)('random problems, %s', async (kind) => {
    for (let round = 0; round < (exhaustive ? 1500 : 6); round++) {
      const device = random.pick(devices);
      await check(device, kind, calledProblem(random, kind, 3000, precisionsOf(device), device !== devices[0]));
    }
  });

  it.each([
    ['c2c', { size: [2 ** 16] }],
    ['c2c', { size: [1009], batches: 2 }],
    ['c2c', { size: [2053], placement: 'in-place' }],
    ['c2c', { size: [48, 40, 20], placement: 'in-place' }],
    ['r2c', { size: [30_030], transform: 'r2c' }],
    ['r2c', { size: [10_007], transform: 'r2c' }],
    ['sums', { size: [5000], transform: 'dct2' }],
  ] as const)('%s of %j', async (kind, problem) => {
    await check(devices[0]!, kind, problem as ProblemInput);
  });
});

describe.skipIf(repeated)('by the interpreter', () => {
  it.each(calledKinds)('plans for any device, %s', async (kind) => {
    for (let round = 0; round < (exhaustive ? 300 : 3); round++) {
      const profile = { ...vectorProfile, ...randomThreads(random) };
      const device = openInterpreted(profile);
      await check(device, kind, calledProblem(random, kind, 600, precisionsOf(device), true));
      device.close();
    }
  });

  it('sums in several uploads', async () => {
    const { cluster: _, ...profile } = namedProfiles.h200.profile;
    const device = openInterpreted({ ...profile, sharedBytes: 2048, residentBytes: 2048 });
    // Of lengths that go in columns, two lines at a time and with zeros between launches.
    const lengths = { dct1: [513, 730], dct2: [1024, 729], dct3: [1024, 729], dct4: [1024, 1001] };
    for (const [kind, ways] of Object.entries(lengths)) {
      const sines = random.integer(0, 1) === 1;
      const transform = (sines ? kind.replace('c', 's') : kind) as RealTransform;
      const n = random.pick(ways) - (transform === 'dst1' ? 2 : 0);
      const precision = random.pick(['single', 'double'] as const);
      await check(device, 'sums', { size: [n], transform, precision, batches: random.integer(1, 3) }, 2);
    }
    device.close();
  });
});

/** CUDA text, compiled for the processor: see the simulator. */
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

describe.runIf(simulator)('on a simulated GPU', () => {
  it.each(calledKinds)('a random problem, %s', async (kind) => {
    const device = new EngineDevice(await simulator!.open());
    await check(device, kind, calledProblem(random, kind, 1000, precisionsOf(device)));
    device.close();
  });
});

describe.each([
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu },
  ...vulkanDevices,
])('on $name', ({ missing, open }) => {
  let device: Device;
  beforeAll(async () => {
    if (!missing) device = await open();
  });
  afterAll(() => device?.close());

  it.skipIf(missing)('random problems', async () => {
    for (const kind of calledKinds) {
      for (let round = 0; round < (exhaustive ? 30 : 1); round++) {
        // The kernels of one way alone are compiled.
        const way = exhaustive ? {} : { directions: random.pick(['forward', 'inverse'] as const) };
        await check(device, kind, { ...calledProblem(random, kind, 1000, precisionsOf(device)), ...way });
      }
    }
  });
});
