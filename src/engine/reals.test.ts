/** Plans with reals on one side or both, called in every way that there is: saved, enqueued, on the calling thread. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Random, randomFor, uniform } from '../../test/support/random.ts';
import { openWith } from '../../test/support/transforms.ts';
import type { ProblemInput } from '../problem/index.ts';
import { type Device, openDevice, type Plan } from './index.ts';

const random: Random = randomFor('engine/reals');
const opened: Device[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});
async function held(device: Promise<Device>): Promise<Device> {
  opened.push(await device);
  return device;
}

const problems: [string, ProblemInput][] = [
  ['reals of even length', { size: [100, 3], transform: 'r2c' }],
  ['reals of odd length', { size: [63], batches: 5, transform: 'r2c' }],
  ['reals in several launches', { size: [8192], batches: 2, transform: 'r2c' }],
  ['an odd number of them', { size: [6561], batches: 3, transform: 'r2c' }],
  ['cosines', { size: [64, 48], transform: 'dct2' }],
  ['sines in several launches', { size: [6000], batches: 3, transform: 'dst3' }],
  ['cosines of a prime', { size: [509, 2], transform: ['dct4', 'dst1'] }],
];

/** So little shared memory that long axes take several launches, the same however many threads run them. */
const small = (threads = 1) => held(openWith({ sharedBytes: 4096, multiprocessors: 1 }, threads));

type Sync = (from: Float32Array, to?: Float32Array) => Float32Array;

/** What both directions make of data that both can take. */
async function resultsOf(plan: Plan): Promise<{ there: Float32Array; back: Float32Array; from: Float32Array }> {
  const from = new Float32Array(uniform(random, plan.input.length, 'single'));
  const there = (await plan.forward(from)) as Float32Array;
  const back = (await plan.inverse(there.slice())) as Float32Array;
  return { from, there, back };
}

describe.each(problems)('%s', (_, problem) => {
  it('there and back is the signal, and a saved plan makes the same', async () => {
    const device = await small();
    const plan: Plan = await device.plan({ ...problem, normalize: true });
    const { from, there, back } = await resultsOf(plan);
    back.forEach((value, n) => void expect(Math.abs(value - from[n]!)).toBeLessThan(1e-5));
    const other = await small();
    const again: Plan = await other.plan({ ...problem, normalize: true }, { from: plan.serialize() });
    expect(again.serialize()).toBe(plan.serialize());
    expect(again.toJSON().directions).toEqual(plan.toJSON().directions);
    expect(await again.forward(from)).toEqual(there);
    await expect(other.plan({ size: [96] }, { from: plan.serialize() })).rejects.toMatchObject({
      code: 'invalid-saved-plan',
    });
  });

  it('on the calling thread, on two threads, and through work and temp of the caller’s', async () => {
    const device = await small();
    const plan: Plan = await device.plan(problem);
    const { from, there, back } = await resultsOf(plan);
    const [forward, inverse] = [plan.forwardSync.bind(plan) as Sync, plan.inverseSync.bind(plan) as Sync];
    expect(forward(from)).toEqual(there);
    expect(inverse(there.slice(), new Float32Array(from.length))).toEqual(back);

    const two: Plan = await (await small(2)).plan(problem);
    expect(await two.forward(from)).toEqual(there);
    expect(await two.inverse(there.slice())).toEqual(back);

    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    const { work, temp } = plan.bytes;
    const caller = { work: device.alloc(work), ...(temp > 0 ? { temp: device.alloc(temp) } : {}) };
    for (const memory of [{}, caller]) {
      input.array.set(from);
      output.array.fill(Number.NaN);
      await plan.enqueue('forward', { ...memory, input, output });
      expectClose(output.array, there);
      input.array.fill(Number.NaN);
      await plan.enqueue('inverse', { ...memory, input: output, output: input });
      expectClose(input.array, back);
    }
  });
});

/** Launches through `work` may be others, which round in another way. */
function expectClose(found: ArrayLike<number>, wanted: Float32Array): void {
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  wanted.forEach((value, n) => void expect(Math.abs(found[n]! - value)).toBeLessThan(1e-5 * largest));
}

it('sides count what they hold: reals, or complex numbers', async () => {
  const device = await held(openDevice('cpu', { threads: 1 }));
  const real = await device.plan({ size: [10, 3], transform: 'r2c', precision: 'double' });
  expect([real.input.length, real.input.bytes, real.input.shape]).toEqual([30, 240, [1, 10, 3, 1, 1]]);
  expect([real.output.length, real.output.bytes, real.output.shape]).toEqual([18, 288, [1, 6, 3, 1, 1]]);
  const inPlace = await device.plan({ size: [10, 3], transform: 'r2c', placement: 'in-place' });
  expect([inPlace.input.length, inPlace.input.bytes]).toEqual([36, 144]);
  expect([inPlace.output.length, inPlace.output.bytes]).toEqual([18, 144]);
  const sums = await device.plan({ size: [10, 3], transform: 'dst2' });
  expect([sums.input.length, sums.output.length, sums.output.bytes]).toEqual([30, 30, 120]);
});
