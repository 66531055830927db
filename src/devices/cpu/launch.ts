/**
 * Calls into compiled kernels with bound arguments. A short transform takes 40 ns, so a launch is a direct call: no
 * argument list is built, nothing is allocated, and each count of pointers has a function of its own.
 */
import { FftError } from '../../problem/errors.ts';
import { COLOUR_STEP, PAGE } from './heap.ts';
import type { KernelEntry } from './kernel.ts';
import type { CpuAllocator, CpuBuffer } from './memory.ts';

/** The address of the calling thread's scratch, which moves when a kernel needs more. */
export interface ScratchPlace {
  address: number;
}

/** Wraps an exception of a kernel. */
export function launchFailure(cause: unknown): FftError {
  if (cause instanceof FftError) return cause;
  return new FftError('launch-failed', `A kernel failed on the CPU device: ${cause}.`, { cause });
}

/** Runs the groups of one kernel from `begin` to `end`. */
export type GroupRunner = (begin: number, end: number) => void;

export function launcher(run: KernelEntry, scratch: ScratchPlace, pointers: readonly number[]): GroupRunner {
  const [a, b, c, d, e, f, g] = pointers as [number, number, number, number, number, number, number];
  switch (pointers.length) {
    case 1:
      return (begin, end) => run(begin, end, scratch.address, a);
    case 2:
      return (begin, end) => run(begin, end, scratch.address, a, b);
    case 3:
      return (begin, end) => run(begin, end, scratch.address, a, b, c);
    case 4:
      return (begin, end) => run(begin, end, scratch.address, a, b, c, d);
    case 5:
      return (begin, end) => run(begin, end, scratch.address, a, b, c, d, e);
    case 6:
      return (begin, end) => run(begin, end, scratch.address, a, b, c, d, e, f);
    case 7:
      return (begin, end) => run(begin, end, scratch.address, a, b, c, d, e, f, g);
    default:
      return (begin, end) => run(begin, end, scratch.address, ...pointers);
  }
}

/** A step of a program, with the number of groups in each chunk. */
interface Sequenced {
  readonly launch: GroupRunner;
  readonly groups: number;
}

/**
 * Joins steps into one call, which takes one chunk of groups after another through all steps.
 * @returns a function that is called with the range of groups of the first step. For a single step it is the step's own launch; for several,
 * the steps' numbers of groups are fixed and the arguments unused.
 */
export function sequence(steps: readonly Sequenced[], chunks: number): GroupRunner {
  const [first, second, third] = steps as [Sequenced, Sequenced, Sequenced];
  if (chunks === 1) {
    switch (steps.length) {
      case 1:
        return first.launch;
      case 2: {
        const [one, two] = [first.launch, second.launch];
        const [ones, twos] = [first.groups, second.groups];
        return () => {
          one(0, ones);
          two(0, twos);
        };
      }
      case 3: {
        const [one, two, three] = [first.launch, second.launch, third.launch];
        const [ones, twos, threes] = [first.groups, second.groups, third.groups];
        return () => {
          one(0, ones);
          two(0, twos);
          three(0, threes);
        };
      }
    }
  }
  return () => {
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (const { launch, groups } of steps) launch(chunk * groups, (chunk + 1) * groups);
    }
  };
}

/**
 * Memory for the arrays that a group shares: one region for each thread, used by one kernel after another. It grows to what
 * the largest kernel needs and stays.
 */
export class Scratch implements ScratchPlace {
  /** The calling thread's region; thread t has `address + t · stride`. */
  address = 0;
  stride = 0;
  private readonly memory: CpuAllocator;
  private readonly threads: number;
  private buffer: CpuBuffer | undefined;
  private bytes = 0;

  constructor(memory: CpuAllocator, threads: number) {
    this.memory = memory;
    this.threads = threads;
  }

  /** @throws FftError `out-of-memory` */
  reserve(bytes: number): void {
    if (bytes <= this.bytes) return;
    // The regions of two threads share no cache line, and begin at different places in a page.
    const stride = Math.ceil(bytes / PAGE) * PAGE + COLOUR_STEP;
    const buffer = this.memory.allocate(stride * this.threads);
    this.buffer?.free();
    this.buffer = buffer;
    this.bytes = bytes;
    this.stride = stride;
    this.address = buffer.address | 0;
  }
}
