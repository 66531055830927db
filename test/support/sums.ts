/** Cosine and sine transforms on trial, against sums that are bins of a complex transform over zeros in between. */
import type { Device, Precision, Problem, ProblemInput } from '../../src/index.ts';
import { realTransforms } from '../../src/problem/problem.ts';
import { referenceTransform } from '../reference/transform.ts';
import type { Tried } from './accuracy.ts';
import type { Called } from './called.ts';
import type { Random } from './random.ts';
import { blockIn, type Direction, type Exact, stridesOf, tensorFrom, tried, withReversed } from './trial.ts';

export type RealTransform = (typeof realTransforms)[number];

/** S[k] = Σ weight(n) · x[n] · trig(2π · point(n) · bin(k) / length), with the cosine, the sine or the sum of both. */
export interface Sums {
  readonly length: number;
  readonly point: (n: number) => number;
  readonly bin: (k: number) => number;
  readonly weight: (n: number) => 1 | 2;
}

const whole = (n: number) => n;
const next = (n: number) => n + 1;
const odd = (n: number) => 2 * n + 1;
const twice = () => 2 as const;

/** FFTW's definitions. */
export function sumsOf(kind: RealTransform, count: number): Sums {
  const last = count - 1;
  const definitions: Readonly<Record<RealTransform, Sums>> = {
    dct1: { length: 2 * last, point: whole, bin: whole, weight: (n) => (n === 0 || n === last ? 1 : 2) },
    dct2: { length: 4 * count, point: odd, bin: whole, weight: twice },
    dct3: { length: 4 * count, point: whole, bin: odd, weight: (n) => (n === 0 ? 1 : 2) },
    dct4: { length: 8 * count, point: odd, bin: odd, weight: twice },
    dst1: { length: 2 * count + 2, point: next, bin: next, weight: twice },
    dst2: { length: 4 * count, point: odd, bin: next, weight: twice },
    dst3: { length: 4 * count, point: next, bin: odd, weight: (n) => (n === last ? 1 : 2) },
    dst4: { length: 8 * count, point: odd, bin: odd, weight: twice },
    dht: { length: count, point: whole, bin: whole, weight: () => 1 },
  };
  return definitions[kind];
}

/** The transform that another one's inverse is, but for a factor. */
export function inverseOf(kind: RealTransform): RealTransform {
  const pairs: Partial<Record<RealTransform, RealTransform>> = {
    dct2: 'dct3',
    dct3: 'dct2',
    dst2: 'dst3',
    dst3: 'dst2',
  };
  return pairs[kind] ?? kind;
}

/** The sums along one axis of so many elements, `stride` apart. */
function alongAxis(kind: RealTransform, count: number, stride: number, { hi, lo }: Exact): Exact {
  const { length, point, bin, weight } = sumsOf(kind, count);
  const lines = hi.length / count / stride;
  const spread = (from: Float64Array) => {
    const to = new Float64Array((2 * length * from.length) / count);
    from.forEach((value, at) => {
      const n = Math.floor(at / stride) % count;
      const line = Math.floor(at / stride / count);
      const place = 2 * ((at % stride) + stride * (point(n) + length * line));
      to[place] = weight(n) * value;
      // Of (1 + i)·x the real parts of bins are the sums of cosines and sines of x.
      if (kind === 'dht') to[place + 1] = value;
    });
    return to;
  };
  const shape = { size: [length], leftBatches: stride, batches: lines };
  const all = referenceTransform(shape, spread(hi), spread(lo));
  const [part, sign] = kind.startsWith('dst') ? [1, -1] : [0, 1];
  const gathered = (from: Float64Array) =>
    hi.map((_, at) => {
      const k = Math.floor(at / stride) % count;
      const line = Math.floor(at / stride / count);
      return sign * from[2 * ((at % stride) + stride * (bin(k) + length * line)) + part]!;
    });
  return { hi: gathered(all.hi), lo: gathered(all.lo) };
}

/** The sums along all axes, one after the other. */
function reference(problem: Problem, direction: Direction, packed: Float64Array): Exact {
  let values: Exact = { hi: packed, lo: new Float64Array(packed.length) };
  let stride = problem.leftBatches;
  problem.size.forEach((count, axis) => {
    const kind = problem.transform[axis] as RealTransform;
    if (!problem.omit[axis])
      values = alongAxis(direction === 'forward' ? kind : inverseOf(kind), count, stride, values);
    stride *= count;
  });
  return values;
}

/** Plans a problem of cosines and sines and runs one direction of it once. */
export function triedSums(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
  called?: Called,
): Promise<Tried> {
  return tried(device, input, direction, random, reference, called);
}

/** A random problem of at most so many reals, of everything that one can say, with one kind for all axes or one for each. */
export function sumsProblem(random: Random, most: number, precisions: readonly Precision[]): ProblemInput {
  const tensor = tensorFrom(random, most);
  const { leftBatches, coordinates, batches } = tensor;
  const one = (of: number) => random.integer(0, of) === 0;
  const mixed = one(1);
  const first = random.pick(realTransforms);
  const transform = tensor.size.map(() => (mixed ? random.pick(realTransforms) : first));
  const size = tensor.size.map((n, axis) => (transform[axis] === 'dct1' ? Math.max(2, n) : n));
  const inPlace = one(2);
  const strides = () => stridesOf(random, [leftBatches, ...size, coordinates, batches]);
  const [here, there] = [strides(), strides()];
  return withReversed(random, {
    ...{ size, batches, leftBatches, coordinates, transform },
    precision: random.pick(precisions),
    placement: inPlace ? 'in-place' : 'out-of-place',
    normalize: one(1),
    unordered: one(4),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]), inverse: random.pick([1, 1, -2]) },
    omit: size.map(() => one(7)),
    ...(one(4) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    ...(one(6) ? { tuning: { mergeSequences: true } } : {}),
    ...(one(4) ? { offsets: inPlace ? { input: 3, output: 3 } : { input: 5, output: 2 } } : {}),
    ...(one(3) ? { strides: { input: here, output: inPlace ? here : there } } : {}),
  });
}

/** The same with blocks of zeros on both sides. */
export function withBlocks(random: Random, problem: ProblemInput): ProblemInput {
  const blocks = () => problem.size.map((length) => blockIn(random, length));
  return { ...problem, unordered: false, zeroPadding: { space: blocks(), frequency: blocks() } };
}
