import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vectorProfile as profile } from '../../../test/support/devices.ts';
import { seedFor } from '../../../test/support/random.ts';
import { countOperations, Expressions } from '../../ir/index.ts';
// The counts that the planner believes are those of the butterflies that kernels are made of.
import { dft } from '../../kernels/passes/butterfly.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import { butterflyOperations, convolvedPrimes, RADICES } from './butterflies.ts';
import { chooseRadices, leastPassCost, passCost } from './radix.ts';

const largePrimes = Array.from({ length: 128 }, (_, n) => n).filter((n) => n > 13 && largestPrimeFactor(n) === n);
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const smooth = Array.from({ length: 5000 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);
const question = fc.record({
  length: fc.constantFrom(...smooth, 2 ** 16, 3 ** 10, 13 ** 4),
  lanesAlong: fc.constantFrom('axis' as const, 'batch' as const),
  lanes: fc.constantFrom(1, 2, 4, 32),
  precision: fc.constantFrom('single' as const, 'double' as const),
});
const profiles = fc
  .record(
    {
      registers: fc.constantFrom(4, 16, 32, 255),
      passCost: fc.nat({ max: 60 }),
      firstLevel: fc.record({ bytes: fc.constantFrom(2 ** 12, 2 ** 16), beyond: fc.constantFrom(0.5, 1.1, 3) }),
    },
    { requiredKeys: ['registers', 'passCost'] },
  )
  .map((change): DeviceProfile => ({ ...profile, ...change }));

describe('operation counts', () => {
  it.each([...RADICES, ...largePrimes, 25, 27, 30, 32, 126])(
    'of radix %i are those of the derived butterfly',
    (radix) => {
      const x = new Expressions();
      const array = { name: 'x', space: 'global', type: 'f64' } as const;
      const values = Array.from({ length: radix }, (_, i) => ({
        re: x.load(array, 2 * i),
        im: x.load(array, 2 * i + 1),
      }));
      const { additions, multiplications } = countOperations(
        dft(x, values, convolvedPrimes([radix], {})).flatMap(({ re, im }) => [re, im]),
      );
      expect(additions + multiplications).toBe(butterflyOperations(radix));
    },
  );
});

describe('radix sequences', () => {
  it('multiply to the length and hold known radices only', () => {
    fc.assert(
      fc.property(question, profiles, (requested, device) => {
        const { radices } = chooseRadices(requested, targetOf(device, requested.precision));
        expect(product(radices)).toBe(requested.length);
        for (const radix of radices) expect(RADICES).toContain(radix);
      }),
      { seed: seedFor('plan/radix/product') | 0, numRuns: 500 },
    );
  });

  it('cost what their passes cost; no sequence costs less, nor does any fall below the least cost of a length', () => {
    fc.assert(
      fc.property(question, profiles, fc.infiniteStream(fc.nat({ max: 1000 })), (requested, device, choices) => {
        const lanes = requested.lanesAlong === 'axis' ? requested.lanes : 1;
        const bytes = requested.length * (requested.precision === 'single' ? 16 : 32);
        const far = requested.lanesAlong === 'axis' && bytes > (device.firstLevel?.bytes ?? Number.POSITIVE_INFINITY);
        // Passes in place, where whole vectors make them up, do not wait.
        const inPlace = (radices: readonly number[]) =>
          (lanes <= 2 || radices[0]! % lanes === 0) && (2 * radices.at(-1)!) % lanes === 0;
        const waiting = (radices: readonly number[]) => (far && !inPlace(radices) ? device.firstLevel!.beyond : 0);
        const costOf = (radices: readonly number[], least = waiting(radices)): number => {
          let [cost, stride] = [0, 1];
          for (const radix of radices) {
            cost += passCost({ ...requested, radix, stride, lanes }, targetOf(device, requested.precision), least);
            stride *= radix;
          }
          return cost;
        };
        const chosen = chooseRadices(requested, targetOf(device, requested.precision));
        const bound = leastPassCost(requested.length, targetOf(device, requested.precision));
        expect(bound).toBeGreaterThan(0);
        expect(bound).toBeLessThanOrEqual(chosen.cost);
        expect(chosen.cost).toBeCloseTo(costOf(chosen.radices, 0), 9);
        const other: number[] = [];
        for (let rest = requested.length; rest > 1; ) {
          const fitting = RADICES.filter((radix) => rest % radix === 0);
          const radix = fitting[(choices.next().value as number) % fitting.length] as number;
          other.push(radix);
          rest /= radix;
        }
        expect(costOf(chosen.radices)).toBeLessThanOrEqual(costOf(other) + 1e-9);
      }),
      { seed: seedFor('plan/radix/cost') | 0, numRuns: 500 },
    );
  });

  it('are shorter where passes wait for memory', () => {
    const far: DeviceProfile = {
      ...profile,
      // (In single precision, where vectors of four do not fit threes: passes do not work in place.)
      radixCosts: { 3: 0.97, 9: 2.05 },
      firstLevel: { bytes: 2 ** 16, beyond: 1.1 },
    };
    const passes = (length: number, { firstLevel, ...near } = far) =>
      [far, near].map(
        (device) => chooseRadices({ length, lanesAlong: 'axis', lanes: 4 }, targetOf(device, 'single')).radices.length,
      );
    const [same, before] = passes(3 ** 7);
    expect(same).toBe(before);
    const [fewer, more] = passes(3 ** 8);
    expect(fewer).toBeLessThan(more!);
  });

  it('one pass for one point, and an error where there is no radix', () => {
    expect(chooseRadices({ length: 1, lanesAlong: 'axis', lanes: 4 }, targetOf(profile, 'single')).radices).toEqual([
      1,
    ]);
    // 2³¹ − 1 is a prime that is too large for a convolution.
    const length = 2 ** 31 - 1;
    expect(() => chooseRadices({ length, lanesAlong: 'axis', lanes: 4 }, targetOf(profile, 'single'))).toThrow(
      RangeError,
    );
  });
});
