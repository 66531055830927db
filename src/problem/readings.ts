/** How single values of a knob are read. */
import { show } from './errors.ts';
import type { FieldReader } from './fields.ts';

/** What a knob is set to; undefined where that changes nothing, or was reported. */
export type KnobReading<T> = (reader: FieldReader, value: unknown, path: string, axes: number) => T | undefined;

export function within(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

export function span(least: number, most: number): string {
  return most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
}

export function count(least: number, most = Number.MAX_SAFE_INTEGER): KnobReading<number> {
  return (reader, value, path) => {
    if (within(value, least, most)) return value;
    reader.report('invalid-field', path, `${path} is ${show(value)}, but must be a whole number ${span(least, most)}.`);
    return undefined;
  };
}

export function power(least: number, most: number): KnobReading<number> {
  return (reader, value, path) => {
    if (within(value, least, most) && Number.isInteger(Math.log2(value))) return value;
    reader.report('invalid-field', path, `${path} is ${show(value)}, but must be a power of two ${span(least, most)}.`);
    return undefined;
  };
}
