/**
 * Work that goes into streams of the caller's. It is ordered with the device's own wherever they can touch the same
 * memory: plans share scratch, and memory that is freed must not be handed out while a stream still uses it.
 */
import type { NativeDriver } from './driver.ts';
import type { NativeBuffer } from './memory.ts';
import type { Timeline } from './timeline.ts';

interface CallerStream {
  /** After the last work that was appended. */
  event: bigint;
  /** The device's own stream has been told to wait for it. */
  joined: boolean;
}

/** So many streams are remembered before those that have nothing left to run are forgotten. */
const STREAMS_KEPT = 16;

export class CallerStreams {
  private readonly driver: NativeDriver;
  private readonly timeline: Timeline;
  private readonly streams = new Map<bigint, CallerStream>();
  /** There is work that the own stream has not been told to wait for. */
  private apart = false;

  constructor(driver: NativeDriver, timeline: Timeline) {
    this.driver = driver;
    this.timeline = timeline;
  }

  /** What the own stream is given from here on comes after everything that was appended to others. */
  join(): void {
    if (!this.apart) return;
    for (const stream of this.streams.values()) {
      if (stream.joined) continue;
      this.driver.wait(this.driver.stream, stream.event);
      stream.joined = true;
      this.timeline.touch();
    }
    this.apart = false;
  }

  /**
   * Appends work to a stream of the caller's. A stream that is being captured takes the work alone: the caller orders
   * what is made of it.
   */
  append(stream: bigint, buffers: readonly NativeBuffer[], launch: (captured: boolean) => void): void {
    const { driver, timeline } = this;
    if (stream === driver.stream) {
      this.join();
      launch(false);
      timeline.touch();
      return;
    }
    if (driver.isCapturing(stream)) {
      launch(true);
      return;
    }
    if (!timeline.idle) {
      const event = driver.mark(driver.stream);
      driver.wait(stream, event);
      driver.forget(event);
    }
    for (const other of new Set(buffers.map(({ lastStream }) => lastStream))) {
      if (other === undefined || (other === stream && !driver.handlesComeBack)) continue;
      const before = this.streams.get(other);
      if (before) driver.wait(stream, before.event);
    }
    try {
      launch(false);
    } finally {
      this.leave(stream, buffers);
    }
  }

  /** Nothing of ours may be running any more. */
  release(): void {
    for (const { event } of this.streams.values()) this.driver.forget(event);
    this.streams.clear();
    this.apart = false;
  }

  private leave(stream: bigint, buffers: readonly NativeBuffer[]): void {
    const event = this.driver.mark(stream);
    const known = this.streams.get(stream);
    if (known) this.driver.forget(known.event);
    else if (this.streams.size >= STREAMS_KEPT) this.forgetPassed();
    this.streams.set(stream, { event, joined: false });
    this.apart = true;
    for (const buffer of buffers) buffer.lastStream = stream;
  }

  private forgetPassed(): void {
    for (const [handle, { event }] of this.streams) {
      if (!this.driver.hasPassed(event)) continue;
      this.driver.forget(event);
      this.streams.delete(handle);
    }
  }
}
