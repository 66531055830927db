/** Bands on trial: any problem, random weights, a gate before the transform and gains behind the sums; every gap looked at. */

import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { ddMulComplex } from '../../src/numeric/double-double/doubledouble.ts';
import { addComplexDd, mulReal } from '../reference/complex-dd.ts';
import { referenceTransform } from '../reference/transform.ts';
import { hasLargePrimes, relativeError, type Tried, tolerance, unitRoundoff } from './accuracy.ts';
import { type Random, uniform } from './random.ts';
import { bitsOf, changed, Edge, poisoned, stridesOf } from './trial.ts';

/** What of a plan is called here; its types follow from the problem, which is any. */
interface Banded {
  readonly problem: Problem;
  readonly input: { readonly length: number };
  readonly output: { readonly length: number };
  forward(x: unknown, y: unknown, options?: object): Promise<unknown>;
  toJSON(): { directions: readonly { launches: readonly { title: string }[] }[] };
  destroy(): void;
}

/** Plans a problem whose callbacks load from the arrays `gate` and `gain`, if it has any. */
export async function triedBands(device: Device, input: ProblemInput, random: Random): Promise<Tried> {
  const plan = (await device.plan({ ...input, debug: true } as ProblemInput)) as unknown as Banded;
  const { problem } = plan;
  const x = new Edge(problem, 'input', poisoned(problem, 'input', plan.input.length));
  const y = new Edge(problem, 'output', poisoned(problem, 'output', plan.output.length));
  const signal = x.fill(random);
  const arrays = Object.fromEntries(
    Object.entries(problem.callbacks?.arrays ?? {}).map(([name, { length }]) => [
      name,
      Float32Array.from(uniform(random, length, 'single')),
    ]),
  );
  const [before, after] = [bitsOf(x.arrays), bitsOf(y.arrays)];
  await plan.forward(x.given, y.given, { arrays });
  const launches = plan.toJSON().directions[0]!.launches.map(({ title }) => title);
  plan.destroy();
  const { hi, lo, size } = sumsOf(problem, x.parts === 2 ? signal : withZeros(signal), arrays);
  const normOf = (values: readonly number[]) => Math.hypot(...values);
  return {
    what: `${JSON.stringify({ ...problem, callbacks: null, tuning: input.tuning })}: ${launches.join('; ')}`,
    error:
      (relativeError(
        y.elements.map(({ at }) => y.get(at, 0)),
        hi,
        lo,
      ) *
        Math.max(normOf(hi), Number.MIN_VALUE)) /
      normOf(size),
    allowed: allowedOf(problem),
    damage: [
      ...changed('the signal', x.arrays, before, []),
      ...changed('a gap of the result', y.arrays, after, y.owned(false)),
    ],
  };
}

export function withZeros(reals: Float64Array): Float64Array {
  return Float64Array.from({ length: 2 * reals.length }, (_, n) => (n % 2 ? 0 : reals[n / 2]!));
}

/** The sums of powers in twice the precision of doubles, times the gains, and what they would be if nothing cancelled and all bins had the mean power. */
export function sumsOf(problem: Problem, x: Float64Array, { gate, gain }: Readonly<Record<string, Float32Array>>) {
  const { leftBatches, coordinates, batches, bands, scale } = problem;
  const [points] = problem.size as [number];
  const gated = gate ? x.map((value, n) => value * gate[Math.floor(n / 2 / leftBatches) % points]!) : x;
  const bins = referenceTransform({ size: problem.size, leftBatches, coordinates, batches }, gated);
  const lines = coordinates * batches;
  const mean = bins.hi.reduce((total, part) => total + part ** 2, 0) / (points * lines * leftBatches);
  const hi: number[] = [];
  const lo: number[] = [];
  const size: number[] = [];
  const [a, b, power, sum] = [1, 2, 3, 4].map(() => new Float64Array(4)) as [Float64Array, ...Float64Array[]];
  for (let line = 0; line < lines; line++)
    for (const [number, { from, weights }] of bands!.entries())
      for (let left = 0; left < leftBatches; left++) {
        sum!.fill(0);
        weights.forEach((weight, k) => {
          const s = 2 * (left + leftBatches * (from + k + points * line));
          const [re, im] = [s, s + 1].map((n) => [bins.hi[n]!, bins.lo[n]!]) as [number[], number[]];
          a.set([...re, ...im]);
          b!.set([...re, -im[0]!, -im[1]!]);
          ddMulComplex(power!, 0, a, 0, b!, 0);
          const rounded = problem.precision === 'single' ? Math.fround(weight) : weight;
          for (const by of [rounded, scale.forward, scale.forward]) mulReal(power!, 0, power!, 0, by, 0);
          addComplexDd(sum!, 0, sum!, 0, power!, 0);
        });
        const own = gain ? gain[(number + Math.floor(line / coordinates)) % gain.length]! : 1;
        hi.push(sum![0]! * own);
        lo.push(sum![1]! * own);
        const all = weights.reduce((total, weight) => total + Math.abs(weight), 0);
        size.push(all * own * mean * scale.forward ** 2 || Number.MIN_VALUE);
      }
  return { hi, lo, size };
}

/** A power is twice as far off as its bin, and a bin may be larger than the mean. */
function allowedOf({ size, precision, edgeStorage }: Problem): number {
  const narrow = [precision, edgeStorage].includes('single') ? 'single' : 'double';
  const [points] = size as [number];
  const own = 6 * tolerance(narrow, points, hasLargePrimes(size) ? 5 : 1) + unitRoundoff[narrow] * Math.sqrt(points);
  return edgeStorage === 'half' ? 4 * unitRoundoff.half : own;
}

/** Random bands of so many bins: some wide, some without weights. */
function randomBands(random: Random, bins: number) {
  const count = random.integer(1, 9);
  if (random.integer(0, 2) === 0) {
    const matrix = uniform(random, count * bins, 'single');
    for (let n = 0; n < count; n++) {
      const [from, to] = [random.integer(0, bins), random.integer(0, bins)];
      for (let bin = 0; bin < bins; bin++) if (bin < from || bin >= to) matrix[n * bins + bin] = 0;
    }
    return matrix;
  }
  return Array.from({ length: count }, () => {
    const from = random.integer(0, bins - 1);
    const most = Math.min(bins - from, random.pick([1, 4, 12, bins]));
    return { from, weights: uniform(random, random.integer(1, most), 'single') };
  });
}

/** A random problem with bands. @param points of its axis */
export function bandsProblem(random: Random, precision: 'single' | 'double', points: number): ProblemInput {
  const one = (of: number) => random.integer(0, of) === 0;
  const real = one(1);
  const bins = real ? Math.floor(points / 2) + 1 : points;
  const [leftBatches, coordinates] = [random.pick([1, 1, 1, 3]), random.pick([1, 1, 2])];
  const batches = random.pick([1, 2, 5, 16, 33]);
  const bands = randomBands(random, bins);
  const count = Array.isArray(bands) ? bands.length : (bands as Float64Array).length / bins;
  const counts = (n: number) => [leftBatches, n, coordinates, batches];
  const gains = count + batches;
  return {
    ...{ size: [points], transform: real ? 'r2c' : 'c2c', directions: 'forward', precision, bands },
    ...{ leftBatches, coordinates, batches, scale: { forward: random.pick([1, 0.5]) } },
    // Halves have no room for the powers of long lines.
    ...(one(5) ? { edgeStorage: 'half', scale: { forward: 1 / Math.sqrt(points) } } : {}),
    ...(one(5) && precision === 'double' ? { edgeStorage: 'single' } : {}),
    ...(one(1)
      ? { strides: { input: stridesOf(random, counts(points)), output: stridesOf(random, counts(count)) } }
      : {}),
    ...(one(2) ? { offsets: { input: 3, output: 2 } } : {}),
    ...(one(1) ? { layout: { input: real ? 'interleaved' : random.pick(['interleaved', 'planar'] as const) } } : {}),
    ...(one(1) ? { callbacks: callbacksOf(random, points, gains, real) } : {}),
  } as ProblemInput;
}

function callbacksOf(random: Random, points: number, gains: number, real: boolean): ProblemInput['callbacks'] {
  const asks = random.integer(0, 1) === 1;
  return {
    forward: {
      load: (x, value, { axis }) => {
        const gate = x.load('gate', axis[0]!);
        return real ? x.mul(value, gate) : { re: x.mul(value.re, gate), im: x.mul(value.im, gate) };
      },
      // The same power, with or without numbers of the line.
      bin: (x, { re, im }, { batch }) => {
        const power = x.add(x.mul(re, re), x.mul(im, im));
        const gain = x.load('gain', batch);
        return asks ? x.select(x.less(gain, gain), gain, power) : power;
      },
      store: (x, sum, { axis, batch }) => x.mul(sum, x.load('gain', x.index.add(axis[0]!, batch))),
    },
    arrays: { gate: { type: 'f32', length: points }, gain: { type: 'f32', length: gains } },
  };
}
