/**
 * Counters by which the groups of a pipelined kernel wait for one another. Each program bound to the kernel has an array of its own, because programs
 * may run concurrently in the caller's streams. Every launch resets the counters to zero before it ends.
 */
import type { DeviceBuffer } from '../device.ts';
import type { CudaHost } from './memory.ts';

/** The number of arrays allocated at a time. The first block is allocated with the kernel, so that binding a program calls no driver. */
const ARRAYS_AT_ONCE = 16;
/** The alignment of an array in bytes. */
const ALIGNMENT = 256;

export class Counters {
  private readonly host: CudaHost;
  private readonly bytes: number;
  private readonly idle: bigint[] = [];
  private readonly blocks: DeviceBuffer[] = [];

  /** @param count the number of counters in the array of a program. */
  constructor(host: CudaHost, count: number) {
    this.host = host;
    this.bytes = Math.ceil((4 * count) / ALIGNMENT) * ALIGNMENT;
  }

  /** Allocates a block of arrays if none is free. @throws FftError `out-of-memory` */
  prepare(): void {
    if (this.idle.length > 0) return;
    const { driver, memory } = this.host;
    const zeros = new ArrayBuffer(ARRAYS_AT_ONCE * this.bytes);
    this.host.enter();
    const block = memory.allocate(zeros.byteLength);
    this.blocks.push(block);
    driver.copy('in', block, 0, driver.addressOf(zeros), zeros.byteLength);
    // Synchronizing completes the copy of the zeros, so launches in the caller's streams come after it.
    driver.synchronize(driver.stream);
    for (let at = 0; at < zeros.byteLength; at += this.bytes) this.idle.push(block.handle + BigInt(at));
  }

  /** Takes a free array. @returns its address. @throws FftError `out-of-memory` */
  take(): bigint {
    this.prepare();
    return this.idle.pop()!;
  }

  /** Returns an array. No launch that uses it may be in flight or follow. */
  give(address: bigint): void {
    this.idle.push(address);
  }

  free(): void {
    this.idle.length = 0;
    for (const block of this.blocks.splice(0)) block.free();
  }
}
