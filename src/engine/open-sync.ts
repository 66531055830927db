/** Opening a device without waiting. A file of its own: see devices/sync.ts. */
import { openBackendSync } from '../devices/sync.ts';
import { allParts } from './all-parts.ts';
import { Device } from './device.ts';
import { provideParts } from './later.ts';
import { readOptions } from './options.ts';

/**
 * The CPU device with one thread: the only device that needs nothing asynchronous to open.
 * @param options there are none: it has one thread, because only waiting could start others.
 * @throws FftError `unknown-field`, `device-unavailable`, `out-of-memory`
 */
export function openCpuSync(options: Readonly<Record<string, never>> = {}): Device {
  readOptions(options, { works: [] }, 'openCpuSync');
  provideParts(allParts);
  return new Device(openBackendSync());
}
