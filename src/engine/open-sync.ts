/** Opening a device without waiting. A file of its own: see devices/sync.ts. */
import { openBackendSync } from '../devices/sync.ts';
import { Device } from './device.ts';

/**
 * The CPU device with one thread: the only device that needs nothing asynchronous to open.
 * @throws FftError `device-unavailable`, `out-of-memory`
 */
export function openCpuSync(): Device {
  return new Device(openBackendSync());
}
