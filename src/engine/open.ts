/**
 * Finding and opening devices. Only the code of the requested device is loaded.
 */

import { systemStore } from '../devices/code-cache/system.ts';
import { type DeviceFacts, type DeviceKind, deviceKinds, type OpenableKind } from '../devices/device.ts';
import { type DeviceOptions, deviceOptionNames } from '../devices/options.ts';
import { deviceModule, openableKinds } from '../devices/registry.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';
import { didYouMean } from '../problem/input/meant.ts';
import { readOptions } from './arguments/options.ts';
import { Device } from './device.ts';
import { loadGroupsBy } from './lazy/lazy-modules.ts';
import { loaders } from './lazy/lazy-tables.ts';
import { version } from './programs/version.ts';

export type { DeviceFacts } from '../devices/device.ts';
export type { DeviceOptions } from '../devices/options.ts';

/** A kind of device, and whether it can be opened here. */
export type DeviceInfo = AvailableDevice | MissingDevice;

export interface MissingDevice {
  readonly kind: DeviceKind;
  readonly name: string;
  readonly available: false;
  /** Why it is not available. */
  readonly reason: string;
  readonly software?: boolean;
}

export interface AvailableDevice {
  readonly kind: OpenableKind;
  readonly name: string;
  readonly available: true;
  /** A limitation of the device, which can be opened all the same. */
  readonly reason?: string;
  /** It computes on the processor, slower than the `cpu` device: `auto` does not choose it. */
  readonly software?: boolean;
  /** The devices of this kind, in the order in which the option `device` counts them. */
  readonly devices?: readonly DeviceFacts[];
}

/** Every kind of device, with the reason where one is missing. */
export async function listDevices(): Promise<DeviceInfo[]> {
  return Promise.all(deviceKinds.map((kind) => deviceInfo(kind)));
}

async function deviceInfo(kind: DeviceKind, hardware?: boolean): Promise<DeviceInfo> {
  const module = await deviceModule(kind);
  if (!module) return { kind, name: kind, available: false, reason: 'this release has no support for it yet' };
  const { name, available, reason, software, devices } = await module.availability(hardware);
  // The type holds: a kind that has a module can be opened, and a missing one has its reason.
  const more = { ...(reason ? { reason } : {}), ...(software ? { software } : {}), ...(devices ? { devices } : {}) };
  return { kind, name, available, ...more } as DeviceInfo;
}

/**
 * Opens a device.
 *
 * @param kind `auto` takes the best device: a GPU before the CPU, and the CPU before a GPU that is only
 * simulated. Not every GPU computes in double precision: `{ precision: 'double' }` finds one that does. Each kind has
 * its own options; `auto` passes them to the kind that it opens.
 * @throws FftError (as a rejection) `unknown-device`, `device-unavailable`, `unsupported-precision`,
 * `unknown-field`, `invalid-argument`, `out-of-memory`
 */
export async function openDevice(kind: OpenableKind | 'auto' = 'auto', options: DeviceOptions = {}): Promise<Device> {
  if (kind !== 'auto' && !deviceKinds.includes(kind)) {
    throw await unknownDevice(kind);
  }
  const own = readOptions(options, { works: deviceOptionNames }, 'openDevice');
  const { threads, precision } = own;
  if (precision !== undefined && precision !== 'single' && precision !== 'double') {
    throw new FftError('invalid-argument', `precision is ${show(precision)}; choose 'single' or 'double'.`);
  }
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1)) {
    throw new FftError('invalid-argument', `threads is ${show(threads)}; it must be a whole number of at least 1.`);
  }
  const { cache } = own;
  if (!(cache === undefined || typeof cache === 'boolean' || (typeof cache === 'string' && cache !== ''))) {
    const message = `cache is ${show(cache)}; it takes true, false, or text that names where code is kept.`;
    throw new FftError('invalid-argument', message, { path: 'cache' });
  }
  if (kind !== 'auto') {
    const device = await openKind(kind, own);
    if (precision !== undefined && !computesIn(device, precision)) {
      device.close();
      throw new FftError('unsupported-precision', `${device.name} has no ${precision} precision; try another device.`);
    }
    return device;
  }
  const reasons: string[] = [];
  for (const candidate of openableKinds) {
    const { available, software, reason } = await deviceInfo(candidate, true);
    if (!available || software) {
      reasons.push(`${candidate}: ${reason ?? 'it computes on the processor'}`);
      continue;
    }
    try {
      const device = await openKind(candidate, own);
      if (precision === undefined || computesIn(device, precision)) return device;
      device.close();
      reasons.push(`${candidate}: it has no ${precision} precision`);
    } catch (error) {
      // If a device is listed but does not open, the next one is tried.
      if (!(error instanceof FftError && error.code === 'device-unavailable')) throw error;
      reasons.push(`${candidate}: ${error.message}`);
    }
  }
  throw new FftError(
    'device-unavailable',
    `No device can be opened (${reasons.join('; ')}). listDevices() says what there is.`,
  );
}

/** An error that lists the kinds which can be opened here. Drivers are loaded for the list only if there is hardware. */
async function unknownDevice(kind: unknown): Promise<FftError> {
  const infos = await Promise.all(openableKinds.map((known) => deviceInfo(known, true)));
  const here = infos.filter(({ available }) => available).map((info) => `'${info.kind}'`);
  const message = `There is no device ${show(kind)}; 'auto' takes the best one there is, and ${here.join(', ') || 'none'} can be opened here.`;
  return new FftError('unknown-device', `${message}${didYouMean(kind, ['auto', ...openableKinds])}`);
}

function computesIn({ profile }: Device, precision: 'single' | 'double'): boolean {
  return profile.precisions?.includes(precision) ?? true;
}

async function openKind(kind: DeviceKind, options: DeviceOptions): Promise<Device> {
  const module = await deviceModule(kind);
  if (!module) {
    throw new FftError(
      'device-unavailable',
      `This release has no support for '${kind}'. listDevices() says what can be opened.`,
    );
  }
  const store = await storeOfDevices(options.cache);
  return new Device(await module.create({ ...options, store }));
}

/** @internal The store in which devices keep compiled code. The call also registers the loaders of modules that only some problems need. */
export function storeOfDevices(cache?: DeviceOptions['cache']): ReturnType<typeof systemStore> {
  loadGroupsBy(loaders);
  return systemStore(cache, version);
}
