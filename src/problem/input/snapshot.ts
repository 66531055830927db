/**
 * Snapshots of objects and lists from callers: copies of plain data as it is now. The library only reads these copies.
 *
 * Fields are read once, so getters and proxies cannot show one value to a check and another one later. Only an object's own fields are read, and
 * the copy inherits none either: fields that somebody puts on `Object.prototype` are not meant as options. The amount of data is bounded before
 * it is read.
 */

import { excerpt, FftError, type FftErrorCode, Opaque, reasonOf, show } from '../errors.ts';
import { arrayClass, arrayLength, plainView, subarrayOf } from './bytes.ts';

/** The most fields and entries of one value, all levels together. */
const MOST_VALUES = 4096;

/** The limits of a snapshot. */
export interface Reading {
  /** The code of the error if a value cannot be read, or has no end. */
  readonly code: FftErrorCode;
  /** The most levels of objects and lists. */
  readonly depth: number;
  /** Whether other objects (arrays, memory, devices) are kept; otherwise only their names for messages are. */
  readonly keep?: boolean;
  /** Whether functions are kept. */
  readonly functions?: boolean;
  /** The most fields and entries. */
  readonly most?: number;
  /** The field, at the outermost level, in which arrays of floats are copied. */
  readonly floats?: string;
}

interface State extends Reading {
  left: number;
  /** The fault of a value without an end, as a sentence. */
  fault?: string;
}

/**
 * @param what the value, at the start of a message
 * @returns plain data: numbers, strings …, lists and records (`isRecord`); an `Opaque` for any other object, or the object itself
 * @throws FftError of the code that the reading names
 */
export function snapshot(value: unknown, what: string, reading: Reading): unknown {
  const most = reading.most ?? MOST_VALUES;
  const state: State = { ...reading, most, left: most };
  try {
    return copyOf(value, '', state.depth, state);
  } catch (cause) {
    const message = state.fault ? `${what}${state.fault}` : `${what} cannot be read: ${reasonOf(cause)}.`;
    throw new FftError(state.code, message, { cause });
  }
}

/** A list or record of a snapshot that can be read field by field. */
export type RawRecord = Readonly<Record<string, unknown>>;

/** All records that were copied here. Records are looked up, as asking an object itself may run the caller's code. */
const records = new WeakSet<object>();

/** Whether a value is an object of a snapshot that has fields. */
export function isRecord(value: unknown): value is RawRecord {
  return records.has(value as object);
}

/** A record without fields. */
export function emptyRecord<T extends object = RawRecord>(): T {
  const record: T = Object.create(null);
  records.add(record);
  return record;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function copyOf(value: unknown, path: string, depth: number, state: State): unknown {
  if (!isObject(value)) return value;
  if (depth > 0 && Array.isArray(value)) return listSnapshot(value, path, depth, state);
  if (depth > 0 && isPlain(value)) return recordOf(value as RawRecord, path, depth, state);
  if (state.floats && path.split('[')[0] === state.floats) return floatsOf(value) ?? new Opaque(value);
  return state.keep || (state.functions && typeof value === 'function') ? value : new Opaque(value);
}

function listSnapshot(list: readonly unknown[], path: string, depth: number, state: State): unknown[] {
  const { length } = list;
  take(length, 'entries', path, state);
  const copy: unknown[] = [];
  for (let n = 0; n < length; n++) {
    copy.push(Object.hasOwn(list, n) ? copyOf(list[n], `${path}[${n}]`, depth - 1, state) : undefined);
  }
  return copy;
}

function recordOf(record: RawRecord, path: string, depth: number, state: State): RawRecord {
  const names = Object.keys(record);
  take(names.length, 'fields', path, state);
  const copy = emptyRecord<Record<string, unknown>>();
  const prefix = path === '' ? '' : `${path}.`;
  for (const name of names) copy[name] = copyOf(record[name], `${prefix}${excerpt(name)}`, depth - 1, state);
  return copy;
}

/** A copy of an array of floats; undefined for anything else. */
function floatsOf(value: object): Float32Array | Float64Array | undefined {
  const name = arrayClass(value);
  if (name !== 'Float32Array' && name !== 'Float64Array') return undefined;
  return subarrayOf(plainView(value as Float32Array, name), 0, arrayLength(value)).slice();
}

function take(count: number, what: string, path: string, state: State): void {
  // The length of a proxy may be anything, so it is checked.
  if (Number.isSafeInteger(count) && count >= 0 && (state.left -= count) >= 0) return;
  const where = path === '' ? '' : `: ${excerpt(path)}`;
  state.fault = `${where} has ${show(count)} ${what}, but ${state.most} of them all together are the most.`;
  throw new RangeError(state.fault);
}

/** An object literal, or a record without a prototype; from another window or context too. */
function isPlain(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  if (parent === null || parent === Object.prototype) return typeof value === 'object';
  return Object.getPrototypeOf(parent) === null && Object.hasOwn(parent as object, 'isPrototypeOf');
}
