/** Every knob changes the plan as docs/tuning.md says, and no plan that was tuned computes anything else. */
import { afterAll, describe, expect, it } from 'vitest';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { type Random, randomFor } from '../../../test/support/random.ts';
import { complaints, openWith } from '../../../test/support/transforms.ts';
import { gpuProfile } from '../../devices/profiles/gpu.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, normalizeProblem, type ProblemInput, type Tuning } from '../../problem/index.ts';
import { openDevice, openProfile, type ProfiledDevice } from '../index.ts';
import { planTuned } from './tuning.ts';

const random = randomFor('engine/programs/tuning');
const gpu = await openProfile('webgpu-default');
const m2 = await openProfile('m2');
const h200 = await openProfile('h200');
const cpu = await openDevice('cpu', { threads: 1 });
afterAll(() => {
  gpu.close();
  m2.close();
  h200.close();
  cpu.close();
});

/** What each launch of a forward plan came to. */
async function launchesOf(device: ProfiledDevice, problem: ProblemInput, tuning: Tuning = {}) {
  const plan = await device.plan({ ...problem, directions: 'forward', tuning });
  try {
    return plan.toJSON().directions[0]!.launches;
  } finally {
    plan.destroy();
  }
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

describe('knobs', () => {
  const lengths = (launches: readonly { lengths: readonly number[] }[]) => launches.flatMap(({ lengths }) => lengths);
  const groups = (launches: readonly { transformsPerGroup: number }[]) =>
    launches.map(({ transformsPerGroup }) => transformsPerGroup);

  it('coalescedBytes: columns that share a group', async () => {
    const image = { size: [256, 256], omit: [true, false] };
    const [narrow] = await launchesOf(gpu, image, { coalescedBytes: 32 });
    const [wide] = await launchesOf(gpu, image, { coalescedBytes: 128 });
    expect(narrow!.transformsPerGroup % 4).toBe(0);
    // 256 columns of a whole run do not fit, but nothing narrower than half a run is taken.
    expect(wide!.transformsPerGroup).toBeGreaterThanOrEqual(8);
    // A CPU takes longer runs of what comes from memory, but not where somebody asked.
    const columns = (size: number, tuning?: Tuning) => launchesOf(cpu, { ...image, size: [size, size] }, tuning);
    expect(groups(await columns(512))).toEqual([32]);
    expect(groups(await columns(1024))).toEqual([64]);
    expect(groups(await columns(1024, { coalescedBytes: 256 }))).toEqual([32]);
    // What a CPU puts aside lies in tiles of whole runs, where no cache holds it.
    const tiles = async (coalescedBytes: number) =>
      (await launchesOf(cpu, { size: [2 ** 20], placement: 'in-place' }, { coalescedBytes }))[0]!.memory.output;
    expect(await tiles(64)).not.toEqual(await tiles(256));
  });

  it('sharedBytes: what fits into one upload', async () => {
    const one = await launchesOf(gpu, { size: [4096] });
    expect(one.length).toBe(1);
    const two = await launchesOf(gpu, { size: [4096] }, { sharedBytes: 8192 });
    expect(two.length).toBe(2);
  });

  it('banks: the padding of shared memory', async () => {
    const source = async (tuning: Tuning) => {
      const plan = await gpu.plan({ size: [1024], tuning });
      return plan.kernels[0]!.source;
    };
    const [none, usual, many] = [await source({ banks: 1 }), await source({}), await source({ banks: 64 })];
    expect(none).not.toBe(usual);
    expect(many).not.toBe(usual);
    expect(await source({ banks: 32 })).toBe(usual);
  });

  it('warpSize: the lanes that a leaf counts on', async () => {
    const lanes = async (tuning: Tuning, precision: 'single' | 'double' = 'single') => {
      const problem = { size: [64], directions: 'forward', precision, tuning } as const;
      const plan = planTuned(normalizeProblem(problem), 'forward', h200.profile, false);
      return plan.launches[0]!.leaf.lanes;
    };
    expect([await lanes({}), await lanes({ warpSize: 16 })]).toEqual([32, 16]);
    // There is no half a lane.
    expect([await lanes({ warpSize: 1 }, 'double'), await lanes({ warpSize: 2 }, 'double')]).toEqual([1, 1]);
  });

  it('threads: groups of about so many', async () => {
    let before = 0;
    for (const threads of [32, 64, 128, 256, 512]) {
      const [launch] = await launchesOf(h200, { size: [64], batches: 4096 }, { threads });
      expect(launch!.threads).toBeLessThanOrEqual(threads);
      expect(launch!.threads).toBeGreaterThanOrEqual(threads / 2);
      expect(launch!.threads).toBeGreaterThan(before);
      before = launch!.threads;
    }
    // A thread keeps what it transforms in registers: four butterflies, no more.
    const [long] = await launchesOf(gpu, { size: [2048], batches: 64 }, { threads: 1 });
    const [usual] = await launchesOf(gpu, { size: [2048], batches: 64 });
    expect(long!.threads).toBe(usual!.threads / 4);
  });

  it('maxThreads: no group has more', async () => {
    const [usual] = await launchesOf(gpu, { size: [2048] });
    const [less] = await launchesOf(gpu, { size: [2048] }, { maxThreads: 32 });
    expect(usual!.threads).toBeGreaterThan(32);
    expect(less!.threads).toBe(32);
  });

  it('halfThreads: in the uploads of an axis that has several, and there only', async () => {
    const split = { size: [2 ** 15] };
    const whole = { size: [512], batches: 8 };
    const [usual, half] = [await launchesOf(gpu, split), await launchesOf(gpu, split, { halfThreads: true })];
    expect(usual.length).toBeGreaterThan(1);
    expect(half.map(({ threads }) => threads)).toEqual(usual.map(({ threads }) => Math.ceil(threads / 2)));
    expect(await launchesOf(gpu, whole, { halfThreads: true })).toEqual(await launchesOf(gpu, whole));
  });

  it('groupedBatch: transforms per group, axis by axis, as far as they fit', async () => {
    const cube = { size: [32, 32, 32], batches: 64 };
    const usual = groups(await launchesOf(gpu, cube));
    expect(groups(await launchesOf(gpu, cube, { groupedBatch: [2, 0, 16] }))).toEqual([2, usual[1], 16]);
    expect(groups(await launchesOf(gpu, cube, { groupedBatch: 4 }))).toEqual([4, 4, 4]);
    expect(groups(await launchesOf(gpu, { size: [512], batches: 64 }, { groupedBatch: 1000 }))).toEqual([8]);
    expect(groups(await launchesOf(gpu, { size: [32], batches: 3 }, { groupedBatch: 1000 }))).toEqual([3]);
    // Columns on a CPU come in whole vectors.
    const columns = { size: [64, 64], omit: [true, false] };
    expect(groups(await launchesOf(cpu, columns, { groupedBatch: 6 }))).toEqual([8]);
  });

  it('uploadSwitch: from which lengths on there are two uploads, and three', async () => {
    const uploadSwitch = { two: 256, three: 4096 };
    const count = async (length: number) => (await launchesOf(cpu, { size: [length] }, { uploadSwitch })).length;
    expect([await count(250), await count(256), await count(4095), await count(4096)]).toEqual([1, 2, 2, 3]);
    // 169 = 13·13 has two factors only, 13 has one.
    const all = { uploadSwitch: { three: 2 } };
    expect(lengths(await launchesOf(cpu, { size: [169] }, all))).toEqual([13, 13]);
    expect(lengths(await launchesOf(cpu, { size: [13] }, all))).toEqual([13]);
  });

  it('performBandwidthBoost: longer uploads of narrower columns', async () => {
    // 16 KiB hold half of 512 rows of a run of 8 complex numbers.
    const image = (rows: number) => ({ size: [64, rows], omit: [true, false] });
    const uploads = async (rows: number, performBandwidthBoost: number) =>
      (await launchesOf(gpu, image(rows), { performBandwidthBoost, coalescedBytes: 64 })).length;
    expect([await uploads(512, 1), await uploads(1024, 1), await uploads(1024, 2)]).toEqual([1, 2, 1]);
    expect([await uploads(2048, 2), await uploads(2048, -1), await uploads(4096, 4)]).toEqual([2, 1, 2]);
  });

  it('clusterBlocks: blocks that share a tile, or none', async () => {
    const own = await openProfile({
      ...h200.profile,
      cluster: { blocks: 16, sharedBytes: 65536, above: { single: 65536, double: 65536 } },
    });
    const blocks = async (size: number[], tuning: Tuning) =>
      (await launchesOf(own, { size, batches: 100 }, tuning)).map(({ blocks = 1 }) => blocks);
    expect(await blocks([2 ** 16], {})).toEqual([8]);
    expect(await blocks([2 ** 16], { clusterBlocks: 16 })).toEqual([8]);
    expect(await blocks([2 ** 16], { clusterBlocks: 1 })).toEqual([1, 1]);
    for (const most of await blocks([2 ** 16], { clusterBlocks: 4 })) expect(most).toBeLessThanOrEqual(4);
    expect(await problemsOf(own, { size: [64], tuning: { clusterBlocks: 32 } })).toEqual([
      'device-limit tuning.clusterBlocks',
    ]);
    // Devices without clusters have one block to a group, whatever is asked for.
    expect(await problemsOf(cpu, { size: [64], tuning: { clusterBlocks: 1 } })).toEqual([]);
    expect(await problemsOf(cpu, { size: [64], tuning: { clusterBlocks: 2 } })).toEqual([
      'device-limit tuning.clusterBlocks',
    ]);
    own.close();
  });

  it('registerBoost: real and imaginary parts share one memory, or do not', async () => {
    const twice = await launchesOf(gpu, { size: [4096], batches: 500 }, { registerBoost: 2 });
    expect(lengths(twice)).toEqual([4096]);
    expect(await launchesOf(gpu, { size: [4096], batches: 500 }, { registerBoost: 1 })).toHaveLength(2);
    // One of 3000 points is no power of two.
    expect(await launchesOf(gpu, { size: [3000], batches: 500 }, { registerBoost: 4 })).toHaveLength(1);
    const never = await launchesOf(
      gpu,
      { size: [3000], batches: 500 },
      { registerBoost: 4, registerBoostNonPow2: false },
    );
    expect(never).toHaveLength(2);
    const inOne = await launchesOf(h200, { size: [32768], batches: 500 }, { registerBoost: 2, clusterBlocks: 1 });
    expect(inOne).toHaveLength(1);
    expect(await launchesOf(h200, { size: [32768], batches: 500 }, { clusterBlocks: 1 })).toHaveLength(2);
    // Half of the points at a time, part by part: a quarter of what whole numbers take.
    const long = { size: [16384], batches: 500 };
    expect(lengths(await launchesOf(m2, long, { registerBoost: 4 }))).toEqual([16384]);
    expect(await launchesOf(m2, long, { registerBoost: 2 })).toHaveLength(2);
    // Of reals it is as much as with 2.
    const reals = { ...long, size: [32768], transform: 'r2c' as const };
    expect(await launchesOf(m2, reals, { registerBoost: 4 })).toEqual(
      await launchesOf(m2, reals, { registerBoost: 2 }),
    );
    // So few threads could not hold what waits: whole numbers are exchanged, as without it.
    const few = { maxThreads: 32 };
    expect(lengths(await launchesOf(gpu, { size: [2048], batches: 500 }, { ...few, registerBoost: 2 }))).toEqual([
      2048,
    ]);
    expect(await problemsOf(cpu, { size: [64], tuning: { registerBoost: 2, registerBoost4Step: 1 } })).toEqual([
      'unsupported-feature tuning.registerBoost',
      'unsupported-feature tuning.registerBoost4Step',
    ]);
  });

  it('rader: which primes are radices, and which lengths are convolved with one point less', async () => {
    const never = [2, 13] as const;
    const [usual] = await launchesOf(cpu, { size: [17 * 64] });
    expect(usual!.radices.flat()).toContain(17);
    const [convolved] = await launchesOf(cpu, { size: [17 * 64] }, { rader: { multiply: never, convolve: never } });
    expect(convolved!.padded).toBeGreaterThanOrEqual(2 * 17 * 64 - 1);
    const butterflies = async (rader: Tuning['rader']) =>
      (await launchesOf(cpu, { size: [31 * 16] }, { rader }))[0]!.steps.flatMap((step) =>
        step.do === 'passes' ? (step.convolved ?? []) : [],
      );
    expect(await butterflies({ multiply: [31, 31] })).toEqual([]);
    expect(await butterflies({ convolve: [31, 31] })).toEqual([31]);
    const [less] = await launchesOf(cpu, { size: [1009] }, { rader: { convolve: [1000, 2000] } });
    expect(less!.padded).toBe(1008);
  });

  it('bluestein: which length an axis is convolved with', async () => {
    const rader = { multiply: [2, 13], convolve: [2, 13] } as const;
    const padded = async (size: number, bluestein: Tuning['bluestein'], device: ProfiledDevice = cpu) => {
      const launches = await launchesOf(device, { size: [size] }, { rader, bluestein });
      return launches[0]!.padded ?? launches[0]!.lengths.reduce((a, b) => a * b, 1);
    };
    expect(await padded(100_003, { length: 262_144 })).toBe(262_144);
    expect(await padded(37, { length: 1001 })).toBe(1001);
    expect(Math.log2(await padded(1009, { maxRadix: 2 })) % 1).toBe(0);
    const pattern = [
      { from: 17, length: 64 },
      { from: 37, length: 99 },
    ];
    expect([await padded(31, { pattern }), await padded(37, { pattern })]).toEqual([64, 99]);
    // A pattern that ends leaves longer ones to the planner.
    const ended = [pattern[0]!, { from: 37 }];
    expect(await padded(31, { pattern: ended })).toBe(64);
    expect(await padded(37, { pattern: ended })).toBe(await padded(37, {}));
    // Too short for that one.
    expect(await padded(53, { pattern })).toBeGreaterThanOrEqual(105);
    // In several launches where one has no room.
    const several = await launchesOf(gpu, { size: [1009] }, { rader, bluestein: { length: 8192 } });
    expect(several.length).toBeGreaterThan(1);
    const short = { size: [64, 1009], tuning: { bluestein: { length: 2016 } } };
    expect(await problemsOf(cpu, short)).toEqual(['invalid-field tuning.bluestein.length']);
    expect(await problemsOf(cpu, { ...short, omit: [false, true] })).toEqual([]);
    // Too long for the device's memory.
    const long = { size: [1009], batches: 100_000, tuning: { rader, bluestein: { length: 2 ** 24 } } };
    expect(await problemsOf(h200, long)).toEqual(['device-limit size']);
    const prime = { size: [1021], tuning: { rader, sharedBytes: 4096, bluestein: { length: 3 ** 8 * 2 } } };
    expect(await problemsOf(gpu, { ...prime, tuning: { ...prime.tuning, bluestein: { length: 13 ** 3 } } })).toEqual(
      [],
    );
  });

  it('registerBoost4Step: the same in each of several uploads', async () => {
    const size = [2 ** 15];
    const columns = async (registerBoost4Step: number) =>
      (await launchesOf(gpu, { size }, { registerBoost4Step })).map(
        ({ lengths: [n], transformsPerGroup }) => n! * transformsPerGroup,
      );
    expect(Math.max(...(await columns(2)))).toBeGreaterThan(2048);
    expect(Math.max(...(await columns(1)))).toBeLessThanOrEqual(2048);
    const few = { sharedBytes: 4096 };
    const uploads = async (registerBoost4Step: number) =>
      (await launchesOf(gpu, { size: [65536] }, { ...few, registerBoost4Step })).length;
    expect(await uploads(2)).toBe(3);
    expect(await uploads(4)).toBe(2);
  });

  it('considerAllAxesStrided: the innermost axis is planned like the others', async () => {
    const image = { size: [2048, 2048] };
    const axis = (launches: readonly { title: string }[], n: number) =>
      launches.filter(({ title }) => title.startsWith(`axis ${n}`)).length;
    const [usual, alike] = [
      await launchesOf(gpu, image),
      await launchesOf(gpu, image, { considerAllAxesStrided: true }),
    ];
    expect([axis(usual, 0), axis(usual, 1)]).toEqual([1, 2]);
    expect([axis(alike, 0), axis(alike, 1)]).toEqual([2, 2]);
  });
});

describe('devices', () => {
  it('refuse more than they have, and what they do not have, all at once', async () => {
    const tuning = { sharedBytes: 65536, maxThreads: 512, warpSize: 64 };
    expect(await problemsOf(gpu, { size: [64], tuning })).toEqual([
      'device-limit tuning.sharedBytes',
      'device-limit tuning.maxThreads',
      'device-limit tuning.warpSize',
    ]);
    const absent = { streams: 2, twiddles: 'computed', banks: 4, clusterBlocks: 9 } as const;
    expect(await problemsOf(cpu, { size: [64], tuning: absent })).toEqual([
      'unsupported-feature tuning.streams',
      'unsupported-feature tuning.twiddles',
      'unsupported-feature tuning.banks',
      'device-limit tuning.clusterBlocks',
    ]);
    const threads = { banks: 32, warpSize: 8, threads: 64, maxThreads: 64, halfThreads: true, sharedBytes: 2 ** 30 };
    expect(await problemsOf(cpu, { size: [64], tuning: threads })).toEqual([
      'unsupported-feature tuning.banks',
      'unsupported-feature tuning.warpSize',
      'unsupported-feature tuning.threads',
      'unsupported-feature tuning.maxThreads',
      'unsupported-feature tuning.halfThreads',
      'device-limit tuning.sharedBytes',
    ]);
  });

  it('say so where no plan is left', async () => {
    const tuning = { sharedBytes: 4096, coalescedBytes: 4096 };
    expect(await problemsOf(cpu, { size: [2 ** 20], tuning })).toEqual(['device-limit tuning']);
  });

  it('do not take the plan of one tuning for another', async () => {
    const problem = { size: [4096], directions: 'forward' } as const;
    const one = await cpu.plan(problem);
    const three = await cpu.plan({ ...problem, tuning: { uploadSwitch: { three: 2 } } });
    const again = await cpu.plan(problem);
    const count = (plan: typeof one) => plan.toJSON().directions[0]!.launches.length;
    expect([count(one), count(three), count(again)]).toEqual([1, 3, 1]);
    await expect(cpu.plan(problem, { from: three.serialize() })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
  });

  it('load the tuned plans that they saved', async () => {
    const problem = { size: [60, 60], tuning: { sharedBytes: 65536, coalescedBytes: 64, uploadSwitch: { two: 60 } } };
    const saved = (await cpu.plan(problem)).serialize();
    const loaded = await cpu.plan(problem, { from: saved });
    expect(loaded.serialize()).toBe(saved);
  });
});

describe('tuned plans', () => {
  const threads: DeviceProfile = {
    ...gpuProfile,
    name: 'test',
    sharedBytes: 16384,
    maxThreads: 256,
    multiprocessors: 1,
  };

  const clustered: DeviceProfile = {
    ...threads,
    registerFile: 65536,
    cluster: { blocks: 8, sharedBytes: 4096, above: { single: 4096, double: 4096 } },
  };

  it('may have uploads that are shorter than a run of memory', async () => {
    const vectors = await openWith({});
    for (const size of [[512], [1024], [2048], [4096]]) {
      const tuning = { sharedBytes: 4096, considerAllAxesStrided: true };
      expect(await complaints(vectors, { size, placement: 'in-place', tuning }, random)).toEqual([]);
    }
    vectors.close();
  });

  it('compute the same, on vectors and on threads', { timeout: 240_000 }, async () => {
    const vectors = await openWith({});
    for (let round = 0; round < (process.env.OMNIFFT_EXHAUSTIVE === '1' ? 2000 : 80); round++) {
      const size = random.pick([[96], [250], [512], [1001], [2048], [32, 64], [12, 40], [64, 33], [8, 9, 10]]);
      const device = round % 2 === 0 ? vectors : openInterpreted(round % 4 === 1 ? threads : clustered);
      const tuning = {
        ...randomTuning(random, size.length, device === vectors),
        ...(device.profile.cluster ? { clusterBlocks: random.pick([1, 2, 3, 8]) } : {}),
      };
      const problem: ProblemInput = {
        size,
        batches: random.pick([1, 3]),
        precision: random.pick(['single', 'double'] as const),
        placement: random.pick(['in-place', 'out-of-place'] as const),
        unordered: random.unit() < 0.2,
        tuning,
      };
      expect(await complaints(device, problem, random), JSON.stringify(problem)).toEqual([]);
    }
    vectors.close();
  });
});

function randomTuning(random: Random, axes: number, vectors: boolean): Tuning {
  const sometimes = <T>(make: () => T): T | undefined => (random.unit() < 0.4 ? make() : undefined);
  const two = random.pick([2, 16, 100, 1000]);
  const times = () => sometimes(() => random.pick([1, 2, 4]));
  return {
    coalescedBytes: sometimes(() => random.pick([16, 32, 128])),
    sharedBytes: sometimes(() => random.pick([4096, 8192, 16384])),
    groupedBatch: sometimes(() => Array.from({ length: axes }, () => random.integer(0, 9))),
    uploadSwitch: sometimes(() => ({ two, three: two * random.pick([1, 4]) })),
    performBandwidthBoost: sometimes(() => random.pick([-1, 2, 4, 64])),
    considerAllAxesStrided: sometimes(() => true),
    rader: sometimes(() => ({
      multiply: random.pick([
        [17, 31],
        [2, 13],
      ] as const),
      convolve: random.pick([
        [17, 400],
        [2, 13],
      ] as const),
    })),
    bluestein: sometimes(() => ({ maxRadix: random.pick([2, 3, 13]) })),
    ...(vectors
      ? {}
      : {
          banks: sometimes(() => random.pick([1, 16, 64])),
          warpSize: sometimes(() => random.pick([1, 8, 32])),
          threads: sometimes(() => random.integer(1, 300)),
          maxThreads: sometimes(() => random.pick([32, 100, 256])),
          halfThreads: sometimes(() => true),
          registerBoost: times(),
          registerBoost4Step: times(),
          registerBoostNonPow2: sometimes(() => random.pick([true, false])),
        }),
  };
}
