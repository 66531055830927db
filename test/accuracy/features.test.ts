/** A sample of what is more than passes, on the other devices that run here: large primes, blocks of zeros, halves in memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { Tried } from '../support/accuracy.ts';
import { blocksSample, triedBlocks } from '../support/blocks.ts';
import { convolutionProblem, triedConvolution } from '../support/convolution.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import { storageProblems, triedStorage } from '../support/stored.ts';
import { complaints, exhaustive } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const devices = [
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl, doubles: true },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu, doubles: false },
  ...vulkanDevices,
];

describe.each(devices)('on $name', ({ name, missing, open, doubles }) => {
  const random = randomFor(`accuracy/features ${name}`);
  const rounds = exhaustive ? 40 : name.startsWith('Vulkan') ? 1 : 2;
  let device: Device;
  beforeAll(async () => {
    if (!missing) device = await open();
  });
  afterAll(() => device?.close());
  const directions = ['forward', 'inverse'] as const;
  const oneWay = () => (exhaustive ? {} : { directions: random.pick(directions) });
  const expectGood = ({ what, error, allowed, damage }: Tried) => {
    expect(damage).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
  };

  it.skipIf(missing)('lengths with large primes', async () => {
    const problems: ProblemInput[] = [
      { size: [17], batches: 3 },
      { size: [1009] },
      { size: [2053] },
      { size: [19, 6] },
      { size: [6, 23] },
    ];
    for (const problem of exhaustive ? problems : [random.pick(problems), problems[2]!].slice(0, rounds)) {
      expect(await complaints(device, { ...problem, ...oneWay() }, random, ['host'])).toEqual([]);
    }
  });

  it.skipIf(missing)('blocks of zeros', async () => {
    const sizes = [[60], [17], [128], [16, 12], [8, 9, 10], [64, 48]];
    for (let round = 0; round < rounds; round++) {
      const sample = blocksSample(random, sizes, true);
      for (const direction of exhaustive ? directions : [random.pick(directions)]) {
        const problem = { ...sample.problem, directions: direction };
        expectGood(await triedBlocks(device, { ...sample, problem }, direction, random));
      }
    }
  });

  it.skipIf(missing)('convolutions', async () => {
    for (let round = 0; round < rounds; round++) {
      const problem = convolutionProblem(random, doubles ? ['single', 'double'] : ['single']);
      // Both kinds of kernels at every run.
      const kernelSpectrum = (['user', 'prepared'] as const)[round % 2];
      const convolution = { ...problem.convolution, kernelSpectrum };
      expectGood(await triedConvolution(device, { ...problem, convolution }, random));
    }
  });

  it.skipIf(missing)('halves and singles in memory', async () => {
    const problems = storageProblems.filter(({ precision }) => doubles || precision !== 'double');
    for (const problem of exhaustive ? problems : Array.from({ length: rounds }, () => random.pick(problems))) {
      const direction = random.pick(directions);
      expectGood(await triedStorage(device, { ...problem, directions: direction }, direction, random));
    }
  });
});
