/**
 * Host memory that copies go through: pinned where the driver pins memory, so that the device copies on its own; and ours,
 * so that nobody can take an array away while the device reads or writes it.
 */
import type { Koffi } from '../native/library.ts';
import { type Handle, MAP_READ_WRITE, MEMORY, type OpenCl } from './api.ts';

export interface Staged {
  readonly bytes: Uint8Array;
  readonly address: bigint;
}

interface Piece extends Staged {
  readonly handle: Handle;
}

/** Bytes of unused pieces that are kept for the next copies. */
const KEPT = 64 * 2 ** 20;
const SMALLEST = 2 ** 16;
/** Larger pieces are made to measure, and not kept. */
const LARGE = 2 ** 24;

export class Staging {
  private readonly cl: OpenCl;
  private readonly koffi: Koffi;
  private readonly context: Handle;
  /** Mapping waits for a queue: this one never has anything else to do. */
  private readonly queue: Handle;
  private readonly idle: Piece[] = [];
  private idleBytes = 0;

  /** @throws FftError `device-unavailable`, `out-of-memory` */
  constructor(cl: OpenCl, koffi: Koffi, context: Handle, device: Handle) {
    this.cl = cl;
    this.koffi = koffi;
    this.context = context;
    this.queue = cl.make('clCreateCommandQueue', undefined, context, device, 0);
  }

  /** At least so many bytes. @throws FftError `out-of-memory` */
  take(bytes: number): Staged {
    const size = bytes > LARGE ? bytes : Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
    const found = this.idle.findIndex((piece) => piece.bytes.length === size);
    if (found < 0) return this.make(size);
    const [piece] = this.idle.splice(found, 1);
    this.idleBytes -= size;
    return piece!;
  }

  /** Takes a piece back when the device is through with it. */
  give(staged: Staged): void {
    const piece = staged as Piece;
    const size = piece.bytes.length;
    if (size > LARGE || this.idleBytes + size > KEPT) return this.drop(piece);
    this.idle.push(piece);
    this.idleBytes += size;
  }

  /** Everything that was taken has been given back by then. */
  close(): void {
    for (const piece of this.idle.splice(0)) this.drop(piece);
    this.cl.raw.clReleaseCommandQueue(this.queue);
  }

  private make(size: number): Piece {
    const { cl } = this;
    const asked = { what: `Allocating ${size} bytes of host memory to copy through`, allocates: true };
    const flags = MEMORY.readWrite | MEMORY.allocHost;
    const handle = cl.make('clCreateBuffer', asked, this.context, flags, size, null);
    try {
      const address = cl.make(
        'clEnqueueMapBuffer',
        asked,
        this.queue,
        handle,
        1,
        MAP_READ_WRITE,
        0,
        size,
        0,
        null,
        null,
      );
      return { handle, address, bytes: new Uint8Array(this.koffi.view(address, size)) };
    } catch (error) {
      cl.raw.clReleaseMemObject(handle);
      throw error;
    }
  }

  private drop(piece: Piece): void {
    this.cl.raw.clEnqueueUnmapMemObject(this.queue, piece.handle, piece.address, 0, null, null);
    this.cl.raw.clFlush(this.queue);
    this.cl.raw.clReleaseMemObject(piece.handle);
  }
}
