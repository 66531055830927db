/** Random problems on random devices: results, inputs, gaps and guards. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../src/index.ts';
import { variedDevices } from '../support/devices.ts';
import { configurations } from '../support/problems.ts';
import { randomFor, seedFor } from '../support/random.ts';
import { complaints, exhaustive } from '../support/transforms.ts';

const random = randomFor('properties/reference');
let devices: Device[];
beforeAll(async () => {
  devices = await variedDevices(random, exhaustive ? 24 : 10);
});
afterAll(() => {
  for (const device of devices) device.close();
});

describe('any problem on any device', () => {
  it.each([
    { most: 600, runs: 75, factor: 160 },
    { most: 5000, runs: 60, factor: 168 },
    { most: 60_000, runs: 12, factor: 84 },
  ])(
    'agrees with the reference and leaves alone what is not its own (up to $most elements)',
    async ({ most, runs, factor }) => {
      await fc.assert(
        fc.asyncProperty(configurations(most), async ({ input, device, mode }) => {
          const chosen = devices[device % devices.length] as Device;
          expect(await complaints(chosen, input, random, [mode]), JSON.stringify(chosen.profile)).toEqual([]);
        }),
        { seed: seedFor(`properties/reference/${most}`) | 0, numRuns: exhaustive ? runs * factor : runs },
      );
    },
    exhaustive ? 3_600_000 : 120_000,
  );
});
