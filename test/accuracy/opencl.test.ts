/** A sample of the accuracy suite on OpenCL, in both precisions. PoCL compiles slowly: few kernels, many ways to run them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { randomFor } from '../support/random.ts';
import { triedReal } from '../support/real.ts';
import { triedSums } from '../support/sums.ts';
import {
  type CallMode,
  complaints,
  exhaustive,
  lengthComplaints,
  modesOf,
  onePrecision,
  precisionsOf,
} from '../support/transforms.ts';

const random = randomFor('accuracy/opencl');
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const isSmooth = (n: number): boolean => n === 1 || largestPrimeFactor(n) <= 13;
const sample = <T>(items: readonly T[], count: number): readonly T[] =>
  exhaustive ? items : from(1, count).map(() => random.pick(items));
/** One way of each problem, each time another: the inverse is the forward transform with parts exchanged in both views. */
const oneWay = () => (exhaustive ? {} : ({ directions: random.pick(['forward', 'inverse'] as const) } as const));

describe.skipIf(noOpenCl)('on OpenCL', () => {
  let device: Device;
  /** Little shared memory: uploads of short lengths. Values stay in registers over barriers, as on a GPU. */
  let small: Device;
  beforeAll(async () => {
    device = await openOpenCl();
    small = await openOpenCl({
      profile: {
        sharedBytes: 2048,
        coalescedBytes: 32,
        doubleBuffered: false,
        sharedFormat: random.pick(['pairs', 'halves'] as const),
        banks: 32,
      },
    });
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

  it('short lengths', async () => {
    for (const n of sample(from(1, 128).filter(isSmooth), 3)) {
      const one = { ...oneWay(), ...onePrecision(random, device) };
      expect(await lengthComplaints(device, [n], random, modesOf(device), one)).toEqual([]);
    }
  });

  it('longer lengths', async () => {
    const lengths = from(129, 2 ** 14).filter(isSmooth);
    for (const n of [1024, ...sample(lengths, 1)]) {
      const one = { ...oneWay(), ...onePrecision(random, device) };
      expect(await lengthComplaints(device, [n], random, ['host'], one)).toEqual([]);
    }
  });

  it.each([2 ** 16, 100_000])('several uploads: %i points', async (n) => {
    await check({ size: [n] }, ['alloc']);
  });

  it.each<ProblemInput>([
    { size: [1000] },
    { size: [900], precision: 'double' },
    { size: [1024], transform: 'r2c' },
    { size: [4096], transform: 'r2c' },
    { size: [2048], transform: 'dct2' },
    { size: [64], transform: 'dst1' },
  ])('roots of unity that the kernels compute: %j', async (input) => {
    const computed = { ...input, directions: 'forward', tuning: { twiddles: 'computed' } } as const;
    if (input.transform === undefined) return expect(await complaints(device, computed, random, ['host'])).toEqual([]);
    const trial = input.transform === 'r2c' ? triedReal : triedSums;
    const { error, allowed, what } = await trial(device, computed, 'forward', random);
    expect(error, what).toBeLessThanOrEqual(allowed);
  });

  it.each<() => ProblemInput>([
    () => ({ size: [random.pick([17, 19, 31]) * random.pick([4, 16, 35])] }),
    () => ({ size: [random.pick([41, 61, 71])], batches: 5, placement: 'in-place' }),
    () => ({ size: [random.pick([73, 127, 257, 337, 1009])], batches: 3, layout: 'planar' }),
    () => ({ size: [12, random.pick([29, 101, 193])], placement: 'in-place' }),
  ])('large primes, sample %#', async (input) => {
    await check(input(), ['host']);
  });

  it.each<ProblemInput>([
    { size: [9, 5, 11] },
    { size: [12, 10], leftBatches: 2, coordinates: 3, batches: 2 },
    { size: [24], leftBatches: 17 },
    { size: [6], batches: 100 },
    { size: [60], layout: { input: 'planar', output: 'interleaved' }, batches: 3 },
    { size: [12, 18], layout: { input: 'interleaved', output: 'planar' } },
    { size: [64], batches: 5, strides: { input: [1, 5, 1], output: [1, 1, 67] }, offsets: { input: 3, output: 11 } },
    { size: [15, 16], omit: [true, false], scale: { forward: 3 }, normalize: true },
  ])('%j', async (input) => {
    await check(input);
  });

  it.each<ProblemInput>([
    { size: [30] },
    { size: [12, 10], batches: 2, strides: { input: [1, 1, 13, 131] }, offsets: { input: 5, output: 5 } },
    { size: [20000] },
  ])('in place: %j', async (input) => {
    await check({ ...input, placement: 'in-place' }, ['host', 'alloc', 'work']);
  });

  it.each<ProblemInput>([
    { size: [360] },
    { size: [500], leftBatches: 5, coordinates: 2, batches: 3 },
    { size: [1000], batches: 2, layout: 'planar', placement: 'in-place' },
    { size: [4, 1000], layout: { input: 'interleaved', output: 'planar' } },
    { size: [20, 600], strides: { input: [1, 600, 1, 12000] }, preserveInput: false },
    { size: [4096], unordered: true },
  ])('with little shared memory: %j', async (input) => {
    await check(input, ['host', 'work'], small);
  });
});
