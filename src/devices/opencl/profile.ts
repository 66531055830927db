/** What the driver says about a device → the numbers that the planner reads. */

import type { DeviceProfile } from '../../plan/device/profile.ts';
import { gpuProfile, OPENCL_RESIDENT_GROUPS } from '../profiles/gpu.ts';
import { INFO, type OpenCl } from './api.ts';
import type { ClDevice } from './select.ts';

/** Where the driver does not say how many threads run in lockstep. */
const USUAL_LOCKSTEP = 16;

/** @param name for people. */
export function openClProfile(cl: OpenCl, { device, type }: ClDevice, name: string): DeviceProfile {
  const ask = (what: number): number => cl.number('device', device, what) ?? 0;
  const localBytes = ask(INFO.localBytes);
  const most = ask(INFO.maxWorkGroupSize);
  const common = {
    name,
    lockstep: 'threads',
    maxBytes: ask(INFO.globalBytes),
    multiprocessors: Math.max(1, ask(INFO.computeUnits)),
    precisions: ask(INFO.doubleConfig) === 0 ? (['single'] as const) : (['single', 'double'] as const),
  } as const;
  if (type === 'cpu') {
    // Threads of a group are elements of vectors and iterations of loops here; what they keep over a barrier goes to memory.
    return {
      ...common,
      coalescedBytes: 64,
      passCost: 6,
      lockstepBytes: Math.max(4, 4 * ask(INFO.vectorWidthFloat)),
      sharedBytes: Math.min(localBytes, CPU_SHARED_BYTES),
      registers: 16,
      maxThreads: Math.min(most, CPU_THREADS),
      doubleBuffered: true,
      sharedFormat: 'planes',
      banks: 1,
      groupPoints: 1024,
      // In kernels with barriers, PoCL runs each round of a loop for all threads: 16 × 16 channels take five times as long in one launch.
      calibration: { layers: { again: 0.5, product: { alone: 10, inside: 200 }, ofSeveralAxes: 3 } },
    };
  }
  return {
    ...gpuProfile,
    ...common,
    lockstepBytes: 4 * (cl.number('device', device, lockstepFact(cl, device)) || USUAL_LOCKSTEP),
    sharedBytes: localBytes,
    residentBytes: OPENCL_RESIDENT_GROUPS * localBytes,
    maxThreads: most,
  };
}

/** What a core's second-level cache is sure to hold beside the caller's data. */
const CPU_SHARED_BYTES = 2 ** 18;
/** More iterations of the loops between barriers than this save nothing, and their compilation takes long. */
const CPU_THREADS = 256;

/** Asking a driver for another maker's fact is an error to some, and to others no more than an unknown number. */
function lockstepFact(cl: OpenCl, device: bigint): number {
  const extensions = cl.text('device', device, INFO.extensions);
  return extensions.includes('cl_amd_device_attribute_query') ? INFO.wavefrontWidthAmd : INFO.warpSizeNv;
}
