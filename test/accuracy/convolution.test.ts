import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { type Device, FftError, type ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/profile.ts';
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

describe('convolutions', () => {
  it('of any problem are direct sums, and touch nothing else', async () => {
    for (let n = 0; n < (exhaustive ? 1500 : 40); n++) {
      const on = n % 2 === 0 ? device : small;
      expectGood(await tried(on, convolutionProblem(random, precisionsOf(on))));
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
      [16, 0, 2],
      [16, 4, 9],
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

  it.each([
    ['h200', 4096],
    ['webgpu-default', 4096],
    ['h200', 227 * 1024],
  ] as const)('of few points, interpreted for %s with %i bytes of shared memory', async (name, sharedBytes) => {
    const on = openInterpreted({ ...(namedProfiles[name].profile as DeviceProfile), sharedBytes });
    for (let n = 0; n < (exhaustive ? 100 : 4); ) {
      const problem = convolutionProblem(random, precisionsOf(on as Device));
      const { size, batches = 1, leftBatches = 1 } = problem;
      if (size.reduce((a, b) => a * b, batches * leftBatches) > 300) continue;
      expectGood(await tried(on as Device, problem));
      n++;
    }
  });
});
