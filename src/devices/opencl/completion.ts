/**
 * Tells when submitted commands have run. Each is an event of a queue that runs in order, so only the oldest is looked at:
 * a few times between turns of the event loop, for short work, and then by a thread that sleeps until it has happened.
 *
 * Callbacks of OpenCL would come from the driver's own threads, at times when JavaScript cannot run.
 */
import type { FftError } from '../../problem/errors.ts';
import type { Handle, OpenCl } from './api.ts';
import { failure } from './errors.ts';

/** Called when the device is through with a command: with what went wrong, where something did. */
export type Ending = (error: FftError | undefined) => void;

interface Pending {
  readonly event: Handle;
  readonly what: string;
  readonly ended: Ending | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Looks at the oldest event so many times before a thread waits for it. */
const LOOKS = 50;

export class Completion {
  private readonly cl: OpenCl;
  private readonly pending: Pending[] = [];
  private watching = false;
  private looks = 0;
  private drained: (() => void) | undefined;
  /** What those that still wait have been told. */
  private aborted: FftError | undefined;
  /** Where a waiting thread reads the event: memory that the engine does not move. */
  private readonly awaited = new BigUint64Array(new ArrayBuffer(8));

  constructor(cl: OpenCl) {
    this.cl = cl;
  }

  get idle(): boolean {
    return this.pending.length === 0;
  }

  /**
   * Resolves when the command of an event has run; takes the event over.
   * @param ended is called before that, and also where the promise was rejected meanwhile; what it throws rejects the promise.
   * @throws FftError (as a rejection) `launch-failed`, `out-of-memory`, `device-lost`
   */
  of(event: Handle, what: string, ended?: Ending): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pending.push({ event, what, ended, resolve, reject });
      if (this.watching) return;
      this.watching = true;
      this.looks = 0;
      setImmediate(this.watch);
    });
  }

  /** Rejects all that wait, and calls back when the device is through with what it was given. */
  abort(error: FftError, drained: () => void): void {
    this.aborted = error;
    for (const { reject } of this.pending) reject(error);
    if (this.idle) drained();
    else this.drained = drained;
  }

  private readonly watch = (): void => {
    for (let first = this.pending[0]; first; first = this.pending[0]) {
      const status = this.cl.eventStatus(first.event);
      if (status > 0) break;
      this.pending.shift();
      this.looks = 0;
      this.cl.raw.clReleaseEvent(first.event);
      this.settle(first, status);
    }
    const [first] = this.pending;
    if (!first) {
      this.watching = false;
      this.drained?.();
    } else if (++this.looks <= LOOKS) setImmediate(this.watch);
    else {
      this.looks = 0;
      this.awaited[0] = first.event;
      this.cl.raw.clWaitForEvents.async(1, this.awaited, this.watch);
    }
  };

  private settle({ what, ended, resolve, reject }: Pending, status: number): void {
    const failed = status === 0 ? undefined : failure(what, status, { what: 'A command on the device' });
    const error = this.aborted ?? failed;
    try {
      ended?.(error);
      if (error) reject(error);
      else resolve();
    } catch (thrown) {
      reject(thrown);
    }
  }
}
