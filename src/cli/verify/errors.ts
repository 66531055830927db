/**
 * Errors of transforms of random numbers, in the L2 norm of all results: relative to the same transform in double-double. Double-doubles are compared
 * with sums in fixed point at some of the bins.
 */
import { setImmediate } from 'node:timers/promises';
import type { Device, Plan, ProblemInput } from '../../index.ts';
import { exact, FRACTION_BITS } from '../../numeric/exact.ts';
import { fixedResult } from '../../numeric/fixed-transforms.ts';
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { logicalLength, type Problem } from '../../problem/index.ts';
import type { TransformKind } from '../../problem/problem.ts';
import type { Peers } from './peers/index.ts';
import { lineOf, realsOnSide, type Task, type WidePeer } from './peers/peer.ts';
import { pointsOfSize, type SuitePrecision } from './suite.ts';

type TaskDirection = Task['direction'];

/** Relative errors of one transform over some sets of random numbers. */
export interface Measured {
  readonly direction: TaskDirection;
  readonly average: number;
  readonly maximum: number;
  /** The largest error that is allowed. */
  readonly bound: number;
  /** The errors of other libraries for the same data. */
  readonly peers: readonly PeerMeasured[];
}

export interface PeerMeasured {
  readonly name: string;
  readonly average: number;
  readonly maximum: number;
  /** The ratio of the own average to the other library's; undefined if both are 0. */
  readonly ratio?: number;
}

/** Unit roundoffs, in which the accuracy of omnifft is stated. */
const UNITS = { half: 2 ** -11, single: 2 ** -24, double: 2 ** -53, 'double-double': 2 ** -104 } as const;
/** The unit roundoff of doubles that are pairs of singles. */
const PAIRED = 2 ** -44;

/** The bound on the error: 1.2 u √(1 + log₂ N), where N is the product of the axes' logical lengths; five times that if an axis has large primes. */
export function errorBound(
  transform: TransformKind,
  size: readonly number[],
  precision: SuitePrecision,
  { profile }: Device,
): number {
  const paired = precision === 'double' && profile.precisions?.includes('double') === false;
  const lengths = size.map((n, axis) =>
    Math.max(1, logicalLength(transform === 'r2c' && axis > 0 ? 'c2c' : transform, n)),
  );
  const points = pointsOfSize(lengths);
  const factor = lengths.some((n) => largestPrimeFactor(n) > 13) ? 5 : 1;
  return factor * 1.2 * (paired ? PAIRED : UNITS[precision]) * Math.sqrt(1 + Math.log2(points));
}

/** Random numbers from −1 to 1 in the arrays of a precision, and as double-doubles. */
function randomNumbers(count: number, precision: SuitePrecision): { data: never; words: Float64Array } {
  const words = new Float64Array(2 * count);
  if (precision === 'double-double') {
    for (let n = 0; n < count; n++) {
      words[2 * n] = 2 * Math.random() - 1;
      words[2 * n + 1] = words[2 * n]! * 2 ** -54 * (2 * Math.random() - 1);
    }
    return { data: words as never, words };
  }
  const make = { half: Uint16Array, single: Float32Array, double: Float64Array }[precision];
  const data = new make(count);
  for (let n = 0; n < count; n++) {
    const value = 2 * Math.random() - 1;
    data[n] = precision === 'half' ? halfBits(value) : value;
    words[2 * n] = precision === 'half' ? halfValue(data[n]!) : data[n]!;
  }
  return { data: data as never, words };
}

/** The bits of a half near a number, which is not 0, not subnormal, and at most 1 in size. */
function halfBits(value: number): number {
  const exponent = Math.max(-14, Math.min(-1, Math.floor(Math.log2(Math.abs(value)))));
  const mantissa = Math.min(1023, Math.max(0, Math.round((Math.abs(value) / 2 ** exponent - 1) * 1024)));
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | mantissa;
}

function halfValue(bits: number): number {
  const [exponent, mantissa] = [(bits >> 10) & 31, bits & 1023];
  const size =
    exponent === 0
      ? mantissa * 2 ** -24
      : exponent === 31
        ? mantissa > 0
          ? Number.NaN
          : Number.POSITIVE_INFINITY
        : (1 + mantissa / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** The relative error ‖actual − (hi + lo)‖ / ‖hi‖; infinite if a result is NaN. */
function relative(actual: readonly number[], hi: readonly number[], lo: readonly number[]): number {
  let [error, norm] = [0, 0];
  actual.forEach((value, n) => {
    error += (value - hi[n]! - lo[n]!) ** 2;
    norm += hi[n]! ** 2;
  });
  return Number.isFinite(error) ? Math.sqrt(error / norm) : Number.POSITIVE_INFINITY;
}

/** The number of bins in which a double-double transform is compared; short transforms are compared in all bins. */
const BINS = 12;

/** A tensor in fixed point; without `im` it is real. */
interface FixedTensor {
  readonly re: readonly bigint[];
  readonly im: readonly bigint[] | undefined;
}

/**
 * One bin of the forward transform of a tensor, axis by axis: lines along the fastest axis are reduced to their bin, and these bins are transformed
 * along the other axes likewise.
 */
function fixedBin(
  kind: TransformKind,
  size: readonly number[],
  { re, im }: FixedTensor,
  bin: readonly number[],
): readonly [re: bigint, im: bigint] {
  const [length, ...others] = size as [number, ...number[]];
  const lines = Array.from({ length: re.length / length }, (_, n) => {
    const line = (all: readonly bigint[]) => all.slice(n * length, (n + 1) * length);
    return fixedResult(kind, line(re), im && line(im), bin[0]!);
  });
  if (others.length === 0) return lines[0]!;
  const complex = kind === 'c2c' || kind === 'r2c';
  const along: FixedTensor = {
    re: lines.map(([part]) => part),
    im: complex ? lines.map(([, part]) => part) : undefined,
  };
  return fixedBin(complex ? 'c2c' : kind, others, along, bin.slice(1));
}

/** The relative error of a forward transform. @param input the transformed numbers in fixed point @param at gives a number of the result */
function fixedError(
  { size, transform }: Problem,
  input: readonly bigint[],
  bins: readonly number[],
  at: (n: number) => bigint,
): number {
  const kind = transform[0]!;
  const parts = kind === 'c2c' ? 2 : 1;
  const tensor: FixedTensor = {
    re: input.filter((_, i) => i % parts === 0),
    im: parts === 2 ? input.filter((_, i) => i % 2 === 1) : undefined,
  };
  const results = size.map((n, axis) => (kind === 'r2c' && axis === 0 ? Math.floor(n / 2) + 1 : n));
  const complex = kind === 'c2c' || kind === 'r2c';
  let [error, norm] = [0, 0];
  for (const k of bins) {
    let left = k;
    const bin = results.map((n) => {
      const index = left % n;
      left = (left - index) / n;
      return index;
    });
    const want = fixedBin(kind, size, tensor, bin);
    for (let part = 0; part < (complex ? 2 : 1); part++) {
      const off = at(complex ? 2 * k + part : k) - want[part]!;
      error += fixedToNumber(off) ** 2;
      norm += fixedToNumber(want[part]!) ** 2;
    }
  }
  return Math.sqrt(error / norm);
}

/** The indices of the elements that are compared. */
function someBins(results: number): number[] {
  if (results <= BINS) return Array.from({ length: results }, (_, k) => k);
  return Array.from({ length: BINS }, () => Math.floor(Math.random() * results));
}

/** The double-double at an index, in fixed point. */
function fixedAt(words: Float64Array, n: number): bigint {
  return exact(words[2 * n]!).fixed + exact(words[2 * n + 1]!).fixed;
}

function fixedToNumber(fixed: bigint): number {
  return Number(fixed >> BigInt(FRACTION_BITS - 180)) * 2 ** -180;
}

/** The error relative to the same transform in double-double on the CPU. */
function referenceError(want: Float64Array, result: ArrayLike<number>, precision: SuitePrecision): number {
  const actual = Array.from(result, precision === 'half' ? halfValue : (value) => value);
  return relative(
    actual,
    actual.map((_, n) => want[2 * n]!),
    actual.map((_, n) => want[2 * n + 1]!),
  );
}

/** The fewest numbers of a trial, which is filled by several transforms if these are shorter: the error of two or three numbers is left to chance. */
const SHORT = 64;

/** A trial: one transform, or several in succession. */
export interface Trial {
  readonly transform: TransformKind;
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: SuitePrecision;
}

/** The rounding error of the reference. A smaller error counts as none, and no ratio to it is formed. */
const REFERENCE_ERROR = { half: 2 ** -96, single: 2 ** -96, double: 2 ** -96, 'double-double': 0 } as const;

/** The result of one trial: our error, and the errors of other libraries by their names. */
type Errors = ReadonlyMap<string, number>;
const OURS = '';

/**
 * Measures both directions of a transform; of double-doubles the forward direction only.
 * @param cpu the device that computes the reference
 * @param rounds the number of sets of random numbers
 */
export async function measureErrors(
  device: Device,
  cpu: Device,
  trial: Trial,
  rounds: number,
  peers: Pick<Peers, 'single' | 'double' | 'wide'> = { single: [], double: [], wide: [] },
): Promise<Measured[]> {
  const { transform, size, batches, precision } = trial;
  const problem = { size, batches, transform, precision } as ProblemInput;
  const wide = { ...problem, precision: 'double-double' } as ProblemInput;
  const directions: readonly TaskDirection[] = precision === 'double-double' ? ['forward'] : ['forward', 'inverse'];
  const plan: Plan = await device.plan(problem);
  const reference: Plan | undefined = precision === 'double-double' ? undefined : await cpu.plan(wide);
  try {
    const measured: Measured[] = [];
    for (const direction of directions) {
      const task = { ...trial, direction };
      const once = (): Promise<Errors> =>
        reference ? narrowErrors(plan, reference, task, peers) : wideErrors(plan, task, peers.wide);
      const errors: Errors[] = [];
      const times = Math.ceil(SHORT / (pointsOfSize(size) * batches));
      for (let round = 0; round < rounds; round++) {
        // A plan on the calling thread resolves at once; without this wait, timers and signals would never be handled.
        await setImmediate();
        errors.push(await rootMeanSquares(times, once));
      }
      measured.push({
        direction,
        bound: errorBound(transform, size, precision, device),
        ...summary(errors, precision),
      });
    }
    return measured;
  } finally {
    plan.destroy();
    reference?.destroy();
  }
}

async function runPlan(plan: Plan, direction: TaskDirection, input: object): Promise<Float64Array> {
  return (plan[direction] as (input: object) => Promise<Float64Array>).call(plan, input);
}

/** The errors in half, single or double precision. */
async function narrowErrors(plan: Plan, reference: Plan, task: Task, peers: Pick<Peers, 'single' | 'double'>) {
  const { direction, precision } = task;
  const { data, words } = randomNumbers(realsOnSide(task, 'read'), precision);
  const want = await runPlan(reference, direction, words);
  const errors = new Map([[OURS, referenceError(want, await runPlan(plan, direction, data), precision)]]);
  if (precision === 'single' || precision === 'double') {
    for (const peer of peers[precision].filter((one) => one.has(task))) {
      errors.set(peer.name, referenceError(want, await peer.run(task, data), precision));
    }
  }
  return errors;
}

/** The errors in double-double, forward, of one of the transforms. Peers are only given what fits their formats. */
async function wideErrors(plan: Plan, task: Task, peers: readonly WidePeer[]) {
  const { data, words } = randomNumbers(realsOnSide(task, 'read'), task.precision);
  const result = await runPlan(plan, 'forward', data);
  const line = Math.floor(Math.random() * task.batches);
  const [read, written] = [lineOf(task, 'read'), lineOf(task, 'written')];
  const all = Array.from({ length: words.length / 2 }, (_, n) => fixedAt(words, n));
  const own = (numbers: readonly bigint[]) => numbers.slice(line * read, (line + 1) * read);
  const complex = task.transform === 'c2c' || task.transform === 'r2c';
  const bins = someBins(written / (complex ? 2 : 1));
  const error = (numbers: readonly bigint[], at: (n: number) => bigint) =>
    fixedError(plan.problem, own(numbers), bins, (n) => at(line * written + n));
  const errors = new Map([[OURS, error(all, (n) => fixedAt(result, n))]]);
  for (const peer of peers.filter((one) => one.has(task))) {
    const rounded = all.map((value) => peer.round(value));
    const theirs = await peer.run(task, rounded);
    errors.set(
      peer.name,
      error(rounded, (n) => theirs[n]!),
    );
  }
  return errors;
}

async function rootMeanSquares(count: number, once: () => Promise<Errors>): Promise<Errors> {
  const squares = new Map<string, number>();
  for (let n = 0; n < count; n++) {
    for (const [name, error] of await once()) squares.set(name, (squares.get(name) ?? 0) + error ** 2);
  }
  return new Map([...squares].map(([name, sum]) => [name, Math.sqrt(sum / count)]));
}

function summary(rounds: readonly Errors[], precision: SuitePrecision): Omit<Measured, 'direction' | 'bound'> {
  const of = (name: string) => {
    const errors = rounds.map((round) => round.get(name)!);
    return {
      average: errors.reduce((sum, error) => sum + error, 0) / errors.length,
      maximum: errors.reduce((most, error) => Math.max(most, error)),
    };
  };
  const ours = of(OURS);
  const peers = [...rounds[0]!.keys()].filter((name) => name !== OURS);
  return {
    ...ours,
    peers: peers.map((name): PeerMeasured => {
      const theirs = of(name);
      return {
        name,
        ...theirs,
        ...(theirs.average > REFERENCE_ERROR[precision] ? { ratio: ours.average / theirs.average } : {}),
      };
    }),
  };
}
