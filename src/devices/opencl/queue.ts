/**
 * Command queues: the device's own, and those of the caller that programs are appended to. All that one device submits
 * runs in the order in which it was submitted, whichever queues it went to.
 */
import { FftError, show } from '../../problem/errors.ts';
import { type Handle, INFO, isHandle, type OpenCl, QUEUE } from './api.ts';
import type { Completion } from './completion.ts';
import type { Asked } from './errors.ts';

/** What can say how much memory there is. */
interface Situated {
  readonly situation: string;
}

/** Commands for one queue. */
export class ClQueue {
  readonly cl: OpenCl;
  readonly handle: Handle;
  /** Commands wait for those before them only where they are told to. */
  private readonly outOfOrder: boolean;
  private readonly launching: Asked;
  private readonly made = new BigUint64Array(1);

  /** @param memory whose situation messages describe: drivers may allocate on first use. */
  constructor(cl: OpenCl, handle: Handle, memory: Situated) {
    this.cl = cl;
    this.handle = handle;
    this.launching = {
      what: 'Launching a kernel',
      get memory() {
        return memory.situation;
      },
    };
    this.outOfOrder = ((cl.number('queue', handle, INFO.queueProperties) ?? 0) & QUEUE.outOfOrder) !== 0;
  }

  launch(kernel: Handle, sizes: Sizes): void {
    this.enqueueKernel(kernel, sizes, null);
  }

  /** The same, with an event that the caller takes over. */
  launchWithEvent(kernel: Handle, sizes: Sizes): Handle {
    this.enqueueKernel(kernel, sizes, this.made);
    return this.made[0]!;
  }

  /** Copies between device memory and the host's, which must stay until the event. */
  copy(direction: 'in' | 'out', memory: Handle, offset: number, bytes: number, host: bigint): Handle {
    this.inOrder();
    const name = direction === 'in' ? 'clEnqueueWriteBuffer' : 'clEnqueueReadBuffer';
    const asked = {
      ...this.launching,
      what: `Copying ${bytes} bytes ${direction === 'in' ? 'to' : 'from'} the device`,
    };
    this.cl.call(name, asked, this.handle, memory, 0, offset, bytes, host, 0, null, this.made);
    return this.made[0]!;
  }

  /** An event that happens when everything before it has. */
  marker(): Handle {
    this.cl.call('clEnqueueMarkerWithWaitList', undefined, this.handle, 0, null, this.made);
    return this.made[0]!;
  }

  /** Holds later commands back until an event of another queue. */
  waitFor(event: Handle): void {
    this.made[0] = event;
    this.cl.call('clEnqueueBarrierWithWaitList', undefined, this.handle, 1, this.made, null);
  }

  /** What goes wrong with a queue shows at the events of its commands. */
  flush(): void {
    this.cl.raw.clFlush(this.handle);
  }

  private enqueueKernel(kernel: Handle, { all, group }: Sizes, event: BigUint64Array | null): void {
    this.inOrder();
    const { cl, handle, launching } = this;
    cl.call('clEnqueueNDRangeKernel', launching, handle, kernel, 3, null, all, group, 0, null, event);
  }

  private inOrder(): void {
    if (this.outOfOrder) {
      this.cl.call('clEnqueueBarrierWithWaitList', undefined, this.handle, 0, null, null);
    }
  }
}

/** Threads of a launch and of a group, in three dimensions. */
export interface Sizes {
  readonly all: BigUint64Array;
  readonly group: BigUint64Array;
}

/** Where the device's work was submitted last, so that what comes next waits for it. */
export class Chain {
  private readonly own: ClQueue;
  private readonly completion: Completion;
  private last: ClQueue;
  /** The end of what was submitted to another queue than the own. */
  private end: Handle | undefined;

  constructor(own: ClQueue, completion: Completion) {
    this.own = own;
    this.completion = completion;
    this.last = own;
  }

  /** To be called before anything is submitted to a queue. */
  enter(queue: ClQueue): void {
    const { last, own } = this;
    if (queue === own && last === own) return;
    // A handle says nothing: the caller may have released that queue, and made another where it was.
    if (last === own && queue.handle !== own.handle && !this.completion.idle) {
      this.end = own.marker();
      own.flush();
    }
    this.last = queue;
    if (this.end === undefined) return;
    queue.waitFor(this.end);
    this.forget();
  }

  /** To be called with the last event of what was submitted to a queue that is not the own. Takes the event over. */
  leave(event: Handle): void {
    this.forget();
    this.end = event;
  }

  forget(): void {
    if (this.end !== undefined) this.own.cl.raw.clReleaseEvent(this.end);
    this.end = undefined;
  }
}

/**
 * A queue of the caller's to append to.
 * @throws FftError `invalid-encoder`
 */
export function callersQueue(
  { cl, context, memory }: { readonly cl: OpenCl; readonly context: Handle; readonly memory: Situated },
  target: unknown,
): ClQueue {
  if (!isHandle(target)) {
    throw new FftError('invalid-encoder', `The queue is ${show(target)}; it must be a cl_command_queue, as a BigInt.`);
  }
  if (cl.handle('queue', target, INFO.queueContext) !== context) {
    throw new FftError(
      'invalid-encoder',
      "The queue belongs to another context than this device; open the device with it: openDevice('opencl', { queue }).",
    );
  }
  return new ClQueue(cl, target, memory);
}
