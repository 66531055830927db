/** A sample of the accuracy suite on Vulkan, in the precisions that its devices have. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { triedConvolution } from '../support/convolution.ts';
import { triedPairs } from '../support/paired.ts';
import { randomFor } from '../support/random.ts';
import { triedReal } from '../support/real.ts';
import { triedStorage } from '../support/stored.ts';
import { triedSums } from '../support/sums.ts';
import {
  type CallMode,
  complaints,
  exhaustive,
  lengthComplaints,
  modesOf,
  precisionsOf,
} from '../support/transforms.ts';
import { noVulkan, openVulkan } from '../support/vulkan.ts';

const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const isSmooth = (n: number): boolean => n === 1 || largestPrimeFactor(n) <= 13;

describe.each(['lavapipe', 'swiftshader'] as const)('on Vulkan, %s', (driver) => {
  const random = randomFor(`accuracy/vulkan ${driver}`);
  const skipped = noVulkan[driver] !== undefined;
  /** One way of each problem, each time another: the inverse is the forward transform with parts exchanged in both views. */
  const oneWay = () => (exhaustive ? {} : ({ directions: random.pick(['forward', 'inverse'] as const) } as const));
  let device: Device;
  /** Little shared memory: uploads of short lengths. */
  let small: Device;
  beforeAll(async () => {
    if (skipped) return;
    device = await openVulkan(driver);
    const sharedFormat = random.pick(['pairs', 'halves', 'planes'] as const);
    small = await openVulkan(driver, { profile: { sharedBytes: 2048, coalescedBytes: 32, sharedFormat } });
  });
  afterAll(() => {
    device?.close();
    small?.close();
  });
  const check = async (input: ProblemInput, modes?: readonly CallMode[], on = device) => {
    const precisions = exhaustive ? precisionsOf(on) : [random.pick(precisionsOf(on))];
    for (const precision of precisions) {
      expect(await complaints(on, { ...input, ...oneWay(), precision }, random, modes ?? modesOf(on))).toEqual([]);
    }
  };

  it.skipIf(skipped)('lengths', async () => {
    const [short, longer] = [from(1, 128).filter(isSmooth), from(129, 2 ** 14).filter(isSmooth)];
    const some = exhaustive ? [...short, ...longer] : [random.pick(short), random.pick(short), random.pick(longer)];
    for (const n of some) {
      expect(await lengthComplaints(device, [n], random, modesOf(device), oneWay())).toEqual([]);
    }
  });

  it.skipIf(skipped)('several uploads', () => check({ size: [2 ** 16] }, ['alloc']));

  it.skipIf(skipped)('large primes', () => check({ size: [12, random.pick([29, 101, 193])], placement: 'in-place' }));

  it.skipIf(skipped)('reals, sums, convolutions, halves in memory', async () => {
    const precision = device.profile.precisions!.at(-1)!;
    const way = random.pick(['forward', 'inverse'] as const);
    const storage = { size: [random.pick([24, 45])], precision: 'half', directions: way } as const;
    const convolved = { size: [random.pick([12, 30])], precision, convolution: {}, directions: 'forward' } as const;
    for (const { what, error, allowed } of [
      await triedReal(device, { size: [random.pick([15, 32]), 3], transform: 'r2c', precision }, way, random),
      await triedSums(device, { size: [random.integer(5, 30)], transform: 'dct2', precision }, way, random),
      await triedStorage(device, storage, way, random),
      await triedConvolution(device, convolved, random),
    ]) {
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
  });

  it.skipIf(skipped)('pairs of the numbers that the device has', async () => {
    const precision = device.profile.precisions!.includes('double') ? 'double-double' : 'double';
    const { what, error, allowed } = await triedPairs(
      device,
      { size: [12], precision },
      'forward',
      random,
      'single-pair',
    );
    expect(error, what).toBeLessThanOrEqual(allowed);
  });

  it.skipIf(skipped).each<ProblemInput>([
    { size: [12, 10], leftBatches: 2, coordinates: 3, batches: 2 },
    { size: [60], layout: { input: 'planar', output: 'interleaved' }, batches: 3 },
    { size: [64], batches: 5, strides: { input: [1, 5, 1], output: [1, 1, 67] }, offsets: { input: 3, output: 11 } },
    { size: [15, 16], omit: [true, false], scale: { forward: 3 }, normalize: true },
    { size: [1000], tuning: { twiddles: 'computed' } },
  ])('%j', (input) => check(input));

  it
    .skipIf(skipped)
    .each<ProblemInput>([
      { size: [360] },
      { size: [4, 1000], layout: { input: 'interleaved', output: 'planar' } },
      { size: [4096], unordered: true },
    ])('with little shared memory: %j', (input) => check(input, ['host', 'work'], small));
});
