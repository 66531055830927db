/** Times a problem on a device, beside a copy of as many bytes and, if requested, another library. Nothing is printed here. */

import { MOST_REPEATS } from '../engine/measuring/measure.ts';
import {
  type ComplexData,
  type Device,
  type DeviceMemory,
  FftError,
  type MeasureOptions,
  type Plan,
} from '../index.ts';
import { elementCount } from '../numpy/arrays/array.ts';
import {
  channelsOf,
  elementBytes,
  elementKind,
  keptBins,
  kernelCounts,
  kernelsOfEach,
  type PlannedProblem,
  realBytes,
  resultSide,
  type Side,
  tensorShape,
  wordsOf,
} from '../problem/index.ts';

export type PeerName = NonNullable<MeasureOptions['peer']>;

export interface Measurement {
  readonly direction: 'forward' | 'inverse' | 'convolve';
  /** The median and the shortest time in seconds of one transform of the whole tensor. */
  readonly seconds: number;
  readonly best: number;
  /** The number of samples that the median is taken of, and the number of transforms in each sample. */
  readonly samples: number;
  readonly calls: number;
  /**
   * 10⁹ operations per second, counting 5 N log₂ N for each transform, half of that for reals and twice for a convolution, whatever the algorithm
   * does.
   */
  readonly gflops: number;
  /** 10⁹ bytes per second, counting bytes read and written. */
  readonly gigabytes: number;
  /** The time of a copy of as many bytes as a fraction of the transform's time; absent if there is no memory for a copy. */
  readonly copyFraction?: number;
  /** The other library's median in seconds, and its ratio to the own median: above 1 if omnifft is faster. */
  readonly peer?: { readonly name: PeerName; readonly seconds: number; readonly ratio: number };
}

/** The most milliseconds to spend on each subject, and the fewest samples to take. */
const BUDGET_MS = 1000;
const SAMPLES = 51;
const FEWEST_SAMPLES = 5;
/** The least milliseconds of a sample, so that the clock's resolution does not matter. */
const SAMPLE_MS = 5;
/** The most elements that are written at a time. */
const MOST_FILLED = 2 ** 20;

/** Times a problem. @throws FftError errors of planning and measuring; with a peer also `device-unavailable` and `unsupported-feature` */
export async function benchmark(device: Device, problem: PlannedProblem, peer?: PeerName): Promise<Measurement> {
  const direction = problem.convolution ? 'convolve' : problem.directions === 'inverse' ? 'inverse' : 'forward';
  const { points, length } = tensorExtent(problem);
  const kernels = problem.convolution ? kernelsOfEach(problem.convolution) : 1;
  // A convolution has one forward transform, and an inverse one for each kernel.
  const passes = problem.convolution ? 1 + kernels : 1;
  const operations = passes * (elementKind(problem, 'input') === 'real' ? 2.5 : 5);
  const moved = bytesOfSide(problem, direction === 'inverse' ? 'output' : 'input') + writtenBytes(problem, direction);
  const copy = await copyTime(device, problem, moved / 2);
  const plan = await device.plan(problem);
  const memory: DeviceMemory[] = [];
  try {
    const [read, written]: [Side, Side] = [
      direction === 'inverse' ? 'output' : 'input',
      writtenSide(problem, direction),
    ];
    const input = allocate(device, plan, read, memory);
    const output = problem.placement === 'in-place' ? input : allocate(device, plan, written, memory, kernels);
    // Zeros stay finite in place, however often they are transformed.
    await fillMemory(device, problem, memory, problem.placement === 'in-place' ? 0 : 1);
    const kernel = problem.convolution ? await zeroKernel(device, plan) : undefined;
    if (kernel) memory.push(kernel);
    const operands = kernel ? { kernel } : {};
    const time = (repeats: number, of?: PeerName) =>
      plan.measure(direction, { input, output, ...operands, repeats, ...(of === undefined ? {} : { peer: of }) });
    const subjects = [(repeats: number) => time(repeats)];
    if (peer !== undefined) subjects.push((repeats: number) => time(repeats, peer));
    const [own, other] = await sampleTimes(subjects, BUDGET_MS);
    const seconds = median(own!.times);
    const theirs = other && median(other.times);
    return {
      ...{ direction, seconds, best: own!.times[0]!, samples: own!.times.length, calls: own!.repeats },
      gflops: (operations * points * Math.log2(length)) / seconds / 1e9,
      gigabytes: moved / seconds / 1e9,
      ...(copy === undefined ? {} : { copyFraction: copy / seconds }),
      ...(peer === undefined || theirs === undefined
        ? {}
        : { peer: { name: peer, seconds: theirs, ratio: theirs / seconds } }),
    };
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

/** The side that describes the result's layout. The result of a convolution of reals lies as its signal does. */
function writtenSide(problem: PlannedProblem, direction: Measurement['direction']): Side {
  if (direction === 'convolve') return resultSide(problem);
  return direction === 'forward' ? 'output' : 'input';
}

function writtenBytes(problem: PlannedProblem, direction: Measurement['direction']): number {
  return (
    bytesOfSide(problem, writtenSide(problem, direction)) *
    (problem.convolution ? kernelsOfEach(problem.convolution) : 1)
  );
}

/** Allocates the arrays of a side. @param times the number of tensors */
function allocate(device: Device, plan: Plan, side: Side, memory: DeviceMemory[], times = 1): ComplexData {
  const planar = elementKind(plan.problem, side) === 'complex' && plan.problem.layout[side] === 'planar';
  const part = () => {
    const made = device.alloc((times * plan[side].bytes) / (planar ? 2 : 1));
    memory.push(made);
    return made;
  };
  return planar ? { re: part(), im: part() } : part();
}

/** A prepared kernel of zeros. */
export async function zeroKernel(device: Device, plan: Plan): Promise<DeviceMemory> {
  const { transform, size, precision, edgeStorage, layout } = plan.problem;
  const counts = kernelCounts(plan.problem);
  const layer = channelsOf(plan.problem) !== null;
  const numbers = elementCount(layer ? keptBins(plan.problem) : size) * counts.coordinates * counts.batches;
  const real = transform[0] === 'r2c';
  const planes = real || layout.input !== 'planar' ? 1 : 2;
  const bytes = (realBytes(edgeStorage) * numbers * (real && !layer ? 1 : 2)) / planes;
  const parts = Array.from({ length: planes }, () => device.alloc(bytes));
  try {
    await fillMemory(device, { precision }, parts, 0);
    return await plan.prepareKernel((planes === 2 ? { re: parts[0], im: parts[1] } : parts[0]) as never);
  } finally {
    for (const part of parts) part.free();
  }
}

/** A copy is a plan that transforms no axis. */
function planCopy(device: Device, { precision }: Pick<PlannedProblem, 'precision'>, points: number): Promise<Plan> {
  return device.plan({ size: [points], omit: [true], precision, directions: 'forward' });
}

/** Fills device memory with numbers up to an amplitude. They are copied on the device, because host code cannot access the memory of every device. */
export async function fillMemory(
  device: Device,
  problem: Pick<PlannedProblem, 'precision'>,
  memory: readonly DeviceMemory[],
  amplitude: number,
): Promise<void> {
  const bytes = 2 * realBytes(problem.precision);
  const words = wordsOf(problem.precision);
  for (const part of memory) {
    const elements = Math.floor(part.bytes / bytes);
    const each = Math.min(MOST_FILLED, elements);
    if (each === 0) continue;
    const copy = await planCopy(device, problem, each);
    const length = 2 * words * each;
    // The low part of a double-double may be 0.
    const numbers = (bytes === 8 ? new Float32Array(length) : new Float64Array(length)).map((_, n) =>
      n % words === 0 ? amplitude * (Math.random() - 0.5) : 0,
    );
    const some = device.alloc(each * bytes);
    try {
      await copy.forward(numbers, some);
      for (let at = 0; at < elements; at += each) {
        // The last copy may overlap the one before.
        const output = Math.min(at, elements - each);
        await copy.enqueue('forward', { input: some, output: part, offsets: { output } });
      }
    } finally {
      some.free();
      copy.destroy();
    }
  }
}

/** Seconds that the device takes to copy `bytes` bytes; undefined if its memory cannot hold them twice. */
export async function copyTime(
  device: Device,
  problem: Pick<PlannedProblem, 'precision'>,
  bytes: number,
): Promise<number | undefined> {
  const points = Math.max(1, Math.floor(bytes / (2 * realBytes(problem.precision))));
  try {
    const plan = await planCopy(device, problem, points);
    const memory: DeviceMemory[] = [];
    try {
      const [input, output] = [allocate(device, plan, 'input', memory), allocate(device, plan, 'output', memory)];
      await fillMemory(device, problem, memory, 1);
      const [result] = await sampleTimes([(repeats) => plan.measure('forward', { input, output, repeats })], BUDGET_MS);
      return median(result!.times);
    } finally {
      for (const part of memory) part.free();
      plan.destroy();
    }
  } catch (error) {
    if (error instanceof FftError && (error.code === 'out-of-memory' || error.code === 'device-limit'))
      return undefined;
    throw error;
  }
}

/**
 * Times several subjects in turn.
 * @param subjects functions that run a subject the given number of times and resolve to the milliseconds of one run.
 * @param budget the most milliseconds for each subject, unless the fewest samples take longer.
 * @returns for each subject the seconds of one run, ascending, and the number of runs in a sample.
 */
export async function sampleTimes(
  subjects: readonly ((repeats: number) => Promise<number>)[],
  budget: number,
): Promise<{ times: number[]; repeats: number }[]> {
  const results: { times: number[]; repeats: number }[] = [];
  for (const subject of subjects) {
    // The first run wakes the device; further ones find how many runs make a sample.
    await subject(1);
    const wanted = Math.ceil(SAMPLE_MS / (await subject(3)));
    results.push({ times: [], repeats: Math.max(1, Math.min(wanted, MOST_REPEATS)) });
  }
  const begin = performance.now();
  const enough = (round: number) =>
    round >= SAMPLES || (round >= FEWEST_SAMPLES && performance.now() - begin > budget * subjects.length);
  for (let round = 0; !enough(round); round++) {
    for (const [n, subject] of subjects.entries()) {
      const { times, repeats } = results[n]!;
      times.push((await subject(repeats)) / 1000);
    }
  }
  for (const { times } of results) times.sort((a, b) => a - b);
  return results;
}

/** The median of sorted times. @param times ascending */
export function median(times: readonly number[]): number {
  return times[Math.floor(times.length / 2)]!;
}

/** Bytes of the elements of one side. */
export function bytesOfSide(problem: PlannedProblem, side: Side): number {
  return elementCount(tensorShape(problem, side)) * elementBytes(problem, side);
}

/** Points of the whole tensor, and the length of one transform over all its axes. */
export function tensorExtent(problem: PlannedProblem): { points: number; length: number } {
  return {
    points: elementCount(tensorShape(problem, 'input')),
    length: elementCount(problem.size.filter((_, axis) => !problem.omit[axis])),
  };
}
