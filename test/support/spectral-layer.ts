/** Spectral layers on trial: any problem, random matrices and a random signal, every gap looked at. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { spectralLayer } from '../reference/spectral-layer.ts';
import { hasLargePrimes, relativeError, type Tried, tolerance, unitRoundoff } from './accuracy.ts';
import { fromHalf, toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';
import { bitsOf, blockIn, changed, Edge, poisoned, stridesOf } from './trial.ts';

/** What of a plan is called here; its types follow from the problem, which is any. */
interface Layer {
  readonly problem: Problem;
  readonly input: { readonly length: number };
  readonly output: { readonly length: number };
  prepareKernel(h: unknown): Promise<{ free(): void }>;
  convolve(x: unknown, kernel: unknown, y?: unknown): Promise<unknown>;
  toJSON(): { directions: readonly { direction: string; launches: readonly { title: string }[] }[] };
  destroy(): void;
}

/** A problem whose input side is the result. */
function resultOf(problem: Problem): Problem {
  const { strides, offsets, layout } = problem;
  const own = <T>({ output }: { output: T }) => ({ input: output, output });
  const coordinates = problem.convolution!.channels!.out;
  return {
    ...{ ...problem, coordinates, convolution: null },
    ...{ strides: own(strides), offsets: own(offsets), layout: own(layout) },
  };
}

/** Kept bins × in × out complex numbers, as they are in memory, and what they stand for. */
function matricesOf(problem: Problem, random: Random) {
  const { modes, channels } = problem.convolution!;
  const real = problem.transform[0] === 'r2c';
  const bins = modes!.reduce((all, count, axis) => all * (real && axis === 0 ? count : 2 * count), 1);
  const { edgeStorage, layout } = problem;
  const narrow = edgeStorage === 'half' || edgeStorage === 'single';
  const values = uniform(random, 2 * bins * channels!.in * channels!.out, narrow ? 'single' : 'double');
  const stored =
    edgeStorage === 'half'
      ? Uint16Array.from(values, toHalf)
      : edgeStorage === 'single'
        ? Float32Array.from(values)
        : Float64Array.from(values);
  const h = Float64Array.from(stored, (value) => (edgeStorage === 'half' ? fromHalf(value) : value));
  const parts = [0, 1].map((part) => stored.filter((_, n) => n % 2 === part));
  const ofUser = problem.convolution!.kernelSpectrum === 'user';
  const planar = !real && !ofUser && layout.input === 'planar';
  return { h, given: planar ? { re: parts[0], im: parts[1] } : stored };
}

/** Plans a layer, gives it random matrices, and a random signal. */
export async function triedLayer(device: Device, input: ProblemInput, random: Random): Promise<Tried> {
  const plan = (await device.plan({ ...input, debug: true } as ProblemInput)) as unknown as Layer;
  const { problem } = plan;
  const inPlace = problem.placement === 'in-place';
  const result = resultOf(problem);
  const x = new Edge(problem, 'input', poisoned(problem, 'input', plan.input.length));
  const y = new Edge(result, 'input', inPlace ? x.arrays : poisoned(result, 'input', plan.output.length));
  const signal = x.fill(random);
  const { h, given } = matricesOf(problem, random);
  const [before, after] = [bitsOf(x.arrays), bitsOf(y.arrays)];
  const ofUser = problem.convolution!.kernelSpectrum === 'user';
  const kernel = ofUser ? given : await plan.prepareKernel(given);
  await plan.convolve(x.given, kernel, ...(inPlace ? [] : [y.given]));
  if (!ofUser) (kernel as { free(): void }).free();
  const { launches } = plan.toJSON().directions.find(({ direction }) => direction === 'convolve')!;
  plan.destroy();
  const mine = y.owned(false);
  if (inPlace) for (const word of x.owned(true)[0]!) mine[0]!.add(word);
  return {
    what: `${JSON.stringify(input)}: ${launches.map(({ title }) => title).join('; ')}`,
    error: errorOf(
      y,
      problem,
      x.parts === 2 ? signal : Float64Array.from({ length: 2 * signal.length }, (_, n) => (n % 2 ? 0 : signal[n / 2]!)),
      h,
    ),
    allowed: allowedOf(problem),
    damage: [
      ...(inPlace ? [] : changed('the signal', x.arrays, before, [])),
      ...changed('a gap of the result', y.arrays, after, mine),
    ],
  };
}

function errorOf(y: Edge, problem: Problem, signal: Float64Array, h: Float64Array): number {
  const { size, leftBatches, batches, transform, convolution, scale } = problem;
  const { channels, modes, conjugate } = convolution!;
  const shape = { size, leftBatches, batches, channels: channels!, modes: modes!, conjugate };
  const { hi, lo } = spectralLayer({ ...shape, real: transform[0] === 'r2c' }, signal, h);
  const [want, low, got]: [number[], number[], number[]] = [[], [], []];
  y.elements.forEach(({ at, absent }, n) => {
    for (let part = 0; part < y.parts && !absent; part++) {
      got.push(y.get(at, part));
      want.push(hi[2 * n + part]! * scale.forward);
      low.push(lo[2 * n + part]! * scale.forward);
    }
  });
  return relativeError(got, want, low);
}

/** Transforms there and back, each of which may be so far off, and sums over channels. */
function allowedOf({ size, precision, storage, edgeStorage, convolution }: Problem): number {
  const stored = [edgeStorage, storage, precision];
  const narrowest = stored.includes('half') ? 'half' : stored.includes('single') ? 'single' : 'double';
  const points = size.reduce((a, b) => a * b, 1);
  const sums = unitRoundoff[narrowest] * Math.sqrt(convolution!.channels!.in);
  return 3 * tolerance(narrowest, points, hasLargePrimes(size) ? 5 : 1) + sums;
}

const LENGTHS = [1, 2, 3, 4, 5, 8, 9, 12, 15, 16, 17, 24, 31, 32, 37, 49, 60, 64, 74, 100, 128] as const;

/** A random layer. @param most points of each of its channels, at most. */
export function layerProblem(
  random: Random,
  precisions: readonly ('single' | 'double')[],
  most = random.pick([40, 150, 300]),
): ProblemInput {
  const one = (of: number) => random.integer(0, of) === 0;
  const real = one(1);
  const size: number[] = [];
  // One complex point has no two bins that are at different ends.
  for (let left = most; left > 1 && size.length < random.pick([1, 1, 2, 3]); ) {
    const length = random.pick(LENGTHS.filter((n) => n <= left && (n > 1 || (real && size.length === 0))));
    size.push(length);
    left = Math.floor(left / length);
  }
  const modes = size.map((n, axis) => {
    const all = Math.floor(n / 2) + (real && axis === 0 ? 1 : 0);
    return one(3) ? all : random.integer(1, all);
  });
  const inPlace = one(4);
  const from = random.integer(1, 7);
  const channels = { in: from, out: inPlace ? from : random.integer(1, 7) };
  const [leftBatches, batches] = [random.pick([1, 1, 1, 2, 5]), random.pick([1, 1, 2, 3, 5])];
  const counts = (count: number) => [leftBatches, ...size, count, batches];
  const strided = !inPlace && one(2);
  const strides = (count: number) => stridesOf(random, counts(count));
  return {
    ...{ size, leftBatches, batches, transform: real ? 'r2c' : 'c2c', precision: random.pick(precisions) },
    ...(one(5) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    placement: inPlace ? 'in-place' : 'out-of-place',
    layout: real || inPlace ? 'interleaved' : random.pick(['interleaved', 'planar'] as const),
    preserveInput: one(1),
    scale: { forward: random.pick([1, 1, 0.3]) },
    ...(strided ? { strides: { input: strides(channels.in), output: strides(channels.out) } } : {}),
    ...(strided ? { offsets: { input: 3, output: 2 } } : {}),
    ...(one(3) ? { zeroPadding: { space: size.map((n) => (one(1) ? null : blockIn(random, n))) } } : {}),
    convolution: {
      ...{ channels, modes },
      conjugate: random.pick(['none', 'none', 'signal', 'kernel'] as const),
      kernelSpectrum: one(3) ? 'user' : 'prepared',
    },
  } as ProblemInput;
}
