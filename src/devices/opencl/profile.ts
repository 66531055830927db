/** The profile of an OpenCL device, made from the properties that the driver reports. */

import type { DeviceProfile } from '../../plan/device/profile.ts';
import { gpuProfile, OPENCL_RESIDENT_GROUPS } from '../profiles/gpu.ts';
import { INFO, type OpenCl } from './api.ts';
import type { ClDevice } from './select.ts';

/** The assumed subgroup size if the driver does not report one. */
const USUAL_LOCKSTEP = 16;

/** @param name the name of the device, for messages. */
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
    // On a processor, work-items become elements of vectors and iterations of loops, and values that live across a barrier go to memory.
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
      // PoCL runs each iteration of a loop with barriers for all work-items: 16 × 16 channels take five times as long in one launch.
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

/** The share of a core's second-level cache, in bytes, that stays available beside the caller's data. */
const CPU_SHARED_BYTES = 2 ** 18;
/** More work-items need longer loops between barriers, save nothing, and take long to compile. */
const CPU_THREADS = 256;

/** The subgroup size by vendor extensions. A driver answers the query of another vendor's property with an error or with an unknown number. */
function lockstepFact(cl: OpenCl, device: bigint): number {
  const extensions = cl.text('device', device, INFO.extensions);
  return extensions.includes('cl_amd_device_attribute_query') ? INFO.wavefrontWidthAmd : INFO.warpSizeNv;
}
