/** Real transforms on trial, against the complex reference transform. */
import type { Device, Precision, Problem, ProblemInput } from '../../src/index.ts';
import { referenceTransform } from '../reference/transform.ts';
import type { Tried } from './accuracy.ts';
import type { Called } from './called.ts';
import type { Random } from './random.ts';
import { blockIn, type Direction, type Exact, stridesOf, tensorFrom, tried, withReversed } from './trial.ts';

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

function reference(problem: Problem, direction: Direction, packed: Float64Array): Exact {
  return direction === 'forward' ? forwards(problem, packed) : backwards(problem, packed);
}

/** Plans a real problem and runs one direction of it once. */
export function triedReal(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
  called?: Called,
): Promise<Tried> {
  return tried(device, { ...input, transform: 'r2c' } as ProblemInput, direction, random, reference, called);
}

/** A random real problem of at most so many reals, of everything that one can say. */
export function realProblem(random: Random, most: number, precisions: readonly Precision[]): ProblemInput {
  const { size, batches, leftBatches, coordinates } = tensorFrom(random, most);
  const inPlace = random.integer(0, 2) === 0;
  const bins = Math.floor(size[0]! / 2) + 1;
  const precision = random.pick(precisions);
  const one = (of: number) => random.integer(0, of) === 0;
  const around = (first: number) => [leftBatches, first, ...size.slice(1), coordinates, batches];
  return withReversed(random, {
    ...{ size, batches, leftBatches, coordinates, precision, transform: 'r2c' },
    placement: inPlace ? 'in-place' : 'out-of-place',
    layout: inPlace ? 'interleaved' : random.pick(['interleaved', 'planar'] as const),
    normalize: one(1),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]), inverse: random.pick([1, 1, -2]) },
    omit: size.map((_, at) => at > 0 && one(5)),
    ...(one(4) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    ...(one(6) ? { tuning: { mergeSequences: true } } : {}),
    ...(one(2) ? { unordered: true } : {}),
    ...(one(4) ? { offsets: inPlace ? { input: 6, output: 3 } : { input: 5, output: 2 } } : {}),
    ...(!inPlace && one(3)
      ? { strides: { input: stridesOf(random, around(size[0]!)), output: stridesOf(random, around(bins)) } }
      : {}),
  });
}

/** The same with blocks of zeros on both sides. */
export function withBlocks(random: Random, problem: ProblemInput): ProblemInput {
  const { size } = problem;
  const bins = (length: number, axis: number) => (axis === 0 ? Math.floor(length / 2) + 1 : length);
  return {
    ...problem,
    unordered: false,
    zeroPadding: {
      space: size.map((length) => blockIn(random, length)),
      frequency: size.map((length, axis) => blockIn(random, bins(length, axis))),
    },
  };
}
