import { describe, expect, it } from 'vitest';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { randomFor } from '../../test/support/random.ts';
import { complaints } from '../../test/support/transforms.ts';
import type { DeviceProfile } from '../plan/profile.ts';
import type { ProblemInput } from '../problem/index.ts';

const random = randomFor('kernels/fused');

/** Blocks of 4 KiB, so that small transforms take clusters. */
function profile(blocks: number): DeviceProfile {
  return {
    name: 'test',
    lockstep: 'threads',
    lockstepBytes: 128,
    sharedBytes: 4352,
    coalescedBytes: 64,
    registers: 72,
    maxThreads: 256,
    multiprocessors: 8,
    doubleBuffered: false,
    sharedFormat: 'pairs',
    banks: 32,
    groupPoints: 256,
    passCost: 30,
    cluster: { blocks, sharedBytes: 4096, above: 4096 },
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
