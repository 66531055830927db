/** Transforms with the kernels of other processors: those that add in units of their own, or those that do not. */
import { expect, it, vi } from 'vitest';
import { hasSeparateAdders } from '../../src/devices/cpu/host.ts';
import { itIsAccurate } from '../support/arithmetic.ts';
import { randomFor } from '../support/random.ts';
import { hasMultiplyAdds, multiplyAdds } from '../support/relaxed.ts';
import { openWith } from '../support/transforms.ts';

vi.mock(import('../../src/devices/cpu/host.ts'), async (original) => {
  const host = await original();
  return { ...host, hasSeparateAdders: vi.fn((processor: string) => !host.hasSeparateAdders(processor)) };
});

const other = itIsAccurate(randomFor('accuracy/adders'));

it.runIf(hasMultiplyAdds)('takes fewer multiply-adds where sums do not wait for them', async () => {
  const others = vi.mocked(hasSeparateAdders).mock.results[0]!.value as boolean;
  vi.mocked(hasSeparateAdders).mockReturnValueOnce(!others);
  const own = await openWith({}, 1);
  try {
    const counts: number[] = [];
    for (const device of others ? [other(), own] : [own, other()]) {
      const plan = await device.plan({ size: [1024] });
      counts.push(multiplyAdds(plan.kernels[0]!.source as Uint8Array, 'single'));
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[0]).toBeLessThan(counts[1]!);
  } finally {
    own.close();
  }
});
