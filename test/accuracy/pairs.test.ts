/** Numbers that are pairs of a device's own: double-doubles of two doubles, and doubles of two singles where there are none. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../src/devices/profiles/index.ts';
import { computable } from '../../src/emit/double-word/index.ts';
import { fillTable } from '../../src/engine/programs/tables.ts';
import type { Device, ProblemInput } from '../../src/index.ts';
import { buildKernel } from '../../src/kernels/index.ts';
import { powerFactor } from '../../src/numeric/scale-factor.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { targetOf } from '../../src/plan/device/target.ts';
import { planLaunches } from '../../src/plan/planner.ts';
import { mapLeaves } from '../../src/plan/tree/node.ts';
import { normalizeProblem, tensorShape } from '../../src/problem/index.ts';
import { fromFixed, toFixed } from '../reference/fixed.ts';
import { interpret } from '../support/interpret.ts';
import { openInterpreted } from '../support/interpreted.ts';
import { noOpenCl, openOpenCl } from '../support/opencl.ts';
import { repeated } from '../support/optional.ts';
import { complexProblem, triedPairConvolution, triedPairs } from '../support/paired.ts';
import { planDirection } from '../support/planned.ts';
import { randomFor } from '../support/random.ts';
import { realProblem, withBlocks as withRealBlocks } from '../support/real.ts';
import { sumsProblem, withBlocks } from '../support/sums.ts';
import { exhaustive, openWith } from '../support/transforms.ts';
import { vulkanDevices } from '../support/vulkan.ts';
import { noWebGpu, openWebGpu } from '../support/webgpu.ts';

const random = randomFor('accuracy/pairs');
const directions = ['forward', 'inverse'] as const;
const wide = 'double-double';

async function check(device: Device, problem: ProblemInput, double?: 'single-pair'): Promise<void> {
  for (const direction of directions) {
    const { what, error, allowed, damage } = await triedPairs(device, problem, direction, random, double);
    expect(damage, what).toEqual([]);
    expect(error, what).toBeLessThanOrEqual(allowed);
  }
}

/** Random problems: complex, real, of cosines and sines. Stored as computed, or as doubles or singles. */
function problem(most: number): ProblemInput {
  const kind = random.integer(0, 2);
  const blocks = random.integer(0, 3) === 0;
  const [made, blocked]: [ProblemInput, (of: ProblemInput) => ProblemInput] =
    kind === 0
      ? [complexProblem(random, most), (of) => withBlocks(random, of)]
      : kind === 1
        ? [{ ...realProblem(random, most, [wide]), transform: 'r2c' }, (of) => withRealBlocks(random, of)]
        : [sumsProblem(random, most, [wide]), (of) => withBlocks(random, of)];
  const { edgeStorage: _, ...rest } = blocks ? blocked(made) : made;
  const stored = random.pick([
    {},
    {},
    { storage: 'double' },
    { edgeStorage: 'double' },
    { edgeStorage: 'single', storage: wide },
  ] as const);
  return { ...rest, precision: wide, ...stored } as ProblemInput;
}

describe.skipIf(repeated)('double-doubles on the CPU', () => {
  let device: Device;
  let split: Device;
  beforeAll(async () => {
    device = await openWith({}, 2);
    split = await openWith({ sharedBytes: 8192 }, 1);
  });
  afterAll(() => {
    device.close();
    split.close();
  });

  it('every short length', async () => {
    for (let n = 1; n <= 64; n += exhaustive ? 1 : random.integer(1, 13)) {
      await check(device, { size: [n], precision: wide, batches: random.integer(1, 3), normalize: true });
    }
  });

  it.each([127, 128, 210, 243, 289, 256])('%i points', async (n) => {
    await check(device, { size: [n], precision: wide });
  });

  it('random problems', async () => {
    for (let round = 0; round < (exhaustive ? 1000 : 8); round++) await check(device, problem(500));
  });

  it('convolutions, over lengths that are no powers of two', async () => {
    const shapes: readonly ProblemInput[] = [
      { size: [random.pick([3, 7, 45])], convolution: { kernels: 2 } },
      { size: [random.pick([37, 41, 137])], batches: 2, convolution: { conjugate: 'kernel' } },
      { size: [6, 5], convolution: { crossPower: true }, scale: { forward: 0.1 } },
      { size: [12, 3], transform: 'r2c', convolution: {}, scale: { forward: 0.1 } },
      { size: [15], transform: 'r2c', convolution: { conjugate: 'signal' } },
    ];
    for (const shape of shapes) {
      for (const on of exhaustive ? [device, split] : [random.pick([device, split])]) {
        const { what, error, allowed } = await triedPairConvolution(on, { ...shape, precision: wide }, random);
        expect(error, what).toBeLessThanOrEqual(allowed);
      }
    }
  });

  it('normalised sums, by their logical length', async () => {
    for (const transform of ['dct1', 'dst1', 'dct2', 'dst4'] as const) {
      const size = [random.integer(5, 24), random.pick([3, 7])];
      await check(device, { size, transform, precision: wide, normalize: true, scale: { inverse: 0.1 } });
    }
  });

  it('in memory of the device, from some number on', async () => {
    const plan = await device.plan({ size: [4], precision: wide, batches: 2 });
    expect(plan.input.bytes).toBe(8 * 32);
    const memory = [device.alloc(plan.input.bytes + 32), device.alloc(plan.output.bytes + 64)] as const;
    const [input, output] = memory.map(({ array }) => (array as Float64Array).fill(0.5)) as [
      Float64Array,
      Float64Array,
    ];
    input.subarray(4).fill(0);
    // One number in each batch, which is all that its bins are.
    input.set([1, 2 ** -60, 2, 2 ** -70], 4);
    input.set([3, 2 ** -80, 4, 2 ** -90], 4 + 16);
    await plan.enqueue('forward', { input: memory[0], output: memory[1], offsets: { input: 1, output: 2 } });
    await device.finish();
    const bins = [1, 2 ** -60, 2, 2 ** -70].concat([3, 2 ** -80, 4, 2 ** -90]);
    expect(Array.from(output)).toEqual([
      ...Array(8).fill(0.5),
      ...Array.from({ length: 32 }, (_, n) => bins[(n >> 4) * 4 + (n % 4)]),
    ]);
    expect(() => plan.forwardSync(new Float64Array(16))).toThrow(/exactly 32|needs 32/);
  });

  it('in several uploads', async () => {
    for (const size of [[512], [360]])
      await check(split, { size, precision: wide, storage: random.pick([wide, 'double']) });
  });
});

it('what a launch of a plan is multiplied by is exact, where no double is that number', () => {
  const own = normalizeProblem({ size: [4], precision: wide });
  const profile: DeviceProfile = namedProfiles['wasm-cpu'].profile;
  const tree = mapLeaves(planDirection(own, 'forward', profile, false).tree, (leaf) => ({
    ...leaf,
    times: powerFactor(2, 1 / 2),
  }));
  const written = { layout: 'interleaved', offset: 0, shape: tensorShape(own, 'output') } as const;
  const arranged = {
    problem: own,
    tree,
    target: targetOf(profile, wide),
    throughWork: false,
    written,
    scale: powerFactor(3, -1),
  } as const;
  const { launches } = planLaunches({ name: 'convolve', ...arranged });
  expect(launches).toHaveLength(1);
  const kernel = computable(buildKernel(launches[0]!.leaf), { profile });
  const [input, output] = [new Float64Array(16), new Float64Array(16)];
  // The bins of one number are that number.
  input[0] = 1;
  const tables = kernel.tables.map((table) => {
    const data = new Float64Array(table.length);
    fillTable(data, table);
    return [table.name, data] as const;
  });
  interpret(kernel, { ...Object.fromEntries(tables), input, output });
  for (let bin = 0; bin < 4; bin++) {
    const value = 3n * toFixed(...output.subarray(4 * bin, 4 * bin + 2));
    expect(Math.abs(fromFixed((value * value) / 2n ** 256n - toFixed(2)))).toBeLessThan(2 ** -100);
  }
});

describe.skipIf(repeated)('pairs for threads', () => {
  it.each([
    ['h200', wide],
    ['webgpu-default', 'double'],
  ] as const)('interpreted for %s', async (name, precision) => {
    const { cluster: _, ...profile } = namedProfiles[name].profile as DeviceProfile;
    const small = {
      ...profile,
      sharedBytes: 4096,
      residentBytes: 4096,
      sharedFormat: random.pick(['pairs', 'halves'] as const),
    };
    for (const device of [openInterpreted(profile), openInterpreted(small)]) {
      for (const size of [[30], [17], [random.pick([128, 144, 200])]]) {
        await check(device, { size, precision, batches: 2 }, 'single-pair');
      }
      const convolved = { size: [random.pick([12, 15, 37])], precision, convolution: {} } as const;
      const { what, error, allowed } = await triedPairConvolution(device, convolved, random, 'single-pair');
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
  });
});

describe.skipIf(noOpenCl)('on OpenCL', { timeout: 180_000 }, () => {
  it('doubles of two singles, where a device has no doubles', async () => {
    const device = await openOpenCl({ profile: { precisions: ['single'] } });
    await check(device, { size: [random.pick([24, 25])], precision: 'double', layout: 'planar' }, 'single-pair');
    device.close();
  });

  it('double-doubles', async () => {
    const device = await openOpenCl();
    await check(device, { size: [random.pick([32, 60, 100])], precision: wide, batches: 3 });
    await check(device, { size: [random.pick([24, 34])], transform: 'r2c', precision: wide, storage: 'double' });
    device.close();
  });
});

describe.each(vulkanDevices)('on $name', { timeout: 180_000 }, ({ missing, open, doubles }) => {
  it.skipIf(missing)(doubles ? 'double-doubles' : 'doubles of two singles, where a device has no doubles', async () => {
    const device = await open();
    const [precision, kind] = doubles ? ([wide, undefined] as const) : (['double', 'single-pair'] as const);
    await check(device, { size: [random.pick([24, 25, 60])], precision, batches: 3 }, kind);
    await check(device, { size: [random.pick([24, 34])], transform: 'r2c', precision, layout: 'planar' }, kind);
    device.close();
  });
});

describe.skipIf(noWebGpu)('doubles of two singles on WebGPU', { timeout: 180_000 }, () => {
  it('a sample', async () => {
    const device = await openWebGpu();
    await check(device, { size: [random.pick([16, 20, 27])], precision: 'double', batches: 3 }, 'single-pair');
    const plan = await device.plan({ size: [8], precision: 'double', normalize: true });
    const memory = device.alloc(plan.output.bytes);
    const x = Float64Array.from({ length: 16 }, () => random.unit());
    await plan.forward(x, memory as never);
    const again = await plan.inverse(memory as never);
    for (const [n, value] of again.entries()) expect(Math.abs(value - x[n]!)).toBeLessThan(1e-12);
    await check(device, { size: [12], transform: 'r2c', precision: 'double', edgeStorage: 'single' }, 'single-pair');
    device.close();
  });
});
