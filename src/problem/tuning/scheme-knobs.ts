/** The knobs `bluestein` and `rader`: how lengths with large primes are transformed. */
import { primeFactors } from '../../numeric/primes.ts';
import { show } from '../errors.ts';
import { type FieldReader, isWholeNumberIn, wholeNumberKnob } from '../input/fields.ts';
import { isRecord } from '../input/snapshot.ts';
import type { Problem, Tuning } from '../problem.ts';

/** The largest prime that a padded length may have. */
const LARGEST_PRIME = 13;
/** The longest padded length: the largest order of tables of roots. */
const LONGEST = 2 ** 32;
/** The most entries of a pattern: more are a mistake. */
const MOST_ENTRIES = 1024;

type Fields<T> = { -readonly [K in keyof T]: T[K] };
type PatternEntry = NonNullable<NonNullable<Tuning['bluestein']>['pattern']>[number];

export function readBluestein(reader: FieldReader, value: unknown, path: string): Tuning['bluestein'] {
  const record = reader.record(value, path, ['maxRadix', 'length', 'pattern', 'launches']);
  const set: Fields<NonNullable<Tuning['bluestein']>> = Object.create(null);
  if (record.maxRadix !== undefined) {
    const most = wholeNumberKnob(2, LARGEST_PRIME)(reader, record.maxRadix, `${path}.maxRadix`, 1);
    if (most !== undefined) set.maxRadix = most;
  }
  if (record.length !== undefined) {
    const length = readLength(reader, record.length, `${path}.length`);
    if (length !== undefined) set.length = length;
  }
  if (record.pattern !== undefined) {
    const pattern = readPattern(reader, record.pattern, `${path}.pattern`);
    if (pattern && pattern.length > 0) set.pattern = pattern;
  }
  const launches = reader.oneOf(record.launches, `${path}.launches`, ['fused', 'separate', 'six'] as const, 'fused');
  if (launches !== 'fused') set.launches = launches;
  return Object.keys(set).length > 0 ? Object.freeze(set) : undefined;
}

/** Reads a length that passes can do on any device. */
function readLength(reader: FieldReader, value: unknown, path: string): number | undefined {
  const length = wholeNumberKnob(1, LONGEST)(reader, value, path, 1);
  const large = length === undefined ? undefined : primeFactors(length).find((prime) => prime > LARGEST_PRIME);
  if (large === undefined) return length;
  reader.report(
    'invalid-field',
    path,
    `${path} is ${length}, which has the prime factor ${large}; those of a padded length are at most ${LARGEST_PRIME}.`,
  );
  return undefined;
}

function readPattern(reader: FieldReader, value: unknown, path: string): readonly PatternEntry[] | undefined {
  if (!Array.isArray(value) || value.length > MOST_ENTRIES) {
    const accepted = `a list of at most ${MOST_ENTRIES} entries { from, length }`;
    reader.report('invalid-field', path, `${path} is ${show(value)}, but must be ${accepted}.`);
    return undefined;
  }
  const entries: PatternEntry[] = [];
  value.forEach((entry: unknown, n) => {
    const read = readEntry(reader, entry, `${path}[${n}]`);
    if (!read) return;
    const before = entries.at(-1);
    if (before && read.from <= before.from) {
      const given = `${path}[${n}].from is ${read.from}, after an entry from ${before.from} on`;
      reader.report('invalid-field', `${path}[${n}].from`, `${given}, but entries must come in increasing order.`);
    }
    entries.push(read);
  });
  return Object.freeze(entries);
}

function readEntry(reader: FieldReader, value: unknown, path: string): PatternEntry | undefined {
  if (!isRecord(value)) {
    reader.report('invalid-field', path, `${path} is ${show(value)}, but must be an object with from and length.`);
    return undefined;
  }
  const record = reader.record(value, path, ['from', 'length']);
  const from = wholeNumberKnob(1, LONGEST)(reader, record.from, `${path}.from`, 1);
  // The pattern ends here: lengths from this one on are the planner's choice.
  if (record.length === undefined) return from === undefined ? undefined : Object.freeze({ from });
  const length = readLength(reader, record.length, `${path}.length`);
  if (from === undefined || length === undefined) return undefined;
  if (length < 2 * from - 1) {
    const least = `an axis of ${from} points takes ${2 * from - 1} at least`;
    reader.report('invalid-field', `${path}.length`, `${path}.length is ${length}, but ${least}.`);
  }
  return Object.freeze({ from, length });
}

type Range = readonly [number, number];

export function readRader(reader: FieldReader, value: unknown, path: string): Tuning['rader'] {
  const record = reader.record(value, path, ['multiply', 'convolve']);
  const set: { multiply?: Range; convolve?: Range } = Object.create(null);
  for (const name of ['multiply', 'convolve'] as const) {
    const range = record[name] === undefined ? undefined : readRange(reader, record[name], `${path}.${name}`);
    if (range) set[name] = range;
  }
  return Object.keys(set).length > 0 ? Object.freeze(set) : undefined;
}

function readRange(reader: FieldReader, value: unknown, path: string): Range | undefined {
  const most = Number.MAX_SAFE_INTEGER;
  if (
    Array.isArray(value) &&
    value.length === 2 &&
    isWholeNumberIn(value[0], 2, most) &&
    isWholeNumberIn(value[1], value[0], most)
  ) {
    return Object.freeze([value[0], value[1]] as const);
  }
  const accepted = 'a list [least, most] of two whole numbers from 2 on, the second not below the first';
  reader.report('invalid-field', path, `${path} is ${show(value)}, but must be ${accepted}.`);
  return undefined;
}

/** The axes whose convolution does not fit the padded length that the tuning asks for. */
export function tooShort({ size, omit, tuning }: Problem): { readonly path: string; readonly message: string }[] {
  const { length, pattern = [] } = tuning.bluestein ?? {};
  if (length === undefined) return [];
  const path = 'tuning.bluestein.length';
  return size.flatMap((points, axis) => {
    const convolved = !omit[axis] && primeFactors(points).some((prime) => prime > LARGEST_PRIME);
    if (!convolved || pattern.some(({ from }) => from <= points) || length >= 2 * points - 1) return [];
    const least = `size[${axis}] = ${points} takes ${2 * points - 1} at least`;
    return [{ path, message: `${path} is ${length}, but ${least}; \`pattern\` has lengths for some axes only.` }];
  });
}
