/** Opening a device without waiting. A file of its own: see devices/sync.ts. */
import { openBackendSync } from '../devices/sync.ts';
import { Device } from './device.ts';
import { provideGroups } from './lazy-modules.ts';
import { allAtOnce } from './lazy-tables.ts';
import { readOptions } from './options.ts';
import { version } from './version.ts';

/**
 * The CPU device with one thread: the only device that needs nothing asynchronous to open.
 * @param options there are none: it has one thread, because only waiting could start others.
 * @throws FftError `unknown-field`, `device-unavailable`, `out-of-memory`
 */
export function openCpuSync(options: Readonly<Record<string, never>> = {}): Device {
  readOptions(options, { works: [] }, 'openCpuSync');
  provideGroups(allAtOnce);
  return new Device(openBackendSync(version));
}
