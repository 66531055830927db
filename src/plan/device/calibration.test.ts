import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { rankSplits } from '../../../test/support/planned.ts';
import { randomFor } from '../../../test/support/random.ts';
import { lengthsOf, uploads } from '../../../test/support/schemes.ts';
import { complaints } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { openProfile } from '../../engine/index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { type Calibration, calibrationOf, isCalibration } from './calibration.ts';
import type { DeviceProfile } from './profile.ts';

const random = randomFor('plan/device/calibration');
const { profile: h200 } = namedProfiles.h200;
const measured = calibrationOf(h200);
const { profile: cpu } = namedProfiles['wasm-cpu'];

describe('the calibration of a profile', () => {
  it('is data that every device has, and that lives through JSON', () => {
    for (const { profile } of Object.values<{ profile: DeviceProfile }>(namedProfiles)) {
      const calibration = calibrationOf(profile);
      expect(isCalibration(calibration)).toBe(true);
      expect(isCalibration(JSON.parse(JSON.stringify(calibration)))).toBe(true);
    }
  });

  it('may be a profile’s own, whole', async () => {
    const device = await openProfile({ ...h200, calibration: measured });
    expect(device.profile.calibration).toEqual(measured);
    device.close();
  });

  it('is that of other devices where a profile has none, group by group', () => {
    const some = calibrationOf({ calibration: { trip: { passes: 7, temp: 8 } } });
    expect(some.trip).toEqual({ passes: 7, temp: 8 });
    expect(some.cluster).toEqual(measured.cluster);
    expect(calibrationOf(cpu).trip).toEqual(cpu.calibration.trip);
  });

  it('weighs candidates', () => {
    const { profile: a100 } = namedProfiles.a100;
    const best = (calibration: Partial<Calibration>) =>
      rankSplits(
        normalizeProblem({ size: [8192], batches: 1000, precision: 'double' }),
        { ...a100, calibration: { ...measured, ...calibration } },
        1,
      )[0]!;
    const { trip, occupancy } = measured;
    // The more passes a trip costs, the less passes weigh.
    expect(best({ trip: { ...trip, passes: 54 } }).price).toBeLessThan(best({}).price);
    // A group that holds the whole axis has a multiprocessor to itself.
    const uploadsWith = (alone: number) => {
      const crowded = { ...occupancy, alone, fullThreads: alone };
      return lengthsOf(best({ occupancy: crowded }).value.axes[0]).length;
    };
    expect([uploadsWith(1), uploadsWith(0.1)]).toEqual([1, 2]);
  });

  it('knows that no more multiprocessors are idle than there are: a single short transform is one launch', () => {
    for (const { profile } of Object.values(namedProfiles))
      for (const precision of ['single', 'double'] as const)
        for (const length of [4, 9, 12, 33, 64, 162, 256]) {
          const [best] = rankSplits(normalizeProblem({ size: [length], precision }), profile, 1);
          expect(best!.value.axes).toEqual([uploads(length)]);
        }
  });

  it('may be missing: plans are right all the same', async () => {
    const small = { sharedBytes: 4352, residentBytes: 17408, maxThreads: 256, groupPoints: 256, coalescedBytes: 64 };
    const { calibration: _, ...vectors } = cpu;
    for (const profile of [
      { ...h200, ...small },
      { ...vectors, sharedBytes: 8192 },
    ]) {
      const device = openInterpreted(profile);
      for (const size of [[2048], [24, 24, 24], [600], [17]])
        expect(await complaints(device, { size }, random, ['host'])).toEqual([]);
    }
  });

  it('is refused where a number is missing, wrong or unknown', async () => {
    const { trip } = measured;
    for (const calibration of [
      { trip: { ...trip, passes: -1 } },
      { trip: { passes: 1 } },
      { trip: { ...trip, more: 1 } },
      { trips: trip },
      { trip: 'long' },
      7,
    ]) {
      const profile = { ...h200, calibration } as object as DeviceProfile;
      expect(await codeOf(() => openProfile(profile))).toBe('invalid-argument');
    }
    (await openProfile({ ...h200, calibration: { trip } })).close();
  });
});
