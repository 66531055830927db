/** Steps that are bound to memory: a kernel object each, with its arguments set once. */

import { bytesOf } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { requireAligned } from '../alignment.ts';
import { type BoundArgument, boundArguments } from '../bindings.ts';
import type { Binding, BoundProgram, Step } from '../device.ts';
import { type Handle, INFO, type OpenCl, QUEUE } from './api.ts';
import type { Completion } from './completion.ts';
import { ClKernel } from './kernel.ts';
import { ClBuffer, type ClMemory } from './memory.ts';
import { type Chain, ClQueue, callersQueue, type Sizes } from './queue.ts';

/** What programs need of their device. */
export interface Machine {
  readonly cl: OpenCl;
  readonly context: Handle;
  readonly device: Handle;
  readonly memory: ClMemory;
  readonly queue: ClQueue;
  readonly chain: Chain;
  readonly completion: Completion;
  /** @throws FftError `device-closed` */
  requireOpen(): void;
}

/** What failed, where a launch did. */
const LAUNCH = 'clEnqueueNDRangeKernel';

interface BoundStep {
  readonly kernel: Handle;
  readonly sizes: Sizes;
}

export class ClProgram implements BoundProgram {
  private readonly machine: Machine;
  private readonly steps: BoundStep[] = [];
  private readonly buffers = new Set<ClBuffer>();
  private generation = -1;
  private released = false;

  /** @throws FftError `missing-buffer`, `foreign-buffer`, `buffer-usage`, `misaligned-buffer`, `destroyed`, `launch-failed` */
  constructor(machine: Machine, steps: readonly Step[], slots: readonly (Binding | undefined)[]) {
    this.machine = machine;
    try {
      for (const step of steps) this.bindStep(step, slots);
    } catch (error) {
      this.releaseKernels();
      throw error;
    }
    // The caller may let go of memory that this program still works on.
    for (const buffer of this.buffers) if (buffer.adopted) machine.cl.raw.clRetainMemObject(buffer.handle);
  }

  run(): Promise<void> {
    try {
      this.check();
      return this.submitHere();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  runSync(): void {
    this.check();
    this.machine.completion.now(this.submitToOwn(), LAUNCH);
  }

  /** @param target a `cl_command_queue` of the device's context; it is flushed. */
  encode(target: unknown): void {
    const { queue, chain } = this.machine;
    this.check();
    const callers = callersQueue(this.machine, target);
    if (callers.handle === queue.handle) {
      this.submitHere().catch(() => undefined);
      return;
    }
    chain.enter(callers);
    const end = this.submit(callers);
    callers.flush();
    chain.leave(end);
  }

  /** By the device's clock, on a queue that keeps times. */
  async time(repeats: number): Promise<number> {
    const { cl, context, device, memory, chain, completion } = this.machine;
    this.check();
    const queue = new ClQueue(cl, cl.make('clCreateCommandQueue', undefined, context, device, QUEUE.profiling), memory);
    const events: Handle[] = [];
    try {
      chain.enter(queue);
      events.push(queue.launchWithEvent(this.steps[0]!.kernel, this.steps[0]!.sizes));
      for (let launch = 1; launch < repeats * this.steps.length; launch++) {
        const { kernel, sizes } = this.steps[launch % this.steps.length]!;
        if (launch < repeats * this.steps.length - 1) queue.launch(kernel, sizes);
        else events.push(queue.launchWithEvent(kernel, sizes));
      }
      const [first, last] = [events[0]!, events.at(-1)!];
      queue.flush();
      cl.raw.clRetainEvent(last);
      chain.leave(last);
      cl.raw.clRetainEvent(last);
      await completion.of(last, LAUNCH);
      const start = cl.number('profiling', first, INFO.profilingStart);
      const end = cl.number('profiling', last, INFO.profilingEnd);
      if (start === undefined || end === undefined) {
        throw new FftError('launch-failed', 'The device ran the transform but cannot tell how long it took.');
      }
      return (end - start) / 1e6 / repeats;
    } finally {
      for (const event of events) cl.raw.clReleaseEvent(event);
      cl.raw.clReleaseCommandQueue(queue.handle);
    }
  }

  release(): void {
    if (this.released) return;
    this.released = true;
    this.generation = -1;
    this.releaseKernels();
    const { cl } = this.machine;
    for (const buffer of this.buffers) if (buffer.adopted) cl.raw.clReleaseMemObject(buffer.handle);
  }

  private submitHere(): Promise<void> {
    return this.machine.completion.of(this.submitToOwn(), LAUNCH);
  }

  private submitToOwn(): Handle {
    const { queue, chain } = this.machine;
    chain.enter(queue);
    const end = this.submit(queue);
    queue.flush();
    return end;
  }

  /** The event of the last step. */
  private submit(queue: ClQueue): Handle {
    const { steps } = this;
    const last = steps.length - 1;
    for (let n = 0; n < last; n++) queue.launch(steps[n]!.kernel, steps[n]!.sizes);
    return queue.launchWithEvent(steps[last]!.kernel, steps[last]!.sizes);
  }

  private check(): void {
    const { machine } = this;
    machine.requireOpen();
    if (this.generation === machine.memory.generation) return;
    if (this.released) {
      throw new FftError('destroyed', 'This program was released and cannot run any more; bind it anew.');
    }
    for (const buffer of this.buffers) {
      if (!buffer.freed) continue;
      throw new FftError('destroyed', 'Device memory that this program is bound to was freed; bind it to live memory.');
    }
    this.generation = machine.memory.generation;
  }

  private releaseKernels(): void {
    for (const { kernel } of this.steps.splice(0)) this.machine.cl.raw.clReleaseKernel(kernel);
  }

  private bindStep(step: Step, slots: readonly (Binding | undefined)[]): void {
    const { kernel } = step;
    if (!(kernel instanceof ClKernel) || kernel.place.context !== this.machine.context) {
      throw new FftError('internal-error', `Kernel ${kernel.kernel.name} was compiled by another device.`);
    }
    const { globals } = kernel.kernel;
    const places = boundArguments(step, slots).map((argument, n) =>
      this.place(argument, kernel.emitted.bindings[n]?.written ?? true),
    );
    for (const [n, { byteOffset }] of places.entries()) requireAligned(kernel.kernel, kernel.emitted, n, byteOffset);
    const { threads, groups, launches, launchSize } = kernel.emitted;
    const sizes = {
      all: new BigUint64Array([BigInt(groups[0] * threads), BigInt(groups[1]), BigInt(groups[2])]),
      group: new BigUint64Array([BigInt(threads), 1n, 1n]),
    };
    const first = places.length + globals.length;
    for (let n = 0; n < launches; n++) {
      const set = this.instance(kernel, sizes);
      for (const [position, { buffer }] of places.entries()) set(position, buffer.handle);
      for (const [g, { type }] of globals.entries()) {
        set(places.length + g, BigInt(places[g]!.byteOffset / bytesOf(type)));
      }
      if (launches > 1) set(first, BigInt(n * launchSize));
    }
  }

  /** One more launch of a kernel. @returns what sets its arguments. */
  private instance(kernel: ClKernel, sizes: Sizes): (position: number, value: bigint) => void {
    const { cl } = this.machine;
    const handle = kernel.instance();
    this.steps.push({ kernel: handle, sizes });
    const asked = { what: `Binding kernel ${kernel.kernel.name}` };
    const word = new BigUint64Array(1);
    return (position, value) => {
      word[0] = value;
      cl.call('clSetKernelArg', asked, handle, position, 8, word);
    };
  }

  private place({ buffer, byteOffset, what }: BoundArgument, written: boolean): Place {
    if (!(buffer instanceof ClBuffer) || buffer.memory !== this.machine.memory) {
      throw new FftError('foreign-buffer', `What is bound for ${what} was not allocated on this device.`);
    }
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for ${what} was freed.`);
    if (written && !buffer.writable) {
      throw new FftError('buffer-usage', `${what} is written, but its cl_mem is CL_MEM_READ_ONLY.`);
    }
    this.buffers.add(buffer);
    return { buffer, byteOffset };
  }
}

interface Place {
  readonly buffer: ClBuffer;
  readonly byteOffset: number;
}
