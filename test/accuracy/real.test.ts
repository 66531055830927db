/** Real transforms on every device that runs here: any length, any layout, either direction. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { relativeError } from '../support/accuracy.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { repeated } from '../support/optional.ts';
import { randomFor, uniform } from '../support/random.ts';
import { realProblem, triedReal, withBlocks } from '../support/real.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/real');
const directions = ['forward', 'inverse'] as const;
type Direction = (typeof directions)[number];

async function check(device: Device, problem: ProblemInput, ways: readonly Direction[] = directions): Promise<void> {
  for (const direction of ways) {
    const { what, error, allowed, damage } = await triedReal(device, problem, direction, random);
    expect(damage, what).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
  }
}

describe.skipIf(repeated)('on the CPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWith({}, 1);
  });
  afterAll(() => device.close());

  it('every length up to 300, alone and in batches', async () => {
    for (let n = 1; n <= 300; n += exhaustive ? 1 : random.integer(1, 40)) {
      await check(device, { size: [n], precision: 'double' });
      await check(device, { size: [n], batches: random.integer(2, 9), placement: 'in-place' });
    }
  });

  it.each([[4096], [4095], [8192], [10_000], [30_030], [2 ** 16], [2 ** 17], [3 ** 10], [10_007], [20_014]])(
    '%i points',
    async (n) => {
      const both: ProblemInput[] = [
        { size: [n] },
        { size: [n], precision: 'double', batches: 2, placement: 'in-place' },
      ];
      for (const problem of exhaustive ? both : [random.pick(both)]) await check(device, problem);
    },
  );

  it.each<ProblemInput>([
    { size: [24, 8], zeroPadding: { space: [null, { from: 1, to: 8 }] } },
    { size: [24, 8], zeroPadding: { space: [null, { from: 1, to: 8 }] }, precision: 'double' },
    { size: [22, 3], zeroPadding: { frequency: [null, { from: 1, to: 3 }] } },
  ])('short lines of which blocks of zeros leave too few for a vector, %j', (problem) => check(device, problem));

  it('random problems', async () => {
    for (let round = 0; round < (exhaustive ? 2000 : 15); round++)
      await check(device, realProblem(random, 8000, ['single', 'double']));
  });

  it('blocks of zeros', async () => {
    for (let round = 0; round < (exhaustive ? 500 : 6); round++)
      await check(device, withBlocks(random, realProblem(random, 4000, ['single', 'double'])));
  });
});

describe.skipIf(repeated)('axes that share launches', () => {
  const both = ['single', 'double'] as const;
  /** Blocks so small that what they take together is short, too. */
  const small = (bytes: number, blocks: number): DeviceProfile => ({
    ...namedProfiles.h200.profile,
    ...{ sharedBytes: bytes, residentBytes: 4 * bytes, coalescedBytes: 64, maxThreads: 256, groupPoints: 256 },
    cluster: { blocks, sharedBytes: (bytes * 16) / 17, above: { single: bytes, double: bytes } },
  });

  it.each<[ProblemInput, number, number]>([
    [{ size: [16, 12, 10], batches: 2 }, 2 ** 15, 2],
    [{ size: [32, 24, 32] }, 4352, 8],
    [{ size: [32, 32, 16, 2], preserveInput: false }, 4352, 4],
    [{ size: [64, 64], layout: { output: 'planar' } }, 2176, 4],
    [{ size: [16, 12], batches: 2, placement: 'in-place' }, 4352, 4],
    [{ size: [15, 12, 10] }, 8704, 4],
    [{ size: [12, 10, 6, 2], omit: [false, true, false, false], leftBatches: 3 }, 8704, 4],
  ])('%j', async (problem, bytes, blocks) => {
    const device = openInterpreted(small(bytes, blocks));
    for (const precision of exhaustive ? both : [random.pick(both)]) {
      const plan = await device.plan({ ...problem, precision, transform: 'r2c' } as ProblemInput);
      const titles = plan.toJSON().directions.flatMap(({ launches }) => launches.map(({ title }) => title));
      expect(titles.some((title) => title.startsWith('axes'))).toBe(true);
      await check(device, { ...problem, precision });
    }
    device.close();
  });

  it('random problems', async () => {
    const device = openInterpreted(small(4352, 4));
    for (let round = 0; round < (exhaustive ? 300 : 5); round++) {
      const problem = realProblem(random, 1500, ['single', 'double']);
      await check(device, round % 2 === 0 ? withBlocks(random, problem) : problem);
    }
    device.close();
  });

  it('lines that a cluster takes whole, in their own memory', async () => {
    const device = openInterpreted(small(4352, 4));
    for (let round = 0; round < (exhaustive ? 100 : 3); round++) {
      const precision = random.pick(['single', 'double'] as const);
      // Odd lengths, that no block holds: most have large primes, and are convolved.
      const n = 2 * (precision === 'single' ? random.integer(136, 500) : random.integer(69, 250)) + 1;
      const batches = random.integer(1, 3);
      const problem = { size: [n], batches, precision, placement: 'in-place' } as const;
      await check(device, problem);
      // Bins that lie closer than the reals do not have the memory of these.
      const strides = { input: [1, 1, n + 1], output: [1, 1, (n + 1) / 2 + 1] };
      await check(device, { ...problem, strides });
    }
    device.close();
  });

  it('spectra that are none of reals give what transforms along one axis after another would', async () => {
    const size = [8, 6, 4];
    const bins = 5 * 6 * 4;
    const spectrum = Float64Array.from(uniform(random, 2 * bins, 'double'));
    const results: Float64Array[] = [];
    for (const device of [openInterpreted(small(8704, 4)), await openWith({}, 1)]) {
      const plan = await device.plan({ size, transform: 'r2c', precision: 'double', directions: 'inverse' });
      results.push((await plan.inverse(spectrum)) as Float64Array);
      device.close();
    }
    expect(relativeError(results[0]!, results[1]!)).toBeLessThan(1e-15);
  });
});

describe.skipIf(repeated)('in several uploads', () => {
  it.each([512, 1024, 2048])('with %i bytes of shared memory', async (sharedBytes) => {
    // Clusters would take in one launch what is to take two.
    const { cluster: _, ...profile } = namedProfiles.h200.profile;
    const device = openInterpreted({ ...profile, sharedBytes: 2 * sharedBytes, residentBytes: 2 * sharedBytes });
    const lengths = [512, 729, 1000, 1155, 1009, 2048, 3000, 1458];
    // Of three kinds of memory each takes some, every time others.
    const some = lengths.filter(() => exhaustive || random.unit() < 0.5);
    for (const n of [...some, random.integer(300, 1500), 2 * random.integer(150, 700)]) {
      await check(device, { size: [n], batches: random.integer(1, 2), precision: random.pick(['single', 'double']) });
    }
    device.close();
  });

  it('bins that stay where uploads leave them are where the plan says', async () => {
    const problems: ProblemInput[] = [
      { size: [4096] },
      { size: [96], batches: 3, placement: 'in-place' },
      { size: [400, 3], placement: 'in-place', normalize: true },
      { size: [1000, 2], batches: 2, scale: { forward: 0.3, inverse: -2 } },
      { size: [480], leftBatches: 5, preserveInput: false },
      { size: [720], batches: 2, layout: 'planar', strides: { input: [1, 2, 1440], output: [1, 1, 400] } },
      { size: [4 * random.integer(30, 300)], batches: random.integer(1, 4), placement: 'in-place' },
      { size: [3, 2000], batches: 2, placement: 'in-place' },
    ];
    const vectors = await openWith({}, 2);
    const { cluster: _, ...profile } = namedProfiles.h200.profile;
    const threads = openInterpreted({ ...profile, sharedBytes: 8192, residentBytes: 8192 });
    const orders: boolean[] = [];
    for (const device of [vectors, threads]) {
      for (const problem of problems) {
        const precision = random.pick(['single', 'double'] as const);
        const input = { ...problem, unordered: true, precision, tuning: { uploadSwitch: { two: 96 } } };
        await check(device, input);
        const plan = await device.plan({ ...input, transform: 'r2c' } as ProblemInput);
        const places = Array.from({ length: plan.output.shape[1]! }, (_, k) => plan.output.order(k));
        expect([...places].sort((a, b) => a - b)).toEqual([...places.keys()]);
        orders.push(places.some((place, k) => place !== k));
      }
      device.close();
    }
    expect(orders.filter((left) => left).length).toBeGreaterThan(problems.length);
  });

  it('on vectors', async () => {
    const device = await openWith({ sharedBytes: 4096 }, 2);
    for (const n of [2048, 6000, 6561]) await check(device, { size: [n], batches: 2 });
    device.close();
  });

  it.each([
    ['threads', () => openInterpreted(namedProfiles.h200.profile)],
    ['vectors', () => openWith({}, 2)],
  ] as const)('columns of reals are followed by rows in two uploads and more, by %s', async (_, open) => {
    const device = await open();
    for (let round = 0; round < (exhaustive ? 200 : 5); round++) {
      // A factor of 2 that columns need, and small ones that make many uploads.
      const length = 2 * random.pick([36, 60, 64, 90, 105, 128, 180, 210, 256, 420]);
      const problem: ProblemInput = {
        size: random.integer(0, 2) > 0 ? [length] : [length, 3],
        ...{ batches: random.integer(1, 3), precision: random.pick(['single', 'double'] as const) },
        placement: random.pick(['in-place', 'out-of-place'] as const),
        tuning: { uploadSwitch: { two: 8, three: 16 } },
      };
      const plan = await device.plan({ ...problem, transform: 'r2c', directions: 'forward' } as ProblemInput);
      expect(plan.explain()).toMatch(/columns of reals, \d+·\d+·\d+[·\d]*( × \d+)? at [\d.]+ \(chosen\)/);
      await check(device, problem);
    }
    device.close();
  });

  it('blocks of bins, which leave out what mirrors them', async () => {
    const device = await openWith({ sharedBytes: 4096 }, 2);
    for (const size of [[2048], [4096, 3], [1155, 2]])
      await check(device, withBlocks(random, { size, precision: 'double' }));
    const bins = [{ from: 128, to: 700 }];
    await check(device, { size: [2048], precision: 'double', zeroPadding: { frequency: bins } });
    device.close();
  });
});

describe.each([
  { name: 'OpenCL', missing: noOpenCl, open: openOpenCl },
  { name: 'WebGPU', missing: noWebGpu, open: openWebGpu },
  ...vulkanDevices,
])('on $name', ({ missing, open }) => {
  let device: Device;
  beforeAll(async () => {
    if (!missing) device = await open();
  });
  afterAll(() => device?.close());

  it.skipIf(missing)('random problems', async () => {
    for (let round = 0; round < (exhaustive ? 100 : 2); round++) {
      const problem = realProblem(random, 1200, precisionsOf(device));
      // The kernels of one way alone are compiled.
      const way = random.pick(directions);
      const asked = exhaustive ? {} : { directions: way };
      await check(
        device,
        { ...(round % 4 === 0 ? withBlocks(random, problem) : problem), ...asked },
        exhaustive ? directions : [way],
      );
    }
  });
});

describe('what a real problem cannot be', () => {
  it.each<[ProblemInput, string]>([
    [{ size: [8], transform: 'r2c', placement: 'in-place', layout: 'planar' }, 'invalid-field'],
    [{ size: [8], transform: 'r2c', zeroPadding: { frequency: [{ from: 3, to: 6 }] } }, 'invalid-field'],
    [{ size: [8, 4], transform: 'r2c', omit: [true, false] }, 'unsupported-feature'],
  ])('%j', async (problem, code) => {
    const device = await openWith({}, 1);
    await expect(device.plan(problem)).rejects.toMatchObject({ code });
    device.close();
  });

  it('arrays of the wrong kind or length', async () => {
    const device = await openWith({}, 1);
    const plan = await device.plan({ size: [10], transform: 'r2c' });
    expect([plan.input.length, plan.output.length]).toEqual([10, 6]);
    const forward = plan.forward.bind(plan) as (x: unknown) => Promise<unknown>;
    await expect(forward(new Float32Array(12))).rejects.toMatchObject({ code: 'wrong-length' });
    await expect(forward({ re: new Float32Array(10), im: new Float32Array(10) })).rejects.toMatchObject({
      code: 'wrong-array-type',
    });
    device.close();
  });

  it('imaginary parts of bins that are real do not count', async () => {
    // The longer ones take several launches.
    const device = await openWith({ sharedBytes: 4096 }, 1);
    for (const n of [1, 2, 9, 16, 8192, 6561, 1009]) {
      const plan = await device.plan({ size: [n], transform: 'r2c', precision: 'double' });
      const bins = await plan.forward(Float64Array.from({ length: n }, (_, k) => k - 2));
      const expected = await plan.inverse(bins);
      bins[1] = Number.NaN;
      if (n % 2 === 0) bins[bins.length - 1] = 1e9;
      expect(await plan.inverse(bins)).toEqual(expected);
    }
    device.close();
  });
});
