/** The references of the precision suite, and its pictures. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixed, fixedTransform, toFixed } from '../../../test/reference/fixed.ts';
import { randomFor } from '../../../test/support/random.ts';
import { hasMultiplyAdds, roundsOnce } from '../../../test/support/relaxed.ts';
import { type Device, openDevice } from '../../index.ts';
import { fixedResult } from '../../numeric/fixed-transforms.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { transformKinds } from '../../problem/problem.ts';
import { errorBound, measureErrors } from './errors.ts';
import { precisionSamples, precisionSets, sampleSets, suitePrecisions, wantedSets } from './suite.ts';

const random = randomFor('cli/verify');

describe('sums in fixed point', () => {
  it.each(transformKinds)('are those of %s', (kind) => {
    for (const n of [2, 3, random.integer(4, 16)]) {
      const complex = kind === 'c2c';
      const values = Array.from(
        { length: n },
        (): Fixed => [toFixed(2 * random.unit() - 1), complex ? toFixed(2 * random.unit() - 1) : 0n],
      );
      const want = fixedTransform(normalizeProblem({ size: [n], transform: kind }), 'forward', values);
      const im = complex ? values.map(([, part]) => part) : undefined;
      want.forEach((result, k) => {
        const got = fixedResult(
          kind,
          values.map(([re]) => re),
          im,
          k,
        );
        for (const part of [0, 1] as const) {
          const off = got[part] - result[part];
          expect(off < 0n ? -off : off).toBeLessThan(2n ** 20n);
        }
      });
    }
  });
});

/** Average errors of FFTW 3.3.10 forward, one transform at a time of numbers as `verify` takes them, in units of 2^−53. */
const FFTW = [
  ['c2c', 6, 0.549],
  ['c2c', 10, 0.769],
  ['c2c', 12, 0.67],
  ['c2c', 15, 0.931],
  ['c2c', 20, 0.854],
  ['r2c', 12, 0.502],
  ['r2c', 16, 0.682],
  ['r2c', 20, 0.719],
] as const;

/** Average errors of batches of 32 cosine, sine or real transforms of each length, in units of the precision. */
const FFTW_OF_MANY = [
  ['dct1', 8, 'double', 0.699],
  ['dct1', 20, 'single', 1.226],
  ['dct2', 10, 'double', 0.929],
  ['dct2', 19, 'single', 1.372],
  ['dct3', 12, 'double', 1.227],
  ['dct4', 15, 'double', 1.17],
  ['dst1', 9, 'double', 0.724],
  ['dst1', 16, 'single', 1.228],
  ['dst2', 12, 'double', 0.876],
  ['r2c', 19, 'single', 1.211],
  ['r2c', 23, 'double', 1.221],
] as const;

describe('errors', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterAll(() => device.close());

  it.each(suitePrecisions)('in %s are within bounds, and not nothing', async (precision) => {
    for (const transform of ['c2c', 'r2c', 'dct4'] as const) {
      const measured = await measureErrors(device, device, { transform, size: [24], batches: 2, precision }, 2);
      expect(measured.map(({ direction }) => direction)).toEqual(
        precision === 'double-double' ? ['forward'] : ['forward', 'inverse'],
      );
      for (const { average, maximum, bound } of measured) {
        expect(average).toBeGreaterThan(bound / 1000);
        expect(maximum).toBeGreaterThanOrEqual(average);
        expect(maximum).toBeLessThanOrEqual(bound);
      }
    }
  });

  it.runIf(hasMultiplyAdds && roundsOnce()).each(FFTW)(
    'of short %s of %i doubles are at most 1.1 times those of FFTW',
    async (transform, length, theirs) => {
      const measured = await measureErrors(
        device,
        device,
        { transform, size: [length], batches: 1, precision: 'double' },
        150,
      );
      expect(measured[0]!.average).toBeLessThan(1.1 * theirs * 2 ** -53);
    },
  );

  it.runIf(hasMultiplyAdds && roundsOnce()).each(FFTW_OF_MANY)(
    'of many short %s of %i numbers in %s are at most 1.1 times those of FFTW',
    async (transform, length, precision, theirs) => {
      const measured = await measureErrors(device, device, { transform, size: [length], batches: 32, precision }, 30);
      expect(measured[0]!.average).toBeLessThan(1.1 * theirs * (precision === 'double' ? 2 ** -53 : 2 ** -24));
    },
  );

  it.each(suitePrecisions)('over several axes in %s are within bounds, and not nothing', async (precision) => {
    for (const transform of ['c2c', 'r2c', 'dct3'] as const) {
      const size = [random.integer(3, 9), random.integer(2, 6), random.integer(1, 3)];
      const measured = await measureErrors(device, device, { transform, size, batches: 2, precision }, 2);
      for (const { average, maximum, bound } of measured) {
        expect(average, `${transform} ${size}`).toBeGreaterThan(bound / 1000);
        expect(maximum, `${transform} ${size}`).toBeLessThanOrEqual(bound);
      }
    }
  });

  it('that are only those of the reference are no measure for others', async () => {
    // Transforms of four numbers have whole factors, and doubles hold sums of singles exactly.
    const run = async (_: unknown, numbers: ArrayLike<number>) => {
      const [a, b, c, d] = Array.from(numbers);
      const [outer, inner] = [a! + d!, b! + c!];
      const [across, within] = [a! - d!, b! - c!];
      return [outer + 2 * inner, across + within, outer - inner, across - 2 * within];
    };
    const peer = { name: 'exact', has: () => true, run, close() {} };
    const tried = { transform: 'dct1', size: [4], batches: 1, precision: 'single' } as const;
    const [forward] = await measureErrors(device, device, tried, 2, { single: [peer], double: [], wide: [] });
    expect(forward!.peers[0]!.average).toBeLessThan(2 ** -96);
    expect(forward!.peers[0]!.ratio).toBeUndefined();
  });

  it('may be more for large primes, and for doubles that are two singles', () => {
    const single = { profile: { precisions: ['single'] } } as unknown as Device;
    expect(errorBound('c2c', [17], 'double', device) / errorBound('c2c', [16], 'double', device)).toBeCloseTo(5, 0);
    expect(errorBound('c2c', [16], 'double', single)).toBe(2 ** 9 * errorBound('c2c', [16], 'double', device));
  });
});

it('sets hold lengths up to the longest that is asked for', () => {
  expect(precisionSets(1)).toEqual([]);
  const sets = precisionSets(100);
  expect(sets).toHaveLength(12);
  for (const { sizes } of sets) {
    const lengths = sizes.map(([length]) => length!);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100);
    expect(lengths).toEqual([...new Set(lengths)].sort((a, b) => a - b));
  }
});

it('sets are of the transforms and lengths that are named', () => {
  const sets = wantedSets(100, { transforms: ['dct2', 'c2c'] });
  expect(new Set(sets.map(({ transform }) => transform))).toEqual(new Set(['dct2', 'c2c']));
  expect(wantedSets(10, { transforms: ['dct2'], lengths: [[20], [11, 3]] })).toEqual([
    { name: 'dct2', transform: 'dct2', sizes: [[20], [11, 3]] },
  ]);
  expect(wantedSets(10, { lengths: [[5]] })).toHaveLength(11);
});

it("samples are VkFFT's by number, over one to three axes", () => {
  expect(precisionSamples.map(({ sample }) => sample)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19]);
  for (const sample of precisionSamples) {
    const sets = sampleSets(sample, 1000);
    expect(sets).toHaveLength(3 * sample.transforms.length);
    for (const { transform, sizes } of sets) {
      const [one, ...others] = sizes;
      expect(sample.transforms).toContain(transform);
      for (const size of others) expect(size).toHaveLength(one!.length);
      for (const size of sizes) expect(size.reduce((a, b) => a * b, 1)).toBeLessThanOrEqual(1000);
    }
  }
});
