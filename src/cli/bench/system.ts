/** How long one system of a benchmark suite takes: forward and back in place, as many side by side as fill a buffer. */
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
  /** Systems in all buffers. */
  readonly batches: number;
  /** Of all buffers. */
  readonly bytes: number;
  /** Median times of all systems, in seconds: there and back; a convolution is one step. */
  readonly forward?: number;
  readonly inverse?: number;
  /** Of both, or of the convolution. */
  readonly seconds: number;
  /** 5 N log₂ N for each transform, half of it for reals, there and back, in 10⁹ a second. */
  readonly gflops: number;
  /** Bytes in plus bytes out, of both directions or of the convolution, in 10⁹ a second. */
  readonly gigabytes: number;
  /** `gigabytes` over that of a copy on the device; absent where there is no memory for one. */
  readonly copyFraction?: number;
  /** What VkFFT's samples call the benchmark: KiB of the buffer for each millisecond of both, as if numbers were singles. */
  readonly score: number;
}

/** Milliseconds for the samples of each direction. */
const BUDGET_MS = 250;

/** How fast a device copies, measured once for sizes that are about the same. */
export class Copies {
  private readonly device: Device;
  private readonly known = new Map<string, number | undefined>();

  constructor(device: Device) {
    this.device = device;
  }

  /** Bytes in plus bytes out of a copy, a second. */
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
 * As many systems as VkFFT takes, or as `most` bytes and the device's memory hold.
 * @throws FftError what the device refuses; `out-of-memory`, `device-limit` where it does not hold a single one
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
    // In place only zeros stay finite, however often they are transformed.
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
    return { ...system, batches: problem.batches * buffers, ...figures(problem, buffers, times, copied) };
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

/** Bytes of all results of a convolution, one for each kernel. */
function resultBytes({ input, output, problem }: Plan): number {
  const side = problem.convolution && resultSide(problem) === 'input' ? input : output;
  return side.bytes * (problem.convolution ? kernelsOfEach(problem.convolution) : 1);
}

/** @param times of the directions, or of the convolution, in seconds */
function figures(problem: PlannedProblem, buffers: number, times: readonly number[], copied?: number) {
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
