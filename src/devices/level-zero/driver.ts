/** A device of Level Zero: its context, the immediate command list that takes all work, and memory that host code can access. */
import { FftError, show } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { CodeFacts } from '../device.ts';
import { Binaries } from '../native/binaries.ts';
import type { NativeDriver, Pinned } from '../native/driver.ts';
import { isHandle } from '../native/library.ts';
import type { NativeBuffer } from '../native/memory.ts';
import { type Handle, type LevelZero, type Purpose, TYPE } from './api.ts';
import { WAITING, ZeEvents } from './events.ts';
import type { ZeDevice } from './select.ts';

/** The parts of an opened device. */
export interface ZeSetup {
  readonly api: LevelZero;
  readonly device: ZeDevice;
  /** The caller's context; absent if the device makes its own. */
  readonly context?: Handle | undefined;
  /** The store of compiled code; absent if compiled code is not kept. */
  readonly store?: CodeStore | undefined;
}

/** The least valid handle. The first page of memory is never mapped, so lower numbers are mistakes, which would crash the process. */
export const LEAST_HANDLE = 4096n;

const FOREVER = 2n ** 64n - 1n;
const ASYNCHRONOUS = 2;
/** The alignment of allocations, in bytes. */
const ALIGNMENT = 256;

export class ZeDriver implements NativeDriver {
  readonly kind = 'level-zero';
  readonly target = 'encoder';
  readonly eagerMilliseconds = 2;
  readonly handlesComeBack = true;
  readonly stream: Handle;
  readonly api: LevelZero;
  readonly device: ZeDevice;
  readonly context: Handle;
  readonly codeFacts: CodeFacts;
  readonly binaries: Binaries;
  private readonly own: boolean;
  private readonly events: ZeEvents;

  /** @throws FftError `out-of-memory`, `launch-failed`, `device-lost` */
  constructor({ api, device, context, store }: ZeSetup) {
    this.api = api;
    this.device = device;
    this.own = context === undefined;
    const opening: Purpose = { what: `Opening ${device.name}`, otherwise: 'device-unavailable' };
    this.context =
      context ?? api.make('zeContextCreate', opening, device.driver, api.struct(TYPE.context, undefined, 0));
    this.codeFacts = { device: device.name, driver: device.driverName };
    this.binaries = new Binaries(store, this.codeFacts);
    this.events = new ZeEvents(api, this.context);
    const requested = api.struct(TYPE.queue, undefined, device.queueGroup, 0, 0, ASYNCHRONOUS, 0);
    try {
      this.stream = api.make('zeCommandListCreateImmediate', opening, this.context, device.handle, requested);
    } catch (error) {
      if (this.own) api.raw.zeContextDestroy(this.context);
      throw error;
    }
  }

  enter(): void {}

  pin(bytes: number): Pinned | undefined {
    try {
      const address = this.allocate(bytes, 'host');
      return { address, view: this.view(address, bytes) };
    } catch (error) {
      if (error instanceof FftError && error.code === 'out-of-memory') return undefined;
      throw error;
    }
  }

  unpin({ address }: Pinned): void {
    this.free(address);
  }

  /** Memory that host code can access, as bytes. */
  view(address: bigint, bytes: number): Uint8Array {
    return new Uint8Array(this.api.koffi.view(address, bytes));
  }

  /** Allocates memory. @throws FftError `out-of-memory` */
  allocate(bytes: number, where: 'device' | 'shared' | 'host'): bigint {
    const { api, context, device } = this;
    const purpose: Purpose = { what: `Allocating ${bytes} bytes of ${where} memory` };
    const room = Math.max(1, bytes);
    const host = api.struct(TYPE.hostMemory, undefined, 0);
    if (where === 'host') return api.make('zeMemAllocHost', purpose, context, host, room, ALIGNMENT);
    const own = api.struct(TYPE.deviceMemory, undefined, 0, 0);
    if (where === 'device') return api.make('zeMemAllocDevice', purpose, context, own, room, ALIGNMENT, device.handle);
    return api.make('zeMemAllocShared', purpose, context, own, host, room, ALIGNMENT, device.handle);
  }

  free(address: bigint): void {
    this.api.raw.zeMemFree(this.context, address);
  }

  copy(direction: 'in' | 'out', { handle }: NativeBuffer, byteOffset: number, host: bigint, bytes: number): undefined {
    const place = handle + BigInt(byteOffset);
    const [to, from] = direction === 'in' ? [place, host] : [host, place];
    const purpose = { what: `Copying ${bytes} bytes` };
    this.api.call('zeCommandListAppendMemoryCopy', purpose, this.stream, to, from, bytes, 0n, 0, null);
    this.order(this.stream);
  }

  /**
   * Appends a barrier: later commands wait for all earlier ones, because the commands of a list may otherwise run in any order.
   * @param event the event to signal then.
   */
  order(list: Handle, event = 0n): void {
    this.api.call('zeCommandListAppendBarrier', undefined, list, event, 0, null);
  }

  mark(list: Handle): Handle {
    const event = this.events.take();
    this.order(list, event);
    return event;
  }

  hasPassed(event: Handle): boolean {
    return this.events.hasPassed(event);
  }

  forget(event: Handle): void {
    this.events.give(event);
  }

  /** Polls after a delay instead of blocking a thread in the driver, which would take one thread for each device. */
  sleep(_event: Handle, wake: () => void): void {
    setTimeout(wake, 1);
  }

  /** Nothing to wait for: the device has one list, and barriers keep it in order. */
  wait(): void {}

  synchronize(list: Handle): void {
    const event = this.mark(list);
    try {
      this.api.call('zeEventHostSynchronize', WAITING, event, FOREVER);
    } finally {
      this.forget(event);
    }
  }

  callersStream(target: unknown): Handle {
    if (isHandle(target, LEAST_HANDLE)) return target;
    throw new FftError(
      'invalid-encoder',
      `The encoder is ${show(target)}; it must be a ze_command_list_handle_t that is open, as a BigInt.`,
    );
  }

  /** The caller executes a command list of the caller's at any later time. */
  isCapturing(list: Handle): boolean {
    return list !== this.stream;
  }

  close(): void {
    const { raw } = this.api;
    raw.zeCommandListDestroy(this.stream);
    this.events.release();
    if (this.own) raw.zeContextDestroy(this.context);
  }
}
