/** A copy between a host array and device memory that host code can access: it needs no staging and runs in one go. */
import { FftError } from '../../problem/errors.ts';
import type { RealArray } from '../device.ts';
import type { CopyHost } from './staging.ts';
import type { TimelineJob } from './timeline.ts';

export class MappedCopy implements TimelineJob {
  readonly done: Promise<void>;
  private readonly device: CopyHost;
  private readonly direction: 'in' | 'out';
  private readonly memory: Uint8Array;
  private readonly host: RealArray;
  private resolve!: () => void;
  private rejectDone!: (error: unknown) => void;
  private requested = false;
  private failure: unknown;

  /** @param memory the device memory, with as many bytes as the array has. */
  constructor(device: CopyHost, direction: 'in' | 'out', memory: Uint8Array, host: RealArray) {
    this.device = device;
    this.direction = direction;
    this.memory = memory;
    this.host = host;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.rejectDone = reject;
    });
  }

  /** Checks a copy whose `done` is not awaited. @throws the reason with which `done` was rejected, if it was */
  requireSound(): void {
    this.done.catch(() => undefined);
    if (this.failure !== undefined) throw this.failure;
  }

  advance(): boolean {
    const { device, memory, host } = this;
    device.enter();
    if (!device.timeline.idle) {
      if (!this.requested) device.timeline.after(() => device.timeline.pump());
      this.requested = true;
      return false;
    }
    if (host.byteLength !== memory.length) {
      throw new FftError('detached-array', 'An array of a waiting call is detached: its memory was transferred away.');
    }
    const bytes = new Uint8Array(host.buffer, host.byteOffset, host.byteLength);
    if (this.direction === 'in') memory.set(bytes);
    else bytes.set(memory);
    this.resolve();
    return true;
  }

  fail(error: unknown): void {
    this.failure ??= error;
    this.rejectDone(error);
  }
}
