/** A device of OpenCL: its context, command queues and events. */
import { FftError, show } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { CodeFacts } from '../device.ts';
import { Binaries } from '../native/binaries.ts';
import type { NativeDriver, Pinned } from '../native/driver.ts';
import { isHandle, type Koffi } from '../native/library.ts';
import type { NativeBuffer } from '../native/memory.ts';
import { BUILD_OPTIONS, type Handle, INFO, LEAST_HANDLE, MAP_READ_WRITE, MEMORY, type OpenCl, QUEUE } from './api.ts';
import { type ClPurpose, clFailure } from './errors.ts';

/** The parts of an opened device. Queue and context are retained, and released when the device closes. */
interface ClSetup {
  readonly cl: OpenCl;
  readonly koffi: Koffi;
  readonly context: Handle;
  readonly device: Handle;
  /** The caller's queue; absent if the device makes its own. */
  readonly queue?: Handle | undefined;
  /** Whether kernels are given to the driver as SPIR-V instead of as source. */
  readonly spirv: boolean;
  /** The store of compiled code; absent if compiled code is not kept. */
  readonly store?: CodeStore | undefined;
}

/** One launch: a kernel object with its arguments set, the global work size, and the local one. */
export interface ClLaunch {
  readonly kernel: Handle;
  readonly globalSize: BigUint64Array;
  readonly localSize: BigUint64Array;
}

export class ClDriver implements NativeDriver {
  readonly kind = 'opencl';
  readonly target = 'queue';
  readonly eagerMilliseconds = 0.2;
  readonly handlesComeBack = true;
  readonly cl: OpenCl;
  readonly context: Handle;
  readonly device: Handle;
  readonly codeFacts: CodeFacts;
  readonly binaries: Binaries;
  readonly stream: Handle;
  readonly spirv: boolean;
  /** Describes the memory situation for messages about failed calls, because drivers may allocate on first use only. */
  memory: { readonly situation: string } | undefined;
  private readonly koffi: Koffi;
  /** Mapping memory needs a queue; this one has no other commands, so mapping never waits for work. */
  private readonly mapping: Handle;
  private readonly pinned = new Map<bigint, Handle>();
  /** Out-of-order queues, whose commands wait for earlier ones only if a barrier says so. */
  private readonly outOfOrder = new Set<Handle>();
  private readonly made = new BigUint64Array(1);
  /** The event that a waiting thread reads, in memory that the JavaScript engine does not move. */
  private readonly awaited = new BigUint64Array(new ArrayBuffer(8));

  constructor({ cl, koffi, context, device, queue, spirv, store }: ClSetup) {
    this.cl = cl;
    this.koffi = koffi;
    this.context = context;
    this.device = device;
    this.spirv = spirv;
    this.codeFacts = clCodeFacts(cl, device);
    this.binaries = new Binaries(store, this.codeFacts);
    this.mapping = this.makeQueue();
    try {
      this.stream = queue ?? this.makeQueue();
    } catch (error) {
      cl.raw.clReleaseCommandQueue(this.mapping);
      throw error;
    }
    this.readQueueOrder(this.stream);
  }

  readonly addressOf = (block: ArrayBuffer): bigint => this.koffi.address(block);

  makeQueue(properties = 0): Handle {
    return this.cl.make('clCreateCommandQueue', undefined, this.context, this.device, properties);
  }

  enter(): void {}

  pin(bytes: number): Pinned | undefined {
    const { cl } = this;
    const requested = { what: `Allocating ${bytes} bytes of host memory to copy through`, allocates: true };
    const flags = MEMORY.readWrite | MEMORY.allocHost;
    let memory: Handle | undefined;
    try {
      memory = cl.make('clCreateBuffer', requested, this.context, flags, bytes, null);
      const at = [1, MAP_READ_WRITE, 0, bytes, 0, null, null] as const;
      const address = cl.make('clEnqueueMapBuffer', requested, this.mapping, memory, ...at);
      this.pinned.set(address, memory);
      return { address, view: new Uint8Array(this.koffi.view(address, bytes)) };
    } catch (error) {
      if (memory !== undefined) cl.raw.clReleaseMemObject(memory);
      if (error instanceof FftError && error.code === 'out-of-memory') return undefined;
      throw error;
    }
  }

  unpin({ address }: Pinned): void {
    const { raw } = this.cl;
    const memory = this.pinned.get(address)!;
    this.pinned.delete(address);
    raw.clEnqueueUnmapMemObject(this.mapping, memory, address, 0, null, null);
    raw.clFlush(this.mapping);
    raw.clReleaseMemObject(memory);
  }

  copy(direction: 'in' | 'out', { handle }: NativeBuffer, byteOffset: number, host: bigint, bytes: number): Handle {
    const { cl, stream, made } = this;
    const [name, way] =
      direction === 'in' ? (['clEnqueueWriteBuffer', 'to'] as const) : (['clEnqueueReadBuffer', 'from'] as const);
    this.inOrder(stream);
    const requested = this.requested(`Copying ${bytes} bytes ${way} the device`);
    cl.call(name, requested, stream, handle, 0, byteOffset, bytes, host, 0, null, made);
    this.flush(stream);
    return made[0]!;
  }

  /** Enqueues a launch. @returns its event, if `wanted`. */
  launch({ kernel, globalSize, localSize }: ClLaunch, queue: Handle, wanted = false): Handle | undefined {
    this.inOrder(queue);
    const event = wanted ? this.made : null;
    this.cl.call(
      'clEnqueueNDRangeKernel',
      this.launching,
      queue,
      kernel,
      3,
      null,
      globalSize,
      localSize,
      0,
      null,
      event,
    );
    return wanted ? this.made[0] : undefined;
  }

  mark(queue: Handle): Handle {
    this.cl.call('clEnqueueMarkerWithWaitList', undefined, queue, 0, null, this.made);
    this.flush(queue);
    return this.made[0]!;
  }

  hasPassed(event: Handle): boolean {
    return this.cl.eventStatus(event) <= 0;
  }

  failureOf(event: Handle): FftError | undefined {
    const status = this.cl.eventStatus(event);
    return status < 0 ? clFailure('clGetEventInfo', status, { what: 'A command on the device' }) : undefined;
  }

  forget(event: Handle): void {
    this.cl.raw.clReleaseEvent(event);
  }

  /** Waits on another thread. The event is retained meanwhile, because the calling thread may finish with it first. */
  sleep(event: Handle, wake: () => void): void {
    const { raw } = this.cl;
    this.awaited[0] = event;
    raw.clRetainEvent(event);
    raw.clWaitForEvents.async(1, this.awaited, () => {
      raw.clReleaseEvent(event);
      wake();
    });
  }

  wait(queue: Handle, event: Handle): void {
    this.made[0] = event;
    this.cl.call('clEnqueueBarrierWithWaitList', undefined, queue, 1, this.made, null);
  }

  synchronize(queue: Handle): void {
    this.cl.call('clFinish', undefined, queue);
  }

  /** Submits the queue's commands. Errors are reported by the events of the commands. */
  flush(queue: Handle): void {
    this.cl.raw.clFlush(queue);
  }

  callersStream(target: unknown): Handle {
    if (!isHandle(target, LEAST_HANDLE)) {
      throw new FftError(
        'invalid-encoder',
        `The queue is ${show(target)}; it must be a cl_command_queue, as a BigInt.`,
      );
    }
    if (this.cl.handle('queue', target, INFO.queueContext) !== this.context) {
      throw new FftError(
        'invalid-encoder',
        "The queue belongs to another context than this device; open the device with it: openDevice('opencl', { queue }).",
      );
    }
    this.readQueueOrder(target);
    return target;
  }

  isCapturing(): boolean {
    return false;
  }

  close(): void {
    const { raw } = this.cl;
    for (const queue of [this.mapping, this.stream]) raw.clReleaseCommandQueue(queue);
    raw.clReleaseContext(this.context);
  }

  private readonly launching: ClPurpose = this.requested('Launching a kernel');

  private requested(what: string): ClPurpose {
    const driver = this;
    return {
      what,
      get memory() {
        return driver.memory?.situation ?? '';
      },
    };
  }

  private readQueueOrder(queue: Handle): void {
    const properties = this.cl.number('queue', queue, INFO.queueProperties) ?? 0;
    if (properties & QUEUE.outOfOrder) this.outOfOrder.add(queue);
    else this.outOfOrder.delete(queue);
  }

  private inOrder(queue: Handle): void {
    if (!this.outOfOrder.has(queue)) return;
    this.cl.call('clEnqueueBarrierWithWaitList', undefined, queue, 0, null, null);
  }
}

/** The facts that compiled code depends on. The compiler is part of the driver, so the version of the driver stands for it. */
function clCodeFacts(cl: OpenCl, device: Handle): CodeFacts {
  const text = (what: number) => cl.text('device', device, what);
  return {
    device: text(INFO.deviceName),
    driver: `${text(INFO.driverVersion)}, ${text(INFO.deviceVersion)}`,
    compiler: BUILD_OPTIONS,
  };
}
