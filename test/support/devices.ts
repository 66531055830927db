/** Devices with profiles of all kinds, so that small problems meet every kind of plan. */
import type { Device } from '../../src/engine/device.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import type { Random } from './random.ts';
import { openWith, testKind } from './transforms.ts';

/** A device of vectors, of one thread, whose radices are weighed by what they compute. */
export const vectorProfile: DeviceProfile = {
  name: 'test',
  lockstep: 'vector',
  lockstepBytes: 16,
  sharedBytes: 2 ** 20,
  coalescedBytes: 128,
  registers: 16,
  maxThreads: 1,
  multiprocessors: 1,
  doubleBuffered: true,
  sharedFormat: 'blocked',
  banks: 1,
  groupPoints: 1024,
  passCost: 6,
};

/** A profile that a planner can work with: shared memory holds 13 columns of a whole run of memory, at least. */
export function randomProfile(random: Random): Partial<DeviceProfile> {
  const lockstepBytes = random.pick([8, 16, 16, 16, 32, 128]);
  const coalescedBytes = random.pick([16, 32, 64, 128]);
  const far = () => random.pick([16, 64, 256, 1024]);
  const least = 13 * 2 * 2 * Math.max(lockstepBytes, coalescedBytes);
  return {
    lockstepBytes,
    coalescedBytes,
    sharedBytes: least * random.pick([1, 1, 2, 3, 10]),
    registers: random.pick([8, 16, 32]),
    maxThreads: random.pick([1, 64]),
    doubleBuffered: true,
    sharedFormat: random.pick(['blocked', 'planes'] as const),
    passCost: random.pick([0, 6, 50]),
    reorderFirst: random.unit() < 0.5,
    ...(random.unit() < 0.3
      ? { padding: { multiple: random.pick([64, 512]), count: 4, by: random.pick([16, 64]) } }
      : {}),
    ...(random.unit() < 0.5 ? { distant: { above: 2 ** random.integer(0, 16), axes: far(), uploads: far() } } : {}),
    ...(random.unit() < 0.5
      ? { chunks: { bytes: random.pick([2 ** 10, 2 ** 14]), most: 2 ** random.integer(10, 20) } }
      : {}),
  };
}

/** A profile of a device whose threads are in lockstep: a GPU, more or less. */
export function randomThreads(random: Random): Partial<DeviceProfile> {
  const sharedBytes = random.pick([2048, 4096, 16384, 32768]);
  const cluster = {
    blocks: random.pick([1, 2, 3, 4, 6, 8, 16]),
    sharedBytes: random.pick([sharedBytes, sharedBytes / 2]),
    above: { single: random.pick([0, 1024, sharedBytes]), double: random.pick([0, 1024, sharedBytes]) },
  };
  return {
    ...randomProfile(random),
    lockstep: 'threads',
    lockstepBytes: 128,
    coalescedBytes: random.pick([16, 32, 64, 128]),
    registers: random.pick([32, 64, 255]),
    maxThreads: random.pick([32, 64, 256]),
    ...random.pick<Partial<DeviceProfile>>([
      { doubleBuffered: true, sharedFormat: random.pick(['planes', 'pairs'] as const) },
      { doubleBuffered: false, sharedFormat: random.pick(['planes', 'pairs'] as const) },
      { doubleBuffered: false, sharedFormat: 'halves' },
    ]),
    banks: random.pick([1, 32]),
    groupPoints: random.pick([1, 64, 1024, 2048]),
    sharedBytes,
    // Blocks of a cluster want others beside them.
    ...(random.unit() < 0.6
      ? { cluster, residentBytes: 4 * sharedBytes, registerFile: random.pick([8192, 65536]) }
      : {}),
  };
}

/** The plain device (the CPU on one and on two threads) and `count` others. */
export async function variedDevices(random: Random, count: number): Promise<Device[]> {
  const devices = [await openWith({}, 1)];
  if (testKind === 'cpu') devices.push(await openWith({}, 2));
  for (let n = 0; n < count; n++) devices.push(await openWith(randomProfile(random), n % 3 === 2 ? 2 : 1));
  return devices;
}
