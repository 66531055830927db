/**
 * The one WebAssembly memory of a CPU device, and the buffers in it.
 *
 * It is reserved whole when the device opens, because growing would detach every view that users hold; pages that
 * nobody has touched cost address space only.
 */

import type { StorageType } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { Binding, DeviceBuffer, RealArray } from '../device.ts';
import { arrayOver, typeOfArray } from '../host-arrays.ts';
import { above, Heap } from './heap.ts';

const PAGE_BYTES = 65536;
/** One page less than 4 GiB, so that sizes fit 32 bits. */
const MOST_PAGES = 65535;
/** 256 MiB: with less, opening the device fails. */
const LEAST_PAGES = 4096;

/** Address 0 stays unused; the control block of the worker threads lies here. */
export const CONTROL_ADDRESS = 1024;
export const HEAP_START = 4096;

/** What is in flight and may still touch memory that was freed. */
export interface InFlight {
  /** Gives memory back when nothing in flight can touch it any more. */
  defer(release: () => void): void;
  /** Waits for all of it on this thread. @returns whether there was any. */
  settle(): boolean;
}

/** Memory in the device's WebAssembly memory. */
export class CpuBuffer implements DeviceBuffer {
  readonly bytes: number;
  readonly address: number;
  freed = false;
  readonly memory: CpuMemory;
  private single: Float32Array | undefined;
  private double: Float64Array | undefined;
  private half: Uint16Array | undefined;
  private part: RealArray | undefined;

  constructor(memory: CpuMemory, address: number, bytes: number) {
    this.memory = memory;
    this.address = address;
    this.bytes = bytes;
  }

  /** All whole elements of the buffer; the same object at every call. @throws FftError `destroyed` after `free` */
  view(type: 'f32'): Float32Array;
  view(type: 'f64'): Float64Array;
  view(type: StorageType): RealArray;
  view(type: StorageType): RealArray {
    if (this.freed)
      throw new FftError('destroyed', 'This device memory was freed; allocate it anew to read or write it.');
    if (type === 'f32') return (this.single ??= this.handOut(Float32Array));
    if (type === 'f64') return (this.double ??= this.handOut(Float64Array));
    return type === 'f16' ? (this.half ??= this.handOut(Uint16Array)) : this.handOut(Uint32Array);
  }

  private handOut<T extends RealArray>(Type: {
    new (buffer: ArrayBuffer, at: number, length: number): T;
    readonly BYTES_PER_ELEMENT: number;
  }): T {
    const { address, bytes, memory } = this;
    const view = new Type(memory.buffer, address, Math.floor(bytes / Type.BYTES_PER_ELEMENT));
    memory.handedOut.set(view, this);
    return view;
  }

  /** A part of the buffer as an array of the given kind. The last one is kept: making a view takes longer than a short copy. */
  window(byteOffset: number, like: RealArray): RealArray {
    const type = typeOfArray(like);
    const size = like.BYTES_PER_ELEMENT;
    if (byteOffset === 0 && like.length * size === this.bytes) return this.view(type);
    if (this.freed) this.view(type);
    const { part } = this;
    const start = this.address + byteOffset;
    if (part && part.byteOffset === start && part.length === like.length && typeOfArray(part) === type) return part;
    if (byteOffset < 0 || byteOffset + like.length * size > this.bytes) {
      throw new FftError(
        'wrong-length',
        `${like.length} elements of ${size} bytes at byte ${byteOffset} do not fit into a buffer of ${this.bytes} bytes.`,
      );
    }
    return (this.part = arrayOver(type, this.memory.buffer, start, like.length));
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.single = this.double = this.half = this.part = undefined;
    this.memory.release(this);
  }
}

export class CpuMemory {
  memory: WebAssembly.Memory;
  buffer: ArrayBuffer;
  readonly shared: boolean;
  readonly heap: Heap;
  /** Counts frees: whoever has bound an address can tell that it may have changed hands. */
  generation = 0;
  private readonly inFlight: InFlight;
  /** Whose views were handed out: an address alone does not tell whether its buffer was freed and others own it now. */
  readonly handedOut = new WeakMap<ArrayBufferView, CpuBuffer>();
  /** Live buffers and their addresses, ascending. */
  private readonly live: CpuBuffer[] = [];
  private readonly addresses: number[] = [];

  constructor(shared: boolean, inFlight: InFlight, mostPages = MOST_PAGES) {
    this.shared = shared;
    this.inFlight = inFlight;
    this.memory = reserve(shared, mostPages);
    this.buffer = this.memory.buffer as ArrayBuffer;
    this.heap = new Heap(HEAP_START, this.buffer.byteLength);
  }

  /** @throws FftError `out-of-memory` */
  allocate(bytes: number): CpuBuffer {
    if (!(Number.isSafeInteger(bytes) && bytes >= 0)) {
      throw new FftError(
        'invalid-argument',
        `A buffer needs a whole number of bytes from 0 up, but ${bytes} was given.`,
      );
    }
    let address = this.heap.take(bytes);
    // What was freed may be waiting for others to be through with it.
    if (address === undefined && this.inFlight.settle()) address = this.heap.take(bytes);
    if (address === undefined) {
      throw new FftError(
        'out-of-memory',
        `${bytes} bytes were asked for, but of the ${this.buffer.byteLength} bytes that this device could reserve ` +
          `${this.heap.free} are free, at most ${this.heap.largest} of them in one piece.`,
      );
    }
    const buffer = new CpuBuffer(this, address, bytes);
    const place = above(this.addresses, address);
    this.live.splice(place, 0, buffer);
    this.addresses.splice(place, 0, address);
    return buffer;
  }

  /** For `CpuBuffer.free`. */
  release(buffer: CpuBuffer): void {
    const place = above(this.addresses, buffer.address) - 1;
    this.live.splice(place, 1);
    this.addresses.splice(place, 1);
    this.generation++;
    this.inFlight.defer(() => this.heap.give(buffer.address));
  }

  /** The live buffer that holds all of a view of this memory. */
  locate(array: ArrayBufferView): Binding | undefined {
    if (array.buffer !== this.buffer) return undefined;
    if (this.handedOut.get(array)?.freed) throw staleView();
    const buffer = this.live[above(this.addresses, array.byteOffset) - 1];
    const byteOffset = buffer ? array.byteOffset - buffer.address : 0;
    if (buffer && byteOffset + array.byteLength <= buffer.bytes) return { buffer, byteOffset };
    throw staleView();
  }

  /** Frees every buffer and lets go of the memory itself: whoever holds the device does not hold that. */
  close(): void {
    for (const buffer of [...this.live]) buffer.free();
    this.memory = new WebAssembly.Memory({ initial: 0, maximum: 0 });
    this.buffer = this.memory.buffer as ArrayBuffer;
  }
}

/** Somebody else may own its bytes by now: writing to them would be silent damage. */
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
