/** `tuning.maxGroups` and `tuning.streams`: how kernels are launched on devices with groups, and that nothing else changes. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { noOpenCl, openOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { complaints } from '../../../test/support/transforms.ts';
import { noWebGpu, openWebGpu } from '../../../test/support/webgpu.ts';
import { FftError, type ProblemInput, type Tuning } from '../../problem/index.ts';
import { Device } from '../device.ts';
import { openDevice, openProfile, type ProfiledDevice } from '../index.ts';

const random = randomFor('engine/launches');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

const devices: [string, boolean, () => Promise<Device>][] = [
  ['a simulated GPU', simulator !== undefined, async () => new Device(await (simulator as Simulator).open())],
  ['OpenCL', noOpenCl === undefined, () => openOpenCl()],
  ['WebGPU', noWebGpu === undefined, () => openWebGpu()],
];

/** Of every launch of the forward plan. */
async function gridsOf(device: ProfiledDevice, problem: ProblemInput, tuning: Tuning = {}) {
  const plan = await device.plan({ ...problem, directions: 'forward', tuning });
  const grids = plan.toJSON().directions[0]!.launches.map(({ groups, grid }) => ({ groups, ...grid }));
  const text = plan.explain();
  plan.destroy();
  return { grids, text };
}

async function problemsOf(device: ProfiledDevice, problem: ProblemInput): Promise<string[]> {
  try {
    (await device.plan(problem)).destroy();
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    return (error as FftError).problems.map(({ code, path }) => `${code} ${path}`);
  }
}

/** Enough batches for many groups. */
const many: ProblemInput = { size: [16], batches: 700 };
/** Groups of one transform each: more of them than small limits to the third power. */
const single: Tuning = { groupedBatch: 1 };

describe.each(devices.filter(([, there]) => there))('maxGroups on %s', (_name, _there, open) => {
  let device: Device;
  beforeEach(async () => {
    device = await open();
  });
  afterEach(() => device.close());

  it('folds the groups over the dimensions, then over launches', async () => {
    const { grids: usual, text } = await gridsOf(device, many, single);
    expect(usual).toMatchObject([{ groups: 700, blocks: [700, 1, 1], launches: 1 }]);
    expect(text).not.toContain('launched');
    expect((await gridsOf(device, many, { ...single, maxGroups: 100 })).grids).toMatchObject([
      { blocks: [100, 7, 1], launches: 1 },
    ]);
    expect((await gridsOf(device, many, { ...single, maxGroups: 10 })).grids).toMatchObject([
      { blocks: [10, 10, 7], launches: 1 },
    ]);
    const split = await gridsOf(device, many, { ...single, maxGroups: 4 });
    expect(split.grids).toMatchObject([{ blocks: [4, 4, 4], launches: 11 }]);
    expect(split.text).toContain('in 4 × 4 × 4, launched 11 times');
    expect((await gridsOf(device, many, { ...single, maxGroups: 2 ** 40 })).grids).toEqual(usual);
  });

  it.each([
    [many, { ...single, maxGroups: 10 }],
    [many, { ...single, maxGroups: 4 }],
    [{ size: [16, 12], batches: 5, layout: { output: 'planar' } }, { maxGroups: 1 }],
    [
      { size: [4096], batches: 2, placement: 'in-place' },
      { maxGroups: 2, uploadSwitch: { two: 64 } },
    ],
    [
      { size: [60], batches: 40, offsets: { input: 3, output: 7 } },
      { ...single, maxGroups: 3 },
    ],
  ] as [ProblemInput, Tuning][])('%j with %j gives the same numbers', async (problem, tuning) => {
    // One way, every time another: the other one's kernels are launched alike, and compiled slowly.
    const directions = random.pick(['forward', 'inverse'] as const);
    expect(await complaints(device, { ...problem, tuning, directions }, random, ['host', 'enqueue'])).toEqual([]);
  });

  it('is refused where that took more launches than there may be', async () => {
    const batches = 70_000;
    const tuning = { ...single, maxGroups: 1 };
    await expect(device.plan({ size: [2], batches, tuning })).rejects.toThrow(/70000 launches/);
  });
});

describe('devices that have nothing like it', () => {
  it('refuse by name', async () => {
    const cpu = await openDevice('cpu', { threads: 1 });
    const webgpu = await openProfile('webgpu-default');
    expect(await problemsOf(cpu, { size: [64], tuning: { maxGroups: 4 } })).toEqual([
      'unsupported-feature tuning.maxGroups',
    ]);
    for (const device of [cpu, webgpu]) {
      expect(await problemsOf(device, { size: [64], tuning: { streams: 2 } })).toEqual([
        'unsupported-feature tuning.streams',
      ]);
      expect(await problemsOf(device, { size: [64], tuning: { streams: 1 } })).toEqual([]);
      device.close();
    }
  });

  it.skipIf(noOpenCl)('refuse by name: OpenCL', async () => {
    const opencl = await openOpenCl();
    expect(await problemsOf(opencl, { size: [64], tuning: { streams: 2 } })).toEqual([
      'unsupported-feature tuning.streams',
    ]);
    opencl.close();
  });
});

describe('profiles', () => {
  it('show what would be launched, and clusters keep to the limit', async () => {
    const h200 = await openProfile('h200');
    const long = { size: [2 ** 16] };
    const { grids } = await gridsOf(h200, long);
    expect(grids[0]!.blocks![0]).toBeGreaterThan(1);
    for (const maxGroups of [1, 3]) {
      for (const { blocks } of (await gridsOf(h200, long, { maxGroups })).grids) {
        for (const count of blocks!) expect(count).toBeLessThanOrEqual(maxGroups);
      }
    }
    const spread = await gridsOf(h200, { size: [1024], batches: 4096 }, { streams: 3 });
    expect(spread.grids[0]!.launches).toBe(3);
    h200.close();
  });
});

describe.runIf(simulator)('streams', () => {
  const sim = simulator as Simulator;
  let device: Device;
  beforeEach(async () => {
    device = new Device(await sim.open());
  });
  afterEach(() => {
    device.close();
    const { memory, host, streams, events, modules, graphs, faults } = sim.counts();
    expect([memory, host, streams, events, modules, graphs, faults]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  /** Streams by the order in which they first appear. */
  const named = (history: readonly string[]) => {
    const names = [...new Set(history.map((entry) => entry.slice(1)))];
    return history.map((entry) => `${entry[0]}${'abcdefgh'[names.indexOf(entry.slice(1))]}`).join(' ');
  };
  const memory = (bytes: number) => device.alloc(bytes);

  it.each([
    [many, { streams: 2 }],
    [many, { ...single, streams: 4, maxGroups: 4 }],
    [{ size: [64, 40], batches: 3, layout: { input: 'planar', output: 'planar' } }, { streams: 3 }],
    [
      { size: [4096], batches: 2, placement: 'in-place' },
      { streams: 3, uploadSwitch: { three: 64 } },
    ],
    [
      { size: [128], batches: 6, precision: 'double' },
      { ...single, streams: 8 },
    ],
  ] as [ProblemInput, Tuning][])('%j with %j gives the same numbers', async (problem, tuning) => {
    const modes = ['host', 'host-sync', 'alloc', 'enqueue', 'work', 'alloc'] as const;
    const directions = random.pick(['forward', 'inverse'] as const);
    expect(await complaints(device, { ...problem, tuning, directions }, random, modes)).toEqual([]);
  });

  it('branch off before each step and come together after it', async () => {
    const tuning: Tuning = { streams: 3, uploadSwitch: { two: 64 } };
    const plan = await device.plan({ size: [4096], batches: 8, directions: 'forward', tuning });
    expect(plan.kernels.length).toBe(2);
    const [input, output] = [memory(plan.input.bytes), memory(plan.output.bytes)];
    await device.finish();
    sim.history();
    await plan.forward(input, output);
    const step = 'ra wb wc la lb lc rb wa rc wa';
    expect(named(sim.history())).toBe(`${step} ${step} ra`);
  });

  it('become a graph that is captured over all of them', async () => {
    const plan = await device.plan({ ...many, tuning: { ...single, streams: 3 } });
    const x = new Float32Array(uniform(random, 2 * plan.input.length, 'single'));
    const first = await plan.forward(x);
    const before = sim.counts().graphLaunches;
    for (let n = 0; n < 3; n++) expect(await plan.forward(x)).toEqual(first);
    expect(sim.counts().graphLaunches - before).toBe(3);
  });

  const create = (): bigint => {
    const out = new BigUint64Array(1);
    expect(sim.driver('cuStreamCreate', ['void *', 'uint'])(out, 1)).toBe(0);
    return out[0] as bigint;
  };
  const destroy = (stream: bigint) => expect(sim.driver('cuStreamDestroy_v2', ['void *'])(stream)).toBe(0);

  it("branch off a stream of the caller's and come together in it", async () => {
    const stream = create();
    const plan = await device.plan({ ...many, directions: 'forward', tuning: { streams: 2 } });
    const [input, output] = [memory(plan.input.bytes), memory(plan.output.bytes)];
    await device.finish();
    sim.history();
    await plan.enqueue('forward', { input, output, stream });
    expect(named(sim.history())).toBe('ra wb la lb rb wa ra');
    destroy(stream);
  });

  it('leave a stream alone that is being captured by the caller', async () => {
    const stream = create();
    const plan = await device.plan({ ...many, directions: 'forward', tuning: { streams: 2 } });
    const [input, output] = [memory(plan.input.bytes), memory(plan.output.bytes)];
    await device.finish();
    expect(sim.driver('cuStreamBeginCapture_v2', ['void *', 'int'])(stream, 2)).toBe(0);
    sim.history();
    await plan.enqueue('forward', { input, output, stream });
    expect(named(sim.history())).toBe('la la');
    const out = new BigUint64Array(1);
    expect(sim.driver('cuStreamEndCapture', ['void *', 'void *'])(stream, out)).toBe(0);
    sim.driver('cuGraphDestroy', ['void *'])(out[0]);
    destroy(stream);
  });

  it('come together again after a launch that fails', async () => {
    const plan = await device.plan({ ...many, tuning: { ...single, streams: 4 } });
    const x = new Float32Array(uniform(random, 2 * plan.input.length, 'single'));
    const expected = await plan.forward(x);
    // Launches fail in streams that are there, the rest when more are made.
    for (const [name, streams] of [
      ['cuLaunchKernel', 3],
      ['cuStreamCreate', 6],
      ['cuEventCreate', 8],
    ] as const) {
      const more = await device.plan({ ...many, tuning: { ...single, streams } });
      sim.failNext(name, 1);
      await expect(more.forward(x)).rejects.toThrow(name);
      expect(await more.forward(x)).toEqual(expected);
    }
  });
});
