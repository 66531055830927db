/** A GPU as the planner sees it: what its driver says, and what holds for GPUs in general. */
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { gpuProfile } from './gpu.ts';

/**
 * Clusters of thread blocks, as measured on an H200: with 32 KiB of each block they keep the memory busiest. With one
 * axis, a block of 128 KiB, which has its multiprocessor to itself, is as fast in single precision, where that takes 1024
 * threads, and slower in double.
 */
const CLUSTER = {
  sharedBytes: 32 * 1024,
  above: { single: 192 * 1024, double: 72 * 1024 },
};
/** Blocks of a cluster: what every device with clusters has, and what those made for computing can be asked for. */
const PORTABLE_BLOCKS = 8;
const MOST_BLOCKS = 16;

/**
 * Two launches as one, measured on an H200, whose second-level cache has 50 MiB: images of up to 12 MiB, and the first launch
 * as much ahead (larger ones gain nothing, or lose a tenth).
 */
const CHUNKS = { bytes: 8 * 1024, most: 12 * 2 ** 20, ahead: 12 * 2 ** 20 };
/** Compute capability that this was measured on. */
const MEASURED_CAPABILITY = 9;

/** Bytes of shared memory of a multiprocessor from which on whole numbers lie in it: twice as many bytes, half the barriers. */
const WHOLE_NUMBERS_FROM = 128 * 1024;

/** Facts of a device that a driver knows by numbers of its own. */
export type DriverAttribute =
  | 'maxThreads'
  | 'sharedPerBlock'
  | 'sharedPerBlockOptin'
  | 'sharedPerMultiprocessor'
  | 'registersPerMultiprocessor'
  | 'warpSize'
  | 'multiprocessors'
  | 'major'
  | 'minor'
  | 'clusters';

/** What a driver says about a device. */
export interface DriverFacts {
  readonly name: string;
  /** Bytes of device memory. */
  readonly memory: number;
  /** Zero where the driver does not know it. */
  readonly attribute: (name: DriverAttribute) => number;
}

export function profileFromDriver({ name, memory, attribute: read }: DriverFacts): DeviceProfile {
  // The part that has to be asked for is no slower.
  const sharedBytes = Math.max(read('sharedPerBlock'), read('sharedPerBlockOptin'));
  const large = read('major') === 9 || read('major') === 10;
  const residentBytes = Math.max(sharedBytes, read('sharedPerMultiprocessor'));
  const registerFile = read('registersPerMultiprocessor');
  const cluster = { ...CLUSTER, blocks: large ? MOST_BLOCKS : PORTABLE_BLOCKS };
  return {
    ...gpuProfile,
    name,
    lockstepBytes: 4 * (read('warpSize') || 32),
    sharedBytes,
    residentBytes,
    ...(residentBytes >= WHOLE_NUMBERS_FROM ? { sharedFormat: 'pairs' } : {}),
    maxBytes: memory,
    ...(registerFile > 0 ? { registerFile } : {}),
    maxThreads: read('maxThreads'),
    multiprocessors: read('multiprocessors'),
    ...(read('clusters') > 0 ? { cluster } : {}),
    ...(read('clusters') > 0 && read('major') === MEASURED_CAPABILITY ? { chunks: CHUNKS } : {}),
  };
}
