/** Numbers that are pairs of a device's own on trial, against sums in fixed point: double-doubles, and doubles of two singles. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { elementKind, logicalLength, wordsOf } from '../../src/problem/index.ts';
import { spreadOf } from '../reference/convolution.ts';
import { type Fixed, fixedTransform, fromFixed, toFixed } from '../reference/fixed.ts';
import { type AccuracyPrecision, hasLargePrimes, type Tried, tolerance } from './accuracy.ts';
import type { Random } from './random.ts';
import { bitsOf, changed, type Direction, elementsOf, stridesOf, tensorFrom, withReversed } from './trial.ts';

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
  const { normalize, size, omit, transform, scale } = problem;
  const lengths = size.map((n, axis) => (omit[axis] ? 1 : logicalLength(transform[axis]!, n)));
  const points = normalize && direction === 'inverse' ? lengths.reduce((a, b) => a * b, 1) : 1;
  return [scale[direction], points];
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

/**
 * Plans a convolution of packed signals, interleaved or real, out of place, and convolves random ones with random kernels: against
 * sums over bins in fixed point. @param double what a double is on the device.
 */
export async function triedPairConvolution(
  device: Device,
  input: ProblemInput,
  random: Random,
  double: AccuracyPrecision = 'double',
): Promise<Tried> {
  const plan = (await device.plan({ ...input, debug: true } as ProblemInput)) as unknown as Convolving;
  const { problem } = plan;
  const { conjugate, crossPower } = problem.convolution!;
  const kernels = Number(problem.convolution!.kernels);
  const of = (batches: number): Problem => packedLike(problem, batches);
  const [signal, kernel, result] = [problem.batches, kernels, problem.batches * kernels].map(of) as [
    Problem,
    Problem,
    Problem,
  ];
  const edge = (own: Problem) => new Edge(own, 'input', elementsOf(own, 'input').length);
  const [x, h, y] = [edge(signal), edge(kernel), edge(result)];
  const spectrum = (own: Problem, packed: readonly Fixed[]) =>
    fixedTransform({ ...own, transform: own.size.map(() => 'c2c') } as Problem, 'forward', packed);
  const [bins, factors] = [spectrum(signal, x.fill(random)), spectrum(kernel, h.fill(random))];
  const prepared = await plan.prepareKernel(h.given);
  await plan.convolve(x.given, prepared, y.given);
  prepared.free();
  plan.destroy();
  const points = problem.size.reduce((a, b) => a * b, 1);
  const products = Array.from({ length: bins.length * kernels }, (_, n): Fixed => {
    const [bin, factor] = [bins[n % bins.length]!, factors[(n % points) + points * Math.floor(n / bins.length)]!];
    const own = multiplied(conjugatedIf(conjugate === 'signal', bin), conjugatedIf(conjugate === 'kernel', factor));
    return crossPower ? overMagnitude(own) : own;
  });
  const spread = (values: readonly Fixed[]) => spreadOf({ hi: Float64Array.from(values.flat(), Number) });
  const growth = crossPower ? Math.hypot(spread(bins), spread(factors)) : 1;
  const complex = { ...result, transform: result.size.map(() => 'c2c') } as Problem;
  const exact = fixedTransform(complex, 'inverse', products);
  const divided = { ...result, normalize: true, scale: { forward: 1, inverse: problem.scale.forward } };
  return {
    what: JSON.stringify(input),
    error: errorOf(divided, 'inverse', y, exact),
    allowed: 3 * growth * allowedOf(result, 1, double),
    damage: [],
  };
}

/** What of a plan is called here; its types follow from the problem, which is any. */
interface Convolving {
  readonly problem: Problem;
  prepareKernel(h: unknown): Promise<{ free(): void }>;
  convolve(x: unknown, kernel: unknown, y: unknown): Promise<unknown>;
  destroy(): void;
}

/** A problem of packed systems whose input side is a signal, a kernel, or a result. */
function packedLike(problem: Problem, batches: number): Problem {
  const strides = [1, ...problem.size, 1, batches].map((_, d, counts) =>
    counts.slice(0, d).reduce((product, count) => product * count, 1),
  );
  return { ...problem, leftBatches: 1, coordinates: 1, batches, strides: { input: strides, output: strides } };
}

function conjugatedIf(conjugated: boolean, [re, im]: Fixed): Fixed {
  return conjugated ? [re, -im] : [re, im];
}

const FIXED = 2n ** 256n;

function multiplied([a, b]: Fixed, [c, d]: Fixed): Fixed {
  return [(a * c - b * d) / FIXED, (a * d + b * c) / FIXED];
}

function overMagnitude([re, im]: Fixed): Fixed {
  const square = re * re + im * im;
  let magnitude = BigInt(Math.round(Math.sqrt(Number(square))));
  for (let round = 0; round < 8; round++) magnitude = (magnitude + square / magnitude) / 2n;
  return [(re * FIXED) / magnitude, (im * FIXED) / magnitude];
}

/** A random complex problem of at most so many points, of everything that one can say. */
export function complexProblem(random: Random, most: number): ProblemInput {
  const tensor = tensorFrom(random, most);
  const { size, leftBatches, coordinates, batches } = tensor;
  const one = (of: number) => random.integer(0, of) === 0;
  const inPlace = one(2);
  const strides = () => stridesOf(random, [leftBatches, ...size, coordinates, batches]);
  const [here, there] = [strides(), strides()];
  return withReversed(random, {
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
  });
}
