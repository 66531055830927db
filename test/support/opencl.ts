/** An OpenCL device for tests: PoCL, which computes on the processor, or whatever there is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import {
  create as createOpenClBackend,
  type OpenClOptions,
  availability as openClAvailability,
} from '../../src/devices/opencl/index.ts';
import { Device } from '../../src/engine/device.ts';
import { missing } from './optional.ts';

// PoCL keeps what it compiled: for this run only, so that compilation is tested too. Read when the library is loaded.
const cache = mkdtempSync(join(tmpdir(), 'omnifft-pocl-'));
process.env.POCL_CACHE_DIR = cache;
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** Why tests on OpenCL cannot run here, and are to be skipped. */
export const noOpenCl: string | undefined = missing('opencl', (await openClAvailability()).reason);

/** A device of omnifft on OpenCL. */
export async function openOpenCl(options: OpenClOptions = {}): Promise<Device> {
  return new Device(await createOpenClBackend(options));
}
