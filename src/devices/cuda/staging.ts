/**
 * Pinned host memory that copies pass through, and the copies themselves. The device reads and writes it by itself, so
 * that neither side has to wait for the other.
 */
import { FftError } from '../../problem/errors.ts';
import type { RealArray } from '../device.ts';
import type { Driver } from './driver.ts';
import type { Job } from './jobs.ts';
import type { Timeline } from './timeline.ts';

interface Chunk {
  readonly address: bigint;
  readonly view: Uint8Array;
}

/** Two sizes of chunks, and how many of each there may be. */
const SMALL_BYTES = 64 * 1024;
const LARGE_BYTES = 4 * 2 ** 20;
const MOST_SMALL = 32;
const MOST_LARGE = 8;

/** What copies need of their device. */
export interface Lane {
  readonly driver: Driver;
  readonly stream: bigint;
  readonly timeline: Timeline;
  /** Shows host memory that the driver allocated as an array. */
  view(address: bigint, bytes: number): ArrayBuffer;
  /** Before work is submitted. */
  enter(): void;
  /** A chunk has come back. */
  pump(): void;
}

export class Staging {
  readonly lane: Lane;
  private readonly small = new Shelf(SMALL_BYTES, MOST_SMALL);
  private readonly large = new Shelf(LARGE_BYTES, MOST_LARGE);

  constructor(lane: Lane) {
    this.lane = lane;
  }

  /** Undefined where all chunks are in use: one will come back. @throws FftError `out-of-memory` */
  take(bytes: number): Chunk | undefined {
    return (bytes <= SMALL_BYTES ? this.small : this.large).take(this.lane);
  }

  give(chunk: Chunk): void {
    (chunk.view.length === SMALL_BYTES ? this.small : this.large).free.push(chunk);
    this.lane.pump();
  }

  /** Gives everything back to the driver; nothing may be in flight. */
  release(): void {
    this.small.release(this.lane.driver);
    this.large.release(this.lane.driver);
  }
}

class Shelf {
  readonly free: Chunk[] = [];
  private readonly all: Chunk[] = [];
  private readonly bytes: number;
  private readonly most: number;

  constructor(bytes: number, most: number) {
    this.bytes = bytes;
    this.most = most;
  }

  take({ driver, view }: Lane): Chunk | undefined {
    const free = this.free.pop();
    if (free || this.all.length === this.most) return free;
    const address = driver.allocateHost(this.bytes);
    if (address === undefined) {
      if (this.all.length > 0) return undefined;
      throw new FftError(
        'out-of-memory',
        `The driver could not allocate ${this.bytes} bytes of pinned host memory, which copies pass through.`,
      );
    }
    const chunk = { address, view: new Uint8Array(view(address, this.bytes)) };
    this.all.push(chunk);
    return chunk;
  }

  release(driver: Driver): void {
    this.free.length = 0;
    for (const { address } of this.all.splice(0)) driver.freeHost(address);
  }
}

/** One copy between a host array and device memory. */
abstract class Copy implements Job {
  readonly done: Promise<void>;
  protected readonly staging: Staging;
  protected readonly device: bigint;
  protected readonly host: RealArray;
  protected readonly bytes: number;
  protected resolve!: () => void;
  protected next = 0;
  private failure: unknown;
  private rejectDone!: (error: unknown) => void;

  constructor(staging: Staging, device: bigint, host: RealArray) {
    this.staging = staging;
    this.device = device;
    this.host = host;
    this.bytes = host.byteLength;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.rejectDone = reject;
    });
  }

  /** For those who do not wait for `done`: what went wrong so far. @throws what `done` was rejected with */
  requireSound(): void {
    this.done.catch(() => undefined);
    if (this.failure !== undefined) throw this.failure;
  }

  advance(): boolean {
    this.staging.lane.enter();
    while (this.next < this.bytes) {
      const rest = this.bytes - this.next;
      const chunk = this.staging.take(rest);
      if (!chunk) return false;
      const start = this.next;
      const bytes = Math.min(chunk.view.length, rest);
      this.move(chunk, start, bytes);
      this.next += bytes;
      this.staging.lane.timeline.touch();
      this.staging.lane.timeline.after((failure) => this.passed(chunk, start, bytes, failure));
    }
    this.submitted();
    return true;
  }

  fail(error: unknown): void {
    this.reject(error);
  }

  protected reject(error: unknown): void {
    this.failure = error;
    this.rejectDone(error);
  }

  protected abstract move(chunk: Chunk, start: number, bytes: number): void;
  protected abstract passed(chunk: Chunk, start: number, bytes: number, failure: FftError | undefined): void;
  protected abstract submitted(): void;

  /** @throws FftError `detached-array` */
  protected hostBytes(start: number, bytes: number): Uint8Array {
    if (this.host.byteLength !== this.bytes) {
      throw new FftError('detached-array', 'An array of a waiting call is detached: its memory was transferred away.');
    }
    return new Uint8Array(this.host.buffer, this.host.byteOffset + start, bytes);
  }
}

/** Host to device. Done when the host array may be changed again. */
export class Upload extends Copy {
  protected move({ address, view }: Chunk, start: number, bytes: number): void {
    view.set(this.hostBytes(start, bytes));
    const { driver, stream } = this.staging.lane;
    driver.copyIn(this.device + BigInt(start), address, bytes, stream);
  }

  protected passed(chunk: Chunk): void {
    this.staging.give(chunk);
  }

  protected submitted(): void {
    this.resolve();
  }
}

/** Device to host. Done when the host array is filled. */
export class Download extends Copy {
  private filled = 0;

  protected move({ address }: Chunk, start: number, bytes: number): void {
    const { driver, stream } = this.staging.lane;
    driver.copyOut(address, this.device + BigInt(start), bytes, stream);
  }

  protected passed(chunk: Chunk, start: number, bytes: number, failure: FftError | undefined): void {
    try {
      if (failure) throw failure;
      this.hostBytes(start, bytes).set(chunk.view.subarray(0, bytes));
      this.filled += bytes;
      if (this.filled === this.bytes) this.resolve();
    } catch (error) {
      this.reject(error);
    } finally {
      this.staging.give(chunk);
    }
  }

  protected submitted(): void {
    if (this.bytes === 0) this.resolve();
  }
}
