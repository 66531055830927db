/**
 * Convolutions with gates: callbacks before and behind, blocks of zeros on both sides, a kernel for each coordinate; in one launch and in
 * several, on every kind of device, against sums in twice the precision.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { type Device, FftError, openDevice, type ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import type { Tried } from '../support/accuracy.ts';
import { convolutionProblem, triedConvolution } from '../support/convolution.ts';
import { randomThreads } from '../support/devices.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/long-convolution');
const many = (count: number) => (exhaustive ? 40 * count : count);

async function expectGood(on: Device, problem: ProblemInput, gated = true): Promise<void> {
  let one: Tried;
  try {
    one = await triedConvolution(on, problem, random, gated);
  } catch (error) {
    if (error instanceof FftError && error.code === 'device-limit') return;
    throw new Error(JSON.stringify(problem), { cause: error });
  }
  expect(one.damage, one.what).toEqual([]);
  expect(one.error, one.what).toBeLessThanOrEqual(one.allowed);
}

/** Gates of a phase correlation change which products are small, by which its reference knows how far errors grow. */
function gatedProblem(precisions: readonly ('single' | 'double')[], most?: number): ProblemInput {
  const problem = convolutionProblem(random, precisions, most);
  return { ...problem, convolution: { ...problem.convolution!, crossPower: false } };
}

/** A causal convolution: a signal in the first half of its line, and a result that nobody wants in the second one. */
function causal(length: number, more: ProblemInput | object = {}): ProblemInput {
  return {
    ...{ size: [length], transform: 'r2c', zeroPadding: { space: [{ from: length / 2, to: length }] } },
    ...{ coordinates: 3, batches: 2, convolution: { kernels: 'per-coordinate' } },
    ...more,
  };
}

describe('convolutions between gates', () => {
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

  it('of any problem are sums of what the gates let through', async () => {
    for (let n = 0; n < many(10); n++) {
      const on = n % 2 === 0 ? device : small;
      await expectGood(on, gatedProblem(precisionsOf(on)));
    }
  });

  it('are causal in one launch, in three over columns, and through the real transform', async () => {
    for (const [length, two] of [
      [64, undefined],
      [64, 16],
      [96, 16],
      [100, 8],
      [54, 8],
    ] as const) {
      const tuning = two === undefined ? {} : { tuning: { uploadSwitch: { two } } };
      await expectGood(device, causal(length, { ...tuning, precision: random.pick(precisionsOf(device)) }));
    }
  });

  it('store halves', async () => {
    for (const storage of [{ storage: 'half' }, { precision: 'half' }])
      for (const two of [undefined, 16])
        await expectGood(
          device,
          causal(64, { ...storage, tuning: two === undefined ? {} : { uploadSwitch: { two } } }),
        );
  });

  it('of any problem on GPUs of all kinds', async () => {
    for (let n = 0; n < many(6); n++) {
      const profile = { ...namedProfiles.h200.profile, ...(n % 3 === 0 ? {} : randomThreads(random)) } as DeviceProfile;
      const on = openInterpreted(profile) as Device;
      await expectGood(on, gatedProblem(['single', 'double'], 60));
      await expectGood(on, causal(random.pick([32, 48, 64])));
    }
  });
});

describe.skipIf(noOpenCl)('convolutions between gates on OpenCL', () => {
  it('are direct sums of what the gates let through', async () => {
    const device = await openOpenCl();
    await expectGood(device, causal(64));
    await expectGood(device, causal(64, { tuning: { uploadSwitch: { two: 16 } }, precision: 'half' }));
    device.close();
  });
});

describe.skipIf(noWebGpu)('convolutions between gates on WebGPU', { timeout: 120_000 }, () => {
  it('are direct sums of what the gates let through', async () => {
    const device = await openWebGpu();
    await expectGood(device, causal(64));
    await expectGood(device, causal(64, { tuning: { uploadSwitch: { two: 16 } }, precision: 'half' }));
    device.close();
  });
});

describe('a convolution between gates', () => {
  it('takes arrays by every way to call it, and refuses callbacks of bins', async () => {
    const device = await openDevice('cpu');
    const plan = await device.plan({
      ...{ size: [8], precision: 'double', convolution: {} },
      callbacks: {
        forward: { load: (x, value, at) => ({ re: x.mul(value.re, x.load('g', at.axis[0]!)), im: value.im }) },
        arrays: { g: { type: 'f64', length: 8 } },
      },
    });
    const g = Float64Array.of(2, 0, 0, 0, 0, 0, 0, 0);
    const x = new Float64Array(16).fill(1);
    const kernel = await plan.prepareKernel(Float64Array.from({ length: 16 }, (_, n) => Number(n === 2)));
    const arrays = { g };
    const want = (y: Float64Array) => {
      expect(y[2]).toBeCloseTo(2, 12);
      expect(y[4]).toBeCloseTo(0, 12);
      expect(y[5]).toBeCloseTo(1, 12);
    };
    for (let round = 0; round < 2; round++) {
      want(await plan.convolve(x, kernel, undefined, { arrays }));
      want(plan.convolveSync(x, kernel, undefined, { arrays }));
    }
    const [input, output] = [device.alloc(128, 'double'), device.alloc(128, 'double')];
    const memory = device.alloc(64, 'double');
    input.array.set(x);
    memory.array.set(g);
    await plan.enqueue('convolve', { input, output, kernel, arrays: { g: memory } });
    want(output.array);
    await expect(plan.convolve(x, kernel)).rejects.toMatchObject({ code: 'missing-buffer' });
    const bins = {
      ...{ size: [8], convolution: {} },
      callbacks: { forward: { store: (_: unknown, value: unknown) => value } },
    };
    await expect(device.plan(bins as ProblemInput)).rejects.toMatchObject({ code: 'unsupported-feature' });
    device.close();
  });
});
