import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { type Device, FftError, type ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import type { Tried } from '../support/accuracy.ts';
import { convolutionProblem, triedConvolution } from '../support/convolution.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { randomFor } from '../support/random.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';

const random = randomFor('accuracy/convolution');
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

/** Undefined where so little memory holds no transform of such a length. */
async function tried(on: Device, problem: ProblemInput): Promise<Tried | undefined> {
  try {
    return await triedConvolution(on, problem, random);
  } catch (error) {
    if (error instanceof FftError && error.code === 'device-limit') return undefined;
    throw error;
  }
}

function expectGood(one: Tried | undefined): void {
  if (!one) return;
  expect(one.damage, one.what).toEqual([]);
  expect(one.error, one.what).toBeLessThanOrEqual(one.allowed);
}

/** A GPU of few KiB, so that short axes take clusters, and more than one launch. @param beside blocks that a multiprocessor holds */
function smallGpu(blocks: number, bytes: number, beside: number): DeviceProfile {
  return {
    ...(namedProfiles.h200.profile as DeviceProfile),
    ...{ sharedBytes: bytes, residentBytes: beside * bytes, coalescedBytes: 64, maxThreads: 256, groupPoints: 256 },
    cluster: { blocks, sharedBytes: (bytes * 16) / 17, above: { single: bytes, double: bytes } },
  };
}

describe('convolutions', () => {
  it('of any problem are what sums give, and touch nothing else', async () => {
    for (let n = 0; n < (exhaustive ? 1500 : 14); n++) {
      const on = n % 2 === 0 ? device : small;
      expectGood(await tried(on, convolutionProblem(random, precisionsOf(on))));
    }
  });

  it('find a spectrum in natural order along an axis of two uploads that the launch in the middle steps over', async () => {
    const convolution = { kernelSpectrum: 'user' } as const;
    const size = [4, random.pick([36, 48, 49, 64])];
    const problem = { size, leftBatches: 5, tuning: { uploadSwitch: { two: 9 } }, convolution } as const;
    for (const transform of ['c2c', 'r2c'] as const) {
      const one = await tried(device, { ...problem, transform });
      expect(one?.what).toMatch(/upload 2 of 2/);
      expectGood(one);
    }
  });

  it('go back in one pass over numbers whose parts lie side by side', async () => {
    // Lanes of one number.
    const narrow = await openWith({ lockstepBytes: 8, coalescedBytes: 16 }, 1);
    for (const length of [3, 4]) {
      const problem = { size: [length], batches: random.integer(2, 5), precision: 'double', convolution: {} } as const;
      if (precisionsOf(narrow).includes('double')) expectGood(await tried(narrow, problem));
    }
    narrow.close();
  });

  it('of reals in columns leave out blocks of bins, those that mirror others with them', async () => {
    for (const [length, from, to] of [
      [64, 0, 8],
      [64, 17, 33],
      [36, random.integer(0, 9), random.integer(10, 19)],
    ] as const) {
      const problem: ProblemInput = {
        size: [length, random.integer(1, 3)],
        transform: 'r2c',
        zeroPadding: { frequency: [{ from, to }, null] },
        convolution: { kernels: random.integer(1, 2) },
        tuning: { uploadSwitch: { two: 8 } },
      };
      const one = await tried(device, problem);
      expectGood(one);
      expect(one?.what).toMatch(/upload 2 of 2/);
    }
  });

  it('of reals in two uploads take three launches, whatever the kernel is', async () => {
    const gpu = openInterpreted({ ...(namedProfiles['webgpu-default'].profile as DeviceProfile), sharedBytes: 2048 });
    for (const on of [device, gpu as Device]) {
      const common = {
        ...{ size: [random.pick([96, 120, 128])], transform: 'r2c', tuning: { uploadSwitch: { two: 32 } } },
        ...{ precision: random.pick(precisionsOf(on)), zeroPadding: { space: [{ from: 50, to: 90 }] } },
      } as const;
      const conjugate = random.pick(['none', 'signal', 'kernel'] as const);
      for (const problem of [
        { ...common, batches: 2, leftBatches: 3, convolution: { kernels: 2, conjugate } },
        { ...common, placement: 'in-place', convolution: { matrix: 2, kernelSpectrum: 'user' } },
        {
          ...common,
          coordinates: 2,
          convolution: { kernels: 'per-coordinate', crossPower: true, kernelSpectrum: 'user' },
        },
        { ...common, zeroPadding: { frequency: [{ from: 3, to: 20 }] }, convolution: { matrix: 3, symmetric: true } },
      ] as const) {
        const one = await tried(on, problem as ProblemInput);
        expectGood(one);
        expect(one?.what).toMatch(/upload 1 of 2, there; axis 0, upload 2 of 2, there and back; [^;]*, back$/);
      }
    }
  });

  it.each([[20, 3] as const, [18] as const, [137] as const])(
    'of reals in one launch leave out blocks of bins: %i points',
    async (...size) => {
      const frequency = [{ from: 3, to: 5 }, null].slice(0, size.length);
      expectGood(await tried(device, { size, transform: 'r2c', convolution: {}, zeroPadding: { frequency } }));
    },
  );

  it.each([
    ['h200', 4096],
    ['webgpu-default', 4096],
    ['h200', 227 * 1024],
  ] as const)('of few points, interpreted for %s with %i bytes of shared memory', async (name, sharedBytes) => {
    const on = openInterpreted({ ...(namedProfiles[name].profile as DeviceProfile), sharedBytes });
    for (let n = 0; n < (exhaustive ? 100 : 2); ) {
      const problem = convolutionProblem(random, precisionsOf(on as Device));
      const { size, batches = 1, leftBatches = 1 } = problem;
      if (size.reduce((a, b) => a * b, batches * leftBatches) > 300) continue;
      expectGood(await tried(on as Device, problem));
      n++;
    }
  });

  const zeros = { from: 2, to: 6 };
  it.each<[string, DeviceProfile, ProblemInput]>([
    ['in one launch of a cluster', smallGpu(8, 2176, 4), { size: [16, 16], convolution: { kernels: 2 } }],
    ['three in one', smallGpu(4, 4352, 4), { size: [6, 5, 4], batches: 2, convolution: { crossPower: true } }],
    [
      'of reals in one',
      smallGpu(4, 4352, 4),
      { size: [12, 5, 4], transform: 'r2c', convolution: { kernels: 2, conjugate: 'signal' } },
    ],
    [
      'of matrices in one',
      smallGpu(4, 4352, 4),
      { size: [8, 6], convolution: { matrix: 3, symmetric: true }, zeroPadding: { space: [null, zeros] } },
    ],
    ['in columns in one', smallGpu(4, 4352, 4), { size: [4, 6], leftBatches: 8, convolution: { matrix: 2 } }],
    [
      'cut in two',
      smallGpu(4, 2176, 1),
      { size: [16, 24], placement: 'in-place', convolution: { conjugate: 'kernel' } },
    ],
    ['of reals cut in two', smallGpu(4, 1088, 2), { size: [24, 16], transform: 'r2c', convolution: { kernels: 2 } }],
  ])('of axes %s', async (name, profile, problem) => {
    const one = await triedConvolution(
      openInterpreted(profile),
      { ...problem, precision: 'double' } as ProblemInput,
      random,
    );
    expectGood(one);
    expect(one.what).toMatch(/axes [^;]*there and back/);
    expect(one.what.includes(';')).toBe(name.endsWith('two'));
  });
});
