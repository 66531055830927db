/**
 * Opening the CPU without waiting. A file of its own, because whoever imports it loads the CPU's code at once, while
 * `openDevice` loads only what is asked for.
 */
import { openCpuBackend } from '../devices/cpu/index.ts';
import { Device } from './device.ts';

/**
 * The CPU device with one thread: the only device that needs nothing asynchronous to open.
 * @throws FftError `device-unavailable`, `out-of-memory`
 */
export function openCpuSync(): Device {
  return new Device(openCpuBackend({ threads: 1 }));
}
