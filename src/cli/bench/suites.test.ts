/** Every problem of the benchmark suites can be timed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { type Device, openDevice } from '../../index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { benchSuite, suiteList, suitePicture, suiteTable } from './suite.ts';
import { benchProblem, benchSuites, findSuite, spread, systemsIn } from './suites.ts';

const random = randomFor('cli/bench');

describe('suites', () => {
  it("are VkFFT's samples, under names and numbers, with as many systems", () => {
    const systems = Object.fromEntries(benchSuites.map((suite) => [suite.sample, suite.systems.length]));
    expect(systems).toEqual({
      ...{ 0: 25, 1: 23, 2: 24, 3: 38, 4: 38, 5: 25, 6: 23, 7: 53, 8: 53, 9: 22, 10: 25, 50: 1, 51: 1, 52: 1 },
      ...{ 100: 4 * 35, 101: 4 * 31 },
      ...{ 1000: 4095, 1001: 4095, 1002: 4095, 1003: 511, 1004: 4095 },
    });
    for (const suite of benchSuites) {
      expect(findSuite(suite.name)).toBe(suite);
      expect(findSuite(String(suite.sample))).toBe(suite);
      expect(suiteList()).toContain(suite.name);
    }
    expect(findSuite('11')).toBe(undefined);
  });

  it('hold problems that are valid, as many as fill a buffer', () => {
    for (const suite of benchSuites) {
      const system = random.pick(suite.systems);
      const points = system.size.reduce((product, n) => product * n, 1);
      const most = points * random.integer(4, 1000);
      const batches = systemsIn(suite, system, most);
      const problem = normalizeProblem(benchProblem(suite, system, batches));
      expect(problem).toMatchObject({ size: system.size, batches });
      expect(problem.placement).toBe(suite.convolution?.kernels ? 'out-of-place' : 'in-place');
      if (suite.points === undefined) expect(batches).toBe(1);
      else
        expect(batches * points).toBeLessThanOrEqual(
          Math.max(Math.min(most, suite.points), points * (suite.buffers ?? 1)),
        );
      if (suite.evenly) expect(Number.isInteger(Math.log2(batches))).toBe(true);
    }
  });

  it('are sampled from end to end', () => {
    expect(spread([1, 2, 3, 4, 5], 3)).toEqual([1, 3, 5]);
    expect(spread([1, 2, 3], 9)).toEqual([1, 2, 3]);
    expect(spread([1, 2, 3], 1)).toEqual([1]);
  });
});

describe('a suite on the CPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterAll(() => device.close());

  it.each(['half-1d', 'single-1d-split', 'single-nd-padded'])('%s is timed there and back', async (name) => {
    const result = await benchSuite(device, findSuite(name)!, { megabytes: 3, count: 2 }, () => {});
    const [row] = result.rows;
    expect(result.rows).toHaveLength(1);
    expect(result.left).toMatchObject([{ code: 'out-of-memory', reason: expect.stringContaining('--megabytes') }]);
    expect(row!.bytes).toBeLessThanOrEqual(3 * 2 ** 20);
    expect(row!.seconds).toBeCloseTo(row!.forward! + row!.inverse!, 12);
    expect(row!.score).toBeGreaterThan(0);
    expect(result.score).toBe(row!.score);
    expect(suiteTable(result)).toMatch(/score \d+.*\nleft out: \S+: over the 3 MiB/s);
    expect(suitePicture(result)).toMatch(/<polyline/);
  });

  it.each(['51', '52'])('convolutions of sample %s are timed as one step', async (sample) => {
    const { rows } = await benchSuite(device, findSuite(sample)!, { megabytes: 8 }, () => {});
    expect(rows).toHaveLength(1);
    expect(rows[0]!.forward).toBeUndefined();
    expect(rows[0]!.seconds).toBeGreaterThan(0);
  });
});
