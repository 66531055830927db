/**
 * The field `tuning`: every knob is read and judged by itself, and left out of the normal form where it repeats the default. The engine decides
 * whether a device can follow it.
 */

import { show } from '../errors.ts';
import {
  type FieldReader,
  isWholeNumberIn,
  type KnobReading,
  powerOfTwoKnob,
  rangeText,
  wholeNumberKnob,
} from '../input/fields.ts';
import { isRecord, type RawRecord } from '../input/snapshot.ts';
import type { Tuning } from '../problem.ts';
import { readBluestein, readRader } from './scheme-knobs.ts';

/** Every knob, in the order of the normal form. It is a function so that bundlers can drop it from pages that make no plans. */
function knobs(): { readonly [K in keyof Tuning]-?: KnobReading<Tuning[K]> } {
  return {
    coalescedBytes: powerOfTwoKnob(16, 4096),
    sharedBytes: wholeNumberKnob(4096),
    banks: powerOfTwoKnob(1, 1024),
    warpSize: powerOfTwoKnob(1, 1024),
    threads: wholeNumberKnob(1, 65536),
    maxThreads: wholeNumberKnob(32, 65536),
    halfThreads: flag,
    clusterBlocks: wholeNumberKnob(1, 1024),
    groupedBatch: readGroups,
    uploadSwitch: readUploadSwitch,
    performBandwidthBoost: readBoost,
    considerAllAxesStrided: flag,
    twiddles: unless('table', readTwiddles),
    twiddles4Step: readTwiddles,
    streams: unless(1, wholeNumberKnob(1, 128)),
    registerBoost: wholeNumberKnob(1, 64),
    registerBoostNonPow2: either,
    registerBoost4Step: wholeNumberKnob(1, 64),
    maxGroups: wholeNumberKnob(1),
    bluestein: readBluestein,
    rader: readRader,
    mergeSequences: flag,
  };
}

/** The knobs as fields of a problem. */
export function knobPaths(): readonly string[] {
  return Object.keys(knobs()).map((name) => `tuning.${name}`);
}

/** The normal form of the field. @param axes the number of axes, where that is known */
export function readTuning(reader: FieldReader, value: unknown, axes = 1): Tuning {
  // The record inherits nothing, so every knob may be missing.
  const tuning: Record<string, unknown> = Object.create(null);
  if (value !== undefined && !isRecord(value)) {
    reader.report('invalid-field', 'tuning', `tuning is ${show(value)}, but must be an object of named settings.`);
  } else if (value !== undefined) {
    const known = knobs();
    reader.onlyKnown(value, Object.keys(known), 'tuning.');
    for (const [name, read] of Object.entries(known) as [string, KnobReading<unknown>][]) {
      if (value[name] === undefined) continue;
      const set = read(reader, value[name], `tuning.${name}`, axes);
      if (set !== undefined) tuning[name] = set;
    }
  }
  return Object.freeze(tuning);
}

/** A flag without a default: both settings change something. */
function either(reader: FieldReader, value: unknown, path: string): boolean {
  return reader.flag(value, path, false);
}

function flag(reader: FieldReader, value: unknown, path: string): true | undefined {
  return reader.flag(value, path, false) || undefined;
}

/** A knob with a setting that changes nothing. */
function unless<T>(setting: T, read: KnobReading<T>): KnobReading<T> {
  return (reader, value, path, axes) => {
    const set = read(reader, value, path, axes);
    return set === setting ? undefined : set;
  };
}

function readTwiddles(reader: FieldReader, value: unknown, path: string): 'table' | 'computed' {
  return reader.oneOf(value, path, ['table', 'computed'] as const, 'table');
}

function readGroups(reader: FieldReader, value: unknown, path: string, axes: number): readonly number[] | undefined {
  const most = 2 ** 31;
  const list = Array.isArray(value) ? value : new Array<unknown>(axes).fill(value);
  if (list.length !== axes || !list.every((group) => isWholeNumberIn(group, 0, most))) {
    const accepted = `a whole number ${rangeText(0, most)}, or a list with one for each of the ${axes} axes`;
    reader.report(
      'invalid-field',
      path,
      `${path} is ${show(value)}, but must be ${accepted}; 0 is the planner's choice.`,
    );
    return undefined;
  }
  return list.some((group) => group > 0) ? Object.freeze([...(list as number[])]) : undefined;
}

function readUploadSwitch(reader: FieldReader, value: unknown, path: string): Tuning['uploadSwitch'] {
  const record: RawRecord = reader.record(value, path, ['two', 'three']);
  const read = (name: 'two' | 'three') =>
    record[name] === undefined ? undefined : wholeNumberKnob(2)(reader, record[name], `${path}.${name}`, 1);
  const two = read('two');
  const three = read('three');
  if (two !== undefined && three !== undefined && three < two) {
    const given = `${path}.three is ${three} and ${path}.two is ${two}`;
    reader.report('invalid-field', `${path}.three`, `${given}, but three uploads cannot begin before two.`);
  }
  if (two === undefined && three === undefined) return undefined;
  const set: { two?: number; three?: number } = Object.create(null);
  if (two !== undefined) set.two = two;
  if (three !== undefined) set.three = three;
  return Object.freeze(set);
}

function readBoost(reader: FieldReader, value: unknown, path: string): number | undefined {
  if (value === -1 || isWholeNumberIn(value, 1, 64)) return value;
  const accepted = 'a whole number from 1 to 64, or -1 for as much as there is';
  reader.report('invalid-field', path, `${path} is ${show(value)}, but must be ${accepted}.`);
  return undefined;
}
