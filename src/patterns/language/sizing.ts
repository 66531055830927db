/** The numbers of size names when a program runs, and the check that all of its lengths are whole numbers then. */
import { FftError, show } from '../../problem/errors.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';
import { lengthProblem } from './patterns.ts';
import type { Program } from './program.ts';
import { Size } from './sizes.ts';
import { lengthsOfType, type Type } from './types.ts';
import { reachableValues, type TransformOp, type Value } from './values.ts';

export type Sizes = ReadonlyMap<string, number>;

/**
 * The most elements of an array in memory, and of each dimension of an array that is not stored: indices are signed 32-bit numbers. An array of
 * windows, for example, is read element by element and never stored, so that its total may be larger.
 */
export const MOST_STORED = 2 ** 31 - 1;

/** A length as a number; `resolvedSizes` has checked that it is a whole one. */
export function lengthValue(length: Size, sizes: Sizes): number {
  return length.at(sizes)!;
}

/** Lengths of an array as numbers, outermost first. */
export function numbersOf(type: Type, sizes: Sizes): number[] {
  return lengthsOfType(type).map((length) => lengthValue(length, sizes));
}

/** The number of reals in a value of a type. */
export function realsOfType(type: Type, sizes: Sizes): number {
  if (type.kind === 'array') return lengthValue(type.length, sizes) * realsOfType(type.of, sizes);
  return type.kind === 'complex' ? 2 : 1;
}

/**
 * The numbers of all size names in a program.
 * @param given numbers by name, as the caller passed them
 * @param counts reals in each input, from which sizes that were not given can be inferred
 * @throws FftError `invalid-size`, `unknown-field`, `invalid-argument`
 */
export function resolvedSizes(program: Program, given: unknown, counts?: ReadonlyMap<string, number>): Sizes {
  const values = [...program.parameters, ...reachableValues(program.body)];
  const names = new Set(values.flatMap(sizeNamesIn));
  const sizes = readSizes(given, names);
  if (counts) inferSizes(program, counts, sizes);
  const missing = [...names].filter((name) => !sizes.has(name));
  if (missing.length > 0) {
    const example = `{ ${missing.map((name) => `${name}: 1024`).join(', ')} }`;
    throw invalidSize(`size ${missing.join(', ')}`, `it has to be known here; give sizes ${example}.`);
  }
  for (const value of values) {
    // The interpreter passes the inputs' lengths and holds all arrays in memory.
    checkLengths(value, sizes, counts !== undefined || value.op === 'input' || value === program.body);
  }
  return sizes;
}

function sizeNamesIn({ type, details: { lengths = [] } }: Value): string[] {
  const inType = (of: Type): Size[] =>
    of.kind === 'tuple' ? of.of.flatMap(inType) : of.kind === 'array' ? [of.length, ...inType(of.of)] : [];
  return [...inType(type), ...lengths].flatMap((length) => length.names());
}

function readSizes(given: unknown, names: ReadonlySet<string>): Map<string, number> {
  const sizes = new Map<string, number>();
  if (given === undefined) return sizes;
  const read = snapshot(given, 'sizes', { code: 'invalid-argument', depth: 1 });
  if (!isRecord(read)) throw new FftError('invalid-argument', `sizes is ${show(given)}; it takes { n: 1024 }.`);
  for (const [name, value] of Object.entries(read)) {
    if (!names.has(name)) {
      const known = names.size > 0 ? `it has ${[...names].join(', ')}` : 'it has none';
      throw new FftError('unknown-field', `The program has no size ${show(name)}; ${known}.`, {
        path: `sizes.${name}`,
      });
    }
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
      throw invalidSize(`size ${name}`, `it takes a positive whole number; it was given ${show(value)}.`);
    }
    sizes.set(name, value);
  }
  return sizes;
}

/** Infers an unknown size from an input whose length is a multiple of it. */
function inferSizes({ parameters }: Program, counts: ReadonlyMap<string, number>, sizes: Map<string, number>): void {
  for (let before = -1; before !== sizes.size; ) {
    before = sizes.size;
    for (const { type, details } of parameters) {
      const whole = lengthsOfType(type).reduce(
        (product, length) => product.times(length),
        Size.of(type.text.includes('complex') ? 2 : 1),
      );
      const unknown = whole.names().filter((name) => !sizes.has(name));
      const count = counts.get(details.name!);
      const multiple = unknown.length === 1 && count !== undefined ? solvedFor(whole, unknown[0]!) : undefined;
      const value = multiple && count! / lengthValue(multiple, sizes);
      if (value && Number.isSafeInteger(value)) sizes.set(unknown[0]!, value);
    }
  }
}

/** The factor of a name in a size that is a number times that name; undefined for any other size. */
function solvedFor(whole: Size, name: string): Size | undefined {
  const factor = whole.over(Size.named(name));
  return factor.names().includes(name) ? undefined : factor;
}

function checkLengths({ op, type, of, details: { lengths = [] } }: Value, sizes: Sizes, isStored: boolean): void {
  let elements = 1;
  for (const length of lengthsOfType(type)) {
    const value = lengthValue(length, sizes);
    elements *= value;
    if (isStored && elements > MOST_STORED)
      throw invalidSize(patternName(op), `${type.text} has ${elements} elements; ${RANGE}.`);
    if (Number.isSafeInteger(value) && value >= 1 && value <= MOST_STORED) continue;
    const source = of.at(-1)?.type;
    const what = source?.kind === 'array' ? `${source.text}, of length ${source.length.at(sizes)}` : type.text;
    if (op === 'split') throw invalidSize(op, `${lengths[0]} does not divide the length of ${what}.`);
    if (op === 'slide') {
      const windows = `windows of ${lengths[0]} in steps of ${lengths[1]}`;
      throw invalidSize(
        op,
        `the last window has to end where the array does; ${windows} do not fit ${what}; pad fills it up.`,
      );
    }
    throw invalidSize(patternName(op), `${type.text} has a length of ${value}; ${RANGE}.`);
  }
  for (const length of lengths) {
    const value = lengthValue(length, sizes);
    if (Number.isSafeInteger(value) && value >= (op === 'pad' ? 0 : 1)) continue;
    throw invalidSize(op, `it was given ${length}, which is ${value}; ${RANGE}.`);
  }
  const source = of.at(-1)?.type;
  const problem =
    source?.kind === 'array' && lengthProblem(op as TransformOp, Size.of(lengthValue(source.length, sizes)));
  if (problem) throw invalidSize(op, `${problem}; it was given ${lengthValue(source.length, sizes)}.`);
}

/** The name of a value's pattern in error messages. */
const patternName = (op: string) => (op === 'input' ? 'program' : op);

const RANGE = 'lengths are positive whole numbers, and an array has fewer than 2³¹ elements';

function invalidSize(what: string, text: string): FftError {
  return new FftError('invalid-size', `${what}: ${text}`, { path: what });
}
