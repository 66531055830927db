/**
 * A cache of earlier valid calls: the facts of each (function, shape, dtype, options) and the `Work` that was derived from them. A call with the same
 * facts takes that work, and is not validated, copied or planned again, which would take some thirty times as long as a transform of 64 points.
 * Arguments may be getters or proxies that answer differently each time. That is safe: every fact is read once and compared with the fact of a valid
 * call. As soon as one differs, the cache is left alone and the arguments go through the full validation.
 */
import { arrayClass, arrayLength, plainView } from '../../problem/input/bytes.ts';
import type { RawRecord } from '../../problem/input/snapshot.ts';
import type { NumpyArray } from '../arrays/array.ts';
import type { Floats } from '../arrays/memory.ts';
import type { TransformRequest, Work } from './work.ts';

/** The most calls in the cache. When it is full it is emptied, and calls that recur are soon in it again. */
const MOST_CALLS = 512;
/** The most calls of one function with data of one length, because these are searched one by one. */
const MOST_ALIKE = 8;
/** Longer lists of lengths and axes are not compared, so their calls are not cached. */
const LONGEST_LIST = 8;

interface KnownCall {
  readonly shape: readonly number[];
  readonly dtype: NumpyArray['dtype'];
  readonly arrayClass: 'Float32Array' | 'Float64Array';
  /** Names of the options in the order in which they were given, without `device`, and their values: numbers, words, lists of numbers. */
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly work: Work;
}

/** The facts of a call without its data. */
export interface CallFacts {
  /** The checked array: its shape and type count. */
  readonly operand: NumpyArray;
  /** The options with their getters evaluated. */
  readonly requested: RawRecord;
}

/** The result of comparing options that differ from those of the cached call. */
const DIFFERENT = Symbol('different');

export class KnownCalls {
  /** Calls by function and by the number of entries in their data. */
  private readonly calls = new Map<string, Map<number, KnownCall[]>>();
  private count = 0;

  /**
   * The request of a cached call for new data.
   * @param takesDevice whether the function has an option `device`, which is not compared.
   * @returns undefined if the call is not cached, for any arguments
   */
  find(name: string, input: unknown, options: unknown, takesDevice: boolean): TransformRequest | undefined {
    const alike = this.calls.get(name);
    if (alike === undefined) return undefined;
    try {
      const bare = arrayClass(input) !== undefined;
      if (!bare && !isOrdinary(input)) return undefined;
      const array = (bare ? undefined : input) as NumpyArray | undefined;
      if (array && !(Object.hasOwn(array, 'data') && Object.hasOwn(array, 'shape') && Object.hasOwn(array, 'dtype'))) {
        return undefined;
      }
      const data = (array ? array.data : input) as Floats;
      const shape = array?.shape;
      const dtype = array?.dtype;
      if (arrayClass(data) === undefined) return undefined;
      for (const call of alike.get(arrayLength(data)) ?? []) {
        if (shape === undefined ? !isLine(call) : dtype !== call.dtype || !isSameList(shape, call.shape)) continue;
        const device = deviceOf(options, call, takesDevice);
        if (device === DIFFERENT) continue;
        // The array is checked last, because reading the other arguments may have run code of the caller's.
        if (arrayClass(data) !== call.arrayClass || arrayLength(data) !== call.work.entries) continue;
        return { device, work: call.work, data: call.work.takesSubarrays ? plainView(data, call.arrayClass) : data };
      }
    } catch {
      // A getter or proxy of the caller's has thrown; the full validation will report it.
    }
    return undefined;
  }

  keep(name: string, { operand, requested }: CallFacts, work: Work): void {
    const { shape, dtype } = operand;
    const names = Object.keys(requested).filter((option) => option !== 'device');
    const values = names.map((option) => requested[option]);
    // An empty array may be a detached one, so it is not cached.
    if (work.entries === 0) return;
    if ([shape, ...values].some((value) => Array.isArray(value) && value.length > LONGEST_LIST)) return;
    if (this.count === MOST_CALLS) this.forget();
    let alike = this.calls.get(name);
    if (!alike) this.calls.set(name, (alike = new Map()));
    let calls = alike.get(work.entries);
    if (!calls) alike.set(work.entries, (calls = []));
    if (calls.length === MOST_ALIKE) calls.pop();
    else this.count++;
    const single = dtype === 'float32' || dtype === 'complex64';
    // The most recent call comes first.
    calls.unshift({
      ...{ shape: [...shape], dtype, arrayClass: single ? 'Float32Array' : 'Float64Array' },
      ...{ names, values, work },
    });
  }

  private forget(): void {
    this.calls.clear();
    this.count = 0;
  }
}

/** Whether a call has the shape and type of a bare typed array. */
function isLine({ shape, dtype }: KnownCall): boolean {
  return shape.length === 1 && (dtype === 'float64' || dtype === 'float32');
}

/** Whether a value is an object literal of this window; all others go through the full validation. */
export function isOrdinary(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Compares options. @returns the `device` among options that are otherwise equal, or undefined; `DIFFERENT` if they differ */
function deviceOf(options: unknown, { names, values }: KnownCall, takesDevice: boolean): unknown {
  if (options === undefined) return names.length === 0 ? undefined : DIFFERENT;
  if (!isOrdinary(options)) return DIFFERENT;
  let device: unknown;
  let known = 0;
  for (const name of Object.keys(options as object)) {
    const value = (options as RawRecord)[name];
    if (takesDevice && name === 'device') {
      device = value;
      continue;
    }
    if (name !== names[known] || !isKnownFact(value, values[known])) return DIFFERENT;
    known++;
  }
  return known === names.length ? device : DIFFERENT;
}

function isKnownFact(value: unknown, known: unknown): boolean {
  return value === known || (Array.isArray(known) && isSameList(value, known));
}

export function isSameList(list: unknown, known: readonly unknown[]): boolean {
  if (!Array.isArray(list) || list.length !== known.length) return false;
  for (let k = 0; k < known.length; k++) if (list[k] !== known[k]) return false;
  return true;
}
