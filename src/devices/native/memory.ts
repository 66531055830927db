/** Device memory behind a C library. */

import { type Allocator, OwnedBuffer } from '../common/memory.ts';
import type { Stretch } from '../device.ts';

/** Where memory begins, and in what. */
export interface Place {
  readonly of: unknown;
  readonly start: number;
}

export class NativeBuffer extends OwnedBuffer {
  /** A device pointer, or a `cl_mem`. */
  readonly handle: bigint;
  /** The caller's stream that used it last. */
  lastStream: bigint | undefined;
  readonly place: Place;

  /** @param place memory of the caller's may be part of other memory of the caller's. */
  constructor(allocator: Allocator<NativeBuffer>, handle: bigint, bytes: number, place: Place) {
    super(allocator, bytes);
    this.handle = handle;
    this.place = place;
  }

  override stretches(byteOffset: number, bytes: number): readonly Stretch[] {
    const start = this.place.start + byteOffset;
    return [{ of: this.place.of, start, end: start + bytes }];
  }
}
