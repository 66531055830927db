/** Opening the CPU. */
import { FftError } from '../../problem/errors.ts';
import { requireOnly } from '../choice.ts';
import type { Backend } from '../device.ts';
import type { DeviceOptions } from '../options.ts';
import { type CpuOptions, openCpuBackend } from './backend.ts';
import { canShareMemory, cpuAvailability, MOST_THREADS, processorCount } from './host.ts';

export { type CpuOptions, openCpuBackend } from './backend.ts';
export { cpuAvailability as availability } from './host.ts';

/**
 * Opens the CPU. Where memory cannot be shared (browser pages without cross-origin isolation) there is one thread,
 * whatever was asked for, and there are never more than processors: `profile.multiprocessors` tells.
 *
 * With one thread the memory is not shared, because copying from and to shared memory is three times slower.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function create(options: CpuOptions & Pick<DeviceOptions, 'device'> = {}): Promise<Backend> {
  // An object is an option of another kind of device.
  if (typeof options.device !== 'object') requireOnly(options.device, 'CPU', cpuAvailability().name);
  const most = Math.min(await processorCount(), MOST_THREADS);
  const { threads = most } = options;
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS)) {
    throw new FftError(
      'invalid-argument',
      `threads must be a whole number from 1 to ${MOST_THREADS}, but ${threads} was given.`,
      { path: 'threads' },
    );
  }
  // More threads than processors would gain nothing, and each costs start-up time and some megabytes.
  const count = canShareMemory() ? Math.min(threads, most) : 1;
  // The code of the worker pool is loaded only if there are workers.
  const workers = count > 1 ? (await import('./pool.ts')).Pool : undefined;
  return openCpuBackend({ ...options, threads: count, workers });
}
