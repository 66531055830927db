/** Plans on a simulated GPU: the emitted CUDA source is compiled and run, and whole transforms are compared with the reference. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { smallProblems, tunedProblems } from '../../../test/device/cases.ts';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { triedPairs } from '../../../test/support/paired.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { complaints, exhaustive, expectedOf } from '../../../test/support/transforms.ts';
import { Device } from '../../engine/device.ts';
import type { ForeignMemory, ProblemInput } from '../../index.ts';
import type { GpuOptions } from './open.ts';

const random = randomFor('devices/cuda/plans');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

/** Fibers are slow, and each kernel takes the compiler a quarter of a second. */
const MOST_POINTS = exhaustive ? 2 ** 17 : 2 ** 15;
const SHARE = exhaustive ? 1 : 0.12;

describe.runIf(simulator)('on a simulated GPU', () => {
  const sim = simulator as Simulator;
  let device: Device;
  beforeEach(async () => {
    device = new Device(await sim.open());
  });
  afterEach(() => {
    device.close();
    const { bytes, modules, events, host, faults } = sim.counts();
    expect({ bytes, modules, events, host, faults }).toEqual({ bytes: 0, modules: 0, events: 0, host: 0, faults: 0 });
  });

  const native = (name: string, parameters: readonly string[], ...values: unknown[]) =>
    expect(sim.driver(name, parameters)(...values)).toBe(0);
  const create = (name: string, ...values: (number | bigint)[]): bigint => {
    const out = new BigUint64Array(1);
    native(name, ['void *', 'size_t'], out, ...values);
    return out[0] as bigint;
  };

  const pointsOf = ({ size, batches = 1 }: ProblemInput) => size.reduce((a, b) => a * b, 1) * batches;
  const fits = (problem: ProblemInput) => pointsOf(problem) <= MOST_POINTS;
  const chosen = smallProblems().filter((problem) => fits(problem) && random.unit() < SHARE);
  chosen.push(...tunedProblems('cuda').filter(fits));
  chosen.push({ size: [2 ** 15], batches: 2, layout: { input: 'planar' }, placement: 'out-of-place' });
  it.each(chosen)('%j', async (problem) => {
    const precision = random.pick(['single', 'double'] as const);
    const modes = [random.pick(['host', 'alloc'] as const), random.pick(['enqueue', 'work'] as const)];
    expect(await complaints(device, { ...problem, precision }, random, modes)).toEqual([]);
  });

  it.each<ProblemInput>([
    { size: [random.pick([60, 64, 77])], batches: 3 },
    { size: [random.pick([30, 34])], transform: 'r2c', storage: 'double' },
  ])('double-doubles, %j', async (problem) => {
    for (const direction of ['forward', 'inverse'] as const) {
      const wide = { ...problem, precision: 'double-double' } as const;
      const { what, error, allowed, damage } = await triedPairs(device, wide, direction, random);
      expect(damage, what).toEqual([]);
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
  });

  it("appends to a caller's stream, over memory of the caller's, with offsets", async () => {
    const n = 64;
    const plan = await device.plan({ size: [n], batches: 2, directions: 'forward' });
    const bytes = plan.input.bytes + 8 * 3;
    const stream = create('cuStreamCreate', 1);
    const pointers = [create('cuMemAlloc_v2', bytes), create('cuMemAlloc_v2', bytes)] as const;
    const [input, output] = pointers.map((devicePointer): ForeignMemory => ({ devicePointer, bytes })) as [
      ForeignMemory,
      ForeignMemory,
    ];
    const data = new Float32Array(uniform(random, bytes / 4, 'single'));
    const result = new Float32Array(bytes / 4);
    const copy = ['void *', 'void *', 'size_t', 'void *'];
    native('cuMemcpyHtoDAsync_v2', copy, pointers[0], data, bytes, stream);
    await plan.enqueue('forward', { input, output, stream, offsets: { input: 3, output: 1 } });
    native('cuMemcpyDtoHAsync_v2', copy, result, pointers[1], bytes, stream);
    native('cuStreamSynchronize', ['void *'], stream);
    const { hi } = expectedOf(plan.problem, 'forward', Float64Array.from(data.subarray(6)));
    expect(relativeError(result.subarray(2, 2 + 4 * n), hi)).toBeLessThanOrEqual(tolerance('single', n));
    expect(result[0]).toBeNaN();
    expect(result.subarray(2 + 4 * n).every(Number.isNaN)).toBe(true);

    const enqueue = (options: object) => codeOf(() => plan.enqueue('forward', { input, output, stream, ...options }));
    expect(await enqueue({ offsets: { input: 4 } })).toBe('buffer-too-small');
    expect(await enqueue({ output: input })).toBe('aliased-buffers');
    expect(await enqueue({ input: { devicePointer: pointers[0] + 4n, bytes: bytes - 4 } })).toBe('misaligned-buffer');
    expect(await enqueue({ input: { devicePointer: 8n, bytes } })).toBe('foreign-buffer');
    expect(await enqueue({ stream: 'mine' })).toBe('invalid-encoder');
    for (const pointer of pointers) native('cuMemFree_v2', ['void *'], pointer);
    native('cuStreamDestroy_v2', ['void *'], stream);
  });

  describe('two launches as one, whose groups are interleaved', () => {
    /** Blocks of a few KiB, so that small images take two launches. */
    const small = { sharedBytes: 4352, residentBytes: 17408, cluster: undefined, maxThreads: 256, groupPoints: 256 };
    const chunks = { bytes: 512, most: 2 ** 20, ahead: 2 ** 15 };
    let narrow: Device;
    beforeEach(async () => {
      narrow = new Device(await sim.open({ profile: { ...small, chunks } as unknown as GpuOptions['profile'] }));
    });
    afterEach(() => narrow.close());

    const cases: readonly ProblemInput[] = [
      { size: [32, 32], batches: 7 },
      { size: [32, 32], batches: 12, placement: 'in-place', normalize: true },
      { size: [32, 24], batches: 5, layout: { input: 'planar', output: 'interleaved' }, coordinates: 2 },
      { size: [16, 16, 16], batches: 6 },
      { size: [64, 32], batches: 3, strides: { input: [1, 1, 64, 2100], output: [1, 1, 70, 2240] } },
    ];
    it.each(cases)('%j', async (problem) => {
      for (const precision of ['single', 'double'] as const) {
        const plan = await narrow.plan({ ...problem, precision });
        if (precision === 'single') expect(plan.explain()).toMatch(/2 launches as one, /);
        plan.destroy();
        expect(await complaints(narrow, { ...problem, precision }, random)).toEqual([]);
      }
    });

    it("wait by counters of their own in each stream of the caller's, and in its graphs", async () => {
      const plan = await narrow.plan({ size: [32, 32], batches: 6, directions: 'forward' });
      const { bytes } = plan.input;
      const copy = ['void *', 'void *', 'size_t', 'void *'];
      const work = [0, 1, 2].map(() => {
        const stream = create('cuStreamCreate', 1);
        const [input, output] = [create('cuMemAlloc_v2', bytes), create('cuMemAlloc_v2', bytes)] as [bigint, bigint];
        const data = new Float32Array(uniform(random, bytes / 4, 'single'));
        native('cuMemcpyHtoDAsync_v2', copy, input, data, bytes, stream);
        return { stream, input, output, data, memory: (devicePointer: bigint) => ({ devicePointer, bytes }) };
      });
      for (const { stream, input, output, memory } of work.slice(0, 2))
        await plan.enqueue('forward', { input: memory(input), output: memory(output), stream });
      const { stream, input, output, memory } = work[2]!;
      native('cuStreamBeginCapture_v2', ['void *', 'int'], stream, 0);
      await plan.enqueue('forward', { input: memory(input), output: memory(output), stream });
      const [graph, ready] = [new BigUint64Array(1), new BigUint64Array(1)];
      native('cuStreamEndCapture', ['void *', 'void *'], stream, graph);
      native('cuGraphInstantiateWithFlags', ['void *', 'void *', 'uint64_t'], ready, graph[0]!, 0);
      // Other programs come and go; the counters of the captured graph stay its own.
      for (let n = 0; n < 40; n++) await plan.forward(work[0]!.data);
      for (let n = 0; n < 2; n++) native('cuGraphLaunch', ['void *', 'void *'], ready[0]!, stream);
      for (const { stream, output, data } of work) {
        const result = new Float32Array(bytes / 4);
        native('cuMemcpyDtoHAsync_v2', copy, result, output, bytes, stream);
        native('cuStreamSynchronize', ['void *'], stream);
        const { hi } = expectedOf(plan.problem, 'forward', Float64Array.from(data));
        expect(relativeError(result, hi)).toBeLessThanOrEqual(tolerance('single', 1024));
      }
      native('cuGraphExecDestroy', ['void *'], ready[0]!);
      native('cuGraphDestroy', ['void *'], graph[0]!);
      for (const { stream, input, output } of work) {
        for (const pointer of [input, output]) native('cuMemFree_v2', ['void *'], pointer);
        native('cuStreamDestroy_v2', ['void *'], stream);
      }
    });

    it('are one launch, again and again, and leave their counters as they were', async () => {
      const problem = { size: [32, 32], batches: 9, directions: 'forward' } as const;
      const plan = await narrow.plan(problem);
      const data = new Float32Array(uniform(random, 2 * 1024 * 9, 'single'));
      const { hi } = expectedOf(plan.problem, 'forward', Float64Array.from(data));
      const launched = async (used: typeof plan) => {
        const { launches } = sim.counts();
        expect(relativeError(await used.forward(data), hi)).toBeLessThanOrEqual(tolerance('single', 1024));
        return sim.counts().launches - launches;
      };
      expect(plan.kernels).toMatchObject([{ name: 'pipelined_stockham32_stockham32', title: 'axis 0 and axis 1' }]);
      for (let round = 0; round < 3; round++) expect(await launched(plan)).toBe(1);
      // Counters are returned when a program is released.
      const use = async () => {
        const another = await narrow.plan(problem);
        await another.forward(data);
        another.destroy();
        await narrow.finish();
        return sim.counts().bytes;
      };
      const before = await use();
      for (let round = 0; round < 20; round++) expect(await use()).toBe(before);
      // Options of launches prevent the joining of kernels.
      expect(await launched(await narrow.plan({ ...problem, tuning: { streams: 2 } }))).toBeGreaterThan(1);
    });
  });

  it('measures by events, and shows its source', async () => {
    const plan = await device.plan({ size: [2 ** 15], directions: 'forward' });
    expect(await plan.measure('forward', { repeats: 2 })).toBe(0.75);
    for (const { language, source } of plan.kernels) {
      expect(language).toBe('cuda');
      expect(source).toContain('__global__');
    }
  });

  it('leaves nothing behind after many plans', async () => {
    const data = new Float32Array(uniform(random, 128, 'single'));
    const use = async () => {
      const plan = await device.plan({ size: [64], batches: 1 });
      await plan.inverse(await plan.forward(data));
      plan.destroy();
      await device.finish();
    };
    await use();
    const before = sim.counts();
    for (let n = 0; n < (exhaustive ? 10000 : 300); n++) await use();
    const after = sim.counts();
    expect({ ...after, launches: 0 }).toEqual({ ...before, launches: 0 });
  });
});
