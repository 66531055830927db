/** Spectral layers against a reference in twice the precision: any problem, on every kind of device. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { type Device, FftError, openDevice, type ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { spectralLayer } from '../reference/spectral-layer.ts';
import { relativeError, type Tried, tolerance } from '../support/accuracy.ts';
import { randomThreads } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor, uniform } from '../support/random.ts';
import { layerProblem, triedLayer } from '../support/spectral-layer.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/spectral-layer');
const many = (count: number) => (exhaustive ? 40 * count : count);

async function expectGood(on: Device, problem: ProblemInput): Promise<void> {
  let one: Tried;
  try {
    one = await triedLayer(on, problem, random);
  } catch (error) {
    // So little memory may hold no transform of such a length.
    if (error instanceof FftError && error.code === 'device-limit') return;
    throw new Error(JSON.stringify(problem), { cause: error });
  }
  expect(one.damage, one.what).toEqual([]);
  expect(one.error, one.what).toBeLessThanOrEqual(one.allowed);
}

/** Matrices that many threads share out, and channels that no block divides. */
const WIDE: ProblemInput = {
  ...{ size: [64], transform: 'r2c', batches: 3 },
  convolution: { channels: { in: 16, out: 24 }, modes: [20] },
};

/** A layer with a gate of the length of a line before it, and gains of its batches behind it, in one launch. @param batches of the signal */
async function expectGated(on: Device, batches: number): Promise<void> {
  const points = random.pick([16, 20, 27, 64]);
  const channels = { in: random.integer(1, 5), out: random.integer(1, 5) };
  const modes = random.integer(1, Math.floor(points / 2));
  const [gate, gain] = [points, batches].map((count) => Float32Array.from(uniform(random, count, 'single'))) as [
    Float32Array,
    Float32Array,
  ];
  const plan = await on.plan({
    ...{ size: [points], transform: 'r2c', batches, debug: true },
    convolution: { channels, modes: [modes] },
    callbacks: {
      forward: { load: (x, value, { axis }) => x.mul(value, x.load('gate', axis[0]!)) },
      inverse: { store: (x, value, { batch }) => x.mul(value, x.load('gain', batch)) },
      arrays: { gate: { type: 'f32', length: points }, gain: { type: 'f32', length: batches } },
    },
  } as const);
  expect(plan.explain()).toMatch(/convolve: 1 launch/);
  const x = Float32Array.from(uniform(random, points * channels.in * batches, 'single'));
  const h = Float32Array.from(uniform(random, 2 * modes * channels.in * channels.out, 'single'));
  const kernel = await plan.prepareKernel(h);
  const y = await plan.convolve(x, kernel, undefined, { arrays: { gate, gain } });
  kernel.free();
  plan.destroy();
  const gated = Float64Array.from({ length: 2 * x.length }, (_, n) =>
    n % 2 ? 0 : x[n / 2]! * gate[(n / 2) % points]!,
  );
  const shape = { size: [points], leftBatches: 1, batches, channels, modes: [modes], real: true };
  const { hi } = spectralLayer(shape, gated, Float64Array.from(h));
  const want = Float64Array.from(y, (_, n) => hi[2 * n]! * gain[Math.floor(n / (points * channels.out))]!);
  expect(relativeError(y, want), JSON.stringify({ points, channels, modes })).toBeLessThan(
    4 * tolerance('single', points),
  );
}

/** A layer of several axes, whose last one there, the product, and that axis back are one launch. */
async function expectFused(on: Device, problem: ProblemInput): Promise<void> {
  const one = await triedLayer(on, problem, random);
  expect(one.damage, one.what).toEqual([]);
  const axes = problem.size.length;
  // The axes before it may share launches.
  expect(one.what.split(': ').at(-1)!.split('; ').length, one.what).toBeLessThanOrEqual(2 * axes - 1);
  expect(one.what).toContain(`axis ${axes - 1}, channels, there and back`);
  expect(one.error, one.what).toBeLessThanOrEqual(one.allowed);
}

/** Where the product alone costs that much, one launch is always cheaper; with that little memory, no launch takes both axes of an image. */
const EAGER = {
  sharedBytes: 4096,
  calibration: { layers: { again: 0, product: { alone: 1e6, inside: 0 }, ofSeveralAxes: 0 } },
};

/** A layer of lines of 33 points, which fit that memory. */
function largeLayer(axes: 2 | 3, precision: 'single' | 'double'): ProblemInput {
  const channels = { in: random.integer(1, 3), out: random.integer(1, 3) };
  const size = axes === 2 ? [random.pick([100, 108]), 33] : [40, 20, 33];
  const modes = [random.integer(1, 5), ...(axes === 2 ? [] : [2]), random.integer(1, 4)];
  const batches = axes === 2 ? 3 : 1;
  return {
    ...{ size, batches, precision, transform: axes === 2 && random.integer(0, 1) ? 'c2c' : 'r2c' },
    convolution: { channels, modes, conjugate: random.pick(['none', 'kernel'] as const) },
  };
}

describe('spectral layers', () => {
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
    for (let n = 0; n < many(16); n++) {
      const on = n % 2 === 0 ? device : small;
      await expectGood(on, layerProblem(random, precisionsOf(on)));
    }
  });

  it('take many channels, whose sums are computed in pieces', async () => {
    await expectGood(device, WIDE);
    const channels = { in: random.integer(33, 70), out: random.integer(1, 9) };
    await expectGood(device, { size: [16, 6], batches: 2, convolution: { channels, modes: [3, 2] } });
  });

  it('of few channels take one launch, with callbacks at both ends', async () => {
    await expectGated(device, 1);
    await expectGated(openInterpreted(namedProfiles.h200.profile as DeviceProfile) as Device, 3);
  });

  it('of several axes take one launch for the last axis there, the matrices, and that axis back', async () => {
    for (const first of [[7], [4, 3]]) {
      const last = random.pick([32, 33, 40]);
      const [from, out] = [random.integer(5, 7), random.integer(5, 7)];
      for (const transform of ['r2c', 'c2c'] as const)
        await expectFused(device, {
          ...{ size: [...first, last], transform, precision: random.pick(['single', 'double'] as const) },
          ...{ batches: random.integer(1, 3), leftBatches: random.integer(1, 2) },
          convolution: {
            channels: { in: from, out },
            modes: [random.integer(1, 2), ...first.slice(1).map(() => 1), last >> 1],
          },
        });
    }
    for (const axes of [2, 3] as const) {
      const profile = { ...namedProfiles.h200.profile, ...EAGER } as DeviceProfile;
      await expectFused(openInterpreted(profile) as Device, largeLayer(axes, 'single'));
    }
  });

  it('of long axes take several uploads', async () => {
    const tuning = { uploadSwitch: { two: 16 } };
    for (const transform of ['c2c', 'r2c'] as const) {
      const convolution = { channels: { in: 2, out: 3 }, modes: [random.integer(1, 24), 2] };
      await expectGood(device, { size: [random.pick([48, 64, 60]), 6], transform, tuning, convolution });
    }
  });

  it('store halves', async () => {
    for (const storage of [{ storage: 'half' }, { precision: 'half' }] as const)
      await expectGood(device, { ...WIDE, ...storage, scale: { forward: 1 / 4 } } as ProblemInput);
  });

  it('compute in double-doubles', async () => {
    const [points, from, out, modes] = [12, 3, 2, 4];
    const plan = await device.plan({
      ...{ size: [points], precision: 'double-double', batches: 2 },
      convolution: { channels: { in: from, out }, modes: [modes] },
    });
    const pairs = (all: Float64Array) =>
      Float64Array.from({ length: 2 * all.length }, (_, n) => (n % 2 ? 0 : all[n / 2]!));
    const x = Float64Array.from(uniform(random, 2 * points * from * 2, 'double'));
    const h = Float64Array.from(uniform(random, 4 * modes * from * out, 'double'));
    const kernel = await plan.prepareKernel(pairs(h));
    const y = await plan.convolve(pairs(x), kernel);
    kernel.free();
    plan.destroy();
    const shape = {
      size: [points],
      leftBatches: 1,
      batches: 2,
      channels: { in: from, out },
      modes: [modes],
      real: false,
    };
    const { hi, lo } = spectralLayer(shape, x, h);
    const rest = hi.map((value, n) => lo[n]! - (y[2 * n]! - value) - y[2 * n + 1]!);
    // Differences from the reference, itself good to 2⁻¹⁰⁴ or so.
    const error = Math.hypot(...rest) / Math.hypot(...hi);
    expect(error).toBeLessThan(12 * tolerance('double-double', points));
    expect(
      relativeError(
        hi.map((_, n) => y[2 * n]!),
        hi,
        lo,
      ),
    ).toBeLessThan(tolerance('double', 1));
  });

  it('of any problem on GPUs of all kinds', async () => {
    for (let n = 0; n < many(12); n++) {
      const profile = { ...namedProfiles.h200.profile, ...(n % 3 === 0 ? {} : randomThreads(random)) } as DeviceProfile;
      await expectGood(openInterpreted(profile) as Device, layerProblem(random, ['single', 'double'], 60));
    }
    await expectGood(openInterpreted(namedProfiles.h200.profile as DeviceProfile) as Device, WIDE);
  });
});

describe.skipIf(noOpenCl)('spectral layers on OpenCL', () => {
  it('are what the reference computes', async () => {
    const device = await openOpenCl();
    await expectGood(device, WIDE);
    for (let n = 0; n < many(1); n++) await expectGood(device, layerProblem(random, ['single', 'double'], 60));
    device.close();
    const { calibration } = EAGER;
    const gated = await openOpenCl({ profile: { calibration } });
    await expectGated(gated, 2);
    gated.close();
    const eager = await openOpenCl({ profile: EAGER });
    await expectFused(eager, largeLayer(2, 'double'));
    await expectFused(eager, largeLayer(2, 'single'));
    eager.close();
  });
});

describe.skipIf(noWebGpu)('spectral layers on WebGPU', { timeout: 120_000 }, () => {
  it('are what the reference computes', async () => {
    const device = await openWebGpu();
    await expectGood(device, WIDE);
    await expectGated(device, 2);
    for (let n = 0; n < many(2); n++) await expectGood(device, layerProblem(random, ['single'], 60));
    device.close();
    const eager = await openWebGpu({ profile: EAGER });
    await expectFused(eager, largeLayer(2, 'single'));
    eager.close();
  });
});

describe('a spectral layer', () => {
  it('only convolves, explains itself and can be saved', async () => {
    const device = await openDevice('cpu');
    const problem = { size: [8], convolution: { channels: { in: 2, out: 3 }, modes: [2] } } as const;
    const plan = await device.plan(problem);
    expect(plan.directions).toEqual([]);
    expect([plan.input.shape, plan.output.shape]).toEqual([
      [1, 8, 2, 1],
      [1, 8, 3, 1],
    ]);
    expect(plan.explain()).toMatch(/× 2 × 3 matrices/);
    const call = plan as unknown as { forward(x: Float32Array): Promise<unknown> };
    await expect(call.forward(new Float32Array(32))).rejects.toMatchObject({ code: 'direction-not-planned' });
    const again = await device.plan(problem, { from: plan.serialize() });
    const [x, h] = [new Float32Array(32).fill(1), new Float32Array(48).fill(1)];
    const results = await Promise.all([plan, again].map(async (one) => one.convolve(x, await one.prepareKernel(h))));
    expect(results[0]).toEqual(results[1]);
    device.close();
  });

  it('that passes each bin on is a filter', async () => {
    const device = await openDevice('cpu');
    const plan = await device.plan({
      size: [8],
      transform: 'r2c',
      precision: 'double',
      convolution: { channels: { in: 1, out: 1 }, modes: [1] },
    });
    const kernel = await plan.prepareKernel(Float64Array.of(1, 0));
    const y = await plan.convolve(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), kernel);
    expect(y.length).toBe(8);
    for (const value of y) expect(value).toBeCloseTo(4.5, 12);
    device.close();
  });
});
