/**
 * The default profile of a GPU, for values that neither a driver nor a data sheet gives. Every GPU device starts from these numbers, so that they are
 * tuned in one place.
 */
import type { DeviceProfile } from '../../plan/device/profile.ts';

export const gpuProfile = {
  lockstep: 'threads',
  /** The bytes of 32 singles, one for each thread of a warp. */
  lockstepBytes: 128,
  /** A cache line: on an H200 half of it reaches 0.85 of the bandwidth, a quarter 0.62. */
  coalescedBytes: 128,
  /** Registers of 32 bits that a thread can use without lowering the occupancy of its multiprocessor. */
  registers: 72,
  doubleBuffered: false,
  /**
   * Exchanging one part of the complex numbers at a time takes half the shared memory: on an H200 as fast as exchanging both where there is plenty of
   * it, and much faster where there is not.
   */
  sharedFormat: 'halves',
  /** The number of banks of shared memory, each 4 bytes wide. */
  banks: 32,
  groupPoints: 2048,
  passCost: 30,
} as const satisfies Partial<DeviceProfile>;

/**
 * WebGPU does not report multiprocessors and their memory. On an H200, Vulkan gives the groups of a multiprocessor about 80 KiB together, where CUDA
 * gives 228 KiB: smaller groups let more of them reside side by side.
 */
export const webGpuProfile = {
  ...gpuProfile,
  /** Drivers take long to compile kernels whose threads use more registers. */
  registers: 48,
  groupPoints: 1024,
  residentBytes: 64 * 1024,
  crowded: 0.65,
  cutRuns: [0.84, 0.68, 0.35],
  multiprocessors: 64,
  precisions: ['single'],
} as const satisfies Partial<DeviceProfile>;

/** The differences of adapters that compute on the processor, and take long to compile: small butterflies. */
export const softwareProfile = {
  coalescedBytes: 64,
  registers: 64,
  passCost: 6,
} as const satisfies Partial<DeviceProfile>;

/** The assumed number of groups that reside on a multiprocessor: OpenCL reports the local memory of one group only. */
export const OPENCL_RESIDENT_GROUPS = 4;
