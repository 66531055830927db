import { FftError } from '../problem/errors.ts';
import type { DeviceOptions } from './options.ts';

/** An error about an option. Beside options.ts, which a page has at once: devices that load it would load all that comes with it. */
export function wrongOption(path: keyof DeviceOptions, message: string): FftError {
  return new FftError('invalid-argument', message, { path });
}
