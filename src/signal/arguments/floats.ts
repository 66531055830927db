/** Samples: the kinds of arrays that are accepted for them. */
import { arrayClass, plainView, refuseDetached } from '../../problem/input/bytes.ts';

export type Floats = Float32Array | Float64Array;
/** Arrays that signals are computed in. */
export type FloatPrecision = 'single' | 'double';

export function isFloats(value: unknown): value is Floats {
  return arrayClass(value) === 'Float32Array' || arrayClass(value) === 'Float64Array';
}

/**
 * Samples whose memory has not been detached.
 * @throws FftError `detached-array`
 */
export function liveSamples<T extends Floats>(samples: T, what: string): T {
  refuseDetached(samples, what);
  return plainView(samples, arrayClass(samples) as 'Float32Array' | 'Float64Array');
}

/** Whether an array holds single precision, also if it was made by another window or context. */
export function areSingles(samples: Floats): boolean {
  return arrayClass(samples) === 'Float32Array';
}
