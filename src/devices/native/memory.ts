/** Device memory behind a C library. */

import { type Allocator, OwnedBuffer } from '../common/memory.ts';
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
