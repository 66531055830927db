/** Times one system of a benchmark suite: forward and inverse in place, with as many systems side by side as fill a buffer. */
import { type Device, type DeviceMemory, FftError, type Plan } from '../../index.ts';
import {
  elementKind,
  kernelsOfEach,
  normalizeProblem,
  type PlannedProblem,
  realBytes,
  resultSide,
  type TransformKind,
} from '../../problem/index.ts';
import { bytesOfSide, copyTime, fillMemory, median, sampleTimes, tensorExtent, zeroKernel } from '../benchmark.ts';
import { type BenchSuite, benchProblem, type System, systemsIn } from './suites.ts';

export interface Timed {
  readonly size: readonly number[];
  readonly transform: TransformKind;
  /** The number of systems in all buffers together. */
  readonly batches: number;
  /** Bytes of all buffers together. */
  readonly bytes: number;
  /** Median times in seconds of all systems for the forward and the inverse direction; absent for a convolution. */
  readonly forward?: number;
  readonly inverse?: number;
  /** Seconds of both directions together, or of the convolution. */
  readonly seconds: number;
  /** 10⁹ operations per second, counting 5 N log₂ N for each transform and half of that for reals, in both directions. */
  readonly gflops: number;
  /** 10⁹ bytes per second, counting bytes read and written, in both directions or in the convolution. */
  readonly gigabytes: number;
  /** `gigabytes` as a fraction of the bandwidth of a copy on the device; absent if there is no memory for a copy. */
  readonly copyFraction?: number;
  /** The score of VkFFT's samples: KiB of the buffer for each millisecond of both directions, as if all numbers were singles. */
  readonly score: number;
}

/** The time spent on the samples of each direction, in milliseconds. */
const BUDGET_MS = 250;

/** The bandwidth of copies on a device, measured once for sizes of about the same order. */
export class Copies {
  private readonly device: Device;
  private readonly known = new Map<string, number | undefined>();

  constructor(device: Device) {
    this.device = device;
  }

  /** The bandwidth of a copy of `bytes` bytes, in bytes read and written per second; undefined if there is no memory for it. */
  async rate(problem: Pick<PlannedProblem, 'precision'>, bytes: number): Promise<number | undefined> {
    const key = `${problem.precision} ${Math.round(2 * Math.log2(bytes))}`;
    if (!this.known.has(key)) {
      const seconds = await copyTime(this.device, problem, bytes);
      this.known.set(key, seconds === undefined ? undefined : (2 * bytes) / seconds);
    }
    return this.known.get(key);
  }
}

/**
 * Times as many systems as VkFFT takes, limited to `most` bytes and to the device's memory.
 * @throws FftError errors of the device; `out-of-memory`, `device-limit` if not even one system fits
 */
export async function timeSystem(
  device: Device,
  suite: BenchSuite,
  system: System,
  most: number,
  copies: Copies,
): Promise<Timed> {
  const one = normalizeProblem(benchProblem(suite, system, 1));
  const buffers = suite.buffers ?? 1;
  const each = bytesOfSide(one, 'output') / system.size.reduce((product, n) => product * n, 1);
  for (let batches = systemsIn(suite, system, most / each); ; batches = Math.max(buffers, Math.floor(batches / 2))) {
    if (batches * bytesOfSide(one, 'output') > most) {
      const message = `over the ${most / 2 ** 20} MiB of a buffer; --megabytes gives it more.`;
      throw new FftError('out-of-memory', message);
    }
    try {
      return await timeSystems(device, suite, system, batches, copies);
    } catch (error) {
      const more = error instanceof FftError && (error.code === 'out-of-memory' || error.code === 'device-limit');
      if (!more || batches <= buffers) throw error;
    }
  }
}

async function timeSystems(
  device: Device,
  suite: BenchSuite,
  system: System,
  batches: number,
  copies: Copies,
): Promise<Timed> {
  const { buffers = 1 } = suite;
  const plan: Plan = await device.plan(benchProblem(suite, system, Math.floor(batches / buffers)));
  const memory: DeviceMemory[] = [];
  const allocated = (bytes: number) => {
    memory.push(device.alloc(bytes));
    return memory.at(-1)!;
  };
  try {
    const { problem } = plan;
    const inPlace = problem.placement === 'in-place';
    const room = Math.max(plan.input.bytes, plan.output.bytes);
    const pairs = Array.from({ length: buffers }, () => {
      const input = allocated(inPlace ? room : plan.input.bytes);
      return { input, output: inPlace ? input : allocated(resultBytes(plan)) };
    });
    // Zeros stay finite in place, however often they are transformed.
    await fillMemory(device, problem, memory, 0);
    const kernel = problem.convolution ? await zeroKernel(device, plan) : undefined;
    if (kernel) memory.push(kernel);
    const time = (task: 'forward' | 'inverse' | 'convolve') => async (repeats: number) => {
      let milliseconds = 0;
      for (const { input, output } of pairs) {
        const [from, to] = task === 'inverse' ? [output, input] : [input, output];
        milliseconds += await plan.measure(task, { input: from, output: to, repeats, ...(kernel ? { kernel } : {}) });
      }
      return milliseconds;
    };
    const tasks = kernel ? (['convolve'] as const) : (['forward', 'inverse'] as const);
    const times = (await sampleTimes(tasks.map(time), BUDGET_MS)).map((result) => median(result.times));
    const copied = await copies.rate(problem, room);
    return { ...system, batches: problem.batches * buffers, ...ratesOf(problem, buffers, times, copied) };
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

/** Bytes of the results of a convolution, one result for each kernel. */
function resultBytes({ input, output, problem }: Plan): number {
  const side = problem.convolution && resultSide(problem) === 'input' ? input : output;
  return side.bytes * (problem.convolution ? kernelsOfEach(problem.convolution) : 1);
}

/** The rates that follow from times. @param times seconds of both directions, or of the convolution */
function ratesOf(problem: PlannedProblem, buffers: number, times: readonly number[], copied?: number) {
  const [forward, inverse] = times as [number, number?];
  const seconds = forward + (inverse ?? 0);
  const { points, length } = tensorExtent(problem);
  const operations = elementKind(problem, 'input') === 'real' ? 2.5 : 5;
  const sides = bytesOfSide(problem, 'input') + bytesOfSide(problem, 'output');
  const bytes = buffers * Math.max(bytesOfSide(problem, 'input'), bytesOfSide(problem, 'output'));
  const gigabytes = (times.length * buffers * sides) / seconds / 1e9;
  return {
    ...{ bytes, seconds, gigabytes },
    ...(inverse === undefined ? {} : { forward, inverse }),
    gflops: (2 * buffers * operations * points * Math.log2(length)) / seconds / 1e9,
    ...(copied === undefined ? {} : { copyFraction: (gigabytes * 1e9) / copied }),
    score: ((bytes / 1024) * (4 / realBytes(problem.edgeStorage))) / (1000 * seconds),
  };
}
