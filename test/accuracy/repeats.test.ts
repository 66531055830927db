/** Input of which dimensions read the same again, by a stride of 0: on every device that runs here. */
import { describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { complexProblem, triedComplex } from '../support/complex.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import { realProblem, triedReal } from '../support/real.ts';
import { sumsProblem, triedSums } from '../support/sums.ts';
import { exhaustive, openWith } from '../support/transforms.ts';
import { withRepeats } from '../support/trial.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/repeats');
const directions = ['forward', 'inverse'] as const;

const kinds = [
  { make: complexProblem, tried: triedComplex },
  { make: realProblem, tried: triedReal },
  { make: sumsProblem, tried: triedSums },
] as const;

const devices = [
  { name: 'the CPU', missing: false, open: () => openWith({}, 1), rounds: 4, doubles: true },
  {
    name: 'an H200',
    missing: false,
    open: async () => openInterpreted(namedProfiles.h200.profile),
    rounds: 2,
    doubles: true,
  },
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl, rounds: 1, doubles: true },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu, rounds: 1, doubles: false },
] as const;

describe.each(devices)('dimensions of stride 0, on $name', ({ missing, open, rounds, doubles }) => {
  it.skipIf(missing)('are read as if each element were there several times', async () => {
    const device = await open();
    const precisions = doubles ? (['single', 'double'] as const) : (['single'] as const);
    for (let round = 0; round < (exhaustive ? 50 : 1) * rounds; round++) {
      for (const { make, tried } of kinds) {
        const direction = random.pick(directions);
        const problem = withRepeats(random, make(random, 2000, precisions), direction);
        const { what, error, allowed, damage } = await tried(device, problem, direction, random);
        expect(damage, what).toEqual([]);
        expect(error, what).toBeLessThanOrEqual(allowed);
      }
    }
    device.close();
  });
});
