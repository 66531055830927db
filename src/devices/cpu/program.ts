/** Steps that are bound to memory. */

import { FftError } from '../../problem/errors.ts';
import { boundArguments } from '../bindings.ts';
import type { Binding, BoundProgram, Step } from '../device.ts';
import { CpuKernel } from './kernel.ts';
import { type Launch, launcher, launchFailure, type ScratchPlace, sequence } from './launch.ts';
import { CpuBuffer, type CpuMemory } from './memory.ts';
import type { Pool } from './pool.ts';
import { DONE, type Job, type Queue } from './queue.ts';

/** Nanoseconds of work from which on waking other threads pays. */
const WORTH_SHARING = 20_000;

/** Whether a kernel has enough groups, and enough to do, for several threads. @param chunks that its groups are divided into. */
export function isWorthSharing({ kernel, groupCost }: CpuKernel, chunks = 1): boolean {
  const groups = kernel.group.count / chunks;
  return groups > 1 && groups * groupCost >= WORTH_SHARING;
}

/** What programs need of their device. */
export interface Machine {
  readonly memory: CpuMemory;
  readonly scratch: ScratchPlace;
  readonly queue: Queue;
  /** Missing where there is one thread. */
  readonly pool: Pool | undefined;
  /** @throws FftError `device-closed` */
  requireOpen(): void;
}

interface BoundStep {
  readonly kernel: CpuKernel;
  /** Of each chunk. */
  readonly groups: number;
  readonly pointers: readonly number[];
  readonly launch: Launch;
  readonly shared: boolean;
}

export class CpuProgram implements BoundProgram {
  private readonly machine: Machine;
  private readonly buffers: readonly CpuBuffer[];
  private readonly steps: readonly BoundStep[];
  private readonly chunks: number;
  private readonly launch: Launch;
  /** Of the first step. */
  private readonly groups: number;
  private readonly shares: boolean;
  private generation = -1;
  private released = false;

  constructor(machine: Machine, steps: readonly Step[], slots: readonly (Binding | undefined)[], chunks: number) {
    const buffers = new Set<CpuBuffer>();
    this.machine = machine;
    this.steps = steps.map((step, number) => bindStep(machine, step, number, slots, buffers, chunks));
    this.chunks = chunks;
    this.buffers = [...buffers];
    this.launch = sequence(this.steps, chunks);
    this.groups = this.steps[0]?.groups ?? 0;
    this.shares = this.steps.some((step) => step.shared);
  }

  /** Runs at once where the work is small, nothing is waiting and no worker is needed. */
  run(): Promise<void> {
    const { queue, pool } = this.machine;
    try {
      if (this.generation !== this.machine.memory.generation) this.revalidate();
      if (!pool || (!this.shares && queue.idle)) {
        this.launch(0, this.groups);
        return DONE;
      }
      return queue.push(new Run(this.steps, this.chunks, pool));
    } catch (error) {
      const failure = launchFailure(error);
      queue.fail(failure);
      return Promise.reject(failure);
    }
  }

  /** Earlier runs that are still in flight are finished first, on this thread. */
  runSync(): void {
    const { memory, queue } = this.machine;
    if (this.generation !== memory.generation) this.revalidate();
    if (!queue.idle) queue.drain();
    try {
      this.launch(0, this.groups);
    } catch (error) {
      throw launchFailure(error);
    }
  }

  release(): void {
    this.released = true;
    this.generation = -1;
  }

  /** Memory was freed, or the device closed, since the last run: ours? */
  private revalidate(): void {
    this.machine.requireOpen();
    if (this.released)
      throw new FftError('destroyed', 'This program was released and cannot run any more; bind it anew.');
    if (this.buffers.some((buffer) => buffer.freed)) {
      throw new FftError('destroyed', 'Device memory that this program is bound to was freed; bind it to live memory.');
    }
    this.generation = this.machine.memory.generation;
  }
}

function bindStep(
  machine: Machine,
  step: Step,
  number: number,
  slots: readonly (Binding | undefined)[],
  buffers: Set<CpuBuffer>,
  chunks: number,
): BoundStep {
  const { kernel } = step;
  if (!(kernel instanceof CpuKernel) || kernel.memory !== machine.memory || kernel.discarded) {
    throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
  }
  const { group } = kernel.kernel;
  const addresses = boundArguments(step, slots).map(({ buffer, byteOffset, what }) => {
    if (!(buffer instanceof CpuBuffer) || buffer.memory !== machine.memory) {
      throw new FftError('foreign-buffer', `What is bound for ${what} was not allocated on this device.`);
    }
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for ${what} was freed.`);
    buffers.add(buffer);
    // Addresses beyond 2 GiB become negative: the same 32 bits, and still small integers to the engine.
    return (buffer.address + byteOffset) | 0;
  });
  const pointers = kernel.kernel.reverse ? [step.reverse ? 1 : 0, ...addresses] : addresses;
  const groups = group.count / chunks;
  const { pool, scratch } = machine;
  const shared = pool !== undefined && isWorthSharing(kernel, chunks) && pool.takes(pointers);
  if (shared) pool.prepare(kernel);
  return { kernel, groups, pointers, launch: launcher(kernel.run, scratch, pointers), shared };
}

/** One run of a program with help from the pool: a step begins when all threads have left the one before. */
class Run implements Job {
  private readonly steps: readonly BoundStep[];
  private readonly chunks: number;
  private readonly pool: Pool;
  /** Counts through the steps of one chunk after another. */
  private next = 0;
  private open = false;

  constructor(steps: readonly BoundStep[], chunks: number, pool: Pool) {
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
