/** Checks a subject against the DFT's own sum before it may be timed. */
import { fill, sample } from './data.ts';
import { hasReals, points, type Subject, type SumsKind, type Workload } from './subject.ts';

/** Up to this many points every bin is checked; above, a few. */
const fullCheckPoints = 64;
const sampledBins = 3;

/** Loads fresh data into the subject and compares bins. @throws Error naming the subject and the worst bin */
export async function check(subject: Subject, workload: Workload, seed: number): Promise<void> {
  const all = points(workload);
  const { batches = 1, expected, size, real } = workload;
  /** Bins of a transform, of `length` points. */
  const length = all / batches;
  const bins = expected?.count ?? (real ? Math.floor(size[0]! / 2) + 1 : length);
  const total = expected ? bins : bins * batches;
  const indices =
    total <= fullCheckPoints
      ? Array.from({ length: total }, (_, k) => k)
      : [1, ...Array.from({ length: sampledBins - 1 }, (_, n) => Math.floor(((sample(~seed, n) + 1) / 2) * total))];
  await subject.load(seed);
  const got = await subject.bins(indices);
  const data = dataOf(workload, seed);
  // A loose bound, three orders above rounding: it is wrong answers that are looked for here, accuracy has its own tests.
  const bound = (workload.precision === 'single' ? 1e-4 : 1e-12) * Math.sqrt(bins);
  indices.forEach((k, i) => {
    const [re, im] =
      expected?.at(data, k) ??
      (workload.sums
        ? directSum(data, workload.size, workload.sums, k)
        : directBin(data, workload, Math.floor(k / bins) * length + (k % bins)));
    const error = Math.hypot(re - got[2 * i]!, im - got[2 * i + 1]!);
    if (!(error <= bound)) {
      throw new Error(
        `${subject.name}, ${workload.size.join('×')} ${workload.precision}: bin ${k} is ${got[2 * i]}, ${got[2 * i + 1]} ` +
          `but the sum gives ${re}, ${im}`,
      );
    }
  });
}

/** The input as complex numbers. */
function dataOf(workload: Workload, seed: number): Float32Array | Float64Array {
  const count = points(workload);
  const make = (length: number) =>
    workload.precision === 'single' ? new Float32Array(length) : new Float64Array(length);
  const data = make(2 * count);
  if (!hasReals(workload)) {
    fill(data, seed);
    return data;
  }
  const reals = make(count);
  fill(reals, seed);
  reals.forEach((value, n) => {
    data[2 * n] = value;
  });
  return data;
}

/** What a real counts for in a sum along one axis of n points: FFTW's definitions. */
const WEIGHTS: Readonly<Record<SumsKind, (j: number, k: number, n: number) => number>> = {
  dct1: (j, k, n) => (j === 0 || j === n - 1 ? 1 : 2) * turned(j * k, 2 * n - 2),
  dct2: (j, k, n) => 2 * turned((2 * j + 1) * k, 4 * n),
  dct3: (j, k, n) => (j === 0 ? 1 : 2) * turned(j * (2 * k + 1), 4 * n),
  dct4: (j, k, n) => 2 * turned((2 * j + 1) * (2 * k + 1), 8 * n),
};

/** The cosine of so many parts of a turn. */
function turned(steps: number, of: number): number {
  return Math.cos((2 * Math.PI * (steps % of)) / of);
}

/** One sum of cosines along all axes, straight from the definition. */
function directSum(data: ArrayLike<number>, size: readonly number[], kind: SumsKind, k: number): [number, number] {
  let rest = k;
  let values = Float64Array.from({ length: data.length / 2 }, (_, j) => data[2 * j]!);
  for (const n of size) {
    const weights = Float64Array.from({ length: n }, (_, j) => WEIGHTS[kind](j, rest % n, n));
    // The fastest axis is summed up: what is left is one number for each line.
    values = Float64Array.from({ length: values.length / n }, (_, line) =>
      weights.reduce((sum, weight, j) => sum + weight * values[line * n + j]!, 0),
    );
    rest = Math.floor(rest / n);
  }
  return [values[0]!, 0];
}

/** One bin of a batched N-dimensional DFT, straight from the definition; exponent sign −1. */
export function directBin(data: ArrayLike<number>, { size }: Workload, bin: number): [number, number] {
  const length = size.reduce((product, n) => product * n, 1);
  const batch = Math.floor(bin / length);
  // The frequency along each axis, and that axis' roots of unity, walked with exact indices modulo n.
  let rest = bin % length;
  const axes = size.map((n) => {
    const frequency = rest % n;
    rest = Math.floor(rest / n);
    const angle = (-2 * Math.PI) / n;
    const roots = Float64Array.from({ length: 2 * n }, (_, i) =>
      i % 2 === 0 ? Math.cos(angle * ((frequency * (i / 2)) % n)) : Math.sin(angle * ((frequency * ((i - 1) / 2)) % n)),
    );
    return { n, roots };
  });
  const sum = (axis: number, offset: number): [number, number] => {
    const { roots } = axes[axis]!;
    const n = axes[axis]!.n;
    const stride = size.slice(0, axis).reduce((product, m) => product * m, 1);
    let re = 0;
    let im = 0;
    for (let j = 0; j < n; j++) {
      const at = offset + j * stride;
      const [x, y] = axis === 0 ? [data[2 * at]!, data[2 * at + 1]!] : sum(axis - 1, at);
      re += x * roots[2 * j]! - y * roots[2 * j + 1]!;
      im += x * roots[2 * j + 1]! + y * roots[2 * j]!;
    }
    return [re, im];
  };
  return sum(size.length - 1, batch * length);
}
