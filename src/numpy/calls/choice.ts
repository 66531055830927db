/** The device that a function computes on: the caller's, or one that all calls share. */

import { isDevice } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import { FftError, show } from '../../problem/errors.ts';

/** The choice of a device. */
export interface DeviceChoice {
  /** Default: a CPU device that all calls share, opened on first use. It does not keep a process alive. */
  readonly device?: Device | undefined;
}

let shared: Promise<Device> | undefined;

/** The caller's device; undefined if there is none. @throws FftError `invalid-argument` for anything that is not a device */
export function checkDevice(given: unknown): Device | undefined {
  if (given === undefined || isDevice(given)) return given as Device | undefined;
  throw new FftError('invalid-argument', `device is ${show(given)}; it must come from openDevice().`, {
    path: 'device',
  });
}

/** The device that all calls share. @throws FftError (as a rejection) errors of opening it */
export function sharedDevice(): Promise<Device> {
  // Callers that bring a device need not load the modules that open one.
  shared ??= import('../../index.ts')
    .then(({ openDevice }) => openDevice('cpu'))
    .catch((error) => {
      shared = undefined;
      throw error;
    });
  return shared;
}
