/**
 * What was submitted and has not run yet, in order. A job that can finish at once does so inside `push`, without a
 * turn of the event loop.
 */

/** A piece of work that may have to wait for worker threads. */
export interface Job {
  /**
   * Goes on as far as it can.
   * @param blocking wait on this thread, however long it takes, instead of returning false.
   * @returns true when all is done.
   */
  advance(blocking: boolean): boolean;
  /** Resolves when `advance` is worth calling again. */
  wait(): Promise<void>;
}

/** A job that never waits. */
export function immediately(work: () => void): Job {
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

interface Entry {
  readonly job: Job;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export class Queue {
  private readonly entries: Entry[] = [];
  private driving = false;

  get idle(): boolean {
    return this.entries.length === 0;
  }

  /** Runs a job after all earlier ones. */
  push(job: Job): Promise<void> {
    if (this.idle) {
      try {
        if (job.advance(false)) return DONE;
      } catch (error) {
        return Promise.reject(error);
      }
    }
    return new Promise((resolve, reject) => {
      this.entries.push({ job, resolve, reject });
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

  /** False when the entry has to wait. */
  private advance(entry: Entry, blocking: boolean): boolean {
    try {
      if (!entry.job.advance(blocking)) return false;
      this.entries.shift();
      entry.resolve();
    } catch (error) {
      this.entries.shift();
      entry.reject(error);
    }
    return true;
  }
}
