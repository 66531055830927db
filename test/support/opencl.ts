/** An OpenCL device for tests: PoCL, which computes on the processor, or whatever there is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, type TestContext, test } from 'vitest';
import { createOpenClBackend, type OpenClOptions, openClAvailability } from '../../src/devices/opencl/index.ts';
import { Device } from '../../src/engine/device.ts';

// PoCL keeps what it compiled: for this run only, so that compilation is tested too. Read when the library is loaded.
const cache = mkdtempSync(join(tmpdir(), 'omnifft-pocl-'));
process.env.POCL_CACHE_DIR = cache;
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** Why tests on OpenCL cannot run here; then they are skipped, or fail in continuous integration. */
export const noOpenCl: string | undefined = (await openClAvailability()).reason;
if (noOpenCl !== undefined) console.warn(`tests on OpenCL are skipped: ${noOpenCl}`);
if (noOpenCl !== undefined && process.env.CI) {
  test('an OpenCL device is there', ({ expect }: TestContext) => expect(noOpenCl).toBe(undefined));
}

/** A device of omnifft on OpenCL. */
export async function openOpenCl(options: OpenClOptions = {}): Promise<Device> {
  return new Device(await createOpenClBackend(options));
}
