/**
 * The one WebAssembly memory of a CPU device, and the buffers in it.
 *
 * It is reserved at full size when the device opens, because growing would detach every view that users hold; untouched
 * pages cost address space only.
 */

import type { StorageType } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { Allocator, type InFlight, OwnedBuffer } from '../common/memory.ts';
import type { Binding, RealArray } from '../device.ts';
import { arrayOver, bytesOfArray, typeOfArray } from '../host-arrays.ts';
import { Heap, upperBound } from './heap.ts';

export const PAGE_BYTES = 65536;
/** The most pages: one less than 4 GiB, so that sizes fit 32 bits. */
const MOST_PAGES = 65535;
/** The fewest pages, 256 MiB: if the host grants less, opening the device fails. */
const LEAST_PAGES = 4096;

/** Address 0 stays unused; the control block of the worker threads lies here. */
export const CONTROL_ADDRESS = 1024;
export const HEAP_START = 4096;

/** Memory in the device's WebAssembly memory. */
export class CpuBuffer extends OwnedBuffer {
  readonly address: number;
  private readonly memory: CpuAllocator;
  private views: Partial<Record<StorageType, RealArray>> = {};
  private part: RealArray | undefined;

  constructor(memory: CpuAllocator, address: number, bytes: number) {
    super(memory, bytes);
    this.memory = memory;
    this.address = address;
  }

  /** A view of all whole elements of the buffer, the same object at every call. @throws FftError `destroyed` after `free` */
  view(type: 'f32'): Float32Array;
  view(type: 'f64'): Float64Array;
  view(type: StorageType): RealArray;
  view(type: StorageType): RealArray {
    if (this.freed)
      throw new FftError('destroyed', 'This device memory was freed; allocate it anew to read or write it.');
    return (this.views[type] ??= this.handOut(type));
  }

  private handOut(type: StorageType): RealArray {
    const { address, bytes, memory } = this;
    const view = arrayOver(type, memory.buffer, address, Math.floor(bytes / bytesOfArray(type)));
    memory.handedOut.set(view, this);
    return view;
  }

  /** A part of live memory as an array of the type of `like`. The last one is kept, since making a view takes longer than a short copy. */
  window(byteOffset: number, like: RealArray): RealArray {
    const type = typeOfArray(like);
    const size = like.BYTES_PER_ELEMENT;
    if (byteOffset === 0 && like.length * size === this.bytes) return this.view(type);
    const { part } = this;
    const start = this.address + byteOffset;
    if (part && part.byteOffset === start && part.length === like.length && typeOfArray(part) === type) return part;
    return (this.part = arrayOver(type, this.memory.buffer, start, like.length));
  }

  override free(): void {
    super.free();
    this.views = {};
    this.part = undefined;
  }
}

export class CpuAllocator extends Allocator<CpuBuffer> {
  memory: WebAssembly.Memory;
  buffer: ArrayBuffer;
  readonly shared: boolean;
  readonly heap: Heap;
  /** The buffer of each view handed out. The address of a view does not tell whether its buffer was freed and the memory reused. */
  readonly handedOut = new WeakMap<ArrayBufferView, CpuBuffer>();
  /** Live buffers and their addresses, ascending. */
  private readonly located: CpuBuffer[] = [];
  private readonly addresses: number[] = [];

  constructor(shared: boolean, inFlight: InFlight, mostPages = MOST_PAGES) {
    super(inFlight);
    this.shared = shared;
    this.memory = reserve(shared, mostPages);
    this.buffer = this.memory.buffer as ArrayBuffer;
    this.heap = new Heap(HEAP_START, this.buffer.byteLength);
  }

  override free(buffer: CpuBuffer): void {
    if (buffer.freed) return;
    const place = upperBound(this.addresses, buffer.address) - 1;
    this.located.splice(place, 1);
    this.addresses.splice(place, 1);
    super.free(buffer);
  }

  /** The live buffer that holds all of a view of this memory. */
  locate(array: ArrayBufferView): Binding | undefined {
    if (array.buffer !== this.buffer) return undefined;
    if (this.handedOut.get(array)?.freed) throw staleView();
    const buffer = this.located[upperBound(this.addresses, array.byteOffset) - 1];
    const byteOffset = buffer ? array.byteOffset - buffer.address : 0;
    if (buffer && byteOffset + array.byteLength <= buffer.bytes) return { buffer, byteOffset };
    throw staleView();
  }

  protected take(bytes: number): CpuBuffer {
    const address = this.heap.take(bytes);
    if (address === undefined) {
      throw new FftError(
        'out-of-memory',
        `${bytes} bytes were asked for, but of the ${this.buffer.byteLength} bytes that this device could reserve ` +
          `${this.heap.free} are free, at most ${this.heap.largest} of them in one piece.`,
      );
    }
    const buffer = new CpuBuffer(this, address, bytes);
    const place = upperBound(this.addresses, address);
    this.located.splice(place, 0, buffer);
    this.addresses.splice(place, 0, address);
    return buffer;
  }

  /** Releases the memory itself too, so that a reference to the closed device does not keep it alive. */
  override clear(): void {
    super.clear();
    this.memory = new WebAssembly.Memory({ initial: 0, maximum: 0 });
    this.buffer = this.memory.buffer as ArrayBuffer;
  }

  protected reclaim(buffer: CpuBuffer): void {
    this.heap.give(buffer.address);
  }
}

/** The error for a view of freed memory. Another buffer may own the bytes by now, so writing to them would corrupt it. */
function staleView(): FftError {
  return new FftError(
    'destroyed',
    'This array is a view of device memory that has been freed, or reaches beyond what was allocated; ' +
      'take the array of live memory.',
  );
}

function reserve(shared: boolean, mostPages: number): WebAssembly.Memory {
  let cause: unknown;
  for (let pages = mostPages; ; pages = Math.ceil(pages / 2)) {
    try {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared });
    } catch (error) {
      cause = error;
    }
    if (pages <= LEAST_PAGES) break;
  }
  throw new FftError(
    'out-of-memory',
    `The CPU device could not reserve ${(LEAST_PAGES * PAGE_BYTES) / 2 ** 20} MiB of address space for its memory.`,
    { cause },
  );
}
