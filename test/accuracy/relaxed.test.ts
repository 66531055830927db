/** One-dimensional transforms by multiply-adds of vectors, which Node 20 has behind a flag and later engines have. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { randomFor } from '../support/random.ts';
import { enableRelaxedSimd } from '../support/relaxed.ts';
import { callModes, exhaustive, lengthComplaints, openWith } from '../support/transforms.ts';

const random = randomFor('accuracy/relaxed');
const smooth = Array.from({ length: 4095 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);

let device: Device;
beforeAll(async () => {
  enableRelaxedSimd();
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

it.each([
  // The instructions' bytes: f32x4.relaxed_madd and _nmadd, then those of f64x2.
  ['single', [0xfd, 0x85, 0x02], [0xfd, 0x86, 0x02]],
  ['double', [0xfd, 0x87, 0x02], [0xfd, 0x88, 0x02]],
] as const)('are made of them, in %s precision', async (precision, ...instructions) => {
  const plan = await device.plan({ size: [960], precision });
  const source = Buffer.from(plan.kernels[0]!.source as Uint8Array);
  for (const bytes of instructions) expect(source.includes(Buffer.from(bytes))).toBe(true);
});
