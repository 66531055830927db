/**
 * The queue of submitted jobs that have not run yet. A job that can finish at once does so inside `push`, without an
 * iteration of the event loop.
 */

/** A piece of work that may have to wait for worker threads. */
export interface QueueJob {
  /**
   * Continues the job as far as possible.
   * @param blocking whether to wait on this thread, however long it takes, instead of returning false.
   * @returns true when all is done.
   */
  advance(blocking: boolean): boolean;
  /** Resolves when `advance` is worth calling again. */
  wait(): Promise<void>;
}

/** A job that never waits. */
export function immediately(work: () => void): QueueJob {
  return {
    advance() {
      work();
      return true;
    },
    wait: () => DONE,
  };
}

/** A promise that is resolved already. */
export const DONE: Promise<void> = Promise.resolve();

/** Jobs that belong to one call. */
interface CallState {
  /** The failure of an earlier job, because of which the later ones are skipped. */
  failure?: { readonly reason: unknown };
}

interface QueueEntry {
  readonly job: QueueJob;
  readonly call: CallState | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export class Queue {
  private readonly entries: QueueEntry[] = [];
  private driving = false;
  private call: CallState | undefined;

  get idle(): boolean {
    return this.entries.length === 0;
  }

  /** Treats the jobs that `submit` pushes as one call: if a job fails, the later jobs of the call are not run and fail with it. */
  together<T>(submit: () => T): T {
    this.call = {};
    try {
      return submit();
    } finally {
      this.call = undefined;
    }
  }

  /** Records a failure outside a job, so that later jobs of the call are skipped. */
  fail(reason: unknown): void {
    if (this.call) this.call.failure ??= { reason };
  }

  /** Runs a job after all earlier ones. */
  push(job: QueueJob): Promise<void> {
    const { call } = this;
    if (this.idle) {
      try {
        if (continueJob(job, call, false)) return DONE;
      } catch (error) {
        return Promise.reject(error);
      }
    }
    return new Promise((resolve, reject) => {
      this.entries.push({ job, call, resolve, reject });
      if (!this.driving) void this.drive();
    });
  }

  /** Runs everything that is waiting, on this thread, before it returns. */
  drain(): void {
    for (let entry = this.entries[0]; entry; entry = this.entries[0]) this.advance(entry, true);
  }

  /** Rejects everything that is waiting. */
  abort(reason: unknown): void {
    for (const { reject } of this.entries.splice(0)) reject(reason);
  }

  private async drive(): Promise<void> {
    this.driving = true;
    // `drain` and `abort` may empty the queue during any wait, so the head is looked up again each time.
    for (let entry = this.entries[0]; entry; entry = this.entries[0]) {
      if (!this.advance(entry, false)) await entry.job.wait();
    }
    this.driving = false;
  }

  /** Continues an entry. @returns false if the entry has to wait */
  private advance(entry: QueueEntry, blocking: boolean): boolean {
    try {
      if (!continueJob(entry.job, entry.call, blocking)) return false;
      this.entries.shift();
      entry.resolve();
    } catch (error) {
      this.entries.shift();
      entry.reject(error);
    }
    return true;
  }
}

/** Continues a job. @throws the error of the job, or of an earlier job of the same call */
function continueJob(job: QueueJob, call: CallState | undefined, blocking: boolean): boolean {
  if (call?.failure) throw call.failure.reason;
  try {
    return job.advance(blocking);
  } catch (reason) {
    if (call) call.failure = { reason };
    throw reason;
  }
}
