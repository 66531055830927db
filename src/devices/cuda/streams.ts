/**
 * Work that goes into streams of the caller's. It is ordered with the device's own wherever they can touch the same
 * memory: plans share scratch, and memory that is freed must not be handed out while a stream still uses it.
 */
import type { Driver } from './driver.ts';
import type { GpuBuffer } from './memory.ts';
import type { Timeline } from './timeline.ts';

interface CallerStream {
  /** After the last work that was appended. */
  readonly event: bigint;
  /** The device's own stream has been told to wait for it. */
  joined: boolean;
}

/** So many streams are remembered before those that have nothing left to run are forgotten. */
const MANY = 16;

export class CallerStreams {
  private readonly driver: Driver;
  private readonly own: bigint;
  private readonly timeline: Timeline;
  private readonly streams = new Map<bigint, CallerStream>();
  private mark: bigint | undefined;
  /** There is work that the own stream has not been told to wait for. */
  private apart = false;

  constructor(driver: Driver, own: bigint, timeline: Timeline) {
    this.driver = driver;
    this.own = own;
    this.timeline = timeline;
  }

  /** What the own stream is given from here on comes after everything that was appended to others. */
  join(): void {
    if (!this.apart) return;
    for (const stream of this.streams.values()) {
      if (stream.joined) continue;
      this.driver.waitEvent(this.own, stream.event);
      stream.joined = true;
      this.timeline.touch();
    }
    this.apart = false;
  }

  /**
   * Appends work to a stream of the caller's. A stream that is being captured takes the work alone: the caller orders
   * what is made of it.
   */
  append(stream: bigint, buffers: readonly GpuBuffer[], launch: (captured: boolean) => void): void {
    const { driver } = this;
    if (stream === this.own) {
      this.join();
      launch(false);
      this.timeline.touch();
      return;
    }
    if (driver.isCapturing(stream)) {
      launch(true);
      return;
    }
    if (!this.timeline.idle) {
      this.mark ??= driver.createEvent();
      driver.recordEvent(this.mark, this.own);
      driver.waitEvent(stream, this.mark);
    }
    for (const other of new Set(buffers.map((buffer) => buffer.stream))) {
      const before = other === undefined || other === stream ? undefined : this.streams.get(other);
      if (before) driver.waitEvent(stream, before.event);
    }
    try {
      launch(false);
    } finally {
      this.leave(stream, buffers);
    }
  }

  /** Nothing of ours may be running any more. */
  release(): void {
    for (const { event } of this.streams.values()) this.driver.destroyEvent(event);
    this.streams.clear();
    if (this.mark !== undefined) this.driver.destroyEvent(this.mark);
    this.mark = undefined;
    this.apart = false;
  }

  private leave(stream: bigint, buffers: readonly GpuBuffer[]): void {
    let known = this.streams.get(stream);
    if (!known) {
      if (this.streams.size >= MANY) this.forget();
      known = { event: this.driver.createEvent(), joined: false };
      this.streams.set(stream, known);
    }
    this.driver.recordEvent(known.event, stream);
    known.joined = false;
    this.apart = true;
    for (const buffer of buffers) buffer.stream = stream;
  }

  private forget(): void {
    for (const [handle, { event }] of this.streams) {
      if (!this.driver.hasPassed(event)) continue;
      this.driver.destroyEvent(event);
      this.streams.delete(handle);
    }
  }
}
