/**
 * The data arguments of a call, each read once: one array or memory, or the two planes of planar data.
 */

import { FftError, reasonOf, typeName } from '../../problem/errors.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';
import { DeviceMemory } from './memory.ts';

/** One value, or the real and the imaginary plane. Lists and descriptors of foreign memory are copies. */
export type Given = readonly [unknown] | readonly [re: unknown, im: unknown];

/**
 * The data of a call. An object with own fields `re` and `im` is planar data.
 * @param what the argument, in messages
 * @throws FftError `wrong-array-type` where it cannot be read
 */
export function readData(value: unknown, what: string): Given {
  if (isArrayOrMemory(value)) return [value];
  try {
    const own = (name: string) => Object.hasOwn(value as object, name);
    if (typeof value === 'object' && value !== null && own('re') && own('im')) {
      const { re, im } = value as { readonly re: unknown; readonly im: unknown };
      return [readMemory(re, `${what}.re`), readMemory(im, `${what}.im`)];
    }
  } catch (cause) {
    throw unreadable(what, cause);
  }
  return [readMemory(value, what)];
}

/** One array or memory. @throws FftError `wrong-array-type` where it cannot be read */
export function readMemory(value: unknown, what: string): unknown {
  if (isArrayOrMemory(value)) return value;
  return snapshot(value, what, { code: 'wrong-array-type', depth: 1, keep: true });
}

/** Whether a value is an array or memory, whose fields cannot be the caller's own. */
function isArrayOrMemory(value: unknown): boolean {
  return arrayClass(value) !== undefined || DeviceMemory.bufferOf(value) !== undefined;
}

/** Whether a part may change between calls: lists and descriptors of foreign memory are objects of the caller. */
export function mayChange(part: unknown): boolean {
  return isRecord(part) || Array.isArray(part);
}

/** Whether both are the same array or memory, or the same two planes. */
export function isSameData(one: Given, other: Given): boolean {
  return one.length === other.length && one[0] === other[0] && one[1] === other[1];
}

/** Wraps an exception of the caller's own code, thrown while its object was read. */
export function unreadable(what: string, cause: unknown): FftError {
  return new FftError('wrong-array-type', `${what} cannot be read: ${reasonOf(cause)}.`, { cause });
}

/** The type of the data, for messages. */
export function givenName(given: Given): string {
  return given.length === 2 ? 'two planes { re, im }' : typeName(given[0]);
}
