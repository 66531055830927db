/** Kernels of random problems between reals keep the rules of kernels, and to the memory of their device. */

import { describe, expect, it } from 'vitest';
import { randomProfile, randomThreads } from '../../test/support/devices.ts';
import { planDirection } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import { realProblem, withBlocks as withRealBlocks } from '../../test/support/real.ts';
import { sumsProblem, withBlocks } from '../../test/support/sums.ts';
import { exhaustive } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { computable } from '../emit/double-word/index.ts';
import { type Kernel, storageBytes, verify } from '../ir/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { buildKernel } from './index.ts';

const random = randomFor('kernels/real');
const rounds = exhaustive ? 1000 : 20;

function randomProblem(): ProblemInput {
  const most = random.pick([60, 600, 3000]);
  const blocked = random.integer(0, 2) === 0;
  if (random.integer(0, 1) === 0) {
    const problem = sumsProblem(random, most, ['single', 'double']);
    return blocked ? withBlocks(random, problem) : problem;
  }
  const problem = { ...realProblem(random, most, ['single', 'double']), transform: 'r2c' } as ProblemInput;
  return blocked ? withRealBlocks(random, problem) : problem;
}

/** None where so little memory holds no transform of such a length. */
function kernelsOf(input: ProblemInput, profile: DeviceProfile): Kernel[] {
  const problem = normalizeProblem(input);
  try {
    return (['forward', 'inverse'] as const).flatMap((direction) =>
      planDirection(problem, direction, profile, false).launches.map(({ leaf }) => buildKernel(leaf)),
    );
  } catch (error) {
    if (error instanceof RangeError && /fit one upload/.test(error.message)) return [];
    throw error;
  }
}

describe('kernels between reals', () => {
  it('on threads, with clusters and without, are sound and fit', () => {
    for (let round = 0; round < rounds; round++) {
      const profile = { ...namedProfiles.h200.profile, ...randomThreads(random) };
      const input = randomProblem();
      for (const kernel of kernelsOf(input, profile)) {
        const what = `${JSON.stringify(input)} on ${JSON.stringify({ ...profile, calibration: undefined })}`;
        expect(verify(kernel), what).toEqual([]);
        const { shared } = computable(kernel, { profile });
        const bytes = shared.reduce(
          (sum, { partLength, length, type }) => sum + storageBytes(type) * (partLength ?? length!),
          0,
        );
        expect(bytes, what).toBeLessThanOrEqual(profile.sharedBytes);
      }
    }
  });

  it('on vectors are sound, and pass what they pair through the two arrays that passes have', () => {
    for (let round = 0; round < rounds; round++) {
      const input = randomProblem();
      for (const kernel of kernelsOf(input, { ...namedProfiles['wasm-cpu'].profile, ...randomProfile(random) })) {
        expect(verify(kernel), JSON.stringify(input)).toEqual([]);
        expect(kernel.shared.length, JSON.stringify(input)).toBeLessThanOrEqual(2);
      }
    }
  });
});
