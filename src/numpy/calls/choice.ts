/** The device that a function works on: the one it is given, or one that all share. */

import { isDevice } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import { FftError, show } from '../../problem/errors.ts';

/** Where to work. */
export interface DeviceChoice {
  /** Default: a CPU device that all calls share, opened on first use. It does not keep a process alive. */
  readonly device?: Device | undefined;
}

let shared: Promise<Device> | undefined;

/** @throws FftError `invalid-argument` for what is no device, nor left out */
export function checkDevice(given: unknown): Device | undefined {
  if (given === undefined || isDevice(given)) return given as Device | undefined;
  throw new FftError('invalid-argument', `device is ${show(given)}; it must come from openDevice().`, {
    path: 'device',
  });
}

/** @throws FftError (as a rejection) those of opening */
export function sharedDevice(): Promise<Device> {
  // Who brings a device need not load what opens them.
  shared ??= import('../../index.ts')
    .then(({ openDevice }) => openDevice('cpu'))
    .catch((error) => {
      shared = undefined;
      throw error;
    });
  return shared;
}
