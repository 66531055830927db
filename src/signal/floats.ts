/** Samples: what counts as an array of them. */
import { arrayClass, plainView, refuseDetached } from '../problem/bytes.ts';

export function isFloats(value: unknown): value is Float32Array | Float64Array {
  return arrayClass(value) === 'Float32Array' || arrayClass(value) === 'Float64Array';
}

/**
 * Samples that can be relied upon.
 * @throws FftError `detached-array`
 */
export function liveSamples<T extends Float32Array | Float64Array>(samples: T, what: string): T {
  refuseDetached(samples, what);
  return plainView(samples, arrayClass(samples) as 'Float32Array' | 'Float64Array');
}
