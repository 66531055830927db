/**
 * What was submitted to a device, in order, and when it has run. A job that cannot be submitted in one go holds those after it
 * back: a copy that is larger than the memory it passes through.
 *
 * Events are asked from the event loop: callbacks of the drivers would come from threads on which JavaScript cannot run, or
 * hold up the stream.
 */
import { FftError, reasonOf } from '../../problem/errors.ts';
import type { NativeDriver } from './driver.ts';

export interface TimelineJob {
  /** Submits what can be submitted. @returns whether that was all. */
  advance(): boolean;
  /** Ends the job with an error. */
  fail(error: unknown): void;
}

/** Told that the work before it has run, or why it never will. */
type Done = (failure?: FftError) => void;

interface Batch {
  readonly event: bigint;
  readonly done: readonly Done[];
}

export class Timeline {
  private readonly driver: NativeDriver;
  private readonly jobs: TimelineJob[] = [];
  private readonly batches: Batch[] = [];
  /** Waiting for an event to be recorded: one serves all that is submitted in one iteration of the event loop. */
  private open: Done[] = [];
  /** Work was submitted after the last event. */
  private dirty = false;
  private asked = false;
  private progress = 0;
  /** Why nothing more can be submitted. */
  failure: FftError | undefined;

  constructor(driver: NativeDriver) {
    this.driver = driver;
  }

  /** No job waits to be submitted. */
  get caughtUp(): boolean {
    return this.jobs.length === 0;
  }

  /** Nothing that was submitted can still be running. */
  get idle(): boolean {
    return !this.dirty && this.batches.length === 0 && this.open.length === 0;
  }

  submit(job: TimelineJob): void {
    this.jobs.push(job);
    if (this.jobs.length === 1) this.pump();
  }

  /** Goes on with the first job, and with the next ones where that is done. */
  pump(): void {
    for (let first = this.jobs[0]; first; first = this.jobs[0]) {
      try {
        if (!first.advance()) return;
      } catch (error) {
        first.fail(error);
      }
      this.jobs.shift();
    }
  }

  /** Something was submitted. */
  touch(): void {
    this.dirty = true;
  }

  /**
   * Calls back when all that was submitted has run: at once where nothing is running.
   * @param event of the last thing that was submitted, where there is one; it is forgotten here.
   */
  after(done: Done, event?: bigint): void {
    if (event !== undefined && !this.failure) {
      this.mark();
      this.watch({ event, done: [done] });
      return;
    }
    if (event !== undefined) this.driver.forget(event);
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
        this.driver.enter();
        this.driver.synchronize(this.driver.stream);
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
    for (const job of this.jobs.splice(0)) job.fail(failure);
    if (this.failure) return;
    this.failure = failure;
    this.dirty = false;
    const waiting = this.batches.flatMap(({ done }) => done).concat(this.open);
    for (const { event } of this.batches.splice(0)) this.driver.forget(event);
    this.open = [];
    for (const done of waiting) done(failure);
  }

  private mark(): void {
    if (this.open.length === 0 || this.failure) return;
    const done = this.open;
    try {
      this.driver.enter();
      const event = this.driver.mark(this.driver.stream);
      this.open = [];
      this.watch({ event, done });
    } catch (error) {
      this.fail(error);
    }
  }

  private watch(batch: Batch): void {
    this.batches.push(batch);
    this.dirty = false;
    this.progress = performance.now();
    this.ask();
  }

  private ask(): void {
    const [first] = this.batches;
    if (this.asked || !first) return;
    this.asked = true;
    const look = () => {
      this.asked = false;
      this.look();
    };
    if (performance.now() - this.progress < this.driver.eagerMilliseconds) setImmediate(look);
    else this.driver.sleep(first.event, look);
  }

  private look(): void {
    try {
      if (this.batches.length > 0) this.driver.enter();
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
    const failure = this.driver.failureOf?.(event);
    this.driver.forget(event);
    for (const call of done) call(failure);
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
