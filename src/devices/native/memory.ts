/** Device memory behind a C library. */
import { Allocator, OwnedBuffer } from '../common/memory.ts';
import type { Stretch } from '../device.ts';

/** Where memory begins, and in what. */
export interface Origin {
  readonly of: unknown;
  readonly start: number;
}

export class NativeBuffer extends OwnedBuffer {
  /** A device pointer, or a `cl_mem`. */
  readonly handle: bigint;
  /** The caller's stream that used it last. */
  lastStream: bigint | undefined;
  readonly origin: Origin;
  /** All of it, where host code sees it as fast as memory of its own. */
  readonly mapped?: Uint8Array | undefined;

  /** @param origin memory of the caller's may be part of other memory of the caller's. */
  constructor(allocator: Allocator<NativeBuffer>, handle: bigint, bytes: number, origin: Origin) {
    super(allocator, bytes);
    this.handle = handle;
    this.origin = origin;
  }

  override stretches(byteOffset: number, bytes: number): readonly Stretch[] {
    const start = this.origin.start + byteOffset;
    return [{ of: this.origin.of, start, end: start + bytes }];
  }
}

/** Buffers of the caller's that are remembered. */
const ADOPTED_KEPT = 256;

export abstract class NativeAllocator<B extends NativeBuffer> extends Allocator<B> {
  private readonly adopted = new Map<string, B>();

  override clear(): void {
    super.clear();
    this.adopted.clear();
  }

  /** The caller's memory as a buffer: the same one for the same memory, because it knows the stream that used it last. */
  protected adoptedAs(facts: readonly unknown[], make: () => B): B {
    const key = facts.join();
    const known = this.adopted.get(key);
    if (known) return known;
    const buffer = make();
    if (this.adopted.size >= ADOPTED_KEPT) this.adopted.delete(this.adopted.keys().next().value!);
    this.adopted.set(key, buffer);
    return buffer;
  }
}
