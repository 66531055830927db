/**
 * Finding and opening devices. Only what is asked for is loaded.
 */
import { type DeviceKind, deviceKinds } from '../devices/device.ts';
import { type DeviceOptions, deviceModule, openableKinds } from '../devices/registry.ts';
import { FftError } from '../problem/index.ts';
import { Device } from './device.ts';

export type { DeviceOptions } from '../devices/registry.ts';

export interface DeviceInfo {
  readonly kind: DeviceKind;
  readonly name: string;
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason?: string;
}

/** Every kind of device, with the reason where one is missing. */
export async function listDevices(): Promise<DeviceInfo[]> {
  return Promise.all(deviceKinds.map(deviceInfo));
}

async function deviceInfo(kind: DeviceKind): Promise<DeviceInfo> {
  const module = await deviceModule(kind);
  if (!module) return { kind, name: kind, available: false, reason: 'this release has no support for it yet' };
  return { kind, ...module.availability() };
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
  const infos = await Promise.all((kind === 'auto' ? openableKinds : [kind]).map(deviceInfo));
  const found = infos.find((info) => info.available);
  if (!found) {
    const reasons = infos.map((info) => `${info.kind}: ${info.reason}`).join('; ');
    throw new FftError('device-unavailable', `No device can be opened (${reasons}). listDevices() says what there is.`);
  }
  const module = await deviceModule(found.kind);
  return new Device(await module!.create(options));
}
