/**
 * The door for what callers give as objects and lists: a copy of plain data as it is now, which is all that anybody reads.
 *
 * Fields are read once, so getters and proxies cannot say one thing to a check and another thing later. Only fields of an
 * object's own are read, and the copy inherits none either: what somebody puts on `Object.prototype` is nobody's wish.
 * How much is read is bounded before it is read.
 */
import { excerpt, FftError, type FftErrorCode, Opaque, reasonOf, show } from './errors.ts';

/** Fields and entries of one value, all levels together. */
const MOST_VALUES = 4096;

/** How a value is read. */
export interface Reading {
  /** Of the error where it cannot be read, or has no end. */
  readonly code: FftErrorCode;
  /** Levels of objects and lists that are read. */
  readonly depth: number;
  /** What else there may be stays as it is (arrays, memory, devices); otherwise only its name for messages does. */
  readonly keep?: boolean;
  /** Functions stay as they are. */
  readonly functions?: boolean;
  /** Fields and entries at most. */
  readonly most?: number;
}

interface State extends Reading {
  left: number;
  /** What has no end, as a sentence. */
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

/** What was copied here, and nothing else: asking an object itself may run the caller's code. */
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
  if (depth > 0 && Array.isArray(value)) return listOf(value, path, depth, state);
  if (depth > 0 && isPlain(value)) return recordOf(value as RawRecord, path, depth, state);
  return state.keep || (state.functions && typeof value === 'function') ? value : new Opaque(value);
}

function listOf(list: readonly unknown[], path: string, depth: number, state: State): unknown[] {
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

function take(count: number, what: string, path: string, state: State): void {
  // A proxy's length may be anything.
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
