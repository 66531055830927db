/** Device memory behind a C library. */
import { FftError, show } from '../../problem/errors.ts';
import { Allocator, OwnedBuffer } from '../common/memory.ts';
import type { Stretch } from '../device.ts';
import { isHandle } from './library.ts';

/** The allocation in which memory lies, and its beginning there. */
export interface Origin {
  readonly of: unknown;
  readonly start: number;
}

export class NativeBuffer extends OwnedBuffer {
  /** A device pointer, or a `cl_mem`. */
  readonly handle: bigint;
  /** The caller's stream that used the buffer last. */
  lastStream: bigint | undefined;
  readonly origin: Origin;
  /** The buffer's bytes, if host code can access them as fast as its own memory. */
  readonly mapped?: Uint8Array | undefined;

  /** @param origin the allocation, which several buffers of the caller may share. */
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

/** The most buffers of the caller that are remembered. */
const ADOPTED_KEPT = 256;

export abstract class NativeAllocator<B extends NativeBuffer> extends Allocator<B> {
  private readonly adopted = new Map<string, B>();

  override clear(): void {
    super.clear();
    this.adopted.clear();
  }

  /** The caller's memory as a buffer. The same memory gives the same buffer, because it records the stream that used it last. */
  protected adoptedAs(facts: readonly unknown[], make: () => B): B {
    const key = facts.join();
    const known = this.adopted.get(key);
    if (known) return known;
    const buffer = make();
    if (this.adopted.size >= ADOPTED_KEPT) this.adopted.delete(this.adopted.keys().next().value!);
    this.adopted.set(key, buffer);
    return buffer;
  }

  /**
   * The caller's `{ devicePointer, bytes }` as a buffer; undefined for anything else.
   * @param rangeOf gives the allocation that a pointer lies in; undefined if it lies in no allocation of the device's context.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-too-small`
   */
  protected adoptedPointer(
    memory: unknown,
    what: string,
    rangeOf: (pointer: bigint) => AddressRange | undefined,
    make: (pointer: bigint, bytes: number) => B,
  ): B | undefined {
    if (typeof memory !== 'object' || memory === null || !('devicePointer' in memory)) return undefined;
    const { pointer, bytes } = pointerOf(memory as { devicePointer: unknown; bytes: unknown }, what);
    const range = rangeOf(pointer);
    if (!range) {
      throw new FftError(
        'foreign-buffer',
        `${what} is at 0x${pointer.toString(16)}, which is not device memory of this device's context.`,
      );
    }
    const room = range.start + range.bytes - pointer;
    if (BigInt(bytes) > room) {
      throw new FftError(
        'buffer-too-small',
        `${what} is said to have ${bytes} bytes, but the allocation it lies in ends after ${room}.`,
      );
    }
    return this.adoptedAs([pointer, bytes], () => make(pointer, bytes));
  }
}

/** The addresses of an allocation. */
interface AddressRange {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** @throws FftError `invalid-argument` */
function pointerOf({ devicePointer, bytes }: { devicePointer: unknown; bytes: unknown }, what: string) {
  const pointer =
    typeof devicePointer === 'number' && Number.isSafeInteger(devicePointer) ? BigInt(devicePointer) : devicePointer;
  if (!isHandle(pointer, 1n)) {
    throw new FftError(
      'invalid-argument',
      `${what}.devicePointer is ${show(devicePointer)}; an address is needed, a bigint.`,
    );
  }
  if (typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0) return { pointer, bytes };
  throw new FftError(
    'invalid-argument',
    `${what}.bytes is ${show(bytes)}; the bytes at devicePointer are needed, a positive whole number.`,
  );
}
