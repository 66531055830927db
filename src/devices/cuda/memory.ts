/**
 * Device memory. Freed allocations are kept for the next request of the same size, up to a budget, because allocating from the driver takes thousands
 * of times as long and freeing waits for all running work.
 */
import { FftError } from '../../problem/errors.ts';
import type { InFlight } from '../common/memory.ts';
import { NativeAllocator, NativeBuffer } from '../native/memory.ts';
import type { CudaDriver } from './driver.ts';

/** The smallest allocation in bytes. Sizes are rounded up to eighths of a power of two, so that they recur; large ones to the driver's pages. */
const LEAST_BYTES = 512;
const PAGE_BYTES = 2 * 2 ** 20;
/** Idle memory is kept up to this fraction of the device's memory, and up to one gibibyte. */
const KEPT_FRACTION = 1 / 16;
const KEPT_BYTES = 2 ** 30;

export class CudaAllocator extends NativeAllocator<NativeBuffer> {
  private readonly driver: CudaDriver;
  private readonly budget: number;
  /** Idle allocations by size in bytes. */
  private readonly idle = new Map<number, bigint[]>();
  private idleBytes = 0;

  constructor(driver: CudaDriver, totalBytes: number, inFlight: InFlight) {
    super(inFlight);
    this.driver = driver;
    this.budget = Math.min(totalBytes * KEPT_FRACTION, KEPT_BYTES);
  }

  /**
   * The caller's `{ devicePointer, bytes }` as a buffer; undefined for anything else.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-too-small`
   */
  override adopt(memory: unknown, what: string): NativeBuffer | undefined {
    const { driver } = this;
    return this.adoptedPointer(
      memory,
      what,
      (pointer) => {
        driver.enter();
        return driver.api.addressRange(pointer);
      },
      (pointer, bytes) => this.buffer(pointer, bytes),
    );
  }

  /** Frees all memory of the driver; no work may be running. */
  override clear(): void {
    super.clear();
    this.trim(0);
  }

  protected take(bytes: number): NativeBuffer {
    const { api } = this.driver;
    this.driver.enter();
    const room = roomFor(bytes);
    const address = this.takeIdle(room) ?? api.allocate('MemAlloc', room);
    if (address !== undefined) return this.buffer(address, bytes);
    const { free, total } = api.memoryInfo();
    throw new FftError(
      'out-of-memory',
      `${bytes} bytes of device memory were asked for, but of ${total} bytes ${free} are free, perhaps not in one piece.`,
    );
  }

  protected reclaim({ handle, bytes }: NativeBuffer): void {
    const room = roomFor(bytes);
    const same = this.idle.get(room);
    if (same) same.push(handle);
    else this.idle.set(room, [handle]);
    this.idleBytes += room;
    this.trim(this.budget);
  }

  protected override releaseCached(): void {
    this.trim(0);
  }

  /** A buffer at an address. All buffers have the same origin, so that overlaps of the caller's buffers are found by their addresses. */
  private buffer(address: bigint, bytes: number): NativeBuffer {
    return new NativeBuffer(this, address, bytes, { of: this, start: Number(address) });
  }

  private takeIdle(room: number): bigint | undefined {
    const same = this.idle.get(room);
    const address = same?.pop();
    if (address === undefined) return undefined;
    this.idleBytes -= room;
    if (same!.length === 0) this.idle.delete(room);
    return address;
  }

  private trim(budget: number): void {
    while (this.idleBytes > budget) {
      const [room, same] = this.idle.entries().next().value as [number, bigint[]];
      this.driver.api.raw.MemFree(same.shift()!);
      this.idleBytes -= room;
      if (same.length === 0) this.idle.delete(room);
    }
  }
}

/** Services of the device for its kernels and their counters. */
export interface CudaHost {
  readonly driver: CudaDriver;
  readonly memory: CudaAllocator;
  requireOpen(): void;
  enter(): void;
}

function roomFor(bytes: number): number {
  if (bytes <= LEAST_BYTES) return LEAST_BYTES;
  const step = Math.min(PAGE_BYTES, Math.max(LEAST_BYTES, 2 ** (Math.ceil(Math.log2(bytes)) - 4)));
  return Math.ceil(bytes / step) * step;
}
