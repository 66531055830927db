/**
 * Preparations of earlier calls: windows, framings and plan requests that functions of this room have derived from their arguments. A call with the
 * same shapes, types and options uses them again, without checks or preparation, which would take some hundred times as long as a short transform.
 *
 * Every property of an argument is read once and compared with the property of an earlier valid call, so that getters and proxies cannot get an
 * unchecked value past the comparison.
 */
import { readOptions } from '../../engine/arguments/options.ts';
import type { Device } from '../../engine/index.ts';
import { type ArrayInput, asArray, type NumpyArray } from '../../numpy/arrays/array.ts';
import { checkDevice } from '../../numpy/calls/choice.ts';
import { isOrdinary, isSameList } from '../../numpy/calls/known.ts';
import { arrayClass, arrayLength, plainView } from '../../problem/input/bytes.ts';
import { isFloats, liveSamples } from '../arguments/floats.ts';

/** The most calls kept for a function, the most recent first. */
const MOST_CALLS = 32;
/** The most bytes that all kept calls may hold. */
const MOST_BYTES = 2 ** 24;
/** The most elements of lists, and fields of objects, that are compared. */
const LONGEST_LIST = 16;

/** The way in which a function reads its arguments. */
export interface CallKind<O extends object, J> {
  readonly name: string;
  /** Names of the options that the function takes. */
  readonly works: readonly string[];
  /** The deepest nesting of options. */
  readonly levels?: number;
  /** Checks all arguments and prepares a job. The job depends on shapes, types and options only, never on the numbers in arrays. */
  readonly prepare: (arrays: readonly NumpyArray[], options: O, others: readonly unknown[]) => J;
  /** Bytes that a job holds; default 0. */
  readonly bytesOf?: (job: J) => number;
}

export interface PreparedCall<J> {
  readonly arrays: readonly NumpyArray[];
  readonly job: J;
  readonly device: Device | undefined;
}

interface ArrayFacts {
  readonly shape: readonly number[];
  readonly dtype: NumpyArray['dtype'];
  readonly entries: number;
}

/** Options as they were given, without `device`, with copies of their values. */
type OptionFacts = readonly (readonly [name: string, value: unknown])[];

interface KnownCall<J> {
  readonly arrays: readonly ArrayFacts[];
  readonly options: OptionFacts;
  /** Arguments between the arrays and the options. */
  readonly others: readonly unknown[];
  readonly job: J;
  readonly bytes: number;
}

/** Marks options that differ from those of a kept call. */
const DIFFERENT = Symbol('different');

export class PreparedCalls<O extends object, J> {
  private readonly kind: CallKind<O, J>;
  private calls: KnownCall<J>[] = [];

  constructor(kind: CallKind<O, J>) {
    this.kind = kind;
  }

  /** The job for a call. @throws FftError the errors of `prepare`, of arrays and of options */
  read(inputs: readonly ArrayInput[], options: O, others: readonly unknown[] = []): PreparedCall<J> {
    return this.find(inputs, options, others) ?? this.prepare(inputs, options, others);
  }

  private prepare(inputs: readonly ArrayInput[], options: O, others: readonly unknown[]): PreparedCall<J> {
    const { name, works, levels = 1, prepare, bytesOf = () => 0 } = this.kind;
    const own = readOptions(options, { works }, name, levels);
    const device = checkDevice((own as { readonly device?: Device }).device);
    const arrays = inputs.map(asArray);
    const job = prepare(arrays, own, others);
    const facts = factsOfOptions(own);
    const copies = others.map(factOf);
    // Nested lists may have any depth, and an array without elements may be a detached one: both are always checked.
    const isPlain = inputs.every((input) => !Array.isArray(input)) && arrays.every(({ data }) => data.length > 0);
    const bytes = bytesOf(job);
    if (facts && !copies.includes(DIFFERENT) && isPlain && bytes <= MOST_BYTES) {
      const known = arrays.map(({ shape, dtype, data }) => ({ shape: [...shape], dtype, entries: data.length }));
      this.calls.unshift({ arrays: known, options: facts, others: copies, job, bytes });
      this.trim();
    }
    return { arrays, job, device };
  }

  /** Forgets the calls whose last use is longest ago. */
  private trim(): void {
    let left = MOST_BYTES;
    const end = this.calls.findIndex(({ bytes }, place) => place === MOST_CALLS || (left -= bytes) < 0);
    if (end >= 0) this.calls.length = end;
  }

  private find(inputs: readonly unknown[], options: unknown, others: readonly unknown[]): PreparedCall<J> | undefined {
    const { calls } = this;
    try {
      // Loops over indices: iterators and callbacks would take longer than the comparisons.
      for (let place = 0; place < calls.length; place++) {
        const call = calls[place]!;
        const device = deviceAmong(options, call.options);
        if (device === DIFFERENT || !areSameFacts(others, call.others)) continue;
        const arrays = arraysLike(inputs, call.arrays);
        if (!arrays) continue;
        if (place > 0) {
          calls.splice(place, 1);
          calls.unshift(call);
        }
        return { arrays, job: call.job, device: checkDevice(device) };
      }
    } catch {
      // The caller's own code has thrown, or the device is not one; the full check reports it.
    }
    return undefined;
  }
}

function areSameFacts(values: readonly unknown[], known: readonly unknown[]): boolean {
  for (let k = 0; k < values.length; k++) if (!isSameFact(values[k], known[k])) return false;
  return true;
}

/** The arrays in their checked form, if they have the shapes and types of a kept call. */
function arraysLike(inputs: readonly unknown[], known: readonly ArrayFacts[]): NumpyArray[] | undefined {
  const arrays: NumpyArray[] = [];
  for (let k = 0; k < known.length; k++) {
    const array = arrayLike(inputs[k], known[k]!);
    if (array === undefined) return undefined;
    arrays.push(array);
  }
  return arrays;
}

function arrayLike(input: unknown, { shape, dtype, entries }: ArrayFacts): NumpyArray | undefined {
  const wanted = dtype === 'float32' || dtype === 'complex64' ? 'Float32Array' : 'Float64Array';
  let data = input;
  if (arrayClass(input) === undefined) {
    if (!isOrdinary(input)) return undefined;
    const given = input as NumpyArray;
    if (!(Object.hasOwn(given, 'data') && Object.hasOwn(given, 'shape') && Object.hasOwn(given, 'dtype'))) {
      return undefined;
    }
    data = given.data;
    if (given.dtype !== dtype || !isSameList(given.shape, shape)) return undefined;
  } else if (shape.length !== 1 || dtype === 'complex64' || dtype === 'complex128') return undefined;
  if (arrayClass(data) !== wanted || arrayLength(data) !== entries) return undefined;
  return { data: plainView(data as Float32Array, wanted), shape, dtype } as NumpyArray;
}

/** Copies of the options. @returns undefined where one of the options cannot be compared */
function factsOfOptions(own: object): OptionFacts | undefined {
  const facts: (readonly [string, unknown])[] = [];
  for (const [name, value] of Object.entries(own)) {
    if (name === 'device') continue;
    const fact = factOf(value);
    if (fact === DIFFERENT) return undefined;
    facts.push([name, fact]);
  }
  return facts;
}

/** A private copy of an option's value; `DIFFERENT` for a value that cannot be compared. */
function factOf(value: unknown): unknown {
  if (typeof value === 'function') return DIFFERENT;
  if (typeof value !== 'object' || value === null) return value;
  if (isFloats(value)) return liveSamples(value, 'The array').slice();
  const entries = Object.entries(value);
  if (entries.length > LONGEST_LIST) return DIFFERENT;
  const copies = entries.map(([name, part]) => [name, factOf(part)] as const);
  if (copies.some(([, part]) => part === DIFFERENT || isFloats(part))) return DIFFERENT;
  return Array.isArray(value) ? copies.map(([, part]) => part) : Object.fromEntries(copies);
}

/** The device among options that otherwise equal those of a kept call. @returns the device or undefined; `DIFFERENT` for other options */
function deviceAmong(options: unknown, known: OptionFacts): unknown {
  if (options === undefined) return known.length === 0 ? undefined : DIFFERENT;
  if (!isOrdinary(options)) return DIFFERENT;
  let device: unknown;
  let count = 0;
  const names = Object.keys(options as object);
  for (let k = 0; k < names.length; k++) {
    const name = names[k]!;
    const value = (options as Record<string, unknown>)[name];
    if (name === 'device') {
      device = value;
      continue;
    }
    const fact = known[count++];
    if (fact === undefined || fact[0] !== name || !isSameFact(value, fact[1])) return DIFFERENT;
  }
  return count === known.length ? device : DIFFERENT;
}

function isSameFact(value: unknown, known: unknown): boolean {
  if (value === known) return true;
  if (typeof known !== 'object' || known === null) return Number.isNaN(known) && Number.isNaN(value);
  if (isFloats(known)) return isFloats(value) && arrayClass(value) === arrayClass(known) && isSameNumbers(value, known);
  if (Array.isArray(known)) return isSameList(value, known);
  if (!isOrdinary(value)) return false;
  const names = Object.keys(known);
  if (Object.keys(value as object).length !== names.length) return false;
  return names.every((name) => {
    const part = (value as Record<string, unknown>)[name];
    const fact = (known as Record<string, unknown>)[name];
    return part === fact || (Array.isArray(fact) && isSameList(part, fact));
  });
}

function isSameNumbers(values: Float32Array | Float64Array, known: Float32Array | Float64Array): boolean {
  const length = arrayLength(values);
  if (length !== known.length) return false;
  const plain = plainView(values, arrayClass(known) as 'Float32Array' | 'Float64Array');
  for (let k = 0; k < length; k++) if (plain[k] !== known[k]) return false;
  return true;
}
