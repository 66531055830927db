/** Transforms on a CPU that is told to be another: what its vectors add and multiply with decides what kernels compute. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import type { Random } from './random.ts';
import { callModes, exhaustive, lengthComplaints, onePrecision, openWith } from './transforms.ts';

const smooth = Array.from({ length: 4095 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);

/** Tests that transforms of every shape are accurate there. @returns the device, once the tests run. */
export function itIsAccurate(random: Random): () => Device {
  let device: Device;
  beforeAll(async () => {
    device = await openWith({}, 1);
  });
  afterAll(() => device.close());

  it('is accurate at every radix and a sample of lengths', async () => {
    const butterflies = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].flatMap((n) => [4 * n, n * n]);
    const sample = exhaustive ? smooth : Array.from({ length: 16 }, () => random.pick(smooth));
    for (const n of [...butterflies, ...sample]) {
      const modes = [random.pick(callModes)];
      expect(await lengthComplaints(device, [n], random, modes, onePrecision(random, device))).toEqual([]);
    }
  });

  it('is accurate over several axes, and in several uploads', async () => {
    // What memory is called with does not depend on the arithmetic.
    for (const size of [[64, 48], [45, 32, 8], [2 ** 17], [100_000]]) {
      expect(await lengthComplaints(device, size, random, [random.pick(callModes)])).toEqual([]);
    }
  });
  return () => device;
}
