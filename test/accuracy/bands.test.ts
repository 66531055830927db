/** Sums over bands of bins against a reference in twice the precision: any problem, on every kind of device. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { type Device, FftError, type Problem, type ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import type { Tried } from '../support/accuracy.ts';
import { bandsProblem, sumsOf, triedBands, withZeros } from '../support/bands.ts';
import { randomThreads } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor, uniform } from '../support/random.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/bands');
const many = (count: number) => (exhaustive ? 40 * count : count);

/** @returns how many launches were taken */
async function expectGood(on: Device, problem: ProblemInput): Promise<number> {
  let one: Tried;
  try {
    one = await triedBands(on, problem, random);
  } catch (error) {
    // So little memory may hold no transform of such a length.
    if (error instanceof FftError && error.code === 'device-limit') return 0;
    throw new Error(JSON.stringify(problem), { cause: error });
  }
  expect(one.damage, one.what).toEqual([]);
  expect(one.error, one.what).toBeLessThanOrEqual(one.allowed);
  return one.what.split('; ').length;
}

const COMMON = { directions: 'forward' } as const;

const LENGTHS = [1, 2, 3, 8, 12, 15, 16, 31, 37, 60, 64, 100, 128, 200, 243] as const;
const LONG = [2048, 2310, 4096, 1009 * 2] as const;

async function expectRandom(on: Device, rounds: number, lengths: readonly number[] = LENGTHS): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < rounds; n++)
    taken.push(await expectGood(on, bandsProblem(random, random.pick(precisionsOf(on)), random.pick(lengths))));
  return taken;
}

describe('sums over bands', () => {
  let device: Device;
  let small: Device;
  beforeAll(async () => {
    device = await openWith({}, 2);
    small = await openWith({ sharedBytes: 4096 }, 1);
  });
  afterAll(() => {
    device.close();
    small.close();
  });

  it('of any problem are what the reference computes, and touch nothing else', async () => {
    const taken = await expectRandom(device, many(20));
    expect(taken.every((launches) => launches === 1)).toBe(true);
  });

  it('compute in double-doubles', async () => {
    const points = 24;
    const bands = [3, 8].map((from) => ({ from, weights: uniform(random, 5, 'double') }));
    const plan = await device.plan({ ...COMMON, size: [points], transform: 'r2c', precision: 'double-double', bands });
    const x = uniform(random, points, 'double');
    const y = await plan.forward(Float64Array.from({ length: 2 * points }, (_, n) => (n % 2 ? 0 : x[n / 2]!)));
    const { hi, lo } = sumsOf(plan.problem as Problem, withZeros(x), {});
    const rest = hi.map((value, n) => lo[n]! - (y[2 * n]! - value) - y[2 * n + 1]!);
    expect(Math.hypot(...rest) / Math.hypot(...hi)).toBeLessThan(2 ** -95);
    plan.destroy();
  });

  it('are said by explain, saved, and have no adjoint yet', async () => {
    const problem = { ...COMMON, size: [16], bands: Float64Array.from({ length: 32 }, (_, n) => n % 3) } as const;
    const plan = await device.plan(problem);
    expect(plan.explain()).toMatch(/2 bands of bins[\s\S]*30 weights of 2 bands/);
    const again = await device.plan(problem, { from: plan.serialize() });
    const x = Float32Array.from(uniform(random, 32, 'single'));
    expect(await again.forward(x)).toEqual(await plan.forward(x));
    expect(() => plan.deviceFunction({ language: 'cuda' })).toThrow(
      /plan without convolution, callbacks, bands and zeroPadding/,
    );
    await expect(plan.adjoint('forward')).rejects.toThrow(/bands has no adjoint yet; plan the transform without bands/);
    for (const one of [plan, again]) one.destroy();
  });

  it('of lines that one launch does not hold take launches of their own', async () => {
    const taken = await expectRandom(small, many(6), LONG);
    expect(taken.every((launches) => launches > 1)).toBe(true);
    await expectRandom(small, many(6));
  });
});

describe('sums over bands, by the interpreter', () => {
  it('on any device of threads', async () => {
    for (let n = 0; n < many(6); n++)
      await expectRandom(openInterpreted({ ...vectors(), ...randomThreads(random) }), 1);
    const taken = await expectRandom(openInterpreted(vectors()), many(3));
    expect(taken.every((launches) => launches === 1)).toBe(true);
  });
});

function vectors(): DeviceProfile {
  return namedProfiles.h200.profile as DeviceProfile;
}

describe.each([
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu },
  ...vulkanDevices,
])('sums over bands on $name', ({ missing, open }) => {
  it.skipIf(missing)('are what the reference computes', async () => {
    const device = await open();
    await expectRandom(device, many(2));
    device.close();
  });
});
