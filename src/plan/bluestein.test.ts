import { describe, expect, it } from 'vitest';
import { openInterpreted } from '../../test/support/interpreted.ts';
import { randomFor } from '../../test/support/random.ts';
import { complaints, openWith } from '../../test/support/transforms.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { largestPrimeFactor } from '../numeric/primes.ts';
import type { ProblemInput } from '../problem/index.ts';
import { paddedLength } from './bluestein.ts';
import { capacityOf } from './capacity.ts';
import type { DeviceProfile } from './profile.ts';

const random = randomFor('plan/bluestein');
const primes = [17, 19, 23, 29, 31, 37, 101, 127, 211];
/** Neither radices nor convolutions of one point less. */
const tuning = { rader: { multiply: [2, 13], convolve: [2, 13] } } as const;

describe('lengths of convolutions', () => {
  const gpu = namedProfiles.h200.profile as DeviceProfile;

  it('hold both ends of the chirp, have small primes, and fit', () => {
    for (const precision of ['single', 'double'] as const) {
      for (let n = 17; n < 9000; n += random.integer(1, 90)) {
        const padded = paddedLength(n, precision, gpu);
        if (padded === undefined) expect(2 * n - 1).toBeGreaterThan(capacityOf(precision, gpu).room / 2);
        else {
          expect(padded).toBeGreaterThanOrEqual(2 * n - 1);
          expect(largestPrimeFactor(padded)).toBeLessThanOrEqual(7);
          expect(padded).toBeLessThanOrEqual(capacityOf(precision, gpu).room);
        }
      }
    }
  });
});

/** Axes of large primes alone, among others, strided, in batches of either kind, planar, in place. */
function problems(): ProblemInput[] {
  const prime = () => random.pick(primes);
  const [n, m] = [prime(), prime()];
  return [
    { size: [n] },
    { size: [2 * n], batches: random.integer(2, 40) },
    { size: [n], leftBatches: random.integer(2, 20), placement: 'in-place' },
    { size: [n, random.pick([1, 4, 12])], batches: 2 },
    { size: [random.pick([4, 5, 16]), n], placement: 'in-place' },
    { size: [m, n], layout: 'planar' },
    { size: [n], layout: { input: 'planar', output: 'interleaved' }, scale: { forward: 0.5, inverse: 3 } },
    {
      size: [n],
      batches: 3,
      strides: { input: [1, 2, 2 * n + 1], output: [1, 3, 3 * n + 2] },
      offsets: { input: 5, output: 1 },
    },
    { size: [3, n, 2], omit: [false, false, true], coordinates: 2 },
  ];
}

describe('transforms by convolution', () => {
  it.each(['single', 'double'] as const)('as WebAssembly, in %s precision', async (precision) => {
    const device = await openWith({}, 1);
    for (const problem of [...problems(), { size: [1021] }, { size: [4099], batches: 2 }]) {
      expect(
        await complaints(device, { ...problem, precision, tuning, debug: true }, random, ['host', 'alloc']),
      ).toEqual([]);
    }
    device.close();
  });

  it.each(['h200', 'webgpu-default'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (const problem of problems()) {
      expect(await complaints(device, { ...problem, tuning, debug: true }, random, ['host'])).toEqual([]);
    }
  });

  it.each([
    ['webgpu-default', 4096, 1000],
    ['h200', 8192, 2500],
  ] as const)(
    'in several launches, interpreted for %s with %i bytes of shared memory',
    async (name, sharedBytes, most) => {
      const device = openInterpreted({ ...(namedProfiles[name].profile as DeviceProfile), sharedBytes });
      const n = random.pick([521, 809, 997].filter((prime) => prime < most));
      for (const problem of [
        { size: [n] },
        { size: [2 * n], batches: 2, normalize: true },
        { size: [n], leftBatches: 2, layout: 'planar' },
        { size: [3, n], placement: 'in-place' },
        { size: [n, 3], strides: { input: [1, 2, 2 * n + 1, 7 * n] } },
        { size: [n], zeroPadding: { space: [null], frequency: [null] } },
      ] as const) {
        expect(await complaints(device, { ...problem, tuning, debug: true }, random, ['host'])).toEqual([]);
      }
    },
  );

  it('look their points up in order: no more is read or written than is there', async () => {
    const device = openInterpreted(namedProfiles.h200.profile as DeviceProfile);
    const plan = await device.plan({ size: [101], tuning, directions: 'forward' });
    const [launch] = plan.toJSON().directions[0]!.launches;
    expect(launch).toMatchObject({ lengths: [expect.any(Number)], title: 'axis 0' });
    expect(launch!.lengths[0]).toBeGreaterThanOrEqual(201);
  });
});
