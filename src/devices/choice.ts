/** Matches a device against the caller's choice of platform and device. */
import { FftError, show } from '../problem/errors.ts';

/**
 * Whether a device is the one that the caller has chosen.
 * @param wanted the device's number in the system's list, or a part of its name; undefined accepts every device.
 * @param path the option that holds the choice.
 * @throws FftError `invalid-argument` for any other value.
 */
export function isWanted(wanted: unknown, path: 'platform' | 'device', place: number, name: string): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'number' && Number.isSafeInteger(wanted) && wanted >= 0) return wanted === place;
  if (typeof wanted === 'string' && wanted !== '') return name.toLowerCase().includes(wanted.toLowerCase());
  throw new FftError('invalid-argument', `${path} is ${show(wanted)}; it takes a number from 0 up or part of a name.`, {
    path,
  });
}

/** Checks the caller's choice for a kind that has exactly one device. @throws FftError `invalid-argument`, `device-unavailable` */
export function requireOnly(wanted: unknown, kind: string, name: string): void {
  if (isWanted(wanted, 'device', 0, name)) return;
  throw new FftError('device-unavailable', `There is no ${kind} device ${show(wanted)}. There is one, 0: ${name}.`);
}
