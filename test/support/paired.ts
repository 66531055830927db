/** Numbers that are pairs of a device's own on trial, against sums in fixed point: double-doubles, and doubles of two singles. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { elementKind, logicalLength, scaleFactors, wordsOf } from '../../src/problem/index.ts';
import { type Fixed, fixedTransform, fromFixed, toFixed } from '../reference/fixed.ts';
import { type AccuracyPrecision, hasLargePrimes, type Tried, tolerance } from './accuracy.ts';
import type { Random } from './random.ts';
import { bitsOf, changed, type Direction, elementsOf, stridesOf, tensorFrom } from './trial.ts';

type Side = 'input' | 'output';
type Numbers = Float32Array | Float64Array;

/** One side in memory: where the words of each part of an element are. */
class Edge {
  readonly elements: ReturnType<typeof elementsOf>;
  readonly parts: 1 | 2;
  readonly words: 1 | 2;
  readonly arrays: readonly Numbers[];

  constructor(problem: Problem, side: Side, length: number, arrays?: readonly Numbers[]) {
    this.elements = elementsOf(problem, side);
    this.parts = elementKind(problem, side) === 'complex' ? 2 : 1;
    this.words = wordsOf(problem.edgeStorage);
    const planar = this.parts === 2 && problem.layout[side] === 'planar';
    const numbers = this.words * length * (planar ? 1 : this.parts);
    const make = () =>
      (problem.edgeStorage === 'single' ? new Float32Array(numbers) : new Float64Array(numbers)).fill(Number.NaN);
    this.arrays = arrays ?? (planar ? [make(), make()] : [make()]);
  }

  get given(): unknown {
    return this.arrays.length > 1 ? { re: this.arrays[0], im: this.arrays[1] } : this.arrays[0];
  }

  private place(at: number, part: number): readonly [array: number, first: number] {
    return this.arrays.length > 1 ? [part, this.words * at] : [0, this.words * (this.parts * at + part)];
  }

  /** Random numbers with all their bits; what lies in blocks stays poisoned, and counts as zero. */
  fill(random: Random): Fixed[] {
    return this.elements.map(({ at, absent }): Fixed => {
      const value = [0n, 0n] as [bigint, bigint];
      for (let part = 0; part < this.parts && !absent; part++) {
        const [array, first] = this.place(at, part);
        const words = this.arrays[array]!;
        words[first] = 2 * random.unit() - 1;
        // hi is the double nearest to the sum.
        if (this.words === 2) words[first + 1] = words[first]! * 2 ** -54 * (2 * random.unit() - 1);
        value[part] = toFixed(...words.subarray(first, first + this.words));
      }
      return value;
    });
  }

  get(at: number, part: number): bigint | undefined {
    const [array, first] = this.place(at, part);
    const words = this.arrays[array]!.subarray(first, first + this.words);
    return words.every(Number.isFinite) ? toFixed(...words) : undefined;
  }

  owned(all: boolean): Set<number>[] {
    const own = this.arrays.map(() => new Set<number>());
    for (const { at, absent } of this.elements) {
      for (let part = 0; part < this.parts && (all || !absent); part++) {
        const [array, first] = this.place(at, part);
        for (let word = 0; word < this.words; word++) own[array]!.add(first + word);
      }
    }
    return own;
  }
}

/** The factor of a direction as a quotient: numerator and denominator. */
function factorOf(problem: Problem, direction: Direction): readonly [number, number] {
  const { input, output, quotient = [output, 1] } = scaleFactors(problem, direction);
  return [input * quotient[0], quotient[1]];
}

function errorOf(problem: Problem, direction: Direction, target: Edge, exact: readonly Fixed[]): number {
  const [numerator, denominator] = factorOf(problem, direction);
  const factor = toFixed(numerator);
  const [error, norm, all]: [number[], number[], number[]] = [[], [], []];
  target.elements.forEach(({ at, absent }, n) => {
    for (let part = 0; part < target.parts; part++) {
      const want = (exact[n]![part]! * factor) / BigInt(denominator) / 2n ** 256n;
      all.push(fromFixed(want));
      if (absent) continue;
      const got = target.get(at, part);
      error.push(got === undefined ? Number.POSITIVE_INFINITY : fromFixed(got - want));
      norm.push(fromFixed(want));
    }
  });
  const size = (values: readonly number[]) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  // Rounding spreads over all results alike: those that are left answer for their part of it.
  const share = Math.sqrt(norm.length / all.length) * size(all);
  return size(error) === 0 ? 0 : size(error) / Math.max(share, size(norm) === 0 ? 0 : Number.MIN_VALUE);
}

const UNITS = { half: 'half', single: 'single', double: 'double', 'double-double': 'double-double' } as const;

/** @param double what a double is on the device. */
function allowedOf(problem: Problem, launches: number, double: AccuracyPrecision): number {
  const stored = [problem.edgeStorage, ...(launches > 1 ? [problem.storage] : []), problem.precision];
  const narrowest = (['single', 'double', 'double-double'] as const).find((word) => stored.includes(word))!;
  const lengths = problem.size.map((n, axis) => (problem.omit[axis] ? 1 : logicalLength(problem.transform[axis]!, n)));
  const points = lengths.reduce((a, b) => a * b, 1);
  const unit = narrowest === 'double' ? double : UNITS[narrowest];
  return (hasLargePrimes(lengths) ? 5 : 1) * tolerance(unit, points);
}

/** Plans a problem and runs one direction of it once. @param double what a double is on the device. */
export async function triedPairs(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
  double: AccuracyPrecision = 'double',
): Promise<Tried> {
  const plan = await device.plan({ ...input, debug: true } as ProblemInput);
  const problem = plan.problem as Problem;
  const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
  const inPlace = problem.placement === 'in-place';
  const source = new Edge(problem, read, plan[read].length);
  const packed = source.fill(random);
  const target = new Edge(problem, written, plan[written].length, inPlace ? source.arrays : undefined);
  const [sourceBefore, targetBefore] = [bitsOf(source.arrays), bitsOf(target.arrays)];
  const run = plan[direction] as (from: unknown, to?: unknown) => Promise<unknown>;
  await run.call(plan, source.given, ...(inPlace ? [] : [target.given]));
  const mine = target.owned(false);
  // In place, what was read may be overwritten.
  if (inPlace) for (const word of source.owned(true)[0]!) mine[0]!.add(word);
  const { launches } = plan.toJSON().directions.find((one) => one.direction === direction)!;
  plan.destroy();
  return {
    what: `${JSON.stringify(input)} ${direction}: ${launches.map(({ title }) => title).join('; ')}`,
    error: errorOf(problem, direction, target, fixedTransform(problem, direction, packed)),
    allowed: allowedOf(problem, launches.length, double),
    damage: [
      ...(inPlace ? [] : changed('the input', source.arrays, sourceBefore, [])),
      ...changed('a gap of the output', target.arrays, targetBefore, mine),
    ],
  };
}

/** A random complex problem of at most so many points, of everything that one can say. */
export function complexProblem(random: Random, most: number): ProblemInput {
  const tensor = tensorFrom(random, most);
  const { size, leftBatches, coordinates, batches } = tensor;
  const one = (of: number) => random.integer(0, of) === 0;
  const inPlace = one(2);
  const strides = () => stridesOf(random, [leftBatches, ...size, coordinates, batches]);
  const [here, there] = [strides(), strides()];
  return {
    ...tensor,
    placement: inPlace ? 'in-place' : 'out-of-place',
    layout: inPlace
      ? random.pick(['interleaved', 'planar'] as const)
      : { output: random.pick(['interleaved', 'planar'] as const) },
    normalize: one(1),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]), inverse: random.pick([1, 1, -2]) },
    omit: size.map(() => one(7)),
    ...(one(4) ? { offsets: inPlace ? { input: 3, output: 3 } : { input: 5, output: 2 } } : {}),
    ...(one(3) ? { strides: { input: here, output: inPlace ? here : there } } : {}),
  };
}
