/** Transforms where vectors have no multiply-adds: engines without relaxed SIMD. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Device } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { randomFor } from '../support/random.ts';
import { relaxedInstructions } from '../support/relaxed.ts';
import { callModes, exhaustive, lengthComplaints, openWith } from '../support/transforms.ts';

vi.mock(import('../../src/devices/cpu/relaxed.ts'), async (original) => ({
  ...(await original()),
  hasRelaxedSimd: () => false,
}));

const random = randomFor('accuracy/plain');
const smooth = Array.from({ length: 4095 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);

let device: Device;
beforeAll(async () => {
  device = await openWith({}, 1);
});
afterAll(() => device.close());

it('are accurate at every radix and a sample of lengths', async () => {
  const butterflies = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].flatMap((n) => [4 * n, n * n]);
  const sample = exhaustive ? smooth : Array.from({ length: 40 }, () => random.pick(smooth));
  for (const n of [...butterflies, ...sample]) {
    expect(await lengthComplaints(device, [n], random, [random.pick(callModes)])).toEqual([]);
  }
});

it('are accurate over several axes, and in several uploads', async () => {
  for (const size of [[64, 48], [45, 32, 8], [2 ** 17], [100_000]]) {
    expect(await lengthComplaints(device, size, random, callModes)).toEqual([]);
  }
});

it.each(['single', 'double'] as const)('do without them, in %s precision', async (precision) => {
  const plan = await device.plan({ size: [960], precision });
  expect(relaxedInstructions(plan.kernels[0]!.source as Uint8Array, precision)).toEqual([]);
});
