/** Telling devices from what only looks like one, without loading what makes them. */

const devices = new WeakSet<object>();

/** Notes a device that was made. */
export function noteDevice(device: object): void {
  devices.add(device);
}

export function isDevice(value: unknown): boolean {
  return devices.has(value as object);
}
