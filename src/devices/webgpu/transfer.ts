/** Copies between host arrays and device memory. */
import { FftError, reasonOf } from '../../problem/errors.ts';
import type { RealArray } from '../device.ts';
import { USAGE, type WebGpuBuffer } from './memory.ts';
import type { Limits } from './options.ts';
import type { GpuWork } from './work.ts';

/** The most bytes of one write or one mapping, because implementations make another copy of them on the way. */
const CHUNK_BYTES = 64 * 2 ** 20;
/** The most bytes of mappable memory that are kept for the next download. */
const KEPT_BYTES = 64 * 2 ** 20;

export class Transfers {
  private readonly work: GpuWork;
  private readonly chunk: number;
  /** Mappable buffers free for reuse. */
  private readonly idle: GPUBuffer[] = [];
  private kept = 0;
  private closed = false;

  constructor(work: GpuWork, { maxBufferSize }: Limits) {
    this.work = work;
    this.chunk = Math.min(CHUNK_BYTES, 2 ** Math.floor(Math.log2(maxBufferSize)));
  }

  /** Copies the data immediately, so that the caller may change it. */
  async upload(target: WebGpuBuffer, byteOffset: number, data: RealArray): Promise<void> {
    const { queue } = this.work.gpu;
    const whole = wholeWords(data.byteLength);
    // Not every implementation reads from shared or resizable memory, so such arrays are copied first.
    const apart = isShared(data) || isResizable(data) || whole > data.byteLength;
    const { buffer, byteOffset: first } = apart ? inWords(data) : data;
    const verdict = this.work.judged(['validation', 'out-of-memory'], () => {
      let from = first;
      for (const { gpu, start, end } of target.ranges(byteOffset, whole)) {
        for (let at = start; at < end; at += this.chunk) {
          const bytes = Math.min(this.chunk, end - at);
          queue.writeBuffer(gpu, at, buffer as ArrayBuffer, from, bytes);
          from += bytes;
        }
      }
    });
    await this.work.accepted(verdict, 'The GPU refused a copy to its memory');
  }

  /** Copies from device memory after all work that was submitted before. */
  async download(source: WebGpuBuffer, byteOffset: number, into: RealArray): Promise<void> {
    const { gpu: device } = this.work;
    const parts: { staging: GPUBuffer; bytes: number }[] = [];
    let mapped!: Promise<unknown>;
    const verdict = this.work.judged(['validation', 'out-of-memory'], () => {
      const encoder = device.createCommandEncoder();
      for (const { gpu, start, end } of source.ranges(byteOffset, wholeWords(into.byteLength))) {
        for (let at = start; at < end; at += this.chunk) {
          const bytes = Math.min(this.chunk, end - at);
          const staging = this.take(bytes);
          encoder.copyBufferToBuffer(gpu, at, staging, 0, bytes);
          parts.push({ staging, bytes });
        }
      }
      device.queue.submit([encoder.finish()]);
      mapped = Promise.all(parts.map(({ staging, bytes }) => staging.mapAsync(1, 0, bytes)));
      mapped.catch(() => undefined);
    });
    try {
      await this.work.accepted(verdict, 'The GPU refused a copy from its memory');
      const handedOver = mapped.catch((cause) => {
        // Mapping cannot fail because of the caller's arguments.
        const message = `The GPU refused to hand over a copy from its memory: ${reasonOf(cause)}`;
        throw new FftError('launch-failed', message, { cause });
      });
      await this.work.track(handedOver);
      // The copy is in bytes, because mapped parts need not hold a whole number of the array's elements.
      const target = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
      let at = 0;
      for (const { staging, bytes } of parts) {
        const wanted = Math.min(bytes, target.length - at);
        target.set(new Uint8Array(staging.getMappedRange(0, bytes)).subarray(0, wanted), at);
        at += bytes;
      }
    } finally {
      for (const { staging } of parts) this.give(staging);
    }
  }

  close(): void {
    this.closed = true;
    for (const staging of this.idle.splice(0)) staging.destroy();
  }

  /** Takes mappable memory. Its sizes are powers of two, so that it can be reused for similar sizes. */
  private take(bytes: number): GPUBuffer {
    const size = Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
    const place = this.idle.findIndex((buffer) => buffer.size === size);
    if (place >= 0) {
      this.kept -= size;
      return this.idle.splice(place, 1)[0]!;
    }
    return this.work.gpu.createBuffer({ size, usage: USAGE.MAP_READ | USAGE.COPY_DST });
  }

  private give(staging: GPUBuffer): void {
    if (staging.mapState !== 'mapped' || this.closed || this.kept + staging.size > KEPT_BYTES) {
      staging.destroy();
      return;
    }
    staging.unmap();
    this.kept += staging.size;
    this.idle.push(staging);
  }
}

/** Copies move whole words of 4 bytes. Buffers are padded to whole words, so the bytes behind the data are unused. */
function wholeWords(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** A copy of an array in whole words. */
function inWords(data: RealArray): Uint8Array {
  const copy = new Uint8Array(wholeWords(data.byteLength));
  copy.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return copy;
}

function isResizable({ buffer }: RealArray): boolean {
  return (buffer as { readonly resizable?: boolean }).resizable === true;
}

function isShared({ buffer }: RealArray): boolean {
  return typeof SharedArrayBuffer === 'function' && buffer instanceof SharedArrayBuffer;
}
