/** Real transforms on trial: any problem, either direction, every gap looked at. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import { referenceTransform } from '../reference/transform.ts';
import { relativeError, tolerance } from './accuracy.ts';
import { fromHalf, toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';

type Direction = 'forward' | 'inverse';
type Side = 'input' | 'output';
type Numbers = Uint16Array | Float32Array | Float64Array;

/** Numbers in double-double. */
interface Exact {
  readonly hi: Float64Array;
  readonly lo: Float64Array;
}

/** `[left, axes, coordinate, batch]` of one side. */
function countsOf(problem: Problem, side: Side): number[] {
  const [first, ...more] = problem.size as [number, ...number[]];
  const along = side === 'output' ? Math.floor(first / 2) + 1 : first;
  return [problem.leftBatches, along, ...more, problem.coordinates, problem.batches];
}

/** Where every element of a side is, and which of its axes' coordinates it has, in the order of a packed tensor. */
function placesOf(problem: Problem, side: Side): { at: number; coordinates: number[] }[] {
  const counts = countsOf(problem, side);
  const all = counts.reduce((a, b) => a * b, 1);
  return Array.from({ length: all }, (_, n) => {
    let rest = n;
    const coordinates = counts.map((count) => {
      const own = rest % count;
      rest = Math.floor(rest / count);
      return own;
    });
    const at = coordinates.reduce((sum, c, d) => sum + c * problem.strides[side][d]!, problem.offsets[side]);
    return { at, coordinates };
  });
}

function complexShape({ leftBatches, coordinates, batches }: Problem, size: readonly number[]) {
  return { size, leftBatches, coordinates, batches };
}

/** Bins of reals, packed. */
function forwards(problem: Problem, reals: Float64Array): Exact {
  const values = new Float64Array(2 * reals.length);
  reals.forEach((value, n) => {
    values[2 * n] = value;
  });
  const { size, omit } = problem;
  const whole = referenceTransform({ ...complexShape(problem, size), omit, direction: 'forward' }, values);
  return kept(problem, whole);
}

/** The first half of all bins. */
function kept(problem: Problem, { hi, lo }: Exact): Exact {
  const [left, first] = [problem.leftBatches, problem.size[0]!];
  const bins = Math.floor(first / 2) + 1;
  const take = (from: Float64Array) => {
    const to: number[] = [];
    for (let n = 0; n < from.length / 2; n++) {
      if (Math.floor(n / left) % first < bins) to.push(from[2 * n]!, from[2 * n + 1]!);
    }
    return Float64Array.from(to);
  };
  return { hi: take(hi), lo: take(lo) };
}

/** Reals of bins, packed: along all other axes first, then along the first one, between conjugate halves. */
function backwards(problem: Problem, bins: Float64Array): Exact {
  const [first, ...more] = problem.size as [number, ...number[]];
  const half = Math.floor(first / 2) + 1;
  const others = { ...complexShape(problem, [half, ...more]), omit: [true, ...problem.omit.slice(1)] };
  const between = referenceTransform({ ...others, direction: 'inverse' }, bins);
  const extend = (from: Float64Array) => {
    const left = problem.leftBatches;
    const to = new Float64Array((2 * from.length * first) / half / 2);
    for (let n = 0; n < to.length / 2; n++) {
      const l = n % left;
      const k = Math.floor(n / left) % first;
      const line = Math.floor(n / left / first);
      const source = l + left * ((k < half ? k : first - k) + half * line);
      const alone = k === 0 || 2 * k === first;
      to[2 * n] = from[2 * source]!;
      to[2 * n + 1] = alone ? 0 : k < half ? from[2 * source + 1]! : -from[2 * source + 1]!;
    }
    return to;
  };
  const along = { ...complexShape(problem, problem.size), omit: problem.size.map((_, axis) => axis > 0) };
  const { hi, lo } = referenceTransform({ ...along, direction: 'inverse' }, extend(between.hi), extend(between.lo));
  const reals = (from: Float64Array) => from.filter((_, n) => n % 2 === 0);
  return { hi: reals(hi), lo: reals(lo) };
}

export interface RealTrial {
  readonly what: string;
  readonly error: number;
  readonly allowed: number;
  readonly damage: readonly string[];
}

const POISON = 0x7e01;

/** The data of one side: an array or two planes, poisoned. */
class Data {
  readonly arrays: readonly Numbers[];
  readonly planar: boolean;
  readonly complex: boolean;

  constructor(problem: Problem, side: Side, length: number) {
    this.complex = side === 'output';
    this.planar = this.complex && problem.layout[side] === 'planar';
    const storage = problem.edgeStorage;
    const reals = this.complex && !this.planar ? 2 * length : length;
    const make = (): Numbers =>
      storage === 'half'
        ? new Uint16Array(reals).fill(POISON)
        : (storage === 'single' ? new Float32Array(reals) : new Float64Array(reals)).fill(Number.NaN);
    this.arrays = this.planar ? [make(), make()] : [make()];
  }

  get given(): unknown {
    return this.planar ? { re: this.arrays[0], im: this.arrays[1] } : this.arrays[0];
  }
}

/** Where a part of an element is: which array, and where in it. */
function wordOf(data: Data, seenAs: Side, at: number, part: number): readonly [number, number] {
  if (seenAs === 'input') return [0, at];
  return data.planar ? [part, at] : [0, 2 * at + part];
}

/** Plans a problem and runs one direction of it once. */
export async function triedReal(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
): Promise<RealTrial> {
  const plan = await device.plan({ ...input, transform: 'r2c', debug: true } as ProblemInput);
  const problem = plan.problem as Problem;
  const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
  const inPlace = problem.placement === 'in-place';
  const source = new Data(problem, read, plan[read].length);
  const target = inPlace ? source : new Data(problem, written, plan[written].length);
  const parts = read === 'output' ? 2 : 1;
  const places = placesOf(problem, read);
  const half = problem.edgeStorage === 'half';
  const precision = problem.edgeStorage === 'double' ? 'double' : 'single';
  const values = uniform(random, parts * places.length, precision).map((value) =>
    half ? fromHalf(toHalf(value)) : value,
  );
  const blocks = (side: Side) => (side === 'input' ? problem.zeroPadding.space : problem.zeroPadding.frequency);
  const isAbsent = (side: Side, coordinates: readonly number[]) =>
    blocks(side).some(
      (block, axis) => block && coordinates[axis + 1]! >= block.from && coordinates[axis + 1]! < block.to,
    );
  places.forEach(({ at, coordinates }, n) => {
    for (let part = 0; part < parts; part++) {
      const [array, word] = wordOf(source, read, at, part);
      if (isAbsent(read, coordinates)) values[parts * n + part] = 0;
      else source.arrays[array]![word] = half ? toHalf(values[parts * n + part]!) : values[parts * n + part]!;
    }
  });
  const bits = (data: Data) => data.arrays.map((array) => new Uint8Array(array.buffer.slice(0)));
  const [sourceBefore, targetBefore] = [bits(source), bits(target)];
  const run = plan[direction] as (from: unknown, to?: unknown) => Promise<unknown>;
  if (inPlace) await run.call(plan, source.given);
  else await run.call(plan, source.given, target.given);

  const exact = direction === 'forward' ? forwards(problem, values) : backwards(problem, values);
  const points = problem.size.reduce((product, n, axis) => (problem.omit[axis] ? product : product * n), 1);
  const scale = problem.scale[direction] / (direction === 'inverse' && problem.normalize ? points : 1);
  const each = written === 'output' ? 2 : 1;
  const want: number[] = [];
  const low: number[] = [];
  const got: number[] = [];
  const owned = target.arrays.map(() => new Set<number>());
  placesOf(problem, written).forEach(({ at, coordinates }, n) => {
    if (isAbsent(written, coordinates)) return;
    for (let part = 0; part < each; part++) {
      const [array, word] = wordOf(target, written, at, part);
      owned[array]!.add(word);
      const raw = target.arrays[array]![word]!;
      got.push(half ? fromHalf(raw) : raw);
      want.push(exact.hi[each * n + part]! * scale);
      low.push(exact.lo[each * n + part]! * scale);
    }
  });
  if (inPlace) {
    for (const { at } of places) {
      for (let part = 0; part < parts; part++) owned[0]!.add(wordOf(source, read, at, part)[1]);
    }
  }
  const damage: string[] = [];
  const compare = (
    data: Data,
    before: readonly Uint8Array[],
    mine: readonly Set<number>[] | undefined,
    what: string,
  ) => {
    bits(data).forEach((now, a) => {
      const size = data.arrays[a]!.BYTES_PER_ELEMENT;
      now.forEach((byte, n) => {
        const word = Math.floor(n / size);
        const owned = mine ? mine[a]!.has(word) : false;
        if (byte !== before[a]![n] && !owned && damage.length < 3) damage.push(`${what} changed at ${word}`);
      });
    });
  };
  if (!inPlace) compare(source, sourceBefore, undefined, 'the input');
  compare(target, targetBefore, owned, 'a gap of the output');
  const norm = Math.sqrt(exact.hi.reduce((sum, value) => sum + (value * scale) ** 2, 0));
  const picked = Math.sqrt(want.reduce((sum, value) => sum + value * value, 0));
  // Rounding spreads over all results alike: those that are left answer for their part of it.
  const share = Math.sqrt(want.length / exact.hi.length) * norm;
  const raw = relativeError(got, Float64Array.from(want), Float64Array.from(low));
  const { directions } = plan.toJSON();
  const { launches } = directions[directions.length > 1 && direction === 'inverse' ? 1 : 0]!;
  plan.destroy();
  const stored = [problem.edgeStorage, ...(launches.length > 1 ? [problem.storage] : []), problem.precision];
  const narrowest = stored.includes('half') ? 'half' : stored.includes('single') ? 'single' : 'double';
  const convolved = problem.size.some((n, axis) => !problem.omit[axis] && largestPrimeFactor(n) > 13);
  const blocked = want.length < exact.hi.length;
  const factor = convolved ? 5 : blocked ? 2 : 1;
  return {
    what: `${JSON.stringify(input)} ${direction}: ${launches.map(({ title }) => title).join('; ')}`,
    error: blocked && picked > 0 ? raw * (picked / share) : raw,
    allowed: factor * tolerance(narrowest, points),
    damage,
  };
}

/** Strides under which no two elements meet, in a random order of the dimensions, with gaps. */
function stridesOf(random: Random, counts: readonly number[]): number[] {
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

function blockIn(random: Random, length: number) {
  if (length < 2 || random.integer(0, 1) === 1) return null;
  const count = random.integer(1, length - 1);
  const from = random.integer(0, length - count);
  return { from, to: from + count };
}

const LENGTHS = [16, 32, 64, 128, 256, 60, 100, 105, 243, 17, 34, 74, 127, 512, 1000, 1009, 2048] as const;

/** A random real problem of at most so many reals, of everything that one can say. */
export function realProblem(random: Random, most: number, precisions: readonly ('single' | 'double')[]): ProblemInput {
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
  const inPlace = random.integer(0, 2) === 0;
  const bins = Math.floor(size[0]! / 2) + 1;
  const precision = random.pick(precisions);
  const one = (of: number) => random.integer(0, of) === 0;
  const around = (first: number) => [leftBatches, first, ...size.slice(1), coordinates, batches];
  return {
    ...{ size, batches, leftBatches, coordinates, precision },
    placement: inPlace ? 'in-place' : 'out-of-place',
    layout: inPlace ? 'interleaved' : random.pick(['interleaved', 'planar'] as const),
    normalize: one(1),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]), inverse: random.pick([1, 1, -2]) },
    omit: size.map((_, at) => at > 0 && one(5)),
    ...(one(4) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    ...(one(6) ? { tuning: { disableMergeSequencesR2C: true } } : {}),
    ...(one(4) ? { offsets: inPlace ? { input: 6, output: 3 } : { input: 5, output: 2 } } : {}),
    ...(!inPlace && one(3)
      ? { strides: { input: stridesOf(random, around(size[0]!)), output: stridesOf(random, around(bins)) } }
      : {}),
  };
}

/** The same with blocks of zeros on both sides. */
export function withBlocks(random: Random, problem: ProblemInput): ProblemInput {
  const { size } = problem;
  const bins = (length: number, axis: number) => (axis === 0 ? Math.floor(length / 2) + 1 : length);
  return {
    ...problem,
    omit: size.map(() => false),
    zeroPadding: {
      space: size.map((length) => blockIn(random, length)),
      frequency: size.map((length, axis) => blockIn(random, bins(length, axis))),
    },
  };
}
