/** Convolutions on trial: any problem, its kernel prepared and its signal convolved once, every gap looked at. */
import type { Callback, Device, Problem, ProblemInput } from '../../src/index.ts';
import type { Block } from '../../src/problem/index.ts';

import { type ConvolutionShape, directConvolution, spectralConvolution } from '../reference/convolution.ts';
import { referenceTransform } from '../reference/transform.ts';
import { hasLargePrimes, relativeError, type Tried, tolerance } from './accuracy.ts';
import { toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';
import { bitsOf, blockIn, changed, Edge, poisoned, stridesOf, withReversed } from './trial.ts';

/** What of a plan is called here; its types follow from the problem, which is any. */
interface Convolving {
  readonly problem: Problem;
  readonly input: { readonly length: number };
  prepareKernel(h: unknown): Promise<{ free(): void }>;
  convolve(x: unknown, kernel: unknown, y?: unknown, options?: unknown): Promise<unknown>;
  toJSON(): { directions: readonly { direction: string; launches: readonly { title: string }[] }[] };
  destroy(): void;
}

/** A problem whose input side is where a result belongs. */
function resultOf(problem: Problem): Problem {
  const { kernels } = problem.convolution!;
  const batches = problem.batches * (typeof kernels === 'number' ? kernels : 1);
  if (problem.transform[0] === 'r2c') return { ...problem, batches };
  const { strides, offsets, layout } = problem;
  const own = <T>({ output }: { output: T }) => ({ input: output, output });
  return { ...problem, batches, strides: own(strides), offsets: own(offsets), layout: own(layout) };
}

/** A problem whose input side is a packed kernel. */
function kernelOf(problem: Problem): Problem {
  const { kernels, matrix, symmetric } = problem.convolution!;
  const entries = symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
  const coordinates = kernels === 'per-coordinate' || kernels === 'per-both' ? problem.coordinates : entries;
  const batches =
    kernels === 'per-batch' || kernels === 'per-both' ? problem.batches : kernels === 'per-coordinate' ? 1 : kernels;
  const counts = [1, ...problem.size, coordinates, batches];
  const packed = counts.map((_, d) => counts.slice(0, d).reduce((a, b) => a * b, 1));
  const none = problem.size.map(() => null);
  return {
    ...problem,
    leftBatches: 1,
    coordinates,
    batches,
    placement: 'out-of-place',
    strides: { input: packed, output: packed },
    offsets: { input: 0, output: 0 },
    zeroPadding: { space: none, frequency: none },
  };
}

/** Elements from the first to the last, the offset included. */
function spanOf(problem: Problem): number {
  const counts = [problem.leftBatches, ...problem.size, problem.coordinates, problem.batches];
  const strides = problem.strides.input;
  return 1 + problem.offsets.input + counts.reduce((sum, count, d) => sum + Math.max(0, (count - 1) * strides[d]!), 0);
}

function complex(values: Float64Array, parts: 1 | 2): Float64Array {
  if (parts === 2) return values;
  const all = new Float64Array(2 * values.length);
  values.forEach((value, n) => {
    all[2 * n] = value;
  });
  return all;
}

/** Numbers by which the elements of signal and result are multiplied: those at Σ coordinates modulo how many there are. */
interface Gates {
  readonly before: Float64Array;
  readonly behind: Float64Array;
}

function randomGates(random: Random): Gates {
  const of = (count: number) => Float64Array.from(uniform(random, count, 'single'));
  return { before: of(random.integer(1, 40)), behind: of(random.integer(1, 40)) };
}

/** The gates as callbacks, which load them from arrays. */
function gating({ before, behind }: Gates): Pick<ProblemInput, 'callbacks'> {
  const by =
    (name: string, count: number): Callback =>
    (x, value, at) => {
      const places = [...at.axis, at.coordinate, at.batch, at.left];
      const sum = places.reduce((all, place) => x.index.add(all, place));
      const gate = x.load(name, x.index.mod(sum, count));
      return typeof value === 'object' && 're' in value
        ? { re: x.mul(value.re, gate), im: x.mul(value.im, gate) }
        : x.mul(value, gate);
    };
  return {
    callbacks: {
      forward: { load: by('before', before.length) },
      inverse: { store: by('behind', behind.length) },
      arrays: { before: { type: 'f32', length: before.length }, behind: { type: 'f32', length: behind.length } },
    },
  } as Pick<ProblemInput, 'callbacks'>;
}

function gateAt(gate: Float64Array, coordinates: readonly number[]): number {
  return gate[coordinates.reduce((a, b) => a + b, 0) % gate.length]!;
}

/**
 * Plans a problem with a convolution, prepares a random kernel, and convolves a random signal with it.
 * @param gated the signal and the result are multiplied by gates, which are callbacks.
 */
export async function triedConvolution(
  device: Device,
  input: ProblemInput,
  random: Random,
  gated = false,
): Promise<Tried> {
  const gates = gated ? randomGates(random) : undefined;
  const asked = { ...input, ...(gates ? gating(gates) : {}), debug: true } as ProblemInput;
  const plan = (await device.plan(asked)) as unknown as Convolving;
  const { problem } = plan;
  const [given, result] = [kernelOf(problem), resultOf(problem)];
  const inPlace = problem.placement === 'in-place';
  const h = new Edge(given, 'input', poisoned(given, 'input', spanOf(given)));
  const x = new Edge(problem, 'input', poisoned(problem, 'input', plan.input.length));
  const memory = inPlace ? x.arrays : poisoned(result, 'input', spanOf(result));
  const y = new Edge(result, 'input', memory);
  const [signal, kernel] = [x.fill(random), h.fill(random)];
  const [before, after] = [bitsOf(x.arrays), bitsOf(y.arrays)];
  const full = complex(kernel, h.parts);
  const ofUser = problem.convolution!.kernelSpectrum === 'user';
  const prepared = ofUser ? undefined : await plan.prepareKernel(h.given);
  const arrays = gates && {
    arrays: { before: Float32Array.from(gates.before), behind: Float32Array.from(gates.behind) },
  };
  await plan.convolve(x.given, prepared ?? spectrumOf(problem, full), inPlace ? undefined : y.given, arrays);
  prepared?.free();
  const { launches } = plan.toJSON().directions.find(({ direction }) => direction === 'convolve')!;
  plan.destroy();
  const mine = y.owned(false);
  if (inPlace) for (const word of x.owned(true)[0]!) mine[0]!.add(word);
  const { convolution, size, omit, leftBatches, coordinates, batches } = problem;
  const shape = { size, omit, leftBatches, coordinates, batches, ...convolution! };
  if (gates)
    x.elements.forEach(({ coordinates: at }, n) => {
      for (let part = 0; part < x.parts; part++) signal[x.parts * n + part]! *= gateAt(gates.before, at);
    });
  const exact = { growth: 1, ...expectedOf(problem, shape, complex(signal, x.parts), full) };
  return {
    what: `${JSON.stringify(input)}: ${launches.map(({ title }) => title).join('; ')}`,
    error: errorOf(y, exact, problem.scale.forward, 2 / y.parts, gates?.behind),
    allowed: exact.growth * allowedOf(problem, launches.length),
    damage: [
      ...(inPlace ? [] : changed('the signal', x.arrays, before, [])),
      ...changed('a gap of the result', y.arrays, after, mine),
    ],
  };
}

/** The spectrum of kernels as a user has it, computed by the reference. Bins in blocks are poisoned: nobody reads them. */
function spectrumOf(problem: Problem, h: Float64Array): Uint16Array | Float32Array | Float64Array {
  const { size, omit, transform, edgeStorage, zeroPadding } = problem;
  const points = size.reduce((a, b) => a * b, 1);
  const { hi } = referenceTransform({ size, omit, batches: h.length / (2 * points) }, h);
  const half = transform[0] === 'r2c' ? Math.floor(size[0]! / 2) + 1 : size[0]!;
  const kept: number[] = [];
  for (let n = 0; n < hi.length / 2; n++) {
    let rest = n;
    const at = size.map((length) => {
      const k = rest % length;
      rest = (rest - k) / length;
      return k;
    });
    if (at[0]! >= half) continue;
    const isAbsent = at.some((k, axis) => inBlock(zeroPadding.frequency[axis]!, k));
    kept.push(...(isAbsent ? [Number.NaN, Number.NaN] : hi.subarray(2 * n, 2 * n + 2)));
  }
  if (edgeStorage === 'half') return Uint16Array.from(kept, toHalf);
  return edgeStorage === 'single' ? Float32Array.from(kept) : Float64Array.from(kept);
}

/** Points whose direct sums over all pairs cost no more than a plan. Of more the reference takes transforms, which reference.test.ts compares with direct sums. */
const DIRECT = 150;
/** Points of a random problem, unless more are asked for. */
const MOST = 600;

function expectedOf(problem: Problem, shape: ConvolutionShape, signal: Float64Array, kernel: Float64Array) {
  const { frequency } = problem.zeroPadding;
  const blocked = frequency.some((block) => block !== null);
  const points = problem.size.reduce((a, b) => a * b, 1);
  if (!blocked && !problem.convolution!.crossPower && points <= DIRECT) return directConvolution(shape, signal, kernel);
  const isAbsent = (at: readonly number[]) => binOf(problem, at).some((k, axis) => inBlock(frequency[axis]!, k));
  const weight = (bin: readonly number[]) => (isAbsent(bin) ? 0 : 1);
  return spectralConvolution(shape, signal, kernel, blocked ? weight : undefined);
}

/** The bin that memory has: of reals, those over the half are conjugates of others. */
function binOf({ transform, size, omit }: Problem, at: readonly number[]): readonly number[] {
  if (transform[0] !== 'r2c' || 2 * at[0]! <= size[0]!) return at;
  return at.map((k, axis) => (omit[axis] ? k : (size[axis]! - k) % size[axis]!));
}

function inBlock(block: Block | null, k: number): boolean {
  return block !== null && k >= block.from && k < block.to;
}

const ONE: Float64Array = Float64Array.of(1);

/** @param step from one number of the reference to the next. */
function errorOf(
  y: Edge,
  { hi, lo }: { readonly hi: Float64Array; readonly lo: Float64Array },
  scale: number,
  step: number,
  gate = ONE,
): number {
  const [want, low, got]: [number[], number[], number[]] = [[], [], []];
  const all: number[] = [];
  y.elements.forEach(({ at, absent, coordinates }, n) => {
    const by = scale * gateAt(gate, coordinates);
    for (let part = 0; part < y.parts; part++) {
      const place = step * (y.parts * n + part);
      all.push(hi[place]! * by);
      if (absent) continue;
      got.push(y.get(at, part));
      want.push(hi[place]! * by);
      low.push(lo[place]! * by);
    }
  });
  const norm = (values: readonly number[]) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  // Rounding spreads over all results alike: those that are left answer for their part of it.
  const share = norm(all) * Math.sqrt(want.length / all.length);
  return norm(want) > 0 ? relativeError(got, want, low) * (norm(want) / share) : 0;
}

/** Three transforms, each of which may be so far off: those of the signal and the kernel, and the one back. */
function allowedOf({ size, omit, precision, storage, edgeStorage }: Problem, launches: number): number {
  const stored = [edgeStorage, ...(launches > 1 ? [storage] : []), precision];
  const narrowest = stored.includes('half') ? 'half' : stored.includes('single') ? 'single' : 'double';
  const axes = size.filter((_, axis) => !omit[axis]);
  const points = axes.reduce((a, b) => a * b, 1);
  return 3 * tolerance(narrowest, points, hasLargePrimes(axes) ? 5 : 1);
}

const LENGTHS = [1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 31, 32, 37, 49, 64, 74, 149] as const;
const LONG = [60, 100, 127, 128, 243, 256, 512, 1000, 1009, 1024, 2000, 2048, 4096, 8192] as const;

/** A random problem with a convolution. @param most points of each of its systems, at most. */
export function convolutionProblem(
  random: Random,
  precisions: readonly ('single' | 'double')[],
  most = random.pick([150, 300, MOST]),
): ProblemInput {
  const one = (of: number) => random.integer(0, of) === 0;
  const size: number[] = [];
  const lengths = most > MOST ? [...LENGTHS, ...LONG] : LENGTHS;
  for (let left = most; size.length < random.pick([1, 1, 2, 2, 3, 4]); ) {
    const length = random.pick(lengths.filter((n) => n <= left));
    size.push(length);
    left = Math.floor(left / length);
  }
  const real = one(2);
  const matrix = random.pick([1, 1, 1, 2, 3] as const);
  const inPlace = one(3);
  const own = random.pick(
    matrix > 1 ? (['per-batch'] as const) : (['per-coordinate', 'per-batch', 'per-both'] as const),
  );
  const kernels = one(2) ? own : inPlace ? 1 : random.pick([1, 1, 2, 3]);
  const leftBatches = random.pick([1, 1, 1, 2, 5]);
  const batches = random.pick([1, 1, 2, 3]);
  const coordinates = matrix > 1 ? matrix : random.pick([1, 1, 2]);
  const omit = size.map((_, axis) => size.length > 1 && axis === size.length - 1 && one(5));
  const counts = [leftBatches, ...size, coordinates, batches];
  const strided = !real && !inPlace && one(2);
  const bins = (n: number, axis: number) => (real && axis === 0 ? Math.floor(n / 2) + 1 : n);
  const blocks = () => ({
    space: size.map((n) => (one(1) ? null : blockIn(random, n))),
    ...(one(1) ? { frequency: size.map((n, axis) => (omit[axis] ? null : blockIn(random, bins(n, axis)))) } : {}),
  });
  const problem: ProblemInput = {
    ...{ size, leftBatches, batches, coordinates, omit },
    transform: real ? 'r2c' : 'c2c',
    precision: random.pick(precisions),
    ...(one(5) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    placement: inPlace ? 'in-place' : 'out-of-place',
    layout: real || inPlace ? 'interleaved' : random.pick(['interleaved', 'planar'] as const),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]) },
    ...(strided ? { strides: { input: stridesOf(random, counts), output: resultStrides(random, counts) } } : {}),
    ...(strided ? { offsets: { input: 3, output: 2 } } : {}),
    ...(one(2) ? { zeroPadding: blocks() } : {}),
    convolution: {
      ...{ kernels, matrix },
      symmetric: matrix > 1 && one(1),
      conjugate: random.pick(['none', 'signal', 'kernel'] as const),
      crossPower: one(6),
      kernelSpectrum: one(2) ? 'user' : 'prepared',
    },
  };
  // The batches of all kernels lie behind one another.
  return withReversed(random, problem, (_, d) => d < counts.length - 1);
}

/** With gaps, the batch the slowest: kernels go on where batches end. */
function resultStrides(random: Random, counts: readonly number[]): number[] {
  const strides = stridesOf(random, counts.slice(0, -1));
  const last = counts.slice(0, -1).reduce((end, count, d) => Math.max(end, count * strides[d]!), 1);
  return [...strides, last + random.integer(0, 2)];
}
