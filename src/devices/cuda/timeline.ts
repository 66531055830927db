/**
 * When work on the device's stream has run. Events are asked from the event loop: a thread that waits in the driver
 * would need one for each device, and a callback of the driver holds up the stream.
 */
import { FftError, reasonOf } from '../../problem/errors.ts';
import type { Driver } from './driver.ts';

/** Told that the work before it has run, or why it never will. */
export type Done = (failure?: FftError) => void;

/** For so many milliseconds without progress the device is asked at every turn of the event loop, then every one. */
const EAGER_MS = 2;

interface Batch {
  readonly event: bigint;
  readonly done: readonly Done[];
}

export class Timeline {
  private readonly driver: Driver;
  private readonly stream: bigint;
  private readonly enter: () => void;
  private readonly batches: Batch[] = [];
  private readonly spare: bigint[] = [];
  /** Waiting for an event to be recorded: one serves all that is submitted in one turn. */
  private open: Done[] = [];
  /** Work was submitted after the last event. */
  private dirty = false;
  private asked = false;
  private progress = 0;
  /** Why nothing more can be submitted. */
  failure: FftError | undefined;

  /** @param enter makes the device's context the current one. */
  constructor(driver: Driver, stream: bigint, enter: () => void) {
    this.driver = driver;
    this.stream = stream;
    this.enter = enter;
  }

  /** Nothing that was submitted can still be running. */
  get idle(): boolean {
    return !this.dirty && this.batches.length === 0 && this.open.length === 0;
  }

  /** Something was submitted. */
  touch(): void {
    this.dirty = true;
  }

  /** Calls back when all that was submitted has run: at once where nothing is running. */
  after(done: Done): void {
    if (this.failure || this.idle) {
      done(this.failure);
      return;
    }
    if (this.open.length === 0) queueMicrotask(() => this.mark());
    this.open.push(done);
  }

  /** Waits on this thread until everything submitted has run, and calls back. */
  settle(): void {
    while (!this.idle && !this.failure) {
      try {
        this.mark();
        this.enter();
        this.driver.synchronize(this.stream);
      } catch (error) {
        this.fail(error);
        return;
      }
      this.dirty = false;
      for (const batch of this.batches.splice(0)) this.finish(batch);
    }
  }

  /** Nothing will be called back later: everything waiting ends with the failure. */
  close(failure: FftError): void {
    if (this.failure) return;
    this.failure = failure;
    this.dirty = false;
    const waiting = this.batches.flatMap(({ done }) => done).concat(this.open);
    this.spare.push(...this.batches.splice(0).map(({ event }) => event));
    this.open = [];
    for (const event of this.spare.splice(0)) this.driver.destroyEvent(event);
    for (const done of waiting) done(failure);
  }

  private mark(): void {
    if (this.open.length === 0 || this.failure) return;
    const done = this.open;
    this.open = [];
    try {
      this.enter();
      const event = this.spare.pop() ?? this.driver.createEvent();
      this.batches.push({ event, done });
      this.driver.recordEvent(event, this.stream);
    } catch (error) {
      if (this.batches.at(-1)?.done !== done) this.open = done;
      this.fail(error);
      return;
    }
    this.dirty = false;
    this.progress = performance.now();
    this.ask();
  }

  private ask(): void {
    if (this.asked || this.batches.length === 0) return;
    this.asked = true;
    const look = () => {
      this.asked = false;
      this.look();
    };
    if (performance.now() - this.progress < EAGER_MS) setImmediate(look);
    else setTimeout(look, 1);
  }

  private look(): void {
    try {
      if (this.batches.length > 0) this.enter();
      for (let first = this.batches[0]; first && this.driver.hasPassed(first.event); first = this.batches[0]) {
        this.batches.shift();
        this.progress = performance.now();
        this.finish(first);
      }
    } catch (error) {
      this.fail(error);
    }
    this.ask();
  }

  private finish({ event, done }: Batch): void {
    this.spare.push(event);
    for (const call of done) call();
  }

  /** The stream is beyond help: all that waits for it fails, and so does what comes later. */
  private fail(error: unknown): void {
    this.close(
      error instanceof FftError
        ? error
        : new FftError('launch-failed', `Waiting for the device failed: ${reasonOf(error)}`),
    );
  }
}
