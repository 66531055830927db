/** The memory of a device: its live buffers, their total size, and a generation that changes with each free. */
import { FftError } from '../../problem/errors.ts';
import type { DeviceBuffer, Stretch } from '../device.ts';

/** Memory of a device, its own or the caller's. */
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

  /** The caller's own memory stays. */
  free(): void {
    this.allocator.free(this);
  }
}

/** Work in flight, which may still use memory that was freed. */
export interface InFlight {
  /** Calls back when no work in flight uses memory that was freed before. */
  whenUnused(action: () => void): void;
  /** Waits on the calling thread until all of that work has ended. */
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

  /** @throws FftError `invalid-argument`, `out-of-memory`, and what the device says */
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
   * Memory that the caller made with the device's own API, as `Backend.adopt`; undefined for anything else.
   * @throws FftError what is wrong with it
   */
  adopt(_memory: unknown, _what: string): B | undefined {
    return undefined;
  }

  /**
   * A buffer that can be worked on.
   * @param what was given it, at the beginning of a sentence.
   * @throws FftError `foreign-buffer`, `destroyed`, and why there is no such memory
   */
  usable(buffer: DeviceBuffer, what: string): B {
    if (!this.owns(buffer)) {
      throw new FftError('foreign-buffer', `${what} was given what is not memory of this device.`);
    }
    if (buffer.failure) throw buffer.failure;
    if (buffer.freed) throw new FftError('destroyed', `${what} was given memory that has been freed.`);
    return buffer;
  }

  /** Frees everything that was allocated; programs look again whether they may run. */
  clear(): void {
    for (const buffer of [...this.live]) buffer.free();
    this.generation++;
  }

  /** @throws FftError `out-of-memory`, and what the device says */
  protected abstract take(bytes: number): B;

  /** Takes back memory that nothing in flight uses any more. */
  protected abstract reclaim(buffer: B): void;

  /** Releases memory that is cached for reuse, if the device caches any. */
  protected giveBack(): void {}

  private takeOrWait(bytes: number): B {
    try {
      return this.take(bytes);
    } catch (error) {
      if (!(error instanceof FftError && error.code === 'out-of-memory')) throw error;
      // What was freed may be waiting for others to be through with it.
      this.inFlight.drain();
      this.giveBack();
      return this.take(bytes);
    }
  }
}
