import { describe, expect, it } from 'vitest';
import { conflictsOf, wavesOf } from '../../test/support/conflicts.ts';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { planDirection } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import { complaints } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { evaluate, type Kernel, type Var } from '../ir/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { buildKernel } from './index.ts';

const random = randomFor('kernels/fused');

/** Blocks of 4 KiB, so that small transforms take clusters. */
function profile(blocks: number): DeviceProfile {
  return {
    name: 'test',
    lockstep: 'threads',
    lockstepBytes: 128,
    sharedBytes: 4352,
    residentBytes: 16384,
    coalescedBytes: 64,
    registers: 72,
    maxThreads: 256,
    multiprocessors: 8,
    doubleBuffered: false,
    sharedFormat: 'pairs',
    banks: 32,
    groupPoints: 256,
    passCost: 30,
    registerFile: 65536,
    cluster: { blocks, sharedBytes: 4096, above: { single: 4096, double: 4096 } },
  };
}

const cases: readonly { readonly blocks: number; readonly input: ProblemInput }[] = [
  { blocks: 1, input: { size: [16, 16], batches: 3 } },
  { blocks: 2, input: { size: [32, 32] } },
  { blocks: 4, input: { size: [32, 32], batches: 2, layout: { input: 'planar', output: 'interleaved' } } },
  { blocks: 8, input: { size: [64, 32], placement: 'in-place' } },
  { blocks: 3, input: { size: [27, 27], normalize: true } },
  { blocks: 4, input: { size: [8, 16, 12], batches: 2 } },
  { blocks: 2, input: { size: [1024] } },
  { blocks: 4, input: { size: [2048], batches: 3 } },
  { blocks: 6, input: { size: [36 * 36] } },
  { blocks: 8, input: { size: [4096], placement: 'in-place', scale: { forward: 0.5, inverse: 2 } } },
  // The slower axis in digits, of which the second takes several passes; rows shared out at first; cubes.
  { blocks: 8, input: { size: [12, 128], batches: 2 } },
  { blocks: 16, input: { size: [32, 256] } },
  { blocks: 8, input: { size: [40, 40], batches: 2 } },
  { blocks: 8, input: { size: [16, 16, 16], batches: 2 } },
  // Strided axes, whose tiles of columns take clusters, and uploads of such tiles with twiddles between them.
  { blocks: 8, input: { size: [24, 256], batches: 2, strides: { input: [1, 2, 50, 1, 25600] } } },
  { blocks: 16, input: { size: [32768] } },
];

describe('fused kernels', () => {
  it.each(cases)('transform $input.size in clusters of up to $blocks blocks', async ({ blocks, input }) => {
    for (const precision of ['single', 'double'] as const) {
      const device = openInterpreted(profile(blocks));
      const plan = await device.plan({ ...input, precision });
      const fused = plan.toJSON().directions.some(({ launches }) => launches.some(({ lengths }) => lengths.length > 1));
      // Doubles take twice the memory: what fits in single may not be one tile then.
      if (precision === 'single') expect(fused || JSON.stringify(plan.toJSON()).includes('"blocks"')).toBe(true);
      plan.destroy();
      expect(await complaints(device, { ...input, precision }, random)).toEqual([]);
    }
  });
});

describe('clusters on an H200', () => {
  const { profile: h200 } = namedProfiles.h200;
  const clusters = (['single', 'double'] as const).flatMap((precision) =>
    [[32768], [65536], [131072], [256, 256], [32, 32, 32]].flatMap((size): [string, Kernel][] => {
      const { launches } = planDirection(normalizeProblem({ size, batches: 4096, precision }), 'forward', h200, false);
      const [first] = launches.map(({ leaf }) => buildKernel(leaf)).filter(({ cluster }) => cluster);
      return first ? [[`${size.join(' × ')}, ${precision}`, first]] : [];
    }),
  );

  it('are there', () => expect(clusters.length).toBeGreaterThan(7));

  // The layouts are chosen by a sample of the accesses; of a cube's there are too many kinds.
  const flat = clusters.filter(([, { name }]) => name !== 'stockham32x32x32');
  it.each(flat)('%s never wait for a bank', (_, kernel) => {
    for (const rank of [0, kernel.cluster!.blocks - 1]) expect(conflictsOf(kernel, 32, rank)).toBe(0);
  });

  it.each(clusters)('%s store into one another in whole lines', (_, kernel) => {
    const bytes = kernel.precision === 'f32' ? 4 : 8;
    for (const phase of kernel.phases) {
      const [wave] = [...wavesOf(kernel, phase, 32, 3)] as [Map<Var, number>[]];
      for (const { block, index } of phase.stores) {
        if (!block || index.constant % 2 !== 0) continue;
        const lines = wave.map((at) => `${evaluate(block, at)}: ${Math.floor((evaluate(index, at) * bytes) / 128)}`);
        // Both parts of a number are in one line: no line is touched beyond those that are filled.
        expect(new Set(lines).size).toBe((wave.length * 2 * bytes) / 128);
      }
    }
  });

  // The butterflies of a first phase have no twiddles that could shift them; shifting them all the same gained nothing.
  const shifted = ({ phases, cluster }: Kernel) =>
    phases.slice(1).filter(({ stores }) => stores.length >= 2 * cluster!.blocks && stores.some(({ block }) => block));
  const sending = clusters.filter(([, kernel]) => shifted(kernel).length > 0);
  it('some send more than one output to each block', () => expect(sending.length).toBeGreaterThan(3));

  it.each(sending)('%s begin with different blocks', (_, kernel) => {
    const { blocks } = kernel.cluster!;
    for (const phase of shifted(kernel)) {
      const sent = phase.stores.find(({ block }) => block)!;
      const first = Array.from({ length: blocks }, (_, rank) => {
        const [[at]] = [...wavesOf(kernel, phase, 1, rank)] as [[Map<Var, number>]];
        return evaluate(sent.block!, at);
      });
      expect(new Set(first).size).toBe(blocks);
    }
  });
});
