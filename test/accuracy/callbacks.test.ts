/** Callbacks on every device that runs here: random ones, in random problems, against the same functions of numbers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Device as EngineDevice } from '../../src/engine/device.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import { buildSimulator } from '../device/simulator.ts';
import { type Called, randomCalled, shapesOf } from '../support/called.ts';
import { complexProblem, triedComplex } from '../support/complex.ts';
import { randomThreads, variedDevices, vectorProfile } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import * as real from '../support/real.ts';
import * as sums from '../support/sums.ts';
import { exhaustive, precisionsOf } from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/callbacks');
const directions = ['forward', 'inverse'] as const;
type Kind = 'c2c' | 'r2c' | 'sums';
const kinds: readonly Kind[] = ['c2c', 'r2c', 'sums'];
const KINDS = { c2c: triedComplex, r2c: real.triedReal, sums: sums.triedSums } as const;

function problemOf(kind: Kind, most: number, device: Device, varied = false): ProblemInput {
  const precisions = precisionsOf(device);
  const blocked = random.integer(0, 3) === 0;
  if (kind === 'c2c') return complexProblem(random, most, precisions);
  if (kind === 'r2c') {
    const problem = { ...real.realProblem(random, most, precisions), transform: 'r2c' } as ProblemInput;
    return blocked ? real.withBlocks(random, problem) : problem;
  }
  const problem = sums.sumsProblem(random, most, precisions);
  // Of other profiles, blocks of sums are no matter of callbacks.
  return blocked && !varied ? sums.withBlocks(random, problem) : problem;
}

function calledFor(kind: Kind, problem: ProblemInput): Called {
  const complex = { input: kind === 'c2c', output: kind !== 'sums' };
  return randomCalled(random, { problem, shapes: shapesOf(problem), complex });
}

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

async function check(device: Device, kind: Kind, problem: ProblemInput): Promise<void> {
  const called = calledFor(kind, problem);
  if (!(await fits(device, problem))) return;
  for (const direction of directions) {
    const { what, error, allowed, damage } = await KINDS[kind](device, problem, direction, random, called);
    expect(damage, what).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
  }
}

describe('on the CPU', () => {
  let devices: Device[];
  beforeAll(async () => {
    devices = await variedDevices(random, 3);
  });
  afterAll(() => {
    for (const device of devices) device.close();
  });

  it.each(kinds)('random problems, %s', async (kind) => {
    for (let round = 0; round < (exhaustive ? 1500 : 12); round++) {
      const device = random.pick(devices);
      await check(device, kind, problemOf(kind, 3000, device, device !== devices[0]));
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

describe('by the interpreter', () => {
  it.each(kinds)('plans for any device, %s', async (kind) => {
    for (let round = 0; round < (exhaustive ? 300 : 6); round++) {
      const profile = { ...vectorProfile, ...randomThreads(random) };
      const device = openInterpreted(profile);
      await check(device, kind, problemOf(kind, 600, device, true));
      device.close();
    }
  });
});

/** CUDA text, compiled for the processor: see the simulator. */
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

describe.runIf(simulator)('on a simulated GPU', () => {
  it.each(kinds)('a random problem, %s', async (kind) => {
    const device = new EngineDevice(await simulator!.open());
    await check(device, kind, problemOf(kind, 1000, device));
    device.close();
  });
});

describe.each([
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu },
])('on $name', ({ missing, open }) => {
  let device: Device;
  beforeAll(async () => {
    if (!missing) device = await open();
  });
  afterAll(() => device?.close());

  it.skipIf(missing)('random problems', async () => {
    for (const kind of kinds) {
      for (let round = 0; round < (exhaustive ? 30 : 1); round++) {
        await check(device, kind, problemOf(kind, 1000, device));
      }
    }
  });
});
