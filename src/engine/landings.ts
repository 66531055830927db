/** Where results of a device land until the whole call has succeeded: beside the caller's arrays. */
import type { RealArray } from '../devices/device.ts';
import { copyElements, type ElementRuns, FftError } from '../problem/index.ts';

/** Of an array, in messages. */
export const WAITING = 'An array of a waiting call';

/** An array like the caller's. @throws FftError `out-of-memory` */
export function landingFor(host: RealArray): RealArray {
  return newArray(host.BYTES_PER_ELEMENT === 4 ? 'f32' : 'f64', host.length);
}

/** An array for a result. @throws FftError `out-of-memory` */
export function newArray(type: 'f32' | 'f64', length: number): RealArray {
  try {
    return type === 'f32' ? new Float32Array(length) : new Float64Array(length);
  } catch (cause) {
    const bytes = length * (type === 'f32' ? 4 : 8);
    throw new FftError('out-of-memory', `A result of ${bytes} bytes does not fit in host memory.`, { cause });
  }
}

/**
 * Moves a result into the caller's array.
 * @param runs the elements to move, where not all are results.
 * @throws FftError `detached-array` where the array has changed its size meanwhile.
 */
export function settle(host: RealArray, result: RealArray, runs?: ElementRuns): void {
  if (host.length !== result.length) {
    throw new FftError(
      'detached-array',
      `${WAITING} was resized: it has ${host.length} numbers now, not ${result.length}. Leave it alone until the call has ended.`,
    );
  }
  if (runs) copyElements(host, result, runs);
  else host.set(result);
}
