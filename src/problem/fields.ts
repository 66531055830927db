/**
 * Reads the fields of a problem as a user wrote them: each reader returns a usable value in every case and notes what
 * was wrong, so that one pass over the fields finds every mistake.
 */
import { type FftErrorCode, type FftProblem, show } from './errors.ts';

/** Fields of a `ProblemInput`. */
export const knownFields = [
  'size',
  'transform',
  'omit',
  'precision',
  'storage',
  'edgeStorage',
  'layout',
  'batches',
  'leftBatches',
  'coordinates',
  'placement',
  'preserveInput',
  'strides',
  'offsets',
  'normalize',
  'scale',
  'directions',
  'unordered',
  'tuning',
  'debug',
] as const;

/** Fields of the contract whose feature this release does not have. */
export const plannedFields = ['strategy', 'zeroPadding', 'convolution', 'callbacks'] as const;

/** Names that people bring along from other libraries, and ours for the same thing. */
const foreignNames: Readonly<Record<string, string>> = {
  shape: 'size',
  dimensions: 'size',
  length: 'size',
  n: 'size',
  numberBatches: 'batches',
  howmany: 'batches',
  coordinateFeatures: 'coordinates',
  omitDimension: 'omit',
  type: 'transform',
  kind: 'transform',
  inPlace: 'placement',
  dtype: 'precision',
  doublePrecision: 'precision',
  disableReorderFourStep: 'unordered',
  bufferStride: 'strides',
  inputStride: 'strides',
  outputStride: 'strides',
  norm: 'normalize',
  coalescedMemory: 'coalescedBytes',
  numSharedBanks: 'banks',
  aimThreads: 'threads',
  maxThreadsNum: 'maxThreads',
  maxComputeWorkGroupSize: 'maxThreads',
  maxComputeWorkGroupCount: 'maxGroups',
  sharedMemorySize: 'sharedBytes',
  sharedMemorySizeStatic: 'sharedBytes',
  lockstep: 'warpSize',
  swapTo2Stage4Step: 'uploadSwitch',
  swapTo3Stage4Step: 'uploadSwitch',
  num_streams: 'streams',
  useLUT: 'twiddles',
  useLUT_4step: 'twiddles',
};

/** A plain record of unknown values. */
export type RawRecord = Readonly<Record<string, unknown>>;

/** Whether a value can be read field by field: an object, but no list, array, map, promise or date. */
export function isRecord(value: unknown): value is RawRecord {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** Edits (insert, delete, replace) between two words, upper and lower case taken as equal. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1]! + (a[i - 1]!.toLowerCase() === b[j - 1]!.toLowerCase() ? 0 : 1);
      next.push(Math.min(replace, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The known word nearest to what was written. */
export function closest(written: string, known: readonly string[]): string {
  const foreign = Object.hasOwn(foreignNames, written) ? foreignNames[written]! : '';
  if (known.includes(foreign)) return foreign;
  const distances = known.map((word) => editDistance(written.slice(0, 40), word));
  return known[distances.indexOf(Math.min(...distances))]!;
}

/** Collects problems while it reads. */
export class FieldReader {
  readonly problems: FftProblem[] = [];

  report(code: FftErrorCode, path: string, message: string): void {
    this.problems.push({ code, path, message });
  }

  /** Reports every field that is set and not in `known`. */
  onlyKnown(record: RawRecord, known: readonly string[], prefix = ''): void {
    for (const name of Object.keys(record)) {
      if (known.includes(name) || record[name] === undefined) continue;
      const path = `${prefix}${name}`;
      this.report('unknown-field', path, `${path} is no known field; did you mean ${prefix}${closest(name, known)}?`);
    }
  }

  oneOf<T extends string>(value: unknown, path: string, words: readonly T[], fallback: T): T {
    if (value === undefined) return fallback;
    const known = words.find((word) => word === value);
    if (known !== undefined) return known;
    const hint = typeof value === 'string' ? ` Did you mean '${closest(value, words)}'?` : '';
    const list = words.map((word) => `'${word}'`).join(', ');
    this.report('invalid-field', path, `${path} is ${show(value)}, but must be one of ${list}.${hint}`);
    return fallback;
  }

  flag(value: unknown, path: string, fallback: boolean): boolean {
    if (value === undefined) return fallback;
    if (typeof value === 'boolean') return value;
    this.report('invalid-field', path, `${path} is ${show(value)}, but must be true or false.`);
    return fallback;
  }

  finite(value: unknown, path: string, fallback: number): number {
    if (value === undefined) return fallback;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.report('invalid-field', path, `${path} is ${show(value)}, but must be a finite number.`);
    return fallback;
  }

  /** An integer from `minimum` to 2^53 − 1, where `what` names it in the message. */
  integer(value: unknown, path: string, code: FftErrorCode, what: string, minimum: 0 | 1): number {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value === 0 ? 0 : value;
    const accepted = minimum === 0 ? 'an integer from 0 to 2^53 - 1' : 'a positive integer below 2^53';
    this.report(code, path, `${path} is ${show(value)}, but ${what} must be ${accepted}.`);
    return minimum;
  }

  /** A record of the named fields; an empty one when it is left out or is something else. */
  record(value: unknown, path: string, names: readonly string[]): RawRecord {
    if (value === undefined) return {};
    if (isRecord(value)) {
      this.onlyKnown(value, names, `${path}.`);
      return value;
    }
    this.report('invalid-field', path, `${path} is ${show(value)}, but must be an object with ${names.join(' and ')}.`);
    return {};
  }
}
