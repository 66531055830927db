/**
 * What the planner is told about any GPU unless a driver or a data sheet knows better. Every GPU device starts from
 * these numbers, so that tuning them is done in one place.
 */
import type { DeviceProfile } from '../../plan/device/profile.ts';

export const gpuProfile = {
  lockstep: 'threads',
  /** A warp of 32 threads. */
  lockstepBytes: 128,
  /** A cache line: on an H200 half of it reaches 0.85 of the bandwidth, a quarter 0.62. */
  coalescedBytes: 128,
  /** 32-bit registers that a thread can have without driving the other groups off its multiprocessor. */
  registers: 72,
  doubleBuffered: false,
  /** Half the shared memory: on an H200 as fast as pairs where there is plenty of it, and much faster where there is not. */
  sharedFormat: 'halves',
  /** Of 4 bytes each. */
  banks: 32,
  groupPoints: 2048,
  passCost: 30,
} as const satisfies Partial<DeviceProfile>;

/**
 * WebGPU says nothing about multiprocessors or their memory. On an H200, Vulkan gives all groups of one together 80 KiB or
 * so where CUDA gives 228: smaller groups leave more of them beside one another.
 */
export const webGpuProfile = {
  ...gpuProfile,
  /** Drivers take long over threads that hold more. */
  registers: 48,
  groupPoints: 1024,
  residentBytes: 64 * 1024,
  crowded: 0.65,
  cutRuns: [0.84, 0.68, 0.35],
  multiprocessors: 64,
  precisions: ['single'],
} as const satisfies Partial<DeviceProfile>;

/** What differs for adapters that compute on the processor and take long to compile: small butterflies. */
export const softwareProfile = {
  coalescedBytes: 64,
  registers: 64,
  passCost: 6,
} as const satisfies Partial<DeviceProfile>;

/** The assumed number of groups whose local memory fits on a multiprocessor: OpenCL tells only how much one group may have. */
export const OPENCL_RESIDENT_GROUPS = 4;
