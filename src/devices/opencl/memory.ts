/** Device memory: `cl_mem` objects, created here or adopted from the caller. */
import { FftError, show } from '../../problem/errors.ts';
import type { InFlight } from '../common/memory.ts';
import { isHandle } from '../native/library.ts';
import { NativeAllocator, NativeBuffer, type Origin } from '../native/memory.ts';
import { type Handle, INFO, LEAST_HANDLE, MEMORY } from './api.ts';
import type { ClDriver } from './driver.ts';

export class ClBuffer extends NativeBuffer {
  /** Whether kernels may write the buffer. */
  readonly writable: boolean;
  /** Whether the caller allocated the memory and will free it. */
  readonly adopted: boolean;

  constructor(memory: ClAllocator, handle: Handle, bytes: number, callers?: { writable: boolean; origin: Origin }) {
    super(memory, handle, bytes, callers?.origin ?? { of: handle, start: 0 });
    this.writable = callers?.writable ?? true;
    this.adopted = callers !== undefined;
  }
}

/** The memory of one device. */
export class ClAllocator extends NativeAllocator<ClBuffer> {
  private readonly driver: Pick<ClDriver, 'cl' | 'context' | 'device'>;
  private readonly limits: { readonly piece: number; readonly all: number };

  constructor(driver: Pick<ClDriver, 'cl' | 'context' | 'device'>, inFlight: InFlight) {
    super(inFlight);
    this.driver = driver;
    const ask = (what: number) => driver.cl.number('device', driver.device, what) ?? 0;
    this.limits = { piece: ask(INFO.maxAllocBytes), all: ask(INFO.globalBytes) };
  }

  /** The memory situation of the device, for messages. */
  get situation(): string {
    const { piece, all } = this.limits;
    return `The device has ${all} bytes, at most ${piece} of them in one piece; ${this.held} are allocated here.`;
  }

  /**
   * The caller's `{ clMem }` as a buffer; undefined for anything else.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-usage`, `buffer-too-small`
   */
  override adopt(value: unknown, what: string): ClBuffer | undefined {
    if (typeof value !== 'object' || value === null || !('clMem' in value)) return undefined;
    const { clMem, bytes } = value as { readonly clMem: unknown; readonly bytes?: unknown };
    if (!isHandle(clMem, LEAST_HANDLE)) {
      throw new FftError('invalid-argument', `${what}.clMem is ${show(clMem)}; it must be a cl_mem, as a BigInt.`);
    }
    const { cl, context } = this.driver;
    const ask = (fact: number) => cl.number('memory', clMem, fact);
    if (ask(INFO.memType) !== MEMORY.buffer) {
      throw new FftError('buffer-usage', `${what}.clMem is no buffer object; images and pipes cannot be used.`);
    }
    if (cl.handle('memory', clMem, INFO.memContext) !== context) {
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

  protected take(bytes: number): ClBuffer {
    const requested = {
      what: `Allocating ${bytes} bytes of device memory`,
      memory: this.situation,
      allocates: true,
    };
    // Drivers that allocate on first use accept any size, and fail later.
    if (bytes > this.limits.piece) {
      throw new FftError('out-of-memory', `${requested.what} failed: it is more than one piece. ${requested.memory}`);
    }
    const { cl, context } = this.driver;
    const handle = cl.make('clCreateBuffer', requested, context, MEMORY.readWrite, Math.max(bytes, 1), null);
    return new ClBuffer(this, handle, bytes);
  }

  protected reclaim({ handle }: ClBuffer): void {
    this.driver.cl.raw.clReleaseMemObject(handle);
  }

  private adoptedBuffer(handle: Handle, bytes: number, writable: boolean): ClBuffer {
    // The properties are queried each time, because the handle of a released `cl_mem` may be given to another one.
    const { cl } = this.driver;
    const parent = cl.handle('memory', handle, INFO.memAssociated);
    const offset = cl.number('memory', handle, INFO.memOffset) ?? 0;
    const origin = parent === 0n ? { of: handle, start: 0 } : { of: parent, start: offset };
    const facts = [handle, bytes, writable, origin.of, origin.start];
    return this.adoptedAs(facts, () => new ClBuffer(this, handle, bytes, { writable, origin }));
  }
}
