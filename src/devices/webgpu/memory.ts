/**
 * Memory on a WebGPU device: one `GPUBuffer` or, if an array is too large for one buffer or the caller has split it,
 * a sequence of buffers.
 */
import { FftError, reasonOf } from '../../problem/errors.ts';
import { Allocator, type InFlight, OwnedBuffer } from '../common/memory.ts';
import type { Stretch } from '../device.ts';
import { hasMethod, type Limits } from './options.ts';
import { type GpuWork, lossIn } from './work.ts';

/** `GPUBufferUsage`, which not every runtime has as a global. */
export const USAGE = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/** Bindings begin at multiples of this many bytes. */
export const ALIGNMENT = 256;
/** An interleaved complex number must not be torn between two buffers. */
const PIECE_BYTES = 8;

/** A `GPUBuffer`, and the range of the whole memory's bytes that it holds. */
interface GpuPiece {
  readonly gpu: GPUBuffer;
  readonly start: number;
  readonly bytes: number;
}

export class WebGpuBuffer extends OwnedBuffer {
  readonly pieces: readonly GpuPiece[];
  /** The promise of the allocation's result; set until it settles. */
  verdict: Promise<void> | undefined;

  constructor(memory: WebGpuAllocator, bytes: number, pieces: readonly GPUBuffer[]) {
    super(memory, bytes);
    let start = 0;
    this.pieces = pieces.map((gpu) => {
      // Pieces have whole words, so a last odd half-precision number occupies one.
      const piece = { gpu, start, bytes: Math.min(gpu.size, 4 * Math.ceil((bytes - start) / 4)) };
      start += piece.bytes;
      return piece;
    });
  }

  /** The parts of pieces that make up a range of bytes. */
  ranges(byteOffset: number, bytes: number): { gpu: GPUBuffer; start: number; end: number }[] {
    return this.pieces.flatMap(({ gpu, start, bytes: length }) => {
      const from = Math.max(byteOffset - start, 0);
      const to = Math.min(byteOffset + bytes - start, length);
      return from < to ? [{ gpu, start: from, end: to }] : [];
    });
  }

  override stretches(byteOffset: number, bytes: number): Stretch[] {
    return this.ranges(byteOffset, bytes).map(({ gpu, start, end }) => ({ of: gpu, start, end }));
  }
}

export class WebGpuAllocator extends Allocator<WebGpuBuffer> {
  private readonly work: GpuWork;
  private readonly limits: Limits;
  /** The caller's memory, by its first `GPUBuffer`. */
  private readonly adopted = new WeakMap<GPUBuffer, WebGpuBuffer[]>();

  constructor(work: GpuWork, limits: Limits, inFlight: InFlight) {
    super(inFlight);
    this.work = work;
    this.limits = limits;
  }

  /**
   * A `GPUBuffer` of the caller, or several that are one array.
   * @throws FftError `buffer-usage`, `misaligned-buffer`, `missing-buffer`, `aliased-buffers` for a buffer given twice
   */
  override adopt(memory: unknown, what: string): WebGpuBuffer | undefined {
    const known = this.adoptedAlone(memory);
    if (known) return known;
    const list = Array.isArray(memory) ? (memory as unknown[]) : [memory];
    if (!list.every(isGpuBuffer)) return undefined;
    const [first] = list;
    if (!first) throw new FftError('missing-buffer', `${what} is an empty list; it takes at least one GPUBuffer.`);
    list.forEach((gpu, n) => {
      const name = list.length === 1 ? what : `${what}[${n}]`;
      if ((gpu.usage & USAGE.STORAGE) === 0) {
        throw new FftError(
          'buffer-usage',
          `${name} has usage 0x${gpu.usage.toString(16)}, without GPUBufferUsage.STORAGE (0x80), which kernels need.`,
        );
      }
      if (gpu.mapState !== 'unmapped') {
        throw new FftError('buffer-usage', `${name} is mapped or about to be (${gpu.mapState}); unmap it first.`);
      }
      if (n < list.length - 1 && gpu.size % PIECE_BYTES !== 0) {
        throw new FftError(
          'misaligned-buffer',
          `${name} has ${gpu.size} bytes; all buffers of a list but the last hold a multiple of ${PIECE_BYTES}.`,
        );
      }
    });
    if (new Set(list).size < list.length) {
      throw new FftError('aliased-buffers', `${what} has the same GPUBuffer twice; every part needs its own.`);
    }
    let sharing = this.adopted.get(first);
    if (!sharing) this.adopted.set(first, (sharing = []));
    let buffer = sharing.find(
      ({ pieces }) => pieces.length === list.length && pieces.every((p, n) => p.gpu === list[n]),
    );
    if (!buffer) {
      const bytes = list.reduce((sum, { size }) => sum + size, 0);
      sharing.push((buffer = new WebGpuBuffer(this, bytes, list)));
    }
    return buffer;
  }

  /** The buffer of a single `GPUBuffer` that was adopted before and is still usable: only its mapping state may have changed. */
  private adoptedAlone(memory: unknown): WebGpuBuffer | undefined {
    const buffer = this.adopted.get(memory as GPUBuffer)?.find(({ pieces }) => pieces.length === 1);
    return buffer?.pieces[0]?.gpu.mapState === 'unmapped' ? buffer : undefined;
  }

  /** @throws FftError `device-limit` */
  protected take(bytes: number): WebGpuBuffer {
    const { maxBufferSize, maxStorageBuffersPerShaderStage: most } = this.limits;
    const largest = Math.floor(maxBufferSize / ALIGNMENT) * ALIGNMENT;
    const whole = Math.max(4, Math.ceil(bytes / 4) * 4);
    const count = Math.ceil(whole / largest);
    if (count > most) {
      throw new FftError(
        'device-limit',
        `${bytes} bytes need ${count} buffers of maxBufferSize = ${maxBufferSize}, but a kernel can bind ${most} ` +
          `(maxStorageBuffersPerShaderStage).`,
      );
    }
    const pieces: GPUBuffer[] = [];
    const verdict = this.work.judged(['out-of-memory', 'validation'], () => {
      const usage = USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST;
      for (let n = 0; n < count; n++) {
        pieces.push(this.work.gpu.createBuffer({ usage, size: Math.min(largest, whole - n * largest) }));
      }
    });
    const buffer = new WebGpuBuffer(this, bytes, pieces);
    buffer.verdict = verdict.then((error) => {
      buffer.verdict = undefined;
      if (!error) return;
      const message = `The GPU has no ${bytes} bytes left: ${reasonOf(error)}`;
      buffer.failure = lossIn(error) ?? new FftError('out-of-memory', message, { cause: error });
      buffer.free();
    });
    return buffer;
  }

  /** Destroys the pieces. Work that was submitted before can still use them. */
  protected reclaim({ pieces }: WebGpuBuffer): void {
    for (const { gpu } of pieces) gpu.destroy();
  }
}

function isGpuBuffer(value: unknown): value is GPUBuffer {
  return hasMethod(value, 'mapAsync') && hasMethod(value, 'destroy');
}
