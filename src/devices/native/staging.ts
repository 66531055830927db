/**
 * Staging memory: pinned host memory that copies pass through, and the copies themselves. The device accesses pinned memory
 * by itself, so that neither side has to wait for the other.
 */
import { FftError } from '../../problem/errors.ts';
import type { RealArray } from '../device.ts';
import type { NativeDriver, Pinned } from './driver.ts';
import type { NativeBuffer } from './memory.ts';
import type { Timeline, TimelineJob } from './timeline.ts';

/** The two sizes of chunks in bytes, and the most chunks of both sizes. */
const SMALL_BYTES = 64 * 1024;
const LARGE_BYTES = 4 * 2 ** 20;
const MOST_SMALL = 32;
const MOST_LARGE = 8;

/** Services of a device for copies. */
export interface CopyHost {
  readonly driver: NativeDriver;
  readonly timeline: Timeline;
  /** Has to be called before work is submitted to the device's own stream. */
  enter(): void;
}

export class PinnedStaging {
  readonly host: CopyHost;
  private readonly small: ChunkShelf;
  private readonly large: ChunkShelf;

  constructor(host: CopyHost) {
    this.host = host;
    this.small = new ChunkShelf(host.driver, SMALL_BYTES, MOST_SMALL);
    this.large = new ChunkShelf(host.driver, LARGE_BYTES, MOST_LARGE);
  }

  /** Takes a chunk; undefined if all are in use, so that the caller has to wait for one. @throws FftError `out-of-memory` */
  take(bytes: number): Pinned | undefined {
    return (bytes <= SMALL_BYTES ? this.small : this.large).take();
  }

  /** Allocates a small chunk ahead of the first copy. */
  reserve(): void {
    this.small.reserve();
  }

  /** Returns a chunk to the pool. */
  give(chunk: Pinned): void {
    (chunk.view.length === SMALL_BYTES ? this.small : this.large).free.push(chunk);
  }

  /** Frees all chunks. No copy may be in flight. */
  release(): void {
    this.small.release();
    this.large.release();
  }
}

/** The chunks of one size. */
class ChunkShelf {
  readonly free: Pinned[] = [];
  private readonly all: Pinned[] = [];
  private readonly driver: NativeDriver;
  private readonly bytes: number;
  private readonly most: number;

  constructor(driver: NativeDriver, bytes: number, most: number) {
    this.driver = driver;
    this.bytes = bytes;
    this.most = most;
  }

  take(): Pinned | undefined {
    const free = this.free.pop();
    if (free || this.all.length === this.most) return free;
    const chunk = this.driver.pin(this.bytes);
    if (chunk) this.all.push(chunk);
    else if (this.all.length === 0) {
      throw new FftError(
        'out-of-memory',
        `The driver could not allocate ${this.bytes} bytes of pinned host memory, which copies pass through.`,
      );
    }
    return chunk;
  }

  /** Without an error where the driver has no memory: who needs it will be told. */
  reserve(): void {
    const chunk = this.driver.pin(this.bytes);
    if (!chunk) return;
    this.all.push(chunk);
    this.free.push(chunk);
  }

  release(): void {
    this.free.length = 0;
    for (const chunk of this.all.splice(0)) this.driver.unpin(chunk);
  }
}

/** A copy between a host array and device memory, chunk by chunk. */
export class StagedCopy implements TimelineJob {
  readonly done: Promise<void>;
  private readonly staging: PinnedStaging;
  private readonly direction: 'in' | 'out';
  private readonly device: NativeBuffer;
  private readonly byteOffset: number;
  private readonly host: RealArray;
  private readonly bytes: number;
  private resolve!: () => void;
  private rejectDone!: (error: unknown) => void;
  private submitted = 0;
  private passed = 0;
  private failure: unknown;

  /** `done` resolves when the host array may be changed again, or is filled; if copies can fail by themselves, when the copy has run. */
  constructor(
    staging: PinnedStaging,
    direction: 'in' | 'out',
    device: NativeBuffer,
    byteOffset: number,
    host: RealArray,
  ) {
    this.staging = staging;
    this.direction = direction;
    this.device = device;
    this.byteOffset = byteOffset;
    this.host = host;
    this.bytes = host.byteLength;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.rejectDone = reject;
    });
  }

  /** Checks a copy whose `done` is not awaited. @throws the reason with which `done` was rejected, if it was */
  requireSound(): void {
    this.done.catch(() => undefined);
    if (this.failure !== undefined) throw this.failure;
  }

  advance(): boolean {
    const { host, direction } = this;
    const device = this.staging.host;
    const { driver, timeline } = device;
    device.enter();
    while (this.submitted < this.bytes) {
      const start = this.submitted;
      const chunk = this.staging.take(this.bytes - start);
      if (!chunk) return false;
      const bytes = Math.min(chunk.view.length, this.bytes - start);
      let event: bigint | undefined;
      try {
        if (direction === 'in') chunk.view.set(this.hostBytes(start, bytes));
        event = driver.copy(direction, this.device, this.byteOffset + start, chunk.address, bytes);
      } catch (error) {
        this.staging.give(chunk);
        throw error;
      }
      this.submitted += bytes;
      timeline.touch();
      timeline.after((failure) => this.pass(chunk, start, bytes, failure), event);
    }
    const read = direction === 'in' && !driver.failureOf;
    if (read || host.byteLength === 0) this.resolve();
    return true;
  }

  fail(error: unknown): void {
    this.failure ??= error;
    this.rejectDone(error);
  }

  private pass(chunk: Pinned, start: number, bytes: number, failure: FftError | undefined): void {
    try {
      if (failure) throw failure;
      if (this.direction === 'out') this.hostBytes(start, bytes).set(chunk.view.subarray(0, bytes));
      this.passed += bytes;
      if (this.passed === this.bytes) this.resolve();
    } catch (error) {
      this.fail(error);
    } finally {
      this.staging.give(chunk);
      // Other copies may be waiting for a chunk.
      this.staging.host.timeline.pump();
    }
  }

  /** @throws FftError `detached-array` */
  private hostBytes(start: number, bytes: number): Uint8Array {
    if (this.host.byteLength !== this.bytes) {
      throw new FftError('detached-array', 'An array of a waiting call is detached: its memory was transferred away.');
    }
    return new Uint8Array(this.host.buffer, this.host.byteOffset + start, bytes);
  }
}
