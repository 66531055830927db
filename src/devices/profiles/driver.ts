/** The profile of a GPU, made from the facts that its driver reports and from values that hold for GPUs in general. */
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { gpuProfile } from './gpu.ts';

/**
 * Clusters of thread blocks, as measured on an H200: 32 KiB of shared memory in each block keep the memory busiest. Along one axis, a single block of
 * 128 KiB, which has its multiprocessor to itself, is as fast in single precision, where it takes 1024 threads, and slower in double.
 */
const CLUSTER = {
  sharedBytes: 32 * 1024,
  above: { single: 192 * 1024, double: 72 * 1024 },
};
/** The most blocks of a cluster: 8 on every device with clusters, 16 if requested on GPUs of compute capability 9 and 10. */
const PORTABLE_BLOCKS = 8;
const MOST_BLOCKS = 16;

/**
 * Two launches pipelined as one, measured on an H200, whose second-level cache has 50 MiB: for images of up to 12 MiB, with the first launch as much
 * ahead (larger ones gain nothing, or lose a tenth).
 */
const CHUNKS = { bytes: 8 * 1024, most: 12 * 2 ** 20, ahead: 12 * 2 ** 20 };
/** The compute capability of the GPU that `CHUNKS` was measured on. */
const MEASURED_CAPABILITY = 9;

/**
 * Bytes of shared memory of a multiprocessor from which on exchanges hold whole complex numbers instead of one part at a time: twice the bytes, half
 * the barriers.
 */
const PAIRS_FROM_BYTES = 128 * 1024;

/** Device attributes, whose numbers differ between drivers. */
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

/** The facts that a driver reports about a device. */
export interface DriverFacts {
  readonly name: string;
  /** Bytes of device memory. */
  readonly memory: number;
  /** The value of an attribute; zero if the driver does not know it. */
  readonly attribute: (name: DriverAttribute) => number;
}

export function profileFromDriver({ name, memory, attribute: read }: DriverFacts): DeviceProfile {
  // Shared memory that a kernel has to opt in to is no slower.
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
    ...(residentBytes >= PAIRS_FROM_BYTES ? { sharedFormat: 'pairs' } : {}),
    maxBytes: memory,
    ...(registerFile > 0 ? { registerFile } : {}),
    maxThreads: read('maxThreads'),
    multiprocessors: read('multiprocessors'),
    ...(read('clusters') > 0 ? { cluster } : {}),
    ...(read('clusters') > 0 && read('major') === MEASURED_CAPABILITY ? { chunks: CHUNKS } : {}),
  };
}
