/**
 * The one kind of device that opens without waiting. A file of its own, because whoever imports it loads that device's
 * code at once, while the registry loads only what is asked for.
 */
import { systemStoreSync } from './code-cache/system-sync.ts';
import { openCpuBackend } from './cpu/backend.ts';
import type { Backend } from './device.ts';

/**
 * On the calling thread alone.
 * @param version of omnifft.
 * @throws FftError `device-unavailable`, `out-of-memory`
 */
export function openBackendSync(version: string): Backend {
  return openCpuBackend({ threads: 1, store: systemStoreSync(undefined, version) });
}
