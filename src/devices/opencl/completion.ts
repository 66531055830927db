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
  private readonly word = new BigUint64Array(1);

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

  /**
   * Waits on this thread for the command of an event, and for all that were handed in before.
   * @param ended as in `of`; it is called in any case.
   * @throws FftError `launch-failed`, `out-of-memory`, `device-lost`
   */
  now(event: Handle, what: string, ended?: Ending): void {
    this.drain();
    const status = this.await(event);
    this.cl.raw.clReleaseEvent(event);
    const error = failureOf(what, status);
    ended?.(error);
    if (error) throw error;
  }

  /** Waits on this thread for all that was handed in. */
  drain(): void {
    for (let first = this.pending[0]; first; first = this.pending[0]) {
      const status = this.await(first.event);
      this.pending.shift();
      this.cl.raw.clReleaseEvent(first.event);
      this.settle(first, status);
    }
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
      const { event } = first;
      this.awaited[0] = event;
      // Somebody may wait on this thread meanwhile, and be done with the event first.
      this.cl.raw.clRetainEvent(event);
      this.cl.raw.clWaitForEvents.async(1, this.awaited, () => {
        this.cl.raw.clReleaseEvent(event);
        this.watch();
      });
    }
  };

  /** How the command of an event ended. */
  private await(event: Handle): number {
    this.word[0] = event;
    const waited = this.cl.raw.clWaitForEvents(1, this.word) as number;
    const status = this.cl.eventStatus(event);
    // Where waiting itself fails, that is what went wrong.
    return status > 0 ? waited : status;
  }

  private settle({ what, ended, resolve, reject }: Pending, status: number): void {
    const error = this.aborted ?? failureOf(what, status);
    try {
      ended?.(error);
      if (error) reject(error);
      else resolve();
    } catch (thrown) {
      reject(thrown);
    }
  }
}

function failureOf(what: string, status: number): FftError | undefined {
  return status === 0 ? undefined : failure(what, status, { what: 'A command on the device' });
}
