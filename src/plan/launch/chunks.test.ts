import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { randomFor, seedFor } from '../../../test/support/random.ts';
import { complaints, openWith } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { evaluate, type Var, variablesOf } from '../../ir/index.ts';
import { buildKernel } from '../../kernels/index.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from '../device/profile.ts';

const random = randomFor('plan/launch/chunks');
const { profile: cpu } = namedProfiles['wasm-cpu'];
const planned = (input: ProblemInput, profile: DeviceProfile = cpu) =>
  planDirection(normalizeProblem(input), 'forward', profile, false);
const images = fc.record({
  size: fc.array(fc.constantFrom(4, 6, 8, 15, 16, 30, 32), { minLength: 2, maxLength: 3 }),
  batches: fc.integer({ min: 1, max: 24 }),
  placement: fc.constantFrom('in-place' as const, 'out-of-place' as const),
  layout: fc.constantFrom('interleaved' as const, 'planar' as const),
  coordinates: fc.integer({ min: 1, max: 2 }),
});

describe('chunks of batches', () => {
  it('are as small as suits the cache, and whole batches', () => {
    const chunks = (size: number[], batches: number) => planned({ size, batches }).chunks;
    // 2 MiB of single precision in all.
    expect(chunks([64, 64], 64)).toBe(2);
    expect(chunks([64, 64], 1)).toBe(1);
    // A batch of 4 MiB at most, whatever a chunk had best have.
    expect(chunks([1024, 512], 5)).toBe(5);
    expect(chunks([1024, 1024], 5)).toBe(1);
    // There has to be something that stays in the cache.
    expect(chunks([4096], 1024)).toBe(1);
  });

  it('grow with the threads, and are left to profiles that have them', () => {
    const problem: ProblemInput = { size: [64, 64], batches: 512 };
    expect(planned(problem, { ...cpu, multiprocessors: 4 }).chunks).toBe(planned(problem).chunks / 4);
    const { chunks: _, ...without } = cpu;
    expect(planned(problem, without).chunks).toBe(1);
    expect(planned(problem, namedProfiles.a100.profile).chunks).toBe(1);
  });

  it('are taken by a group as a whole, and hold the same batches in every launch', () => {
    let divided = 0;
    fc.assert(
      fc.property(images, (input) => {
        const { launches, chunks } = planned({ ...input }, { ...cpu, chunks: { bytes: 2048, most: 2 ** 20 } });
        if (chunks === 1) return;
        divided++;
        const elements = input.size.reduce((a, b) => a * b, input.coordinates);
        const reals = input.layout === 'planar' ? elements : 2 * elements;
        for (const { leaf } of launches) {
          const kernel = buildKernel(leaf);
          const per = kernel.group.count / chunks;
          expect(Number.isInteger(per)).toBe(true);
          // Where the first and the last group of a chunk begin to write.
          for (let chunk = 0; chunk < chunks; chunk++) {
            for (const group of [chunk * per, (chunk + 1) * per - 1]) {
              for (const { array, index } of kernel.phases.flatMap((phase) => phase.stores)) {
                if (array.space !== 'global') continue;
                const at = new Map<Var, number>([...variablesOf(index)].map((v) => [v, 0]));
                at.set(kernel.group, group);
                const batch = Math.floor(evaluate(index, at) / reals);
                expect(Math.floor((batch * chunks) / input.batches)).toBe(chunk);
              }
            }
          }
        }
      }),
      { seed: seedFor('plan/chunks/groups') | 0, numRuns: 200 },
    );
    expect(divided).toBeGreaterThan(20);
  });
});

describe('launches that are interleaved', () => {
  const { profile: h200 } = namedProfiles.h200;
  const interleaving = (input: ProblemInput, profile: DeviceProfile = h200) => {
    const { chunks, interleaved } = planned(input, profile);
    return interleaved && { chunks, ...interleaved };
  };

  it('are two, of which the second works in place on images that a cache holds several of', () => {
    // 12 MiB ahead: six images of 2 MiB.
    expect(interleaving({ size: [512, 512], batches: 256 })).toMatchObject({ chunks: 256, ahead: 6 });
    expect(interleaving({ size: [512, 512], batches: 4 })).toMatchObject({ chunks: 4, ahead: 4 });
    expect(interleaving({ size: [64, 64, 64], batches: 9, precision: 'double' })).toMatchObject({
      chunks: 9,
      ahead: 3,
    });
    // One image; one that is too large; three launches; one launch; a second one that is not in place.
    expect(interleaving({ size: [512, 512] })).toBeUndefined();
    expect(interleaving({ size: [2048, 1024], batches: 9 })).toBeUndefined();
    expect(interleaving({ size: [4096, 8], batches: 9, omit: [false, true] })).toBeUndefined();
    expect(interleaving({ size: [262144], batches: 9 })).toBeUndefined();
    const { chunks: _, ...without } = h200;
    expect(interleaving({ size: [512, 512], batches: 9 }, without)).toBeUndefined();
  });

  it('have room for two groups side by side, and as many threads, or a whole number of times', () => {
    let taken = 0;
    fc.assert(
      fc.property(images, fc.constantFrom('single' as const, 'double' as const), (input, precision) => {
        const profile = { ...h200, sharedBytes: 4352, residentBytes: 4 * 4352, maxThreads: 256, groupPoints: 256 };
        const { launches, chunks, interleaved } = planned({ ...input, precision }, profile);
        if (!interleaved) return;
        taken++;
        const threads = Math.max(...launches.map(({ leaf }) => leaf.threads));
        expect(interleaved.beside).toBeGreaterThanOrEqual(2);
        for (const { leaf } of launches) {
          const groups = buildKernel(leaf).group.count / chunks / (threads / leaf.threads);
          expect(Number.isInteger(groups)).toBe(true);
        }
      }),
      {
        seed: seedFor('plan/chunks/interleaved') | 0,
        numRuns: 200,
        // 36 columns in tiles of 8: 5 groups, not 4.5.
        examples: [
          [{ size: [6, 6, 16], batches: 13, placement: 'in-place', layout: 'interleaved', coordinates: 2 }, 'double'],
        ],
      },
    );
    expect(taken).toBeGreaterThan(5);
  });
});

describe.each([1, 2])('transforms in chunks, with %i threads', (threads) => {
  it('are what they are without', async () => {
    const device = await openWith({ chunks: { bytes: 1024, most: 2 ** 20 } }, threads);
    await fc.assert(
      fc.asyncProperty(images, fc.constantFrom('single' as const, 'double' as const), async (input, precision) => {
        expect(await complaints(device, { ...input, precision }, random)).toEqual([]);
      }),
      { seed: seedFor(`plan/chunks/${threads}`) | 0, numRuns: 14 },
    );
    for (const input of [
      { size: [64, 64], batches: 40, normalize: true },
      { size: [60, 50], batches: 12, strides: { input: [1, 1, 64, 3300, 3300], output: [1, 1, 60, 3000, 3100] } },
    ] satisfies ProblemInput[])
      expect(await complaints(device, input, random)).toEqual([]);
    device.close();
  });
});
