/** Devices with profiles of all kinds, so that small problems meet every kind of plan. */
import type { Device } from '../../src/engine/device.ts';
import type { DeviceProfile } from '../../src/plan/profile.ts';
import type { Random } from './random.ts';
import { openWith } from './transforms.ts';

/** A profile that a planner can work with: shared memory holds 13 columns of a whole run of memory, at least. */
export function randomProfile(random: Random): Partial<DeviceProfile> {
  const lockstepBytes = random.pick([8, 16, 16, 16, 32, 128]);
  const coalescedBytes = random.pick([16, 32, 64, 128]);
  const least = 13 * 2 * 2 * Math.max(lockstepBytes, coalescedBytes);
  return {
    lockstepBytes,
    coalescedBytes,
    sharedBytes: least * random.pick([1, 1, 2, 3, 10]),
    registers: random.pick([8, 16, 32]),
    maxThreads: random.pick([1, 64]),
    doubleBuffered: random.unit() < 0.7,
    sharedFormat: random.pick(['blocked', 'planes'] as const),
    passCost: random.pick([0, 6, 50]),
  };
}

/** The plain device on one and on two threads, and `count` others. */
export async function variedDevices(random: Random, count: number): Promise<Device[]> {
  const devices = [await openWith({}, 1), await openWith({}, 2)];
  for (let n = 0; n < count; n++) devices.push(await openWith(randomProfile(random), n % 3 === 2 ? 2 : 1));
  return devices;
}
