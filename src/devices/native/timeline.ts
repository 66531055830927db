/**
 * The order of jobs on a device: jobs wait here to be submitted, and callbacks wait until submitted work has run. A job that cannot be
 * submitted in one go, such as a copy larger than its staging memory, holds later jobs back.
 *
 * Events are polled from the event loop, because callbacks of the drivers would come from threads on which JavaScript cannot run, or
 * would hold up the stream.
 */
import { FftError, reasonOf } from '../../problem/errors.ts';
import type { NativeDriver } from './driver.ts';

export interface TimelineJob {
  /** Submits as much of the job as possible. @returns whether that was all of it. */
  advance(): boolean;
  /** Ends the job with an error. */
  fail(error: unknown): void;
}

/** A callback for the end of earlier work, or for the failure because of which it never runs. */
type Done = (failure?: FftError) => void;

interface Batch {
  readonly event: bigint;
  readonly done: readonly Done[];
}

export class Timeline {
  private readonly driver: NativeDriver;
  private readonly jobs: TimelineJob[] = [];
  private readonly batches: Batch[] = [];
  /** Callbacks without an event yet: one event is recorded for all work that is submitted in one iteration of the event loop. */
  private open: Done[] = [];
  /** Whether work was submitted after the last event. */
  private dirty = false;
  private requested = false;
  private progress = 0;
  /** The failure because of which no more work can be submitted. */
  failure: FftError | undefined;

  constructor(driver: NativeDriver) {
    this.driver = driver;
  }

  /** Whether no job waits to be submitted. */
  get caughtUp(): boolean {
    return this.jobs.length === 0;
  }

  /** Whether no submitted work can still be running. */
  get idle(): boolean {
    return !this.dirty && this.batches.length === 0 && this.open.length === 0;
  }

  submit(job: TimelineJob): void {
    this.jobs.push(job);
    if (this.jobs.length === 1) this.pump();
  }

  /** Continues the first job and, when it is all submitted, the next ones. */
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

  /** Records that work was submitted. */
  touch(): void {
    this.dirty = true;
  }

  /**
   * Calls back when all submitted work has run, at once if no work is running.
   * @param event the event of the last submitted work, if there is one; it is forgotten here.
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

  /** Ends all waiting jobs and callbacks with a failure. None is called back later. */
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
    if (this.requested || !first) return;
    this.requested = true;
    const look = () => {
      this.requested = false;
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

  /** Fails all that waits, and all later work, because the stream cannot recover from the error. */
  private fail(error: unknown): void {
    this.close(
      error instanceof FftError
        ? error
        : new FftError('launch-failed', `Waiting for the device failed: ${reasonOf(error)}`),
    );
  }
}
