/**
 * Finding and opening devices. Only what is asked for is loaded.
 */
import { type DeviceKind, deviceKinds } from '../devices/device.ts';
import { FftError } from '../problem/index.ts';
import { Device } from './device.ts';

export interface DeviceOptions {
  /** Threads of the `cpu` device; default: one for each processor. */
  readonly threads?: number;
}

export interface DeviceInfo {
  readonly kind: DeviceKind;
  readonly name: string;
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason?: string;
}

/** Every kind of device, with the reason where one is missing. */
export async function listDevices(): Promise<DeviceInfo[]> {
  const { cpuAvailability } = await import('../devices/cpu/index.ts');
  return deviceKinds.map((kind) => {
    if (kind === 'cpu') return { kind, ...cpuAvailability() };
    return { kind, name: kind, available: false, reason: 'this release runs on the CPU only' };
  });
}

/**
 * Opens a device.
 *
 * @param kind `auto` takes the best device there is.
 * @throws FftError (as a rejection) `unknown-device`, `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function openDevice(kind: DeviceKind | 'auto' = 'auto', options: DeviceOptions = {}): Promise<Device> {
  if (kind !== 'auto' && !deviceKinds.includes(kind)) {
    throw new FftError(
      'unknown-device',
      `There is no device '${String(kind)}'; choose one of auto, ${deviceKinds.join(', ')}.`,
    );
  }
  const { threads } = options;
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1)) {
    throw new FftError('invalid-argument', `threads is ${String(threads)}; it must be a whole number of at least 1.`);
  }
  if (kind !== 'auto' && kind !== 'cpu') {
    const { reason } = (await listDevices()).find((device) => device.kind === kind)!;
    throw new FftError('device-unavailable', `The device '${kind}' cannot be opened: ${reason}. Use 'cpu' or 'auto'.`);
  }
  const { createCpuBackend, cpuAvailability } = await import('../devices/cpu/index.ts');
  const { available, reason } = cpuAvailability();
  if (!available) throw new FftError('device-unavailable', `The CPU device cannot be opened: ${reason}.`);
  return new Device(await createCpuBackend(threads === undefined ? {} : { threads }));
}
