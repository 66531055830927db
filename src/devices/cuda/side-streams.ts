/**
 * Streams of the device's own that launches spread over. They branch off the stream that the work goes into and come
 * together in it again, so that whoever waits for that stream has waited for all of them.
 */
import type { Driver, LaunchSetup } from './driver.ts';

interface Side {
  readonly stream: bigint;
  /** After the last launch. */
  readonly end: bigint;
}

export class SideStreams {
  private readonly driver: Driver;
  private readonly sides: Side[] = [];
  private start: bigint | undefined;

  constructor(driver: Driver) {
    this.driver = driver;
  }

  /**
   * Launches that do not depend on one another, in turns in `main` and in other streams.
   * @param streams in all.
   */
  spread(launches: readonly LaunchSetup[], streams: number, main: bigint): void {
    const { driver } = this;
    const sides = this.take(Math.min(streams, launches.length) - 1);
    const start = (this.start ??= driver.createEvent());
    driver.recordEvent(start, main);
    for (const { stream } of sides) driver.waitEvent(stream, start);
    const all = [main, ...sides.map(({ stream }) => stream)];
    try {
      for (const [n, setup] of launches.entries()) driver.launch(setup, all[n % all.length]!);
    } finally {
      for (const { stream, end } of sides) {
        driver.recordEvent(end, stream);
        driver.waitEvent(main, end);
      }
    }
  }

  /** Nothing of ours may be running any more. */
  release(): void {
    const { driver } = this;
    for (const { stream, end } of this.sides.splice(0)) {
      driver.destroyEvent(end);
      driver.destroyStream(stream);
    }
    if (this.start !== undefined) driver.destroyEvent(this.start);
    this.start = undefined;
  }

  /** So many streams beside the main one, the same ones every time. */
  private take(count: number): readonly Side[] {
    const { driver, sides } = this;
    while (sides.length < count) {
      const stream = driver.createStream();
      try {
        sides.push({ stream, end: driver.createEvent() });
      } catch (error) {
        driver.destroyStream(stream);
        throw error;
      }
    }
    return sides.slice(0, count);
  }
}
