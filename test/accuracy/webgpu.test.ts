/** A sample of the accuracy suite on WebGPU, in single precision, on an adapter that computes on the processor. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, ProblemInput } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { randomProfile } from '../support/devices.ts';
import { configurations } from '../support/problems.ts';
import { randomFor, seedFor } from '../support/random.ts';
import {
  type CallMode,
  complaints,
  exhaustive,
  lengthComplaints,
  modesOf,
  someOf,
  threadProfile,
} from '../support/transforms.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/webgpu');
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const isSmooth = (n: number): boolean => n === 1 || largestPrimeFactor(n) <= 13;
const sample = <T>(items: readonly T[], count: number): readonly T[] =>
  exhaustive ? items : from(1, count).map(() => random.pick(items));
/** One way of each problem, each time another: the inverse is the forward transform with parts exchanged in both views. */
const oneWay = () => (exhaustive ? {} : ({ directions: random.pick(['forward', 'inverse'] as const) } as const));
const patience = exhaustive ? 3_600_000 : 180_000;

describe.skipIf(noWebGpu)('on WebGPU', { timeout: patience }, () => {
  let device: Device;
  /** Little shared memory: uploads of short lengths. */
  let small: Device;
  beforeAll(async () => {
    device = await openWebGpu();
    small = await openWebGpu({ profile: { sharedBytes: 2048, coalescedBytes: 32 } });
  });
  afterAll(() => {
    device?.close();
    small?.close();
  });

  const check = async (input: ProblemInput, modes: readonly CallMode[], on = device) =>
    expect(await complaints(on, { ...input, ...oneWay() }, random, modes)).toEqual([]);

  it('short lengths', async () => {
    for (const n of sample(from(1, 128).filter(isSmooth), 8)) {
      const modes = ['host', random.pick(modesOf(device))] as const;
      expect(await lengthComplaints(device, [n], random, modes, oneWay())).toEqual([]);
    }
  });

  it('longer lengths', async () => {
    const lengths = from(129, 2 ** 14).filter(isSmooth);
    // SwiftShader takes a second for each of them.
    for (const n of [...someOf(random, [1024, 2048, 4096, 8192, 16384], 2), ...sample(lengths, 2)]) {
      expect(await lengthComplaints(device, [n], random, ['host'], oneWay())).toEqual([]);
    }
  });

  it.each(someOf(random, [2 ** 16, 2 ** 18, 100_000, 3 ** 10], 2))('several uploads: %i points', async (n) => {
    expect(await lengthComplaints(device, [n], random, ['alloc'], oneWay())).toEqual([]);
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
    { size: [64, 64] },
    { size: [13, 7], batches: 3 },
    { size: [9, 5, 11] },
    { size: [2, 3, 4, 5, 6] },
    { size: [12, 10], leftBatches: 7, batches: 3 },
    { size: [12, 10], leftBatches: 2, coordinates: 3, batches: 2 },
    { size: [24], leftBatches: 17 },
    { size: [6], batches: 100 },
    { size: [60], layout: { input: 'planar', output: 'interleaved' }, batches: 3 },
    { size: [12, 18], layout: { input: 'interleaved', output: 'planar' } },
    { size: [1024], layout: 'planar', batches: 2 },
    { size: [64], batches: 5, strides: { input: [1, 5, 1], output: [1, 1, 67] }, offsets: { input: 3, output: 11 } },
    { size: [16, 16], coordinates: 2, batches: 2, strides: { input: [1, 4, 64, 2, 1], output: [1, 1, 17, 300, 700] } },
    { size: [12, 10], strides: { input: [1, 10, 1, 120] }, layout: 'planar', preserveInput: false },
    { size: [15, 16], omit: [true, false], scale: { forward: 3 }, normalize: true },
  ])('%j', async (input) => {
    await check(input, modesOf(device));
  });

  it.each<ProblemInput>([
    { size: [30] },
    { size: [1024], batches: 3 },
    { size: [64, 32] },
    { size: [12, 10], batches: 2, strides: { input: [1, 1, 13, 131] }, offsets: { input: 5, output: 5 } },
    { size: [8, 5, 4], strides: { output: [1, 26, 5, 1, 210] }, layout: 'planar' },
    { size: [20000] },
  ])('in place: %j', async (input) => {
    await check({ ...input, placement: 'in-place' }, ['host', 'alloc', 'work']);
  });

  it.each<ProblemInput>([
    { size: [360] },
    { size: [2048] },
    { size: [1716], placement: 'in-place' },
    { size: [6, 512] },
    { size: [512, 6], batches: 2 },
    { size: [500], leftBatches: 5, coordinates: 2, batches: 3 },
    { size: [1000], batches: 4, layout: 'planar' },
    { size: [1000], batches: 2, layout: 'planar', placement: 'in-place' },
    { size: [4, 1000], layout: { input: 'interleaved', output: 'planar' } },
    { size: [600], strides: { input: [1, 3, 2000], output: [1, 1, 600] }, offsets: { output: 9 } },
    { size: [20, 600], strides: { input: [1, 600, 1, 12000] }, preserveInput: false },
    { size: [4096], unordered: true },
    { size: [4096], unordered: true, placement: 'in-place' },
  ])('with little shared memory: %j', async (input) => {
    await check(input, ['host', 'work'], small);
  });

  it('any problem, with any profile', async () => {
    const devices = [device, small];
    for (let n = 0; n < 2; n++) devices.push(await openWebGpu({ profile: threadProfile(randomProfile(random)) }));
    await fc.assert(
      fc.asyncProperty(configurations(600), async ({ input, device: number, mode }) => {
        const chosen = devices[number % devices.length] as Device;
        const problem = { ...input, precision: 'single' as const };
        expect(await complaints(chosen, problem, random, [mode]), JSON.stringify(chosen.profile)).toEqual([]);
      }),
      { seed: seedFor('accuracy/webgpu/any') | 0, numRuns: exhaustive ? 2000 : 14, endOnFailure: true },
    );
    for (const each of devices.slice(2)) each.close();
  });
});
