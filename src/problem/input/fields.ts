/**
 * Reads the fields of a problem as a user wrote them: each reader returns a usable value in every case and notes what
 * was wrong, so that one pass over the fields finds every mistake.
 */
import { excerpt, type FftErrorCode, type FftProblem, show } from '../errors.ts';
import { closest, didYouMean } from './meant.ts';
import { emptyRecord, isRecord, type RawRecord } from './snapshot.ts';

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
  'strategy',
  'zeroPadding',
  'callbacks',
  'bands',
  'convolution',
  'tuning',
  'debug',
] as const;

/** Names that other libraries use for fields, with our names. */
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
  FFTdim: 'size',
  performR2C: 'transform',
  performDCT: 'transform',
  performDST: 'transform',
  inPlace: 'placement',
  inplace: 'placement',
  in_place: 'placement',
  makeForwardPlanOnly: 'directions',
  makeInversePlanOnly: 'directions',
  backward: 'inverse',
  dtype: 'precision',
  doublePrecision: 'precision',
  halfPrecision: 'precision',
  performZeropadding: 'zeroPadding',
  performConvolution: 'convolution',
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
  useLUT_4step: 'twiddles4Step',
};

/** The known word that corresponds to another library's word. */
function translated(written: string, known: readonly string[]): string | undefined {
  const ours = Object.hasOwn(foreignNames, written) ? foreignNames[written]! : written;
  return known.find((path) => path === ours || path === `tuning.${ours}`);
}

/** Names outside the record that messages may suggest for an unknown field. */
interface OtherNames {
  /** Fields that exist but are refused elsewhere. They are not suggested for a typo. */
  readonly planned?: readonly string[];
  /** Fields of a record inside this one, as paths. */
  readonly inside?: readonly string[];
}

/** A record without fields, even inherited ones. */
const NOTHING = emptyRecord();
Object.freeze(NOTHING);

/** Unknown fields of one object that are reported one by one. */
const UNKNOWN_REPORTED = 16;

/** The reader of fields: it takes them from a snapshot of the user's object, and collects problems. */
/** Remarks on names whose meaning is the opposite of one of ours. */
const REMARKS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  disableMergeSequencesR2C: 'sequences are never merged unless tuning.mergeSequences is true: leave it out.',
});

export class FieldReader {
  readonly problems: FftProblem[] = [];

  report(code: FftErrorCode, path: string, message: string): void {
    this.problems.push({ code, path, message });
  }

  /** Reports every field that is set and not in `known`. */
  onlyKnown(record: RawRecord, known: readonly string[], prefix = '', names: OtherNames = {}): void {
    const { planned = [], inside = [] } = names;
    const isUnknown = (name: string) => !known.includes(name) && !planned.includes(name) && record[name] !== undefined;
    const unknown = Object.keys(record).filter(isUnknown);
    for (const name of unknown.slice(0, UNKNOWN_REPORTED)) {
      const path = `${prefix}${excerpt(name)}`;
      const usable = [...known, ...inside];
      const meant = translated(name, [...usable, ...planned]) ?? closest(name, usable);
      const hint =
        REMARKS[name] ?? (meant === undefined ? `known are ${known.join(', ')}.` : `did you mean ${prefix}${meant}?`);
      this.report('unknown-field', path, `${path} is no known field; ${hint}`);
    }
    const others = unknown.length - UNKNOWN_REPORTED;
    if (others > 0) this.report('unknown-field', prefix, `${others} more fields are not known either.`);
  }

  oneOf<T extends string>(value: unknown, path: string, words: readonly T[], fallback: T): T {
    if (value === undefined) return fallback;
    const known = words.find((word) => word === value);
    if (known !== undefined) return known;
    const list = words.map((word) => `'${word}'`).join(', ');
    this.report(
      'invalid-field',
      path,
      `${path} is ${show(value)}, but must be one of ${list}.${didYouMean(value, words)}`,
    );
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

  /** A stride: an integer of either sign, below 2^53. */
  stride(value: unknown, path: string): number {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const message = `${path} is ${show(value)}, but a stride must be an integer between -2^53 and 2^53.`;
    this.report('invalid-strides', path, message);
    return 1;
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
    if (value === undefined) return NOTHING;
    if (isRecord(value)) {
      this.onlyKnown(value, names, `${path}.`);
      return value;
    }
    this.report('invalid-field', path, `${path} is ${show(value)}, but must be an object with ${names.join(' and ')}.`);
    return NOTHING;
  }
}

/** Reads the value of a knob; undefined if it changes nothing or was reported as a problem. */
export type KnobReading<T> = (reader: FieldReader, value: unknown, path: string, axes: number) => T | undefined;

export function isWholeNumberIn(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

export function rangeText(least: number, most: number): string {
  return most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
}

export function wholeNumberKnob(least: number, most = Number.MAX_SAFE_INTEGER): KnobReading<number> {
  return (reader, value, path) => {
    if (isWholeNumberIn(value, least, most)) return value;
    reader.report(
      'invalid-field',
      path,
      `${path} is ${show(value)}, but must be a whole number ${rangeText(least, most)}.`,
    );
    return undefined;
  };
}

export function powerOfTwoKnob(least: number, most: number): KnobReading<number> {
  return (reader, value, path) => {
    if (isWholeNumberIn(value, least, most) && Number.isInteger(Math.log2(value))) return value;
    reader.report(
      'invalid-field',
      path,
      `${path} is ${show(value)}, but must be a power of two ${rangeText(least, most)}.`,
    );
    return undefined;
  };
}
