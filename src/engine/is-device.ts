/** Telling devices from what only looks like one, without loading what makes them. */
import type { Device } from './device.ts';

const devices = new WeakSet<object>();

/** Notes a device that was made. */
export function noteDevice(device: Device): void {
  devices.add(device);
}

export function isDevice(value: unknown): value is Device {
  return devices.has(value as object);
}
