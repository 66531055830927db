/**
 * A device of Vulkan: its queue, the timeline semaphore that counts completed submissions, command buffers, and memory that host code can access.
 * Events are values of the semaphore.
 */
import { FftError, show } from '../../problem/errors.ts';
import type { CodeFacts } from '../device.ts';
import type { NativeDriver, Pinned } from '../native/driver.ts';
import { isHandle } from '../native/library.ts';
import type { NativeBuffer } from '../native/memory.ts';
import type { Struct } from '../native/structs.ts';
import { BUFFER_USAGE, type Handle, MEMORY, type Purpose, TYPE, type Vulkan, vkFailure } from './api.ts';
import type { VkDevice, VkFeatures } from './select.ts';

/** The parts of an opened device. */
export interface VkSetup {
  readonly api: Vulkan;
  readonly physical: VkDevice;
  /** The features that kernels may use. */
  readonly features: VkFeatures;
  readonly device: Handle;
  readonly queue: Handle;
  readonly queueFamily: number;
  /** Whether the device was created here, and so has to be destroyed here. */
  readonly own: boolean;
}

/** A memory allocation with a buffer that covers all of it. */
export interface VkAllocation {
  readonly buffer: Handle;
  readonly memory: Handle;
  /** The buffer's device address. */
  readonly address: bigint;
  /** The host address of the mapped memory; undefined if host code cannot access it. */
  readonly mapped: bigint | undefined;
}

/** The least valid handle. The first page of memory is never mapped, so lower numbers are mistakes, which would crash the process. */
export const LEAST_HANDLE = 4096n;

const FOREVER = 2n ** 64n - 1n;
/** Bits of `VkPipelineStageFlags` and of `VkAccessFlags`. */
const STAGE = { compute: 0x800, host: 0x4000, all: 0x10000 } as const;
const ACCESS = {
  shaderRead: 0x20,
  shaderWrite: 0x40,
  hostRead: 0x2000,
  hostWrite: 0x4000,
  read: 0x8000,
  write: 0x10000,
};
/**
 * Memory barriers by the observer of earlier writes: the next kernel of a program, all commands of the device, or the host as well. Making writes
 * visible to the host takes an NVIDIA GPU some microseconds.
 */
const BARRIERS = {
  kernel: {
    srcStages: STAGE.compute,
    dstStages: STAGE.compute,
    srcAccess: ACCESS.shaderWrite,
    dstAccess: ACCESS.shaderRead | ACCESS.shaderWrite,
  },
  device: {
    srcStages: STAGE.all,
    dstStages: STAGE.all,
    srcAccess: ACCESS.write,
    dstAccess: ACCESS.read | ACCESS.write,
  },
  host: {
    srcStages: STAGE.all,
    dstStages: STAGE.all | STAGE.host,
    srcAccess: ACCESS.write,
    dstAccess: ACCESS.read | ACCESS.write | ACCESS.hostRead | ACCESS.hostWrite,
  },
} as const;
export type Observer = keyof typeof BARRIERS;
const SIMULTANEOUS = 4;
const RESETTABLE = 2;

export class VkDriver implements NativeDriver {
  readonly kind = 'vulkan';
  readonly target = 'encoder';
  readonly eagerMilliseconds = 2;
  readonly handlesComeBack = true;
  readonly stream: Handle;
  readonly setup: VkSetup;
  readonly api: Vulkan;
  readonly device: Handle;
  readonly codeFacts: CodeFacts;
  private readonly pool: Handle;
  private readonly semaphore: Handle;
  private readonly pinned = new Map<bigint, VkAllocation>();
  /** Command buffers of single copies, each with the semaphore's value at which it has run. */
  private readonly copies: { readonly commands: Handle; value: bigint }[] = [];
  /** The semaphore's value at the end of the last submission, and the largest value that is known to have been reached. */
  private submitted = 0n;
  private passed = 0n;
  private readonly counter = new BigUint64Array(new ArrayBuffer(8));
  private readonly barriers: Readonly<Record<Observer, Struct>>;

  constructor(setup: VkSetup) {
    const { api, device, physical, queue, queueFamily } = setup;
    this.setup = setup;
    this.api = api;
    this.device = device;
    this.stream = queue;
    this.codeFacts = { device: physical.name, driver: physical.driver, compiler: JSON.stringify(setup.features) };
    this.pool = api.make(
      'vkCreateCommandPool',
      undefined,
      device,
      api.struct(TYPE.commandPool, undefined, RESETTABLE, queueFamily),
      null,
    );
    const timeline = api.struct(TYPE.semaphoreType, undefined, 1, 0n);
    this.semaphore = api.make('vkCreateSemaphore', undefined, device, api.struct(TYPE.semaphore, timeline, 0), null);
    const barrier = ({ srcAccess, dstAccess }: (typeof BARRIERS)[Observer]) =>
      api.struct(TYPE.memoryBarrier, undefined, srcAccess, dstAccess);
    this.barriers = {
      kernel: barrier(BARRIERS.kernel),
      device: barrier(BARRIERS.device),
      host: barrier(BARRIERS.host),
    };
  }

  enter(): void {}

  pin(bytes: number): Pinned | undefined {
    try {
      const made = this.allocate(bytes, MEMORY.hostVisible | MEMORY.hostCoherent, MEMORY.hostCached);
      const address = made.mapped!;
      this.pinned.set(address, made);
      return { address, view: this.view(address, bytes) };
    } catch (error) {
      if (error instanceof FftError && error.code === 'out-of-memory') return undefined;
      throw error;
    }
  }

  unpin({ address }: Pinned): void {
    const made = this.pinned.get(address)!;
    this.pinned.delete(address);
    this.free(made);
  }

  /** Memory that host code can access, as bytes. */
  view(address: bigint, bytes: number): Uint8Array {
    return new Uint8Array(this.api.koffi.view(address, bytes));
  }

  /**
   * Allocates memory with a buffer. @param needed property flags that the memory must have. @param wanted property flags that are preferred.
   * @throws FftError `out-of-memory`
   */
  allocate(bytes: number, needed: number, wanted = 0): VkAllocation {
    const { api, device } = this;
    const purpose: Purpose = { what: `Allocating ${bytes} bytes of memory` };
    const size = BigInt(Math.max(16, Math.ceil(bytes / 16) * 16));
    const requested = api.struct(TYPE.buffer, undefined, 0, size, BUFFER_USAGE, 0, 0, undefined);
    const buffer = api.make('vkCreateBuffer', purpose, device, requested, null);
    let memory = 0n;
    try {
      const requirements = new ArrayBuffer(24);
      api.call('vkGetBufferMemoryRequirements', purpose, device, buffer, requirements);
      const [room] = new BigUint64Array(requirements, 0, 1);
      const type = this.memoryType(new Uint32Array(requirements)[4]!, needed, wanted);
      const withAddress = api.struct(TYPE.allocateFlags, undefined, 2, 0);
      memory = api.make('vkAllocateMemory', purpose, device, api.struct(TYPE.allocate, withAddress, room, type), null);
      api.call('vkBindBufferMemory', purpose, device, buffer, memory, 0n);
      const flags = this.setup.physical.memoryTypes[type]!;
      const seen = MEMORY.hostVisible | MEMORY.hostCoherent;
      const mapped = (flags & seen) === seen && ((needed | wanted) & MEMORY.hostVisible) !== 0;
      const place = mapped ? api.make('vkMapMemory', purpose, device, memory, 0n, FOREVER, 0) : undefined;
      return { buffer, memory, address: api.addressOfBuffer(device, buffer), mapped: place };
    } catch (error) {
      api.call('vkDestroyBuffer', undefined, device, buffer, null);
      if (memory !== 0n) api.call('vkFreeMemory', undefined, device, memory, null);
      throw error;
    }
  }

  free({ buffer, memory }: Pick<VkAllocation, 'buffer' | 'memory'>): void {
    this.api.call('vkDestroyBuffer', undefined, this.device, buffer, null);
    this.api.call('vkFreeMemory', undefined, this.device, memory, null);
  }

  copy(direction: 'in' | 'out', { handle }: NativeBuffer, byteOffset: number, host: bigint, bytes: number): undefined {
    const { api } = this;
    const { buffer } = this.pinned.get(host)!;
    const [from, to] = direction === 'in' ? [buffer, handle] : [handle, buffer];
    const [start, end] = direction === 'in' ? [0n, BigInt(byteOffset)] : [BigInt(byteOffset), 0n];
    const commands = this.spareCommands();
    this.record(commands, direction === 'out', () => {
      api.call('vkCmdCopyBuffer', undefined, commands, from, to, 1, api.plain(start, end, BigInt(bytes)));
    });
    this.submit([commands], { what: `Copying ${bytes} bytes` });
    this.copies.push({ commands, value: this.submitted });
  }

  /** Records work that follows everything submitted before. @param forHost whether the host has to see the results */
  record(commands: Handle, forHost: boolean, work: () => void): void {
    const { api } = this;
    api.call('vkBeginCommandBuffer', undefined, commands, api.struct(TYPE.begin, undefined, SIMULTANEOUS, undefined));
    this.order(commands, 'device');
    work();
    if (forHost) this.order(commands, 'host');
    api.call('vkEndCommandBuffer', undefined, commands);
  }

  /** Appends a barrier: later commands wait for earlier ones, and the observer sees their writes. */
  order(commands: Handle, observer: Observer): void {
    const { api } = this;
    const { srcStages, dstStages } = BARRIERS[observer];
    const barrier = this.barriers[observer];
    api.call('vkCmdPipelineBarrier', undefined, commands, srcStages, dstStages, 0, 1, barrier, 0, null, 0, null);
  }

  commands(): Handle {
    const { api, device, pool } = this;
    return api.make(
      'vkAllocateCommandBuffers',
      undefined,
      device,
      api.struct(TYPE.commandBuffers, undefined, pool, 0, 1),
    );
  }

  freeCommands(commands: Handle): void {
    const list = new BigUint64Array(new ArrayBuffer(8));
    list[0] = commands;
    this.api.call('vkFreeCommandBuffers', undefined, this.device, this.pool, 1, list);
  }

  /** Submits command buffers, which run in order. */
  submit(commands: readonly Handle[], purpose?: Purpose): void {
    const { api } = this;
    const list = new BigUint64Array(new ArrayBuffer(8 * commands.length));
    list.set(commands);
    const value = this.submitted + 1n;
    const [values, semaphores] = [api.plain(value), api.plain(this.semaphore)];
    const timeline = api.struct(TYPE.timelineSubmit, undefined, 0, undefined, 1, values);
    const info = api.struct(TYPE.submit, timeline, 0, undefined, undefined, commands.length, list, 1, semaphores);
    api.call('vkQueueSubmit', purpose, this.stream, 1, info, 0n);
    this.submitted = value;
  }

  mark(): bigint {
    return this.submitted;
  }

  hasPassed(event: bigint): boolean {
    if (event <= this.passed) return true;
    this.api.call('vkGetSemaphoreCounterValue', undefined, this.device, this.semaphore, this.counter);
    // Drivers that have lost the device set the semaphore to its largest value.
    if (this.counter[0]! > this.submitted) throw vkFailure('vkGetSemaphoreCounterValue', -4);
    this.passed = this.counter[0]!;
    return event <= this.passed;
  }

  forget(): void {}

  /** Polls after a delay instead of blocking a thread in the driver, which would take one thread for each device. */
  sleep(_event: bigint, wake: () => void): void {
    setTimeout(wake, 1);
  }

  /** Nothing to wait for: the device has one queue, whose submissions run in order. */
  wait(): void {}

  synchronize(): void {
    const { api, device } = this;
    const [semaphores, values] = [api.plain(this.semaphore), api.plain(this.submitted)];
    const info = api.struct(TYPE.semaphoreWait, undefined, 0, 1, semaphores, values);
    api.call('vkWaitSemaphores', { what: 'Waiting for the device' }, device, info, FOREVER);
    this.passed = this.submitted;
  }

  callersStream(target: unknown): Handle {
    if (isHandle(target, LEAST_HANDLE)) return target;
    throw new FftError(
      'invalid-encoder',
      `The encoder is ${show(target)}; it must be a VkCommandBuffer that is being recorded, as a BigInt.`,
    );
  }

  /** The caller submits a command buffer of the caller's at any later time. */
  isCapturing(stream: Handle): boolean {
    return stream !== this.stream;
  }

  close(): void {
    const { api, device } = this;
    for (const made of this.pinned.values()) this.free(made);
    api.call('vkDestroyCommandPool', undefined, device, this.pool, null);
    api.call('vkDestroySemaphore', undefined, device, this.semaphore, null);
    if (this.setup.own) api.call('vkDestroyDevice', undefined, device, null);
  }

  /** Milliseconds that command buffers take one after another. @param submit submits work to the device's queue, and resolves when it has run. */
  async timed(commands: readonly Handle[], submit: (work: () => undefined) => Promise<void>): Promise<number> {
    const { api, device } = this;
    const { limits, timestampBits } = this.setup.physical;
    if (timestampBits === 0) {
      throw new FftError('launch-failed', 'The device ran the transform but cannot tell how long it took.');
    }
    const requested = api.struct(TYPE.queryPool, undefined, 0, 2, 2, 0);
    const queries = api.make('vkCreateQueryPool', undefined, device, requested, null);
    const [first, last] = [this.commands(), this.commands()];
    try {
      this.record(first, false, () => {
        api.call('vkCmdResetQueryPool', undefined, first, queries, 0, 2);
        api.call('vkCmdWriteTimestamp', undefined, first, STAGE.compute, queries, 0);
      });
      this.record(last, false, () => api.call('vkCmdWriteTimestamp', undefined, last, STAGE.compute, queries, 1));
      await submit(() => {
        this.submit([first, ...commands, last]);
      });
      const times = new BigUint64Array(new ArrayBuffer(16));
      api.call('vkGetQueryPoolResults', undefined, device, queries, 0, 2, 16, times, 8n, 3);
      const ticks = BigInt.asUintN(Math.min(64, timestampBits), times[1]! - times[0]!);
      return (Number(ticks) * limits.timestampPeriod) / 1e6;
    } finally {
      this.freeCommands(first);
      this.freeCommands(last);
      api.call('vkDestroyQueryPool', undefined, device, queries, null);
    }
  }

  private spareCommands(): Handle {
    const [oldest] = this.copies;
    if (!oldest || !this.hasPassed(oldest.value)) return this.commands();
    this.copies.shift();
    return oldest.commands;
  }

  /** The index of a memory type. @param allowed a bit for each type that the buffer may use. @throws FftError `out-of-memory` */
  private memoryType(allowed: number, needed: number, wanted: number): number {
    const types = this.setup.physical.memoryTypes;
    for (const flags of [needed | wanted, needed]) {
      const found = types.findIndex((type, n) => (allowed & (1 << n)) !== 0 && (type & flags) === flags);
      if (found >= 0) return found;
    }
    throw new FftError('out-of-memory', `The device has no memory of the kind ${needed} that it could give.`);
  }
}
