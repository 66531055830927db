/**
 * Device memory. What is freed is kept for the next allocation of its size, up to a budget: asking the driver takes
 * thousands of times as long, and giving back to it waits for all that runs.
 */
import { FftError } from '../../problem/errors.ts';
import type { DeviceBuffer, Stretch } from '../device.ts';
import type { Driver } from './driver.ts';

/** Memory of the device, or memory that the caller made there. */
export class GpuBuffer implements DeviceBuffer {
  readonly bytes: number;
  readonly address: bigint;
  readonly memory: GpuMemory;
  freed = false;
  /** The caller's stream that used it last. */
  stream: bigint | undefined;
  private readonly release: ((buffer: GpuBuffer) => void) | undefined;

  /** @param release takes the memory back; missing where it is the caller's. */
  constructor(memory: GpuMemory, address: bigint, bytes: number, release?: (buffer: GpuBuffer) => void) {
    this.memory = memory;
    this.address = address;
    this.bytes = bytes;
    this.release = release;
  }

  /** The device has one address space, in which memory of the caller's may overlap other memory of the caller's. */
  stretches(byteOffset: number, bytes: number): readonly Stretch[] {
    const start = Number(this.address) + byteOffset;
    return [{ of: this.memory, start, end: start + bytes }];
  }

  /** The caller's own memory stays. */
  free(): void {
    if (this.freed || !this.release) return;
    this.freed = true;
    this.release(this);
  }
}

/** Allocations are rounded up to eighths of a power of two, so that sizes come again; large ones to the driver's pages. */
const LEAST_BYTES = 512;
const PAGE_BYTES = 2 * 2 ** 20;
/** Idle memory is kept up to this fraction of the device's, and no more than a gibibyte. */
const KEPT_FRACTION = 1 / 16;
const KEPT_BYTES = 2 ** 30;
/** Buffers of the caller's that are remembered, so that the same memory is the same buffer. */
const ADOPTED = 256;

export class GpuMemory {
  /** Counts frees: programs look again whether their memory is there. */
  generation = 0;
  private readonly driver: Driver;
  private readonly retire: (action: () => void) => void;
  private readonly reclaim: () => void;
  private readonly budget: number;
  /** Idle allocations by size. */
  private readonly idle = new Map<number, bigint[]>();
  private idleBytes = 0;
  private readonly live = new Set<GpuBuffer>();
  private readonly adopted = new Map<string, GpuBuffer>();

  /**
   * @param retire calls back when nothing in flight can touch what was just freed.
   * @param reclaim waits for that, so that memory on its way back is idle.
   */
  constructor(driver: Driver, totalBytes: number, retire: (action: () => void) => void, reclaim: () => void) {
    this.driver = driver;
    this.retire = retire;
    this.reclaim = reclaim;
    this.budget = Math.min(totalBytes * KEPT_FRACTION, KEPT_BYTES);
  }

  /** @throws FftError `out-of-memory`, `invalid-argument` */
  allocate(bytes: number): GpuBuffer {
    if (!(Number.isSafeInteger(bytes) && bytes >= 0)) {
      throw new FftError(
        'invalid-argument',
        `A buffer needs a whole number of bytes from 0 up, but ${bytes} was given.`,
      );
    }
    const room = roomFor(bytes);
    const address = this.takeIdle(room) ?? this.driver.allocate(room) ?? this.squeeze(room);
    if (address === undefined) {
      const { free, total } = this.driver.memoryInfo();
      throw new FftError(
        'out-of-memory',
        `${bytes} bytes of device memory were asked for, but of ${total} bytes ${free} are free, perhaps not in one piece.`,
      );
    }
    const buffer = new GpuBuffer(this, address, bytes, (freed) => this.release(freed, room));
    this.live.add(buffer);
    return buffer;
  }

  /**
   * Memory of the caller's.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-too-small`
   */
  adopt(pointer: bigint, bytes: number, what: string): GpuBuffer {
    const key = `${pointer}:${bytes}`;
    const known = this.adopted.get(key);
    const range = this.driver.addressRange(pointer);
    if (!range) {
      this.adopted.delete(key);
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
    if (known) return known;
    const buffer = new GpuBuffer(this, pointer, bytes);
    if (this.adopted.size >= ADOPTED) this.adopted.delete(this.adopted.keys().next().value as string);
    this.adopted.set(key, buffer);
    return buffer;
  }

  /** Gives all memory back to the driver; nothing may be running. */
  clear(): void {
    for (const buffer of [...this.live]) buffer.free();
    this.adopted.clear();
    this.trim(0);
  }

  private release(buffer: GpuBuffer, room: number): void {
    this.live.delete(buffer);
    this.generation++;
    this.retire(() => {
      const same = this.idle.get(room);
      if (same) same.push(buffer.address);
      else this.idle.set(room, [buffer.address]);
      this.idleBytes += room;
      this.trim(this.budget);
    });
  }

  private takeIdle(room: number): bigint | undefined {
    const same = this.idle.get(room);
    const address = same?.pop();
    if (address === undefined) return undefined;
    this.idleBytes -= room;
    if (same!.length === 0) this.idle.delete(room);
    return address;
  }

  /** The last resort: waits for what runs, and gives back all that is idle. */
  private squeeze(room: number): bigint | undefined {
    this.reclaim();
    const same = this.takeIdle(room);
    if (same !== undefined) return same;
    this.trim(0);
    return this.driver.allocate(room);
  }

  private trim(budget: number): void {
    while (this.idleBytes > budget) {
      const [room, same] = this.idle.entries().next().value as [number, bigint[]];
      this.driver.free(same.shift()!);
      this.idleBytes -= room;
      if (same.length === 0) this.idle.delete(room);
    }
  }
}

function roomFor(bytes: number): number {
  if (bytes <= LEAST_BYTES) return LEAST_BYTES;
  const step = Math.min(PAGE_BYTES, Math.max(LEAST_BYTES, 2 ** (Math.ceil(Math.log2(bytes)) - 4)));
  return Math.ceil(bytes / step) * step;
}
