/** Cosine and sine transforms I to IV on every device that runs here: any length, any layout, either direction. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import { realTransforms } from '../../src/problem/problem.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { repeated } from '../support/optional.ts';
import { randomFor } from '../support/random.ts';
import { type RealTransform, sumsProblem, triedSums, withBlocks } from '../support/sums.ts';
import { exhaustive, openWith, precisionsOf } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/sums');
const directions = ['forward', 'inverse'] as const;
type Direction = (typeof directions)[number];

/** @param launches that the axis takes at least */
async function check(
  device: Device,
  problem: ProblemInput,
  launches = 1,
  ways: readonly Direction[] = directions,
): Promise<void> {
  for (const direction of ways) {
    const { what, error, allowed, damage } = await triedSums(device, problem, direction, random);
    expect(damage, what).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
    expect(what.split('; ').length, what).toBeGreaterThanOrEqual(launches);
  }
}

describe.skipIf(repeated)('lines in several uploads', () => {
  it('blocks of lines, two of which are one between launches', async () => {
    const device = await openWith({ sharedBytes: 2048 }, 1);
    const space = [
      { from: 191, to: 224 },
      { from: 0, to: 3 },
    ];
    const problem = {
      size: [256, 5],
      precision: 'double',
      zeroPadding: { space, frequency: [{ from: 9, to: 188 }, null] },
    } as const;
    await check(device, { ...problem, transform: ['dct3', 'dct2'] });
    await check(device, { ...problem, transform: ['dst1', 'dct4'] });
    device.close();
  });
});

describe.skipIf(repeated)('on the CPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWith({}, 1);
  });
  afterAll(() => device.close());

  it.each(realTransforms)(
    '%s of every length up to 100, alone and in batches',
    { timeout: 120_000 },
    async (transform) => {
      const step = () => (exhaustive ? 1 : random.integer(1, 50));
      for (let n = transform === 'dct1' ? 2 : 1; n <= 100; n += step()) {
        await check(device, { size: [n], transform, precision: 'double' });
        await check(device, { size: [n], transform, batches: random.integer(2, 9), placement: 'in-place' });
      }
    },
  );

  it.each([[4096], [4099], [10_007], [2 ** 15]])('%i points', async (n) => {
    for (const transform of exhaustive ? realTransforms : [random.pick(realTransforms), random.pick(realTransforms)]) {
      await check(device, { size: [n], transform, precision: random.pick(['single', 'double']) });
    }
  });

  it('two lines that share a transform', async () => {
    const tuning = { mergeSequences: true } as const;
    for (const transform of ['dct1', 'dct2', 'dst3', 'dst4'] as const)
      await check(device, { size: [2 * random.integer(2, 40) + 1], transform, batches: random.integer(2, 9), tuning });
  });

  it('bins stay in their order: none would spare memory or a launch', async () => {
    const problem = { size: [256], tuning: { uploadSwitch: { two: 64 } }, unordered: true, batches: 2 } as const;
    for (const transform of ['dct1', 'dct2', 'dct4', 'dst3', 'dht'] as const) {
      await check(device, { ...problem, transform });
      const plan = await device.plan({ ...problem, transform });
      expect(Array.from({ length: 256 }, (_, k) => plan.output.order(k))).toEqual([...Array(256).keys()]);
      plan.destroy();
    }
  });

  it('random problems', async () => {
    for (let round = 0; round < (exhaustive ? 2000 : 10); round++)
      await check(device, sumsProblem(random, 4000, ['single', 'double']));
  });

  it('blocks of zeros', async () => {
    for (let round = 0; round < (exhaustive ? 500 : 4); round++)
      await check(device, withBlocks(random, sumsProblem(random, 2000, ['single', 'double'])));
  });
});

describe.skipIf(repeated)('in several uploads', () => {
  it.each([512, 1024])('with %i bytes of shared memory', async (sharedBytes) => {
    // Without clusters, whose blocks hold more together.
    const { cluster: _, ...profile } = namedProfiles.h200.profile;
    const device = openInterpreted({ ...profile, sharedBytes: 2 * sharedBytes, residentBytes: 2 * sharedBytes });
    const sums = async (n: number, transform: RealTransform) => {
      const precision = random.pick(['single', 'double'] as const);
      await check(device, { size: [n], transform, precision, batches: random.integer(1, 2) }, 2);
    };
    for (const n of [2048, 729, 1500, 509, random.integer(600, 1400)]) await sums(n, random.pick(realTransforms));
    await sums(random.pick([625, 1001, 1155]), random.pick(['dct4', 'dst4']));
    await sums(random.pick([511, 359]), 'dst1');
    await sums(random.pick([513, 361]), 'dct1');
    device.close();
  });

  it('of columns whose rows take two uploads and more', async () => {
    const devices = [openInterpreted(namedProfiles.h200.profile), await openWith({}, 2)];
    const tuning = { uploadSwitch: { two: 8, three: 16 } };
    for (const device of devices) {
      for (const kinds of [
        ['dct1'],
        ['dst1'],
        ['dct2', 'dst2'],
        ['dct3', 'dst3'],
        ['dct4', 'dst4'],
        ['dht'],
      ] as const) {
        const transform = random.pick(kinds);
        // As many points for each kind.
        const n = random.pick([96, 120, 210]) + (transform === 'dct1' ? 1 : transform === 'dst1' ? -1 : 0);
        const problem = { size: [n], transform, precision: random.pick(['single', 'double'] as const), tuning };
        const plan = await device.plan(problem);
        expect(plan.kernels.filter(({ direction }) => direction === 'forward').length).toBeGreaterThan(2);
        await check(device, problem, 2);
      }
      device.close();
    }
  });

  it('of two axes and on vectors', async () => {
    const device = await openWith({ sharedBytes: 4096 }, 2);
    for (const n of [1024, 2187, 3000]) {
      const transform = [random.pick(realTransforms), random.pick(realTransforms)];
      await check(device, { size: [n, 3], transform });
    }
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
    for (let round = 0; round < (exhaustive ? 100 : 1); round++) {
      const problem = sumsProblem(random, 500, precisionsOf(device));
      // The kernels of one way alone are compiled.
      const way = random.pick(directions);
      const asked = exhaustive ? {} : { directions: way };
      await check(
        device,
        { ...(round % 4 === 0 ? withBlocks(random, problem) : problem), ...asked },
        1,
        exhaustive ? directions : [way],
      );
    }
  });
});

describe('what a problem of cosines or sines cannot be', () => {
  it.each<[ProblemInput, string]>([
    [{ size: [1], transform: 'dct1' }, 'invalid-size'],
    [{ size: [8, 8], transform: ['dct2', 'c2c'] }, 'invalid-field'],
    [
      { size: [8], transform: 'dct4', placement: 'in-place', strides: { input: [1, 1, 8], output: [1, 2, 16] } },
      'invalid-strides',
    ],
  ])('%j', async (problem, code) => {
    const device = await openWith({}, 1);
    await expect(device.plan(problem)).rejects.toMatchObject({ code });
    device.close();
  });

  it('arrays of the wrong kind or length', async () => {
    const device = await openWith({}, 1);
    const plan = await device.plan({ size: [10], transform: 'dct2', layout: 'planar' });
    expect([plan.input.length, plan.output.length, plan.input.bytes]).toEqual([10, 10, 40]);
    const forward = plan.forward.bind(plan) as (x: unknown) => Promise<unknown>;
    await expect(forward(new Float32Array(20))).rejects.toMatchObject({ code: 'wrong-length' });
    // There are no parts that planes could hold: `layout` says nothing about reals.
    await expect(forward({ re: new Float32Array(10), im: new Float32Array(10) })).rejects.toMatchObject({
      code: 'wrong-array-type',
    });
    device.close();
  });
});
