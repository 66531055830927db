/** One-dimensional transforms by multiply-adds of vectors, which Node 20 has behind a flag and later engines have. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { randomFor } from '../support/random.ts';
import { enableRelaxedSimd } from '../support/relaxed.ts';
import { callModes, exhaustive, lengthComplaints, openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/relaxed');
const smooth = Array.from({ length: 4095 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);

let plain: Device;
let device: Device;
beforeAll(async () => {
  plain = await openWith({}, 1);
  enableRelaxedSimd();
  device = await openWith({}, 1);
});
afterAll(() => {
  plain.close();
  device.close();
});

it('are accurate at every radix and a sample of lengths', async () => {
  const butterflies = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].flatMap((n) => [4 * n, n * n]);
  const sample = exhaustive ? smooth : Array.from({ length: 40 }, () => random.pick(smooth));
  for (const n of [...butterflies, ...sample]) {
    expect(await lengthComplaints(device, [n], random, [random.pick(callModes)])).toEqual([]);
  }
});

it('compute something else than products and sums that are rounded one by one', async () => {
  // A module that Node 20 knew before would not do.
  for (const precision of ['single', 'double'] as const) {
    const [own, other] = await Promise.all([device, plain].map((of) => of.plan({ size: [960], precision })));
    expect(own!.kernels[0]!.source).not.toEqual(other!.kernels[0]!.source);
  }
});
