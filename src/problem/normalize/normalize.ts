/**
 * The way from a user's problem to its normal form. One pass finds everything that is wrong, and throws it as one error.
 */

import type { PlannedProblem } from '../arrays.ts';
import { type Direction, directionChoices } from '../directions.ts';
import { FftError, type FftErrorCode, type FftProblem, show, throwIfAny } from '../errors.ts';
import { FieldReader, knownFields } from '../input/fields.ts';
import { isRecord, type RawRecord, snapshot } from '../input/snapshot.ts';
import {
  coordinatesOf,
  defaultStrides,
  elementKind,
  isRealTransform,
  keepsReals,
  packedExtents,
} from '../layout/layout.ts';
import {
  type AnyProblemInput,
  type Block,
  complexLayouts,
  type Precision,
  type Problem,
  placements,
  precisions,
  type Side,
  type Sides,
  sides,
  storages,
  strategies,
  type TransformKind,
  transformKinds,
} from '../problem.ts';
import { readCallbacks } from '../recording/read-callbacks.ts';
import { knobPaths, readTuning } from '../tuning/tuning.ts';
import { parseDescriptor } from './descriptor.ts';
import { readBands } from './read-bands.ts';
import { readConvolution } from './read-convolution.ts';
import { checkExtent, checkGeometry, checkRelease } from './validate.ts';

/** The fields that strides and offsets depend on: unless they are valid, strides and offsets are not judged. */
const geometryFields = [
  'size',
  'transform',
  'batches',
  'leftBatches',
  'coordinates',
  'placement',
  'preserveInput',
  'directions',
  'callbacks',
  'bands',
  'strides',
  'offsets',
] as const;

/** Callbacks are called only if these fields are valid, because they determine the arguments. */
const calledFields = [
  'size',
  'transform',
  'batches',
  'leftBatches',
  'coordinates',
  'directions',
  'bands',
  'precision',
] as const;

/** Fields that `checkExtent` does not read. */
const UNPLACED = { callbacks: null, strides: { input: [], output: [] }, offsets: { input: 0, output: 0 } } as const;

/** Used if neither side was given. It has no prototype, so that nothing is inherited. */
const NO_SIDES: Partial<Sides<readonly number[]>> = Object.freeze(Object.create(null));

/** Levels of nesting in a problem with built callbacks: problem, callbacks, direction, callback, nodes, node, list in a node. */
const LEVELS = 7;

/** All normal forms made so far, so that normalising one again costs nothing. */
const normalForms = new WeakSet<object>();

/**
 * The normal form of a problem: every field present, valid, frozen.
 * @param input a problem object (a normal form is returned as it is) or a bbfft descriptor such as `scfo1024*16`
 * @throws FftError with everything that is wrong in `problems`; `code` is that of the first. Codes: `invalid-size`,
 *   `invalid-batches`, `invalid-strides`, `overlapping-strides`, `invalid-offset`, `invalid-field`, `unknown-field`,
 *   `invalid-descriptor`, `unsupported-length`, `unsupported-feature`
 */
export function normalizeProblem(input: AnyProblemInput | string): PlannedProblem {
  if (normalForms.has(input as object)) return input as PlannedProblem;
  const { problem, problems } = resolve(input);
  throwIfAny([...problems, ...checkRelease(problem)]);
  normalForms.add(problem);
  return problem as PlannedProblem;
}

/** Reads a normal form that was written as JSON. It was valid then, so nothing is checked again. */
export function normalFormOf(written: unknown): PlannedProblem {
  const problem = written as PlannedProblem;
  inheritNothing(problem.tuning);
  freeze(problem);
  normalForms.add(problem);
  return problem;
}

/** Removes the prototype of the knobs, so that a knob that was not set is not found in it. */
function inheritNothing(tuning: object): void {
  if (!Array.isArray(tuning)) Object.setPrototypeOf(tuning, null);
  for (const value of Object.values(tuning)) if (typeof value === 'object' && value !== null) inheritNothing(value);
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(freeze);
  Object.freeze(value);
}

/**
 * The normal form of a problem, whether or not this release can compute it, for functions that only describe problems.
 * @param refusal the reason why callbacks are not accepted; they are not called then
 * @throws FftError as `normalizeProblem`, but without `unsupported-length` and without `unsupported-feature` for values
 */
export function resolveProblem(input: AnyProblemInput | string, refusal?: string): Problem {
  const { problem, problems } = resolve(input, refusal);
  throwIfAny(problems);
  return problem;
}

/** Reads all fields. The problem is complete in any case, but meaningful only if no problems were found. */
function resolve(input: AnyProblemInput | string, refusal?: string): { problem: Problem; problems: FftProblem[] } {
  const given = typeof input === 'string' ? parseDescriptor(input) : input;
  const raw = snapshot(given, 'The problem', {
    ...{ code: 'invalid-field', depth: LEVELS },
    ...{ functions: true, floats: 'bands' },
  });
  if (!isRecord(raw)) {
    const accepted = "an object such as { size: [1024] } or a descriptor such as 'scfo1024'";
    throw new FftError('invalid-field', `The problem is ${show(raw)}, but must be ${accepted}.`);
  }
  const reader = new FieldReader();
  reader.onlyKnown(raw, knownFields, '', { inside: knobPaths() });

  const size = readSize(reader, raw.size);
  // Fields with one entry per axis can only be judged if there is a list of lengths.
  const axes = Array.isArray(raw.size) && raw.size.length > 0 ? size.length : undefined;
  const requested = raw.convolution as AnyProblemInput['convolution'];
  const convolution = requested === undefined || requested === null ? null : readConvolution(reader, requested);
  // The size of matrices, or of channels, is also the number of coordinates.
  const coordinates =
    raw.coordinates === undefined ? (convolution?.channels?.in ?? convolution?.matrix) : raw.coordinates;
  const extents = {
    batches: readCount(reader, raw.batches, 'batches'),
    leftBatches: readCount(reader, raw.leftBatches, 'leftBatches'),
    coordinates: readCount(reader, coordinates, 'coordinates'),
  };
  const placement = reader.oneOf(raw.placement, 'placement', placements, 'out-of-place');
  const transform = readTransform(reader, raw.transform, axes);
  const facts = {
    size,
    transform,
    omit: readOmit(reader, raw.omit, axes),
    ...readPrecision(reader, raw),
    layout: readLayout(reader, raw.layout),
    ...extents,
    placement,
    preserveInput: reader.flag(raw.preserveInput, 'preserveInput', true) && placement === 'out-of-place',
    normalize: reader.flag(raw.normalize, 'normalize', false),
    scale: readScale(reader, raw.scale),
    directions: reader.oneOf(raw.directions, 'directions', directionChoices, 'both'),
    unordered: reader.flag(raw.unordered, 'unordered', false),
    strategy: reader.oneOf(raw.strategy, 'strategy', strategies, 'fast'),
    zeroPadding: readZeroPadding(reader, raw.zeroPadding, size, axes),
    // Without a list of lengths, the number of bins is not known.
    bands: raw.bands != null && axes !== undefined ? readBands(reader, raw.bands, { size, transform }) : null,
    convolution,
    tuning: readTuning(reader, raw.tuning, axes),
    debug: reader.flag(raw.debug, 'debug', false),
  };
  const isWrong = (field: string) => reader.problems.some(({ path }) => path.split(/[.[]/)[0] === field);
  const known = !calledFields.some(isWrong) && checkExtent({ ...facts, ...UNPLACED }).length === 0;
  const fields = { ...facts, callbacks: readCallbacks(reader, raw.callbacks, known ? facts : undefined, refusal) };
  const places = {
    strides: axes === undefined ? NO_SIDES : readSideStrides(reader, raw.strides, fields),
    offsets: readOffsets(reader, raw.offsets),
  };
  // Spread last: V8 makes a hidden class of its own for every object that adds fields to a spread, and keeps it a while.
  const problem: Problem = Object.freeze({
    strides: fillStrides(reader, places.strides, fields),
    offsets: fillOffsets(reader, places.offsets, fields),
    ...fields,
  });

  reader.problems.push(...checkExtent(problem));
  if (!geometryFields.some(isWrong)) reader.problems.push(...checkGeometry(problem));
  return { problem, problems: reader.problems };
}

function readSize(reader: FieldReader, value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) {
    const given = value === undefined ? 'missing' : show(value);
    reader.report('invalid-size', 'size', `size is ${given}, but must list at least one length, such as [1024].`);
    return Object.freeze([1]);
  }
  return Object.freeze(
    Array.from(value, (length, axis) => reader.integer(length, `size[${axis}]`, 'invalid-size', 'a length', 1)),
  );
}

function readCount(reader: FieldReader, value: unknown, path: string): number {
  return value === undefined ? 1 : reader.integer(value, path, 'invalid-batches', 'a number of transforms', 1);
}

function readTransform(reader: FieldReader, value: unknown, axes: number | undefined): readonly TransformKind[] {
  if (!Array.isArray(value)) {
    const kind = reader.oneOf(value, 'transform', transformKinds, 'c2c');
    // The other axes of a real transform already have complex data.
    return Object.freeze(Array.from({ length: axes ?? 1 }, (_, axis) => (kind === 'r2c' && axis > 0 ? 'c2c' : kind)));
  }
  if (!matchesAxes(reader, value, 'transform', axes))
    return Object.freeze(new Array<TransformKind>(axes ?? 1).fill('c2c'));
  const kinds = Array.from(value, (word, axis) => reader.oneOf(word, `transform[${axis}]`, transformKinds, 'c2c'));
  const complexAfterFirst = kinds.slice(1).every((kind) => kind === 'c2c');
  if (!kinds.every(isRealTransform) && !(complexAfterFirst && !isRealTransform(kinds[0]))) {
    const accepted =
      "a list must hold one of 'dct1' … 'dst4', 'dht' for every axis, only 'c2c', or 'r2c' followed by 'c2c'";
    reader.report('invalid-field', 'transform', `transform is ${show(value)}, but ${accepted}.`);
  }
  return Object.freeze(kinds);
}

function readOmit(reader: FieldReader, value: unknown, axes: number | undefined): readonly boolean[] {
  const none = Object.freeze(new Array<boolean>(axes ?? 1).fill(false));
  if (value === undefined || !matchesAxes(reader, value, 'omit', axes)) return none;
  return Object.freeze(Array.from(value, (flag, axis) => reader.flag(flag, `omit[${axis}]`, false)));
}

function matchesAxes(reader: FieldReader, value: unknown, path: string, axes: number | undefined): value is unknown[] {
  if (axes === undefined) return false;
  if (Array.isArray(value) && value.length === axes) return true;
  const accepted = `must be a list with one entry for each of the ${axes} axes of size`;
  reader.report('invalid-field', path, `${path} is ${show(value)}, but ${accepted}.`);
  return false;
}

function readZeroPadding(
  reader: FieldReader,
  value: unknown,
  size: readonly number[],
  axes: number | undefined,
): Problem['zeroPadding'] {
  const record = reader.record(value, 'zeroPadding', ['space', 'frequency']);
  const blocks = (domain: 'space' | 'frequency'): readonly (Block | null)[] => {
    const path = `zeroPadding.${domain}`;
    const given = record[domain];
    const none = Object.freeze(new Array<null>(axes ?? 1).fill(null));
    if (given === undefined || !matchesAxes(reader, given, path, axes)) return none;
    return Object.freeze(Array.from(given, (block, axis) => readBlock(reader, block, `${path}[${axis}]`, size[axis]!)));
  };
  return Object.freeze({ space: blocks('space'), frequency: blocks('frequency') });
}

function readBlock(reader: FieldReader, value: unknown, path: string, length: number): Block | null {
  if (value === null || value === undefined) return null;
  const record = reader.record(value, path, ['from', 'to']);
  const end = (name: 'from' | 'to') =>
    reader.integer(record[name], `${path}.${name}`, 'invalid-field', 'an element', 0);
  const [from, to] = [end('from'), end('to')];
  // An empty block is none.
  if (from === to && to <= length) return null;
  if (from < to && to <= length && to - from < length) return Object.freeze({ from, to });
  const accepted = `a block begins before it ends, ends within the axis of ${length}, and leaves some of it`;
  reader.report('invalid-field', path, `${path} is from ${from} to ${to}; ${accepted}.`);
  return null;
}

function readPrecision(reader: FieldReader, raw: RawRecord): Pick<Problem, 'precision' | 'storage' | 'edgeStorage'> {
  const word = reader.oneOf(raw.precision, 'precision', storages, 'single');
  const precision: Precision = precisions.find((known) => known === word) ?? 'single';
  const storage = reader.oneOf(raw.storage, 'storage', storages, word);
  return { precision, storage, edgeStorage: reader.oneOf(raw.edgeStorage, 'edgeStorage', storages, storage) };
}

/** A frozen pair from a function of the side. */
function bothSides<T>(make: (side: Side) => T): Sides<T> {
  return Object.freeze({ input: make('input'), output: make('output') });
}

function readLayout(reader: FieldReader, value: unknown): Problem['layout'] {
  if (!isRecord(value)) {
    const layout = reader.oneOf(value, 'layout', complexLayouts, 'interleaved');
    return bothSides(() => layout);
  }
  const record = reader.record(value, 'layout', sides);
  return bothSides((side) => reader.oneOf(record[side], `layout.${side}`, complexLayouts, 'interleaved'));
}

function readScale(reader: FieldReader, value: unknown): Problem['scale'] {
  const names: readonly Direction[] = ['forward', 'inverse'];
  const record = reader.record(value, 'scale', names);
  return Object.freeze({
    forward: reader.finite(record.forward, 'scale.forward', 1),
    inverse: reader.finite(record.inverse, 'scale.inverse', 1),
  });
}

type WithoutStrides = Omit<Problem, 'strides' | 'offsets'>;

/** The strides that were given, with D + 3 entries each; nothing for a side that was not given or is wrong. */
function readSideStrides(
  reader: FieldReader,
  value: unknown,
  problem: WithoutStrides,
): Partial<Sides<readonly number[]>> {
  const record = reader.record(value, 'strides', sides);
  const given: { -readonly [S in Side]?: readonly number[] } = Object.create(null);
  for (const side of sides) {
    const list = record[side];
    if (list === undefined) continue;
    const path = `strides.${side}`;
    const dimensions = problem.size.length + 2;
    const coordinates = coordinatesOf(problem, side);
    const accepted = coordinates > 1 ? [dimensions + 1] : [dimensions, dimensions + 1];
    if (!Array.isArray(list) || !accepted.includes(list.length)) {
      const order = coordinates > 1 ? '[left, axes …, coordinate, batch]' : '[left, axes …, batch]';
      const message = `${path} is ${show(list)}, but must list ${accepted[0]} strides ${order}.`;
      reader.report('invalid-strides', path, message);
      continue;
    }
    const strides = Array.from(list, (stride, i) => reader.stride(stride, `${path}[${i}]`));
    if (coordinates === 1) {
      // One coordinate has no neighbours: its stride means nothing, and equal problems must look the same.
      const lastAxis = problem.size.length;
      const unused = strides[lastAxis]! * packedExtents(problem, side)[lastAxis]!;
      strides.splice(lastAxis + 1, strides.length - dimensions, unused);
    }
    given[side] = Object.freeze(strides);
  }
  return given;
}

/** Defaults for the sides that were not given; in place, one side follows the other. */
function fillStrides(
  reader: FieldReader,
  given: Partial<Sides<readonly number[]>>,
  problem: WithoutStrides,
): Problem['strides'] {
  const one = given.input ?? given.output;
  if (problem.placement === 'in-place' && one !== undefined) {
    const sameElements =
      elementKind(problem, 'input') === elementKind(problem, 'output') || problem.transform[0] !== 'r2c';
    if (sameElements) {
      const other = given.input ? 'input' : 'output';
      // A real that stands for a complex number takes half its length.
      const times = (side: Side) => (keepsReals(problem, side) ? 2 : 1) / (keepsReals(problem, other) ? 2 : 1);
      return bothSides((side) => given[side] ?? Object.freeze(one.map((stride) => Math.floor(stride * times(side)))));
    }
    if (given.input === undefined || given.output === undefined) {
      const message = 'Custom strides of a real transform in place need both strides.input (reals) and strides.output.';
      reader.report('invalid-strides', 'strides', message);
    }
  }
  return bothSides((side) => given[side] ?? Object.freeze(defaultStrides(problem, side)));
}

function readOffsets(reader: FieldReader, value: unknown): Partial<Sides<number>> {
  const record = reader.record(value, 'offsets', sides);
  const given: { -readonly [S in Side]?: number } = Object.create(null);
  const code: FftErrorCode = 'invalid-offset';
  for (const side of sides) {
    if (record[side] !== undefined) given[side] = reader.integer(record[side], `offsets.${side}`, code, 'an offset', 0);
  }
  return given;
}

/** The offsets of both sides. In place, one side follows the other to the same byte: two reals are as long as a complex number. */
function fillOffsets(reader: FieldReader, given: Partial<Sides<number>>, problem: WithoutStrides): Problem['offsets'] {
  if (problem.placement !== 'in-place') return bothSides((side) => given[side] ?? 0);
  const reals = (side: Side) => (elementKind(problem, side) === 'real' ? 1 : 2);
  return bothSides((side) => {
    const other = side === 'input' ? 'output' : 'input';
    const offset = (reals(other) * (given[other] ?? 0)) / reals(side);
    if (given[side] === undefined && !Number.isInteger(offset)) {
      const message = `offsets.${other} ${given[other]} lies within a complex number; give offsets.${side} as well.`;
      reader.report('invalid-offset', `offsets.${other}`, message);
    }
    return given[side] ?? Math.floor(offset);
  });
}
