/** Device memory: `cl_mem` objects of our own, and the caller's. */
import { FftError, show } from '../../problem/errors.ts';
import type { DeviceBuffer, Stretch } from '../device.ts';
import { type Handle, INFO, isHandle, MEMORY, type OpenCl } from './api.ts';

/** Where a `cl_mem` lies: in itself, or as a sub-buffer in another one. */
interface Place {
  readonly of: Handle;
  readonly start: number;
}

export class ClBuffer implements DeviceBuffer {
  readonly handle: Handle;
  readonly bytes: number;
  readonly memory: ClMemory;
  /** Kernels may write it. */
  readonly writable: boolean;
  /** Somebody else allocated it and will free it. */
  readonly adopted: boolean = false;
  freed = false;
  /** Where a sub-buffer lies in the buffer that it is part of. */
  protected readonly place: Place;

  constructor(
    memory: ClMemory,
    handle: Handle,
    bytes: number,
    writable = true,
    place: Place = { of: handle, start: 0 },
  ) {
    this.memory = memory;
    this.handle = handle;
    this.bytes = bytes;
    this.writable = writable;
    this.place = place;
  }

  stretches(byteOffset: number, bytes: number): Stretch[] {
    const start = this.place.start + byteOffset;
    return [{ of: this.place.of, start, end: start + bytes }];
  }

  /** Commands that were submitted still find their memory: the driver frees it behind them. */
  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.memory.release(this);
  }
}

class AdoptedBuffer extends ClBuffer {
  override readonly adopted = true;
  override free(): void {}
  /** Whether it is this part of another one; undefined: of none. */
  lies(place: Place | undefined): boolean {
    const { of, start } = place ?? { of: this.handle, start: 0 };
    return this.place.of === of && this.place.start === start;
  }
}

/** The memory of one device. */
export class ClMemory {
  /** Counts frees: whoever has bound a buffer can tell that it may be gone. */
  generation = 0;
  private readonly cl: OpenCl;
  private readonly context: Handle;
  private readonly limits: { readonly piece: number; readonly all: number };
  private readonly live = new Set<ClBuffer>();
  private held = 0;
  /** The same `cl_mem` is the same buffer as long as somebody holds that. */
  private readonly adopted = new Map<Handle, WeakRef<AdoptedBuffer>>();
  private readonly forgotten = new FinalizationRegistry<Handle>((handle) => {
    if (!this.adopted.get(handle)?.deref()) this.adopted.delete(handle);
  });

  constructor(cl: OpenCl, context: Handle, device: Handle) {
    this.cl = cl;
    this.context = context;
    const ask = (what: number) => cl.number('device', device, what) ?? 0;
    this.limits = { piece: ask(INFO.maxAllocBytes), all: ask(INFO.globalBytes) };
  }

  /** @throws FftError `out-of-memory`, `invalid-argument`, `device-lost` */
  allocate(bytes: number): ClBuffer {
    if (!(Number.isSafeInteger(bytes) && bytes >= 0)) {
      throw new FftError(
        'invalid-argument',
        `A buffer needs a whole number of bytes from 0 up, but ${bytes} was given.`,
      );
    }
    const { piece } = this.limits;
    const asked = {
      what: `Allocating ${bytes} bytes of device memory`,
      memory: this.situation,
      allocates: true,
    };
    // Drivers that allocate on first use would take any size, and fail later.
    if (bytes > piece) {
      throw new FftError('out-of-memory', `${asked.what} failed: it is more than one piece. ${asked.memory}`);
    }
    const handle = this.cl.make('clCreateBuffer', asked, this.context, MEMORY.readWrite, Math.max(bytes, 1), null);
    const buffer = new ClBuffer(this, handle, bytes);
    this.live.add(buffer);
    this.held += bytes;
    return buffer;
  }

  /** How much memory there is, for messages. */
  get situation(): string {
    const { piece, all } = this.limits;
    return `The device has ${all} bytes, at most ${piece} of them in one piece; ${this.held} are allocated here.`;
  }

  /** For `ClBuffer.free`. */
  release(buffer: ClBuffer): void {
    this.live.delete(buffer);
    this.held -= buffer.bytes;
    this.generation++;
    this.cl.raw.clReleaseMemObject(buffer.handle);
  }

  /**
   * The caller's `{ clMem }`; undefined for anything else.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-usage`, `buffer-too-small`
   */
  adopt(value: unknown, what: string): ClBuffer | undefined {
    if (typeof value !== 'object' || value === null || !('clMem' in value)) return undefined;
    const { clMem, bytes } = value as { readonly clMem: unknown; readonly bytes?: unknown };
    if (!isHandle(clMem)) {
      throw new FftError('invalid-argument', `${what}.clMem is ${show(clMem)}; it must be a cl_mem, as a BigInt.`);
    }
    const ask = (fact: number) => this.cl.number('memory', clMem, fact);
    if (ask(INFO.memType) !== MEMORY.buffer) {
      throw new FftError('buffer-usage', `${what}.clMem is no buffer object; images and pipes cannot be used.`);
    }
    if (this.cl.handle('memory', clMem, INFO.memContext) !== this.context) {
      throw new FftError(
        'foreign-buffer',
        `${what}.clMem belongs to another context; open the device with that one: openDevice('opencl', { context }).`,
      );
    }
    const flags = ask(INFO.memFlags) ?? 0;
    if (flags & MEMORY.writeOnly) {
      throw new FftError(
        'buffer-usage',
        `${what}.clMem is CL_MEM_WRITE_ONLY; it must be CL_MEM_READ_WRITE, or CL_MEM_READ_ONLY where it is only read.`,
      );
    }
    const size = ask(INFO.memSize) ?? 0;
    if (bytes !== undefined && !(Number.isSafeInteger(bytes) && (bytes as number) >= 0 && (bytes as number) <= size)) {
      throw new FftError('buffer-too-small', `${what}.clMem has ${size} bytes, but ${show(bytes)} were said of it.`);
    }
    return this.adoptedBuffer(clMem, (bytes as number | undefined) ?? size, (flags & MEMORY.readOnly) === 0);
  }

  /** Gives all memory of the device's own back. */
  clear(): void {
    for (const buffer of [...this.live]) buffer.free();
  }

  private adoptedBuffer(handle: Handle, bytes: number, writable: boolean): ClBuffer {
    // Asked each time: once the caller has released a cl_mem, its handle may be that of another one.
    const parent = this.cl.handle('memory', handle, INFO.memAssociated);
    const start = this.cl.number('memory', handle, INFO.memOffset) ?? 0;
    const place = parent === 0n ? undefined : { of: parent, start };
    const known = this.adopted.get(handle)?.deref();
    if (known?.bytes === bytes && known.writable === writable && known.lies(place)) return known;
    const buffer = new AdoptedBuffer(this, handle, bytes, writable, place);
    this.adopted.set(handle, new WeakRef(buffer));
    this.forgotten.register(buffer, handle);
    return buffer;
  }
}
