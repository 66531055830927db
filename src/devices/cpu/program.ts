/** Programs of the CPU: steps bound to memory, run on one thread or shared with the pool. */
import { type BoundStep, boundSteps, buffersOf, DeviceProgram, type ProgramHost } from '../common/program.ts';
import type { Binding, ProgramStep } from '../device.ts';
import type { CpuKernel } from './kernel.ts';
import { type GroupRunner, launcher, launchFailure, type ScratchPlace, sequence } from './launch.ts';
import type { CpuBuffer } from './memory.ts';
import type { Pool } from './pool.ts';
import { DONE, type Queue, type QueueJob } from './queue.ts';

/** The work in nanoseconds above which waking other threads pays off. */
const WORTH_SHARING = 20_000;

/** Whether a kernel has enough groups, and enough to do, for several threads. @param chunks the number of chunks of its groups. */
export function isWorthSharing({ kernel, groupCost }: CpuKernel, chunks = 1): boolean {
  const groups = kernel.group.count / chunks;
  return groups > 1 && groups * groupCost >= WORTH_SHARING;
}

/** Services of the CPU backend for its programs. */
export interface CpuHost extends ProgramHost<CpuBuffer, CpuKernel> {
  readonly scratch: ScratchPlace;
  readonly queue: Queue;
  /** The worker threads; missing if there is one thread. */
  readonly pool: Pool | undefined;
}

/** A step that is ready to be launched. */
interface CpuStep {
  readonly kernel: CpuKernel;
  /** The number of groups in each chunk. */
  readonly groups: number;
  readonly pointers: readonly number[];
  readonly launch: GroupRunner;
  readonly shared: boolean;
}

export class CpuProgram extends DeviceProgram<CpuBuffer> {
  private readonly queue: Queue;
  private readonly pool: Pool | undefined;
  private readonly steps: readonly CpuStep[];
  private readonly chunks: number;
  private readonly launch: GroupRunner;
  /** The number of groups of the first step. */
  private readonly groups: number;
  private readonly shares: boolean;

  constructor(host: CpuHost, steps: readonly ProgramStep[], slots: readonly (Binding | undefined)[], chunks: number) {
    const bound = boundSteps(host, steps, slots);
    super(host, buffersOf(bound));
    this.queue = host.queue;
    this.pool = host.pool;
    this.steps = bound.map((step) => readyStep(host, step, chunks));
    this.chunks = chunks;
    this.launch = sequence(this.steps, chunks);
    this.groups = this.steps[0]?.groups ?? 0;
    this.shares = this.steps.some((step) => step.shared);
  }

  /** Runs the program, at once if the work is small, nothing is waiting and no worker is needed. */
  run(): Promise<void> {
    const { queue, pool } = this;
    try {
      if (this.generation !== this.memory.generation) this.requireUsable();
      // Without other threads nothing ever waits.
      if (!pool || this.immediate) {
        this.launch(0, this.groups);
        return DONE;
      }
      return queue.push(new PooledRun(this.steps, this.chunks, pool));
    } catch (error) {
      const failure = launchFailure(error);
      queue.fail(failure);
      return Promise.reject(failure);
    }
  }

  get immediate(): boolean {
    return !this.shares && this.queue.idle;
  }

  /** Runs the program on this thread, after earlier runs that are still in flight. */
  runSync(): void {
    if (this.generation !== this.memory.generation) this.requireUsable();
    if (!this.queue.idle) this.queue.drain();
    try {
      this.launch(0, this.groups);
    } catch (error) {
      throw launchFailure(error);
    }
  }
}

function readyStep(
  { pool, scratch }: CpuHost,
  { kernel, arrays, reverse }: BoundStep<CpuBuffer, CpuKernel>,
  chunks: number,
): CpuStep {
  // Addresses beyond 2 GiB become negative: they have the same 32 bits, and stay small integers for the JavaScript engine.
  const addresses = arrays.map(({ buffer, byteOffset }) => (buffer.address + byteOffset) | 0);
  const pointers = kernel.kernel.reverse ? [reverse ? 1 : 0, ...addresses] : addresses;
  const groups = kernel.kernel.group.count / chunks;
  const shared = pool !== undefined && isWorthSharing(kernel, chunks) && pool.takes(pointers);
  if (shared) pool.prepare(kernel);
  return { kernel, groups, pointers, launch: launcher(kernel.run, scratch, pointers), shared };
}

/** One run of a program with help from the pool: a step begins when all threads have left the one before. */
class PooledRun implements QueueJob {
  private readonly steps: readonly CpuStep[];
  private readonly chunks: number;
  private readonly pool: Pool;
  /** Counts through the steps of one chunk after another. */
  private next = 0;
  private open = false;

  constructor(steps: readonly CpuStep[], chunks: number, pool: Pool) {
    this.steps = steps;
    this.chunks = chunks;
    this.pool = pool;
  }

  advance(blocking: boolean): boolean {
    const { pool, steps, chunks } = this;
    for (; this.next < steps.length * chunks; this.next++) {
      const step = steps[this.next % steps.length]!;
      const begin = Math.floor(this.next / steps.length) * step.groups;
      const end = begin + step.groups;
      if (!step.shared) {
        try {
          step.launch(begin, end);
        } catch (error) {
          throw launchFailure(error);
        }
      } else {
        if (!this.open) pool.launch(step.kernel, begin, end, step.pointers);
        this.open = true;
        if (!pool.settled(blocking)) return false;
        this.open = false;
      }
    }
    return true;
  }

  wait(): Promise<void> {
    return this.pool.wait();
  }
}
