/** Transforms where vectors have no multiply-adds: engines without relaxed SIMD. */
import { expect, it, vi } from 'vitest';
import { itIsAccurate } from '../support/arithmetic.ts';
import { randomFor } from '../support/random.ts';
import { relaxedInstructions } from '../support/relaxed.ts';

vi.mock(import('../../src/devices/cpu/relaxed.ts'), async (original) => ({
  ...(await original()),
  hasRelaxedSimd: () => false,
}));

const device = itIsAccurate(randomFor('accuracy/plain'));

it.each(['single', 'double'] as const)('does without them, in %s precision', async (precision) => {
  const plan = await device().plan({ size: [960], precision });
  expect(relaxedInstructions(plan.kernels[0]!.source as Uint8Array, precision)).toEqual([]);
});
