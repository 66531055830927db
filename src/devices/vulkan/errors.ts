/** What Vulkan's results mean to callers of the library. */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';

/** What a call was for: puts words into its message. */
export interface Purpose {
  /** The beginning of a sentence: `Allocating 4096 bytes`. */
  readonly what: string;
  /** The code where the result has no meaning of its own; default `launch-failed`. */
  readonly otherwise?: FftErrorCode;
}

const NAMES: Readonly<Record<number, string>> = {
  [-1]: 'VK_ERROR_OUT_OF_HOST_MEMORY',
  [-2]: 'VK_ERROR_OUT_OF_DEVICE_MEMORY',
  [-3]: 'VK_ERROR_INITIALIZATION_FAILED',
  [-4]: 'VK_ERROR_DEVICE_LOST',
  [-5]: 'VK_ERROR_MEMORY_MAP_FAILED',
  [-6]: 'VK_ERROR_LAYER_NOT_PRESENT',
  [-7]: 'VK_ERROR_EXTENSION_NOT_PRESENT',
  [-8]: 'VK_ERROR_FEATURE_NOT_PRESENT',
  [-9]: 'VK_ERROR_INCOMPATIBLE_DRIVER',
  [-10]: 'VK_ERROR_TOO_MANY_OBJECTS',
  [-13]: 'VK_ERROR_UNKNOWN',
};
const OUT_OF_MEMORY = [-1, -2, -5, -10];
const DEVICE_LOST = -4;

/** The error for a call that gave a result. */
export function failure(name: string, result: number, purpose?: Purpose): FftError {
  const { what = `The call of ${name}`, otherwise = 'launch-failed' } = purpose ?? {};
  const said = `${NAMES[result] ?? 'a result that this library does not name'} (${result}, from ${name})`;
  if (OUT_OF_MEMORY.includes(result)) {
    return new FftError('out-of-memory', `${what} failed for lack of memory: ${said}.`);
  }
  if (result === DEVICE_LOST) {
    return new FftError('device-lost', `${what} failed because the device is gone: ${said}. Open it anew.`);
  }
  return new FftError(otherwise, `${what} failed: ${said}.`);
}
