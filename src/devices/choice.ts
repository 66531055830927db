/** Which of several devices of a kind a caller means. */
import { FftError, show } from '../problem/errors.ts';

/**
 * Whether a device is the one that was asked for.
 * @param wanted its number, in the order in which the system lists such devices, or a part of its name; undefined: any.
 * @param path the option that says so.
 * @throws FftError `invalid-argument` for anything else.
 */
export function isWanted(wanted: unknown, path: 'platform' | 'device', place: number, name: string): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'number' && Number.isSafeInteger(wanted) && wanted >= 0) return wanted === place;
  if (typeof wanted === 'string' && wanted !== '') return name.toLowerCase().includes(wanted.toLowerCase());
  throw new FftError('invalid-argument', `${path} is ${show(wanted)}; it takes a number from 0 up or part of a name.`, {
    path,
  });
}

/** The same where there is one device only. @throws FftError `invalid-argument`, `device-unavailable` */
export function requireOnly(wanted: unknown, kind: string, name: string): void {
  if (isWanted(wanted, 'device', 0, name)) return;
  throw new FftError('device-unavailable', `There is no ${kind} device ${show(wanted)}. There is one, 0: ${name}.`);
}
