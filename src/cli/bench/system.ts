/** How long one system of a benchmark suite takes: forward and back in place, as many side by side as fill a buffer. */
import { type Device, type DeviceMemory, FftError, type Plan } from '../../index.ts';
import {
  elementKind,
  normalizeProblem,
  type PlannedProblem,
  realBytes,
  type TransformKind,
} from '../../problem/index.ts';
import { copyTime, fillMemory, median, sampleTimes, sideBytes, tensorExtent } from '../benchmark.ts';
import { type BenchSuite, problemOf, type System, systemsIn } from './suites.ts';

export interface Timed {
  readonly size: readonly number[];
  readonly transform: TransformKind;
  /** Systems in all buffers. */
  readonly batches: number;
  /** Of all buffers. */
  readonly bytes: number;
  /** Median times of all systems, in seconds: there, back, and both. */
  readonly forward: number;
  readonly inverse: number;
  readonly seconds: number;
  /** 5 N log₂ N for each transform, half of it for reals, of both directions, in 10⁹ a second. */
  readonly gflops: number;
  /** Bytes in plus bytes out, of both directions, in 10⁹ a second. */
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
  const one = normalizeProblem(problemOf(suite, system, 1));
  const buffers = suite.buffers ?? 1;
  const each = sideBytes(one, 'output') / system.size.reduce((product, n) => product * n, 1);
  for (let batches = systemsIn(suite, system, most / each); ; batches = Math.max(buffers, Math.floor(batches / 2))) {
    if (batches * sideBytes(one, 'output') > most) {
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
  const plan: Plan = await device.plan(problemOf(suite, system, Math.floor(batches / buffers)));
  const memory: DeviceMemory[] = [];
  try {
    const room = Math.max(plan.input.bytes, plan.output.bytes);
    for (let n = 0; n < buffers; n++) memory.push(device.alloc(room));
    // In place only zeros stay finite, however often they are transformed.
    await fillMemory(device, plan.problem, memory, 0);
    const time = (direction: 'forward' | 'inverse') => async (repeats: number) => {
      let milliseconds = 0;
      for (const data of memory) milliseconds += await plan.measure(direction, { input: data, output: data, repeats });
      return milliseconds;
    };
    const results = await sampleTimes([time('forward'), time('inverse')], BUDGET_MS);
    const [forward, inverse] = results.map(({ times }) => median(times)) as [number, number];
    const copied = await copies.rate(plan.problem, room);
    return {
      ...system,
      batches: plan.problem.batches * buffers,
      ...figures(plan.problem, buffers, forward, inverse, copied),
    };
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

function figures(problem: PlannedProblem, buffers: number, forward: number, inverse: number, copied?: number) {
  const seconds = forward + inverse;
  const { points, length } = tensorExtent(problem);
  const operations = elementKind(problem, 'input') === 'real' ? 2.5 : 5;
  const sides = sideBytes(problem, 'input') + sideBytes(problem, 'output');
  const bytes = buffers * Math.max(sideBytes(problem, 'input'), sideBytes(problem, 'output'));
  const gigabytes = (2 * buffers * sides) / seconds / 1e9;
  return {
    ...{ bytes, forward, inverse, seconds, gigabytes },
    gflops: (2 * buffers * operations * points * Math.log2(length)) / seconds / 1e9,
    ...(copied === undefined ? {} : { copyFraction: (gigabytes * 1e9) / copied }),
    score: ((bytes / 1024) * (4 / realBytes(problem.edgeStorage))) / (1000 * seconds),
  };
}
