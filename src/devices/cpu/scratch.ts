/**
 * Memory for the arrays that a group shares: one region for each thread, used by one kernel after another. Grows to what
 * the largest kernel needs and stays.
 */
import { COLOUR_STEP, PAGE } from './heap.ts';
import type { ScratchPlace } from './launch.ts';
import type { CpuAllocator, CpuBuffer } from './memory.ts';

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
    // The regions of two threads lie off each other's lines, and at unequal places of a page.
    const stride = Math.ceil(bytes / PAGE) * PAGE + COLOUR_STEP;
    const buffer = this.memory.allocate(stride * this.threads);
    this.buffer?.free();
    this.buffer = buffer;
    this.bytes = bytes;
    this.stride = stride;
    this.address = buffer.address | 0;
  }
}
