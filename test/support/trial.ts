/** Transforms with reals on one side or both, on trial: any problem, either direction, every gap looked at. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import {
  elementKind,
  logicalLength,
  memoryPlace,
  normalizeProblem,
  tensorShape,
  transformedKind,
} from '../../src/problem/index.ts';
import { relativeError, type Tried, tolerance, unitRoundoff } from './accuracy.ts';
import { type Called, type Numeric, withCalled } from './called.ts';
import { fromHalf, toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';

export type Direction = 'forward' | 'inverse';
type Side = 'input' | 'output';
type Numbers = Uint16Array | Float32Array | Float64Array;

/** Numbers in double-double. */
export interface Exact {
  readonly hi: Float64Array;
  readonly lo: Float64Array;
}

/** The unscaled result of packed data, packed. */
export type Reference = (problem: Problem, direction: Direction, packed: Float64Array) => Exact;

/** An element: where it is, which coordinates it has, and whether it lies in a block of zeros. */
interface Element {
  readonly at: number;
  readonly coordinates: readonly number[];
  readonly absent: boolean;
}

/** Where bin k of an axis lies. */
export type BinOrder = (k: number, axis: number) => number;

/** The elements of a side, in the order of a packed tensor. @param order of the bins, where they do not lie in their own */
export function elementsOf(problem: Problem, side: Side, order?: BinOrder): Element[] {
  const counts = tensorShape(problem, side);
  const { space, frequency } = problem.zeroPadding;
  const blocks = side === 'input' ? space : frequency;
  const all = counts.reduce((a, b) => a * b, 1);
  const coordinates = counts.map(() => 0);
  const elements: Element[] = [];
  for (let n = 0; n < all; n++) {
    const axes = problem.size.length;
    const places =
      order && side === 'output' ? coordinates.map((k, d) => (d > 0 && d <= axes ? order(k, d - 1) : k)) : coordinates;
    const at = memoryPlace(problem, side, places);
    const absent = blocks.some(
      (block, axis) => block && coordinates[axis + 1]! >= block.from && coordinates[axis + 1]! < block.to,
    );
    // Callbacks are told the place in memory.
    elements.push({ at, coordinates: places.slice(), absent });
    for (let d = 0; d < counts.length && ++coordinates[d]! === counts[d]; d++) coordinates[d] = 0;
  }
  return elements;
}

/** One side of a problem and the memory that it is in. In place both sides are in the same memory. */
export class Edge {
  readonly arrays: readonly Numbers[];
  readonly elements: readonly Element[];
  /** Numbers of an element. */
  readonly parts: 1 | 2;
  private readonly planar: boolean;
  private readonly half: boolean;

  constructor(problem: Problem, side: Side, arrays: readonly Numbers[], order?: BinOrder) {
    this.arrays = arrays;
    this.elements = elementsOf(problem, side, order);
    this.parts = elementKind(problem, side) === 'complex' ? 2 : 1;
    this.planar = arrays.length > 1;
    this.half = problem.edgeStorage === 'half';
  }

  /** What to give to a call. */
  get given(): unknown {
    return this.planar ? { re: this.arrays[0], im: this.arrays[1] } : this.arrays[0];
  }

  /** Which array a part of an element is in, and where in it. */
  word(at: number, part: number): readonly [array: number, word: number] {
    return this.planar ? [part, at] : [0, this.parts * at + part];
  }

  get(at: number, part: number): number {
    const [array, word] = this.word(at, part);
    const raw = this.arrays[array]![word]!;
    return this.half ? fromHalf(raw) : raw;
  }

  /** Elements in blocks stay poisoned, and count as zero. Those that share a place are the same. */
  fill(random: Random): Float64Array {
    const single = this.half || this.arrays[0] instanceof Float32Array;
    const all = uniform(random, this.parts * this.elements.length, single ? 'single' : 'double');
    this.elements.forEach(({ at, absent }, n) => {
      for (let part = 0; part < this.parts && !absent; part++) {
        const [array, word] = this.word(at, part);
        const value = all[this.parts * n + part]!;
        this.arrays[array]![word] = this.half ? toHalf(value) : value;
      }
    });
    return Float64Array.from(all, (_, n) => {
      const { at, absent } = this.elements[Math.floor(n / this.parts)]!;
      return absent ? 0 : this.get(at, n % this.parts);
    });
  }

  /** The words of elements, by array. */
  owned(all: boolean): Set<number>[] {
    const words = this.arrays.map(() => new Set<number>());
    for (const { at, absent } of this.elements) {
      for (let part = 0; part < this.parts && (all || !absent); part++) {
        const [array, word] = this.word(at, part);
        words[array]!.add(word);
      }
    }
    return words;
  }
}

const POISON = 0x7e01;

/** Poisoned memory for so many elements of a side. */
export function poisoned(problem: Problem, side: Side, length: number): Numbers[] {
  const complex = elementKind(problem, side) === 'complex';
  const planar = complex && problem.layout[side] === 'planar';
  const reals = complex && !planar ? 2 * length : length;
  const make = (): Numbers => {
    if (problem.edgeStorage === 'half') return new Uint16Array(reals).fill(POISON);
    return (problem.edgeStorage === 'single' ? new Float32Array(reals) : new Float64Array(reals)).fill(Number.NaN);
  };
  return planar ? [make(), make()] : [make()];
}

export function bitsOf(arrays: readonly Numbers[]): Uint8Array[] {
  return arrays.map((array) => new Uint8Array(array.buffer.slice(0)));
}

/** The words that differ from what they were, but for those that may. */
export function changed(
  what: string,
  arrays: readonly Numbers[],
  before: readonly Uint8Array[],
  mine: readonly Set<number>[],
): string[] {
  return arrays.flatMap((array, a) => {
    const now = new Uint8Array(array.buffer);
    const [then, size] = [before[a]!, array.BYTES_PER_ELEMENT];
    const words: number[] = [];
    for (let word = 0; word < now.length / size && words.length < 3; word++) {
      let same = true;
      for (let byte = size * word; byte < size * (word + 1); byte++) same &&= now[byte] === then[byte];
      if (!same && !mine[a]?.has(word)) words.push(word);
    }
    return words.map((word) => `${what} changed at ${word}`);
  });
}

/** Points over which errors add up: FFTW's logical size. */
function pointsOf({ size, omit, transform }: Problem): number {
  return size.reduce((product, n, d) => (omit[d] ? product : product * logicalLength(transform[d]!, n)), 1);
}

/** What is transformed, of what memory holds: a callback is not called for what is absent. */
function loaded(problem: Problem, side: Side, source: Edge, packed: Float64Array, load?: Numeric): Float64Array {
  const parts = transformedKind(problem, side) === 'complex' ? 2 : 1;
  if (!load && parts === source.parts) return packed;
  const values = new Float64Array(parts * source.elements.length);
  source.elements.forEach(({ coordinates, absent }, n) => {
    if (absent) return;
    const value = [...packed.subarray(source.parts * n, source.parts * (n + 1))];
    values.set(load ? load(value, coordinates) : value, parts * n);
  });
  return values;
}

/** How far what was written is off, with the share of rounding that falls on elements which are not left out. */
function errorOf(problem: Problem, direction: Direction, target: Edge, { hi, lo }: Exact, store?: Numeric): number {
  const divisor = direction === 'inverse' && problem.normalize ? pointsOf(problem) : 1;
  const scale = problem.scale[direction] / divisor;
  const parts = hi.length / target.elements.length;
  const [all, want, low, got]: [number[], number[], number[], number[]] = [[], [], [], []];
  target.elements.forEach(({ at, coordinates, absent }, n) => {
    const value = store?.(
      Array.from(hi.subarray(parts * n, parts * (n + 1)), (x) => x * scale),
      coordinates,
    );
    for (let part = 0; part < target.parts; part++) {
      const exact = value ? value[part]! : hi[parts * n + part]! * scale;
      all.push(exact);
      if (absent) continue;
      got.push(target.get(at, part));
      want.push(exact);
      low.push(value ? 0 : lo[parts * n + part]! * scale);
    }
  });
  const raw = relativeError(got, want, low);
  if (want.length === all.length) return raw;
  // Rounding spreads over all results alike: those that are left answer for their part of it.
  const norm = (values: readonly number[]) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  const share = Math.sqrt(want.length / all.length) * norm(all);
  if (norm(want) > 0) return raw * (norm(want) / share);
  // Zeros that were computed beside other numbers, as one of two merged lines is.
  return share > 0 ? norm(got) / share : raw;
}

/** The error that one direction of a problem may have. */
function allowedOf(problem: Problem, direction: Direction, launches: number, blocked: boolean): number {
  const stored = [problem.edgeStorage, ...(launches > 1 ? [problem.storage] : []), problem.precision];
  const narrowest = stored.includes('half') ? 'half' : stored.includes('single') ? 'single' : 'double';
  const large = (n: number, axis: number) => largestPrimeFactor(logicalLength(problem.transform[axis]!, n)) > 13;
  const convolved = problem.size.some((n, axis) => !problem.omit[axis] && n > 1 && large(n, axis));
  // A scale that is rounded is off by as much in all results, so that this error does not average out.
  const scale = problem.precision === 'single' && Math.fround(problem.scale[direction]) !== problem.scale[direction];
  return (
    (convolved ? 5 : blocked ? 2 : 1) * tolerance(narrowest, pointsOf(problem)) + (scale ? unitRoundoff.single : 0)
  );
}

/** What callbacks lose beside the transform: some roundings before it, and what its errors become after it. */
function allowedOfCalls(problem: Problem, { growth }: Called, direction: Direction, transform: number): number {
  const stored = problem.edgeStorage === 'half' ? 'half' : problem.precision === 'single' ? 'single' : 'double';
  return growth[direction] * (transform + 2 * tolerance(stored, 1));
}

/** Plans a problem and runs one direction of it once. */
export async function tried(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
  reference: Reference,
  called?: Called,
): Promise<Tried> {
  const plan = await device.plan({
    ...(called ? withCalled(input, called) : input),
    debug: true,
  } as ProblemInput);
  const problem = plan.problem as Problem;
  const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
  const inPlace = problem.placement === 'in-place';
  const order = problem.unordered ? (k: number, axis: number) => plan.output.order(k, axis) : undefined;
  const source = new Edge(problem, read, poisoned(problem, read, plan[read].length), order);
  const memory = inPlace ? source.arrays : poisoned(problem, written, plan[written].length);
  const target = new Edge(problem, written, memory, order);
  const packed = source.fill(random);
  const [sourceBefore, targetBefore] = [bitsOf(source.arrays), bitsOf(target.arrays)];
  const run = plan[direction] as (from: unknown, to?: unknown, options?: unknown) => Promise<unknown>;
  const options = called ? [{ arrays: called.arrays }] : [];
  await run.call(plan, source.given, inPlace ? undefined : target.given, ...options);

  const mine = target.owned(false);
  // In place, what was read may be overwritten.
  if (inPlace) for (const [n, words] of source.owned(true).entries()) for (const word of words) mine[n]!.add(word);
  const { load, store } = called?.numeric[direction] ?? {};
  const exact = reference(problem, direction, loaded(problem, read, source, packed, load));
  const launches = plan.toJSON().directions.find((one) => one.direction === direction)!.launches;
  const isBlocked = target.elements.some(({ absent }) => absent);
  const allowed = allowedOf(problem, direction, launches.length, isBlocked);
  plan.destroy();
  return {
    what: `${JSON.stringify(called ? problem : input)} ${direction}: ${launches.map(({ title }) => title).join('; ')}`,
    error: errorOf(problem, direction, target, exact, store),
    allowed: called ? allowedOfCalls(problem, called, direction, allowed) : allowed,
    damage: [
      ...(inPlace ? [] : changed('the input', source.arrays, sourceBefore, [])),
      ...changed('a gap of the output', target.arrays, targetBefore, mine),
    ],
  };
}

/** Strides under which no two elements meet, in a random order of the dimensions, with gaps. */
export function stridesOf(random: Random, counts: readonly number[]): number[] {
  const order = [...counts.keys()];
  if (random.integer(0, 1) === 1) order.reverse();
  const strides: number[] = [];
  let next = 1;
  for (const d of order) {
    strides[d] = next + random.integer(0, 2);
    next = strides[d]! * counts[d]!;
  }
  return strides;
}

/**
 * The same problem with some dimensions of its tensors walked backwards: their strides are negative, and the offset moves to the element
 * that was the last one.
 * @param mayReverse whether a dimension of a side may be
 */
export function withReversed(
  random: Random,
  input: ProblemInput,
  mayReverse: (side: Side, dimension: number) => boolean = () => true,
): ProblemInput {
  if (random.integer(0, 3) > 0) return input;
  const problem = normalizeProblem(input);
  const inPlace = problem.placement === 'in-place';
  const chosen = problem.strides.input.map(() => random.integer(0, 2) === 0);
  const reversed = (side: Side) => {
    const dimensions = inPlace ? chosen : chosen.map(() => random.integer(0, 2) === 0);
    const counts = tensorShape(problem, side);
    const strides = [...problem.strides[side]];
    let offset = problem.offsets[side];
    for (const [d, count] of counts.entries()) {
      if (!dimensions[d] || !mayReverse(side, d)) continue;
      offset += (count - 1) * strides[d]!;
      strides[d] = -strides[d]!;
    }
    return { strides, offset };
  };
  const [read, written] = [reversed('input'), reversed('output')];
  return {
    ...input,
    strides: { input: read.strides, output: written.strides },
    offsets: { input: read.offset, output: written.offset },
  };
}

/** The same problem for one direction, whose input has dimensions that read the same again: their strides are 0. */
export function withRepeats(random: Random, input: ProblemInput, direction: Direction): ProblemInput {
  const side = direction === 'forward' ? 'input' : 'output';
  const oneWay = { ...input, placement: 'out-of-place', directions: direction, preserveInput: true } as const;
  const { strides } = normalizeProblem(oneWay);
  const repeated = strides[side].map((stride) => (random.integer(0, 2) === 0 ? 0 : stride));
  return { ...oneWay, strides: { ...oneWay.strides, [side]: repeated } };
}

/** A block of an axis, or none. */
export function blockIn(random: Random, length: number) {
  if (length < 2 || random.integer(0, 1) === 1) return null;
  const count = random.integer(1, length - 1);
  const from = random.integer(0, length - count);
  return { from, to: from + count };
}

const LENGTHS = [16, 32, 64, 128, 256, 60, 100, 105, 243, 17, 34, 74, 127, 512, 1000, 1009, 2048] as const;

/** A random tensor of at most so many elements. */
export function tensorFrom(random: Random, most: number) {
  let left = most;
  const count = (wanted: number) => {
    const kept = Math.max(1, Math.min(left, wanted));
    left = Math.floor(left / kept);
    return kept;
  };
  const axis = () => count(random.pick([random.integer(1, 20), random.integer(1, 130), random.pick(LENGTHS)]));
  const size = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3, 4]) }, axis);
  const batches = count(random.pick([1, 1, 2, 3, 5, 8, 17]));
  const leftBatches = count(random.pick([1, 1, 1, 2, 3, 8]));
  const coordinates = count(random.pick([1, 1, 1, 1, 2, 3]));
  return { size, batches, leftBatches, coordinates };
}
