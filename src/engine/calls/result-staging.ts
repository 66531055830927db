/**
 * Arrays of the host that a device's results are copied to until the whole call has succeeded: only then are they moved into the
 * caller's arrays, so that a call that fails writes nothing.
 */
import type { RealArray } from '../../devices/device.ts';
import { arrayFor, typeOfArray } from '../../devices/host-arrays.ts';
import { type StorageType, storageBytes } from '../../ir/index.ts';
import { copyElements, type ElementRuns, FftError, type HostArray } from '../../problem/index.ts';
import { arrayLength, copyInto, refuseDetached } from '../../problem/input/bytes.ts';
import { fromPairs, toPairs } from '../programs/tables.ts';
import type { Copy } from './staging.ts';

/** The name of an array of a waiting call, in messages. */
export const ARRAY_OF_WAITING_CALL = 'An array of a waiting call';

/** The array to copy to the device: the host array, or its doubles as pairs of singles. @throws FftError `out-of-memory` */
export function toDevice({ host, pairs }: Copy): RealArray {
  if (!pairs) return host;
  const singles = resultArray('f32', 2 * arrayLength(host)) as Float32Array;
  toPairs(host, singles);
  return singles;
}

/** An array for the result of a copy: of the caller's type, or for pairs of singles. @throws FftError `out-of-memory` */
export function stagingArray({ host, pairs }: Copy): RealArray {
  return pairs ? resultArray('f32', 2 * arrayLength(host)) : resultArray(typeOfArray(host), arrayLength(host));
}

/** A staged result in the caller's type. */
export function fromDevice({ pairs }: Copy, staged: RealArray): RealArray {
  if (!pairs) return staged;
  const doubles = resultArray('f64', staged.length / 2) as Float64Array;
  fromPairs(staged, doubles);
  return doubles;
}

/** An array for a result. @throws FftError `out-of-memory` */
export function resultArray(type: StorageType, length: number): HostArray {
  try {
    return arrayFor(type, length) as HostArray;
  } catch (cause) {
    const bytes = length * storageBytes(type);
    throw new FftError('out-of-memory', `A result of ${bytes} bytes does not fit in host memory.`, { cause });
  }
}

/**
 * Checks that all arrays of a result still have their memory, so that the result can be moved into all of them or into none.
 * @throws FftError `detached-array` if an array has been transferred away or resized since the call.
 */
export function requireWhole(hosts: readonly RealArray[], length: number): void {
  for (const host of hosts) {
    refuseDetached(host, ARRAY_OF_WAITING_CALL);
    const now = arrayLength(host);
    if (now === length) continue;
    const sizes = `it has ${now} numbers now, not ${length}`;
    throw new FftError(
      'detached-array',
      `${ARRAY_OF_WAITING_CALL} was resized: ${sizes}. Leave it alone until the call has ended.`,
    );
  }
}

/**
 * Moves a result into the caller's array.
 * @param runs the elements to move, if the array also holds other numbers.
 */
export function moveResult(host: RealArray, result: RealArray, runs?: ElementRuns): void {
  if (runs) copyElements(host, result, runs);
  else copyInto(host, result);
}
