/** A GPU as the planner sees it: what its driver says, and what holds for GPUs in general. */
import type { DeviceProfile } from '../../plan/profile.ts';
import { gpuProfile } from '../profiles/gpu.ts';
import type { Driver } from './driver.ts';

export function readProfile(driver: Driver, device: number): DeviceProfile {
  const read = (name: Parameters<Driver['attribute']>[0]) => driver.attribute(name, device);
  // The part that has to be asked for is no slower.
  const sharedBytes = Math.max(read('sharedPerBlock'), read('sharedPerBlockOptin'));
  return {
    ...gpuProfile,
    name: driver.deviceName(device),
    lockstepBytes: 4 * (read('warpSize') || 32),
    sharedBytes,
    residentBytes: Math.max(sharedBytes, read('sharedPerMultiprocessor')),
    maxBytes: driver.deviceMemory(device),
    maxThreads: read('maxThreads'),
    multiprocessors: read('multiprocessors'),
  };
}
