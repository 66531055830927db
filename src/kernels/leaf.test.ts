import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conflictsOf } from '../../test/support/conflicts.ts';
import { vectorProfile as plain, randomProfile, randomThreads } from '../../test/support/devices.ts';
import { interpret } from '../../test/support/interpret.ts';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { planDirection } from '../../test/support/planned.ts';
import { configurations } from '../../test/support/problems.ts';
import { randomFor, seedFor } from '../../test/support/random.ts';
import { rootsIn } from '../../test/support/tables.ts';
import { complaints } from '../../test/support/transforms.ts';
import { cpuProfile } from '../devices/profiles/cpu.ts';
import { gpuProfile } from '../devices/profiles/gpu.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { emitWasm } from '../emit/wasm/lower.ts';
import { coefficient, type Kernel, type Phase, reachable, verify } from '../ir/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { passesOf } from '../plan/tree/leaf.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { buildKernel, sharesPasses } from './index.ts';

const random = randomFor('kernels/stockham');

describe('numbers in pairs', () => {
  const kernelsOf = (input: ProblemInput, profile: DeviceProfile) =>
    planDirection(normalizeProblem(input), 'forward', profile, false).launches.map(({ leaf }) => buildKernel(leaf));
  const isPaired = ({ phases: [first] }: Kernel) =>
    reachable(first!.stores.map(({ value }) => value)).some(({ op }) => op === 'swap');

  it('are what first passes along the axis and of transposed tiles work on', () => {
    for (const precision of ['single', 'double'] as const) {
      for (const size of [[1024], [2187], [1000], [60, 50]]) {
        expect(isPaired(kernelsOf({ size, precision }, plain)[0]!), `${size}`).toBe(true);
      }
    }
    const device: DeviceProfile = { name: 'cpu', multiprocessors: 1, ...cpuProfile };
    const [transposed] = planDirection(normalizeProblem({ size: [2 ** 18] }), 'forward', device, false).launches;
    expect(transposed!.leaf).toMatchObject({ steps: [{ lanesAlong: { input: 'batch', output: 'axis' } }] });
    const kernel = buildKernel(transposed!.leaf);
    expect(isPaired(kernel)).toBe(true);
    // Each row of a transposed tile goes through its passes in place.
    expect(kernel.shared).toHaveLength(1);
    // In planes, vectors are no blocks: passes go from one array to another then, of which rows follow one another in the second one.
    const shared = { ...transposed!.leaf.shared, format: 'planes' } as const;
    const inPlanes = buildKernel({ ...transposed!.leaf, shared });
    expect(verify(inPlanes)).toEqual([]);
    const [ping, pong] = inPlanes.shared.map(({ length }) => length!);
    expect(ping).toBe(transposed!.leaf.tile * pong!);
    expect(isPaired(kernelsOf({ size: [1024], layout: { input: 'planar' } }, plain)[0]!)).toBe(false);
  });

  it('are left alone where twiddles come between, in vectors of one', () => {
    const single = { ...plain, lockstepBytes: 8, reorderFirst: false, sharedBytes: 4096, coalescedBytes: 16 };
    for (const size of [168, 182, 196, 208, 462]) {
      for (const kernel of kernelsOf({ size: [size], precision: 'double' }, single)) expect(verify(kernel)).toEqual([]);
    }
  });
});

it('a butterfly over parts of numbers in place reads all that it needs of a number before it writes', async () => {
  const interpreted = openInterpreted(namedProfiles['wasm-cpu'].profile);
  for (const size of [4, 5, 7]) {
    const problem = { size: [size], precision: 'double', placement: 'in-place', debug: true } as const;
    expect(await complaints(interpreted, problem, random)).toEqual([]);
  }
});

describe('passes of vectors', () => {
  const device: DeviceProfile = { name: 'cpu', multiprocessors: 1, ...cpuProfile };
  /** How many shared arrays each kernel has, and how many of its phases are in place. */
  const shapesOf = (input: ProblemInput) =>
    planDirection(normalizeProblem(input), 'forward', device, false).launches.map(({ leaf }) => {
      const { shared, phases } = buildKernel(leaf);
      return [shared.length, phases.filter(({ inPlace }) => inPlace).length, phases.length];
    });

  it('work in place in one array but for the first and the last', () => {
    const batches = 4;
    expect(shapesOf({ size: [1024], batches })).toEqual([[1, 3, 5]]);
    expect(shapesOf({ size: [1024], batches, layout: 'planar' })).toEqual([[1, 3, 5]]);
    expect(shapesOf({ size: [1024], placement: 'in-place' })).toEqual([[1, 3, 5]]);
    expect(shapesOf({ size: [2 ** 20] }).map(([arrays]) => arrays)).toEqual([1, 1]);
    expect(shapesOf({ size: [1000, 24] }).map(([arrays]) => arrays)).toEqual([1, 1]);
    // Vectors of two leave one butterfly alone at the most, whatever the length.
    expect(shapesOf({ size: [2187], precision: 'double' })).toEqual([[1, 4, 6]]);
    expect(shapesOf({ size: [3125], precision: 'double' })).toEqual([[1, 3, 5]]);
  });

  it('of a single transform need no array: all but the first work in the output', () => {
    for (const precision of ['single', 'double'] as const) {
      expect(shapesOf({ size: [1024], precision })).toEqual([[0, 4, 5]]);
      expect(shapesOf({ size: [1024], precision, layout: 'planar' })).toEqual([[0, 4, 5]]);
      // The first pass makes pairs, for which planes have no place.
      expect(shapesOf({ size: [1024], precision, layout: { output: 'planar' } })).toEqual([[1, 3, 5]]);
      // Other elements, or other transforms, lie between.
      expect(shapesOf({ size: [1024], precision, strides: { output: [1, 2, 2048] } })).toEqual([[1, 3, 5]]);
    }
    // In autosort form every second pass does, and the last one reads the other array.
    for (const size of [2187, 3125, 5 ** 6]) {
      const { launches } = planDirection(normalizeProblem({ size: [size] }), 'forward', device, false);
      const { phases, shared } = buildKernel(launches[0]!.leaf);
      expect(shared).toHaveLength(1);
      const into = phases.map(({ stores }) => stores[0]!.array.name).reverse();
      expect(into).toEqual(phases.map((_, n) => (n % 2 === 0 ? 'output' : 'ping')));
    }
    // Shorter ones fit into the first-level cache with both arrays.
    expect(shapesOf({ size: [729] })).toEqual([[2, 0, 5]]);
  });

  it('of long transforms take one slice after another, and the last ones all', () => {
    const scopes = (input: ProblemInput) => {
      const { launches } = planDirection(normalizeProblem(input), 'forward', device, false);
      return launches.map(({ leaf }) => buildKernel(leaf).phases.map(({ exchange }) => exchange === 'slice'));
    };
    const all = (passes: number) => [Array.from({ length: passes }, () => false)];
    expect(scopes({ size: [2 ** 16] })).toEqual(all(8));
    expect(scopes({ size: [2 ** 15], precision: 'double' })).toEqual(all(7));
    // Of 64 KiB, the next block would have 256.
    const sliced = [[false, true, true, true, true, false, false, false]];
    expect(scopes({ size: [2 ** 16], precision: 'double' })).toEqual(sliced);
    expect(scopes({ size: [2 ** 16], precision: 'double', placement: 'in-place' })).toEqual(sliced);
    // Vectors of one number that run across transforms have none.
    const one = { ...device, lockstepBytes: 8, coalescedBytes: 16, sharedBytes: 2 ** 22 };
    const columns = { size: [2, 2 ** 16], precision: 'double' } as const;
    for (const { leaf } of planDirection(normalizeProblem(columns), 'forward', one, false).launches) {
      expect(verify(buildKernel(leaf))).toEqual([]);
    }
  });

  it('write whole lines one soon after the other where these do not stay in the first-level cache', () => {
    const walks = (size: number[], precision: 'single' | 'double', launch = 0) => {
      const { launches } = planDirection(normalizeProblem({ size, precision }), 'forward', device, false);
      const [{ loops, stores }] = buildKernel(launches[launch]!.leaf).phases as [Phase];
      return loops.map(({ variable: v }) => coefficient(stores[0]!.index, v));
    };
    // The places of blocks are walked from the nearest to the farthest; or the nearest ones last but one.
    expect(walks([512], 'double')).toEqual([16, 64, undefined]);
    expect(walks([4096], 'double')).toEqual([32, 128, 512, 8, undefined]);
    // Neighbouring columns fill lines anyway: they are read in order, whether a tile is transposed or not.
    expect(walks([2 ** 18], 'double')).toEqual([8, 32, 128, 512, 2048, 0, undefined]);
    expect(walks([256, 256], 'double', 1)).toEqual([128, 512, 2048, 0, undefined]);
  });

  it('go from one array to another where vectors of four would leave several butterflies alone', () => {
    const batches = 4;
    expect(shapesOf({ size: [2187], batches })).toEqual([[2, 0, 6]]);
    expect(shapesOf({ size: [3125], batches })).toEqual([[2, 0, 5]]);
    // The first pass would have a vector of three numbers.
    expect(shapesOf({ size: [12] })).toEqual([[1, 0, 2]]);
    expect(shapesOf({ size: [4 * 7 ** 3], batches })).toEqual([[2, 0, 4]]);
    // A first pass that cannot take pairs would not fill its vectors with what the last digit counts.
    expect(shapesOf({ size: [4 * 5 ** 3 * 2], batches })).toEqual([[1, 3, 5]]);
    expect(shapesOf({ size: [4 * 5 ** 3 * 2], batches, layout: 'planar' })).toEqual([[2, 0, 5]]);
  });
});

describe('kernels of any plan', () => {
  it('break no rule, and become valid modules', { timeout: 120_000 }, () => {
    const memory = { initial: 1, maximum: 1, shared: false };
    let both = 0;
    fc.assert(
      fc.property(configurations(50_000), ({ input }) => {
        const problem = normalizeProblem(input);
        const profile = { ...plain, ...randomProfile(random) };
        for (const direction of problem.directions === 'both'
          ? (['forward', 'inverse'] as const)
          : [problem.directions]) {
          const { launches, assignment } = planDirection(problem, direction, profile, random.unit() < 0.2);
          expect(launches.length).toBe(assignment.steps.length);
          for (const { leaf } of launches) {
            const kernel = buildKernel(leaf);
            expect(verify(kernel), JSON.stringify(leaf)).toEqual([]);
            // A leaf alone says what its kernel is: saved plans and caches rely on it.
            const again = buildKernel(JSON.parse(JSON.stringify(leaf)));
            const { bytes } = emitWasm(kernel, memory);
            expect(Buffer.compare(bytes, emitWasm(again, memory).bytes)).toBe(0);
            expect(WebAssembly.validate(bytes)).toBe(true);
            if (!sharesPasses(leaf)) continue;
            both++;
            const double = buildKernel(leaf, {
              inverse: !leaf.inverse,
              scale: { ...leaf.scale, output: random.unit() },
            });
            expect(verify(double)).toEqual([]);
            expect(double.tables.map(({ key }) => key)).toEqual(kernel.tables.map(({ key }) => key));
            expect(WebAssembly.validate(emitWasm(double, memory).bytes)).toBe(true);
            // Its first and its last pass, or what takes data in and out; a pass may come in two parts.
            const { phases, reverse } = double;
            const ends = phases.map(({ exchange }, n) => (exchange === 'lane' ? -1 : n)).filter((n) => n >= 0);
            const own = phases.map((_, n) => n <= ends[0]! || n > ends.at(-2)!);
            expect(reverse!.map((phase, n) => phase !== phases[n])).toEqual(own);
          }
        }
      }),
      { seed: seedFor('kernels/stockham/rules') | 0, numRuns: process.env.OMNIFFT_EXHAUSTIVE === '1' ? 3000 : 60 },
    );
    expect(both).toBeGreaterThan(8);
  });
});

describe('kernels for threads', () => {
  it('agree with the reference, interpreted', { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(configurations(600), async ({ input }) => {
        const profile = { ...plain, ...randomThreads(random) };
        const device = openInterpreted(profile);
        expect(await complaints(device, input, random), JSON.stringify(profile)).toEqual([]);
      }),
      { seed: seedFor('kernels/stockham/threads') | 0, numRuns: process.env.OMNIFFT_EXHAUSTIVE === '1' ? 3000 : 40 },
    );
  });

  it('are as exact where the twiddles of several uploads are products of powers', async () => {
    const device = openInterpreted({
      ...plain,
      ...gpuProfile,
      sharedBytes: 16384,
      coalescedBytes: 64,
      maxThreads: 256,
    });
    const problem = { size: [2 ** 17], precision: 'double' } as const;
    const [upload] = planDirection(normalizeProblem(problem), 'forward', device.profile, false).launches;
    const { leaf } = upload!;
    // A root for each point of a butterfly and each transform would be more.
    const all = 2 * (passesOf(leaf)[0]!.radices.at(-1)! - 1) * leaf.batch[0]!;
    expect(buildKernel(leaf).tables[0]!.length).toBeLessThan(all);
    expect(await complaints(device, problem, random, ['host'])).toEqual([]);
  });

  it('never wait for a bank of shared memory where lengths are powers of two', () => {
    for (const sharedBytes of [65536, 2 ** 18]) {
      const profile: DeviceProfile = {
        ...plain,
        ...randomThreads(random),
        sharedFormat: 'pairs',
        banks: 32,
        registers: 64,
        passCost: 30,
        doubleBuffered: false,
        coalescedBytes: 64,
        groupPoints: 2048,
        sharedBytes,
      };
      for (const input of [
        ...[64, 256, 512, 1024, 2048, 4096].map((n) => ({ size: [n], batches: 64 })),
        ...[64, 128, 256, 512].map((n) => ({ size: [n, n] })),
      ]) {
        for (const { leaf } of planDirection(normalizeProblem(input), 'forward', profile, false).launches) {
          expect(conflictsOf(buildKernel(leaf)), JSON.stringify({ ...input, leaf })).toBe(0);
        }
      }
    }
  });
});

describe('tables', () => {
  it('have the same contents whenever they have the same key', () => {
    const seen = new Map<string, string>();
    let shared = 0;
    for (const n of [16, 60, 64, 360, 512]) {
      for (const direction of ['forward', 'inverse'] as const) {
        for (const batches of [1, 7, 64]) {
          const problem = normalizeProblem({ size: [n], batches });
          for (const { leaf } of planDirection(problem, direction, { ...plain, sharedBytes: 4096 }, false).launches) {
            for (const table of buildKernel(leaf).tables) {
              const contents = JSON.stringify([...rootsIn(table)]);
              const known = seen.get(table.key);
              if (known !== undefined) shared++;
              expect(known ?? contents).toBe(contents);
              seen.set(table.key, contents);
              for (const { re, im } of rootsIn(table)) expect(Math.max(re, im)).toBeLessThan(table.length);
            }
          }
        }
      }
    }
    expect(shared).toBeGreaterThan(5);
  });
});

describe('one leaf, interpreted', () => {
  it('transforms an impulse into ones', () => {
    for (const n of [1, 5, 16, 30, 64, 100]) {
      const problem = normalizeProblem({ size: [n], precision: 'double' });
      const [launch] = planDirection(problem, 'forward', plain, false).launches;
      const kernel = buildKernel(launch!.leaf);
      const table = new Float64Array(kernel.tables[0]?.length ?? 0);
      for (const { p, q, re, im } of kernel.tables.flatMap((each) => [...rootsIn(each)])) {
        table[re] = Math.cos((-2 * Math.PI * p) / q);
        table[im] = Math.sin((-2 * Math.PI * p) / q);
      }
      const input = new Float64Array(2 * n);
      input[0] = 1;
      const output = new Float64Array(2 * n).fill(Number.NaN);
      interpret(kernel, { input, output, table });
      expect(Array.from(output)).toEqual(Array.from({ length: 2 * n }, (_, i) => (i % 2 === 0 ? 1 : 0)));
    }
  });
});
