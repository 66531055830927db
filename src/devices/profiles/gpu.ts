/**
 * What the planner is told about any GPU unless a driver or a data sheet knows better. Every GPU device starts from
 * these numbers, so that tuning them is done in one place.
 */
import type { DeviceProfile } from '../../plan/profile.ts';

export const gpuProfile = {
  lockstep: 'threads',
  /** A warp of 32 threads. */
  lockstepBytes: 128,
  /** A cache line: on an H200 half of it reaches 0.84 of the bandwidth, a quarter 0.62. */
  coalescedBytes: 128,
  /** 32-bit registers that a thread can have without driving the other groups off its multiprocessor. */
  registers: 72,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  /** Of 4 bytes each. */
  banks: 32,
  groupPoints: 2048,
  passCost: 30,
} as const satisfies Partial<DeviceProfile>;
