/**
 * Opening the CPU, the one kind of device that opens without waiting. This is a file of its own because whoever imports it loads the
 * CPU's code at once, while `open.ts` loads only the device that is asked for.
 */

import { systemStoreSync } from '../devices/code-cache/system-sync.ts';
import { openCpuBackend } from '../devices/cpu/backend.ts';
import { readOptions } from './arguments/options.ts';
import { Device } from './device.ts';
import { provideGroups } from './lazy/lazy-modules.ts';
import { allAtOnce } from './lazy/lazy-tables.ts';
import { version } from './programs/version.ts';

/**
 * The CPU device with one thread: the only device that needs nothing asynchronous to open.
 * @param options an empty object: the device has one thread, because starting others takes waiting.
 * @throws FftError `unknown-field`, `device-unavailable`, `out-of-memory`
 */
export function openCpuSync(options: Readonly<Record<string, never>> = {}): Device {
  readOptions(options, { works: [] }, 'openCpuSync');
  provideGroups(allAtOnce);
  return new Device(openCpuBackend({ threads: 1, store: systemStoreSync(undefined, version) }));
}
