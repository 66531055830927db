/**
 * Counters by which the groups of a pipelined kernel wait for one another: an array for each program that is bound to it,
 * because programs run side by side in streams of the caller's. Every launch leaves them zero, as it found them.
 */
import type { DeviceBuffer } from '../device.ts';
import type { CudaHost } from './memory.ts';

/** Arrays that are made at a time, the first of them with the kernel: binding a program takes no call of the driver then. */
const ARRAYS_AT_ONCE = 16;
/** Arrays begin where any of them may be read at once. */
const ALIGNMENT = 256;

export class Counters {
  private readonly host: CudaHost;
  private readonly bytes: number;
  private readonly idle: bigint[] = [];
  private readonly blocks: DeviceBuffer[] = [];

  /** @param count counters of a program. */
  constructor(host: CudaHost, count: number) {
    this.host = host;
    this.bytes = Math.ceil((4 * count) / ALIGNMENT) * ALIGNMENT;
  }

  /** Sees to it that there are some. @throws FftError `out-of-memory` */
  prepare(): void {
    if (this.idle.length > 0) return;
    const { driver, memory } = this.host;
    const zeros = new ArrayBuffer(ARRAYS_AT_ONCE * this.bytes);
    this.host.enter();
    const block = memory.allocate(zeros.byteLength);
    this.blocks.push(block);
    driver.copy('in', block, 0, driver.addressOf(zeros), zeros.byteLength);
    // Launches in streams of the caller's come after the copy, which has read the zeros by then.
    driver.synchronize(driver.stream);
    for (let at = 0; at < zeros.byteLength; at += this.bytes) this.idle.push(block.handle + BigInt(at));
  }

  /** The address of an array. @throws FftError `out-of-memory` */
  take(): bigint {
    this.prepare();
    return this.idle.pop()!;
  }

  /** No launch that uses them may be in flight, or come. */
  give(address: bigint): void {
    this.idle.push(address);
  }

  free(): void {
    this.idle.length = 0;
    for (const block of this.blocks.splice(0)) block.free();
  }
}
