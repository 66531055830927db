import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomThreads } from '../../../test/support/devices.ts';
import { randomFrom, seedFor } from '../../../test/support/random.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { capacityOf } from '../device/capacity.ts';
import type { DeviceProfile } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import { chooseRadices } from './radix.ts';
import { residentByRegisters, residentGroups, threadsFor } from './threads.ts';

const options = (name: string) => ({ seed: seedFor(`plan/threads/${name}`) | 0, numRuns: 200 });
const smooth = Array.from({ length: 4000 }, (_, i) => i + 2).filter((n) => largestPrimeFactor(n) <= 13);

/** A tile of some transforms of one length, on a device of threads. */
const questions = fc
  .record({
    length: fc.constantFrom(...smooth),
    columns: fc.integer({ min: 1, max: 16 }),
    precision: fc.constantFrom('single' as const, 'double' as const),
    seed: fc.nat(),
    clustered: fc.boolean(),
  })
  .map(({ length, columns, precision, seed, clustered }) => {
    const profile: DeviceProfile = { ...namedProfiles.h200.profile, ...randomThreads(randomFrom(seed)) };
    const { radices } = chooseRadices({ length, lanesAlong: 'batch', lanes: 1 }, targetOf(profile, precision));
    const points = length * columns;
    return { points, radices, precision, profile, clustered, butterflies: radices.map((radix) => points / radix) };
  });

describe('threads of a group', () => {
  it('are no more than a device has, nor more than the longest pass has butterflies', () => {
    fc.assert(
      fc.property(questions, ({ points, radices, precision, profile, clustered, butterflies }) => {
        const threads = threadsFor(points, radices, {}, targetOf(profile, precision), clustered);
        expect(Number.isInteger(threads)).toBe(true);
        expect(threads).toBeGreaterThanOrEqual(1);
        expect(threads).toBeLessThanOrEqual(profile.maxThreads);
        expect(threads).toBeLessThanOrEqual(Math.max(...butterflies));
      }),
      options('bounds'),
    );
  });

  it('are as many as somebody asks for, as far as each has a butterfly and keeps what it has in registers', () => {
    fc.assert(
      fc.property(questions, fc.integer({ min: 1, max: 1024 }), (question, requested) => {
        const { points, radices, precision, profile } = question;
        const most = threadsFor(points, radices, {}, targetOf(profile, precision));
        const threads = threadsFor(
          points,
          radices,
          {},
          targetOf({ ...profile, tuning: { threads: requested } }, precision),
        );
        expect(threads).toBe(Math.max(Math.min(requested, most), Math.ceil(most / 4)));
        const halved = targetOf({ ...profile, tuning: { halfThreads: true } }, precision);
        expect(threadsFor(points, radices, { split: true }, halved)).toBe(Math.ceil(most / 2));
        expect(threadsFor(points, radices, { split: false }, halved)).toBe(most);
      }),
      options('tuning'),
    );
  });

  it('take one butterfly of vectors each, whichever pass has the fewest', () => {
    fc.assert(
      fc.property(questions, ({ points, radices, precision, profile, butterflies }) => {
        const vectors = targetOf({ ...profile, lockstep: 'vector', maxThreads: 10 ** 6 }, precision);
        expect(threadsFor(points, radices, {}, vectors)).toBe(Math.ceil(Math.min(...butterflies)));
      }),
      options('vectors'),
    );
  });
});

describe('groups side by side', () => {
  it('find room in registers and in shared memory', () => {
    fc.assert(
      fc.property(questions, ({ points, radices, precision, profile, clustered }) => {
        const threads = threadsFor(points, radices, {}, targetOf(profile, precision), clustered);
        const cluster = clustered && profile.cluster !== undefined;
        const beside = residentGroups(points, radices, threads, targetOf(profile, precision), cluster);
        expect(Number.isInteger(beside) && beside >= 0).toBe(true);
        const { residentBytes = profile.sharedBytes, registerFile = 0 } = profile;
        expect(beside * points * capacityOf(precision, profile).sharedBytes).toBeLessThanOrEqual(residentBytes);
        // Each thread has at least its points, two reals each, in a whole number of warps.
        const held = 2 * Math.max(...radices) * (precision === 'single' ? 1 : 2);
        expect(beside * 32 * Math.ceil(threads / 32) * held).toBeLessThanOrEqual(registerFile);
      }),
      options('room'),
    );
  });

  it('are left to the compiler where the register file is not known', () => {
    fc.assert(
      fc.property(questions, ({ points, radices, precision, profile: { registerFile: _, ...profile } }) => {
        expect(residentGroups(points, radices, 32, targetOf(profile, precision))).toBe(0);
      }),
      options('unknown'),
    );
  });

  it('are fewer in double precision, and with registers for intermediate values of odd radices', () => {
    fc.assert(
      fc.property(questions, ({ points, radices, profile }) => {
        const threads = threadsFor(points, radices, {}, targetOf(profile, 'single'));
        const room = (precision: 'single' | 'double', odd: number) =>
          residentByRegisters(points, radices, threads, targetOf(profile, precision), odd);
        expect(room('double', 0)).toBeLessThanOrEqual(room('single', 0));
        expect(room('single', 8)).toBeLessThanOrEqual(room('single', 0));
      }),
      options('fewer'),
    );
  });
});
