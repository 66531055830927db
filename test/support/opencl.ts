/** An OpenCL device for tests: PoCL, which computes on the processor, or whatever there is. */
import {
  create as createOpenClBackend,
  type OpenClOptions,
  availability as openClAvailability,
} from '../../src/devices/opencl/index.ts';
import { Device } from '../../src/engine/device.ts';
import { missing } from './optional.ts';
import { poclCache } from './pocl-cache.ts';

// Read when the library is loaded.
process.env.POCL_CACHE_DIR = poclCache;

/** Why tests on OpenCL cannot run here, and are to be skipped. */
export const noOpenCl: string | undefined = missing('opencl', (await openClAvailability()).reason);

/** A device of omnifft on OpenCL. */
export async function openOpenCl(options: OpenClOptions = {}): Promise<Device> {
  return new Device(await createOpenClBackend(options));
}
