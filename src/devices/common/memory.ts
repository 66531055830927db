/** The memory of a device: its live buffers, their total size, and a generation that changes with each free. */
import { FftError } from '../../problem/errors.ts';
import type { DeviceBuffer, Stretch } from '../device.ts';

/** Memory of a device, allocated by the device or adopted from the caller. */
export abstract class OwnedBuffer implements DeviceBuffer {
  readonly bytes: number;
  readonly allocator: Allocator<OwnedBuffer>;
  freed = false;
  failure: FftError | undefined;

  constructor(allocator: Allocator<OwnedBuffer>, bytes: number) {
    this.allocator = allocator;
    this.bytes = bytes;
  }

  stretches?(byteOffset: number, bytes: number): readonly Stretch[];

  /** Frees the buffer. Memory that was adopted from the caller stays allocated. */
  free(): void {
    this.allocator.free(this);
  }
}

/** Work in flight, which may still use memory that was freed. */
export interface InFlight {
  /** Calls back when no work in flight uses memory that was freed before this call. */
  whenUnused(action: () => void): void;
  /** Blocks the calling thread until the work in flight has ended. */
  drain(): void;
}

/** Hands out the buffers of one device and takes them back. */
export abstract class Allocator<B extends OwnedBuffer> {
  /** Counts frees, so that a bound program knows when to check its buffers again. */
  generation = 0;
  /** Bytes of all live buffers. */
  held = 0;
  protected readonly inFlight: InFlight;
  private readonly live = new Set<OwnedBuffer>();

  constructor(inFlight: InFlight) {
    this.inFlight = inFlight;
  }

  /** Allocates device memory. @throws FftError `invalid-argument`, `out-of-memory`, and errors of the device */
  allocate(bytes: number): B {
    if (!(Number.isSafeInteger(bytes) && bytes >= 0)) {
      throw new FftError(
        'invalid-argument',
        `A buffer needs a whole number of bytes from 0 up, but ${bytes} was given.`,
      );
    }
    const buffer = this.takeOrWait(bytes);
    this.live.add(buffer);
    this.held += bytes;
    return buffer;
  }

  owns(buffer: DeviceBuffer): buffer is B {
    return buffer instanceof OwnedBuffer && buffer.allocator === (this as Allocator<OwnedBuffer>);
  }

  /** Frees a buffer of this allocator; does nothing for any other or freed buffer. */
  free(buffer: OwnedBuffer): void {
    if (!this.live.delete(buffer)) return;
    buffer.freed = true;
    this.generation++;
    this.held -= buffer.bytes;
    this.inFlight.whenUnused(() => this.reclaim(buffer as B));
  }

  /**
   * The caller's memory as a buffer, see `Backend.adopt`; undefined for anything else.
   * @throws FftError for memory that cannot be used
   */
  adopt(_memory: unknown, _what: string): B | undefined {
    return undefined;
  }

  /**
   * The buffer, if it is live memory of this allocator.
   * @param what the name of the argument, at the beginning of a sentence.
   * @throws FftError `foreign-buffer`, `destroyed`, and the failure of an allocation that was reported late
   */
  usable(buffer: DeviceBuffer, what: string): B {
    if (!this.owns(buffer)) {
      throw new FftError('foreign-buffer', `${what} was given what is not memory of this device.`);
    }
    if (buffer.failure) throw buffer.failure;
    if (buffer.freed) throw new FftError('destroyed', `${what} was given memory that has been freed.`);
    return buffer;
  }

  /** Frees all allocated memory and changes the generation, so that bound programs check their buffers again. */
  clear(): void {
    for (const buffer of [...this.live]) buffer.free();
    this.generation++;
  }

  /** Allocates from the device. @throws FftError `out-of-memory`, and errors of the device */
  protected abstract take(bytes: number): B;

  /** Returns memory to the device, once no work in flight uses it. */
  protected abstract reclaim(buffer: B): void;

  /** Releases memory that is cached for reuse, if the device caches any. */
  protected releaseCached(): void {}

  private takeOrWait(bytes: number): B {
    try {
      return this.take(bytes);
    } catch (error) {
      if (!(error instanceof FftError && error.code === 'out-of-memory')) throw error;
      // Freed memory may still be in use by work in flight, and becomes available when that has ended.
      this.inFlight.drain();
      this.releaseCached();
      return this.take(bytes);
    }
  }
}
