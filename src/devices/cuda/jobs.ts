/**
 * What waits for its turn on the device's stream because something before it could not be submitted in one go: a copy
 * that is larger than the memory it is staged through.
 */

export interface Job {
  /** Submits what can be submitted. @returns whether that was all. */
  advance(): boolean;
  /** Ends the job with an error. */
  fail(error: unknown): void;
}

export class Jobs {
  private readonly waiting: Job[] = [];

  get idle(): boolean {
    return this.waiting.length === 0;
  }

  submit(job: Job): void {
    this.waiting.push(job);
    if (this.waiting.length === 1) this.pump();
  }

  /** Goes on with the first job in the queue, and with the next ones where that is done. */
  pump(): void {
    for (let first = this.waiting[0]; first; first = this.waiting[0]) {
      try {
        if (!first.advance()) return;
      } catch (error) {
        first.fail(error);
      }
      this.waiting.shift();
    }
  }

  abort(error: unknown): void {
    for (const job of this.waiting.splice(0)) job.fail(error);
  }
}
