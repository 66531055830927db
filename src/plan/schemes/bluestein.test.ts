import { describe, expect, it } from 'vitest';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { triedReal } from '../../../test/support/real.ts';
import { complaints, openWith, someOf } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import { paddedLength } from './bluestein.ts';

const random = randomFor('plan/schemes/bluestein');
const primes = [17, 19, 23, 29, 31, 37, 101, 127, 211];
/** Neither radices nor convolutions of one point less. */
const tuning = { rader: { multiply: [2, 13], convolve: [2, 13] } } as const;

describe('lengths of convolutions', () => {
  const gpu = namedProfiles.h200.profile as DeviceProfile;

  it('hold both ends of the chirp, have small primes, and fit', () => {
    for (const precision of ['single', 'double'] as const) {
      for (let n = 17; n < 9000; n += random.integer(1, 200)) {
        const padded = paddedLength(n, targetOf(gpu, precision));
        if (padded === undefined) expect(2 * n - 1).toBeGreaterThan(targetOf(gpu, precision).capacity.room / 2);
        else {
          expect(padded).toBeGreaterThanOrEqual(2 * n - 1);
          expect(largestPrimeFactor(padded)).toBeLessThanOrEqual(7);
          expect(padded).toBeLessThanOrEqual(targetOf(gpu, precision).capacity.room);
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
    for (const problem of [...someOf(random, problems(), 5), { size: [1021] }, { size: [4099], batches: 2 }]) {
      expect(
        await complaints(device, { ...problem, precision, tuning, debug: true }, random, ['host', 'alloc']),
      ).toEqual([]);
    }
    device.close();
  });

  it.each(['h200', 'webgpu-default'] as const)('interpreted for %s', async (name) => {
    const device = openInterpreted(namedProfiles[name].profile as DeviceProfile);
    for (const problem of someOf(random, problems(), 5)) {
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
      const all: ProblemInput[] = [
        { size: [n] },
        { size: [2 * n], batches: 2, normalize: true },
        { size: [n], leftBatches: 2, layout: 'planar' },
        { size: [3, n], placement: 'in-place' },
        { size: [n, 3], strides: { input: [1, 2, 2 * n + 1, 7 * n] } },
        { size: [n], zeroPadding: { space: [null], frequency: [null] } },
      ];
      for (const problem of someOf(random, all, 4)) {
        expect(await complaints(device, { ...problem, tuning, debug: true }, random, ['host'])).toEqual([]);
      }
    },
  );

  it('in several launches, as WebAssembly, together or apart', async () => {
    const device = await openWith({}, 1);
    for (const launches of ['fused', 'separate', 'six'] as const) {
      const forced = { ...tuning, uploadSwitch: { two: 256 }, bluestein: { launches } };
      for (const problem of [
        { size: [random.pick([211, 997, 2003])] },
        { size: [1021, 3], placement: 'in-place', precision: 'double' },
        { size: [2, 1009], batches: 2, layout: 'planar' },
        { size: [1021], transform: 'r2c' },
      ] as const) {
        const given = { ...problem, tuning: forced, debug: true };
        if ('transform' in problem) {
          const { error, allowed, damage } = await triedReal(
            device,
            given,
            random.pick(['forward', 'inverse']),
            random,
          );
          expect(damage).toEqual([]);
          expect(error).toBeLessThan(allowed);
        } else expect(await complaints(device, given, random, ['host', 'alloc'])).toEqual([]);
        const plan = await device.plan({ ...given, directions: 'forward' });
        const titles = plan.toJSON().directions[0]!.launches.map(({ title }) => title);
        const turns = titles.filter((title) => title.endsWith('there and back'));
        expect(turns).toHaveLength(launches === 'fused' ? 1 : 0);
        const [there, back] = ['there', 'back'].map((way) => titles.filter((title) => title.endsWith(`, ${way}`)));
        expect(there!.length).toBe(back!.length);
        expect(there!.length).toBeGreaterThan(0);
        const steps = titles.filter((title) => /, (chirp and zeros|product|chirp and crop)$/.test(title));
        expect(steps).toHaveLength(launches === 'six' ? 3 : 0);
        plan.destroy();
      }
    }
    device.close();
  });

  it('in one launch of a cluster of blocks', async () => {
    const device = openInterpreted({ ...(namedProfiles.h200.profile as DeviceProfile), sharedBytes: 8192 });
    const n = random.pick([919, 997]);
    for (const problem of [
      { size: [n], strides: { input: [1, 2, 2 * n + 5] }, batches: random.integer(1, 4) },
      { size: [n], placement: 'in-place', normalize: true },
    ] as const) {
      const given = { ...problem, tuning, debug: true };
      const plan = await device.plan({ ...given, directions: 'forward' });
      const [launch, ...others] = plan.toJSON().directions[0]!.launches;
      expect(others).toEqual([]);
      expect(launch!.blocks).toBeGreaterThan(1);
      expect(await complaints(device, given, random, ['host'])).toEqual([]);
    }
  });

  it('look their points up in order: no more is read or written than is there', async () => {
    const device = openInterpreted(namedProfiles.h200.profile as DeviceProfile);
    const plan = await device.plan({ size: [101], tuning, directions: 'forward' });
    const [launch] = plan.toJSON().directions[0]!.launches;
    expect(launch).toMatchObject({ lengths: [expect.any(Number)], title: 'axis 0' });
    expect(launch!.lengths[0]).toBeGreaterThanOrEqual(201);
  });
});
