/**
 * Work in the caller's streams. It is ordered with the device's own work wherever both can access the same
 * memory: plans share scratch memory, and freed memory must not be reused while a stream still uses it.
 */
import type { NativeDriver } from './driver.ts';
import type { NativeBuffer } from './memory.ts';
import type { Timeline } from './timeline.ts';

interface CallerStream {
  /** The event after the last work that was appended. */
  event: bigint;
  /** Whether the device's own stream waits for that event already. */
  joined: boolean;
}

/** The number of remembered streams above which idle streams are forgotten. */
const STREAMS_KEPT = 16;

export class CallerStreams {
  private readonly driver: NativeDriver;
  private readonly timeline: Timeline;
  private readonly streams = new Map<bigint, CallerStream>();
  /** Whether some stream has work that the own stream does not wait for yet. */
  private apart = false;

  constructor(driver: NativeDriver, timeline: Timeline) {
    this.driver = driver;
    this.timeline = timeline;
  }

  /** Makes the own stream wait for all work that was appended to other streams. */
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
   * Appends work to the caller's stream. If the stream is being captured, no events are added: the caller orders the
   * recorded work.
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

  /** Frees all events. No work of this library may be running any more. */
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
