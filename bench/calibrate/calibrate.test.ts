import { describe, expect, it } from 'vitest';
import { deviceModule } from '../../src/devices/registry.ts';
import { Device } from '../../src/engine/device.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { normalizeProblem } from '../../src/problem/index.ts';
import { randomFor } from '../../test/support/random.ts';
import { choiceFor, randomProblem } from './choices.ts';
import { fitLaunches } from './launches.ts';
import { fitPasses } from './passes.ts';
import { randomLength, schemeChoiceFor } from './schemes.ts';

const random = randomFor('bench/calibrate');

describe('calibrate', () => {
  it('draws problems that are valid, of the sizes asked for', () => {
    for (let n = 0; n < 200; n++) {
      const { size, batches, precision } = normalizeProblem(randomProblem(2 ** 16, random, ['single', 'double']));
      const elements = size.reduce((a, b) => a * b, batches);
      expect(elements).toBeGreaterThanOrEqual(2 ** 6);
      expect(elements).toBeLessThanOrEqual(2 ** 16);
      expect(['single', 'double']).toContain(precision);
    }
  });

  it('compares the plan by price with the fastest candidate, and prices passes', async () => {
    const backend = await (await deviceModule('cpu'))!.create({ threads: 1 });
    const device = new Device(backend);
    const choice = await choiceFor({ size: [2048], directions: 'forward' }, device);
    expect(choice!.candidates).toBeGreaterThan(1);
    expect(choice!.ratio).toBeGreaterThan(0);
    expect(await choiceFor({ size: [17] }, device)).toBeUndefined();
    const { radixCosts, trip } = (await fitPasses(backend, 'single'))!;
    // Costs are of what the planner was made to take: nothing else could tell the radices apart.
    expect(radixCosts[4]).toBe(1);
    expect(radixCosts[13]!).toBeGreaterThan(radixCosts[3]!);
    expect(trip.passes).toBeGreaterThan(0);
    device.close();
  });

  it('says what it takes several threads to start a launch, and that one thread starts nothing', async () => {
    const fitted = async (threads: number) => {
      const backend = await (await deviceModule('cpu'))!.create({ threads });
      const fit = await fitLaunches(backend);
      backend.close();
      return [backend.profile.multiprocessors, fit?.launch] as const;
    };
    expect((await fitted(1))[1]).toBeUndefined();
    const [threads, launch] = await fitted(2);
    if (threads === 1) return;
    expect(launch!.bytes).toBeGreaterThanOrEqual(0);
    expect(launch!.reach).toBeGreaterThanOrEqual(1);
    expect(launch!.reach).toBeLessThanOrEqual(threads);
  });

  it('compares the plan by price with every scheme of a length with large primes', async () => {
    for (let n = 0; n < 200; n++) {
      const length = randomLength(10 ** 5, random);
      expect(length).toBeLessThanOrEqual(10 ** 5);
      expect(largestPrimeFactor(length)).toBeGreaterThan(13);
    }
    const device = new Device(await (await deviceModule('cpu'))!.create({ threads: 1 }));
    const { ratio, times } = await schemeChoiceFor(34, 'single', device);
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(Object.keys(times)).toEqual(['by price', 'multiplied', 'convolved', 'bluestein']);
    device.close();
  });
});
