/** Steps that are bound to memory of a device behind a C library. */
import type { DeviceKernel } from '../common/kernel.ts';
import type { InFlight } from '../common/memory.ts';
import { DeviceProgram, type ProgramHost, requireRepeats } from '../common/program.ts';
import type { Launches } from './driver.ts';
import type { NativeBuffer } from './memory.ts';
import type { CopyHost } from './staging.ts';
import type { CallerStreams } from './streams.ts';
import type { TimelineJob } from './timeline.ts';

/** Services of a device for its programs. */
export interface NativeHost extends ProgramHost<NativeBuffer, DeviceKernel>, CopyHost, InFlight {
  readonly streams: CallerStreams;
}

export class NativeProgram extends DeviceProgram<NativeBuffer> {
  private readonly device: NativeHost;
  private readonly launches: Launches;
  private readonly launch = (): bigint | undefined => this.launches.submit();

  constructor(device: NativeHost, buffers: Iterable<NativeBuffer>, launches: Launches) {
    super(device, buffers);
    this.device = device;
    this.launches = launches;
  }

  run(): Promise<void> {
    return this.submit(this.launch);
  }

  runSync(): void {
    let failure: unknown;
    this.requireUsable();
    this.device.timeline.submit(this.job(this.launch, (error) => (failure = error)));
    this.device.drain();
    this.device.requireOpen();
    if (failure !== undefined) throw failure;
  }

  /**
   * Appends the program to the caller's stream, given by its handle.
   * @throws FftError `invalid-encoder`, `launch-failed`
   */
  encode(target: unknown): void {
    const { driver, timeline, streams } = this.device;
    this.requireUsable();
    const stream = driver.callersStream(target);
    if (!timeline.caughtUp) this.device.drain();
    this.device.requireOpen();
    this.device.enter();
    streams.append(stream, this.buffers, (captured) => this.launches.append(stream, captured));
  }

  async time(repeats: number): Promise<number> {
    requireRepeats(repeats);
    this.device.requireOpen();
    this.device.enter();
    return this.launches.time(repeats, (work) => this.submit(work));
  }

  protected override unbind(): void {
    this.launches.release((action) => this.device.whenUnused(action));
  }

  private submit(work: () => bigint | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.requireUsable();
      this.device.timeline.submit(this.job(work, (failure) => (failure ? reject(failure) : resolve())));
    });
  }

  /** @param ended is called when the submitted work has run, or with its failure. */
  private job(work: () => bigint | undefined, ended: (failure?: unknown) => void): TimelineJob {
    const { device } = this;
    return {
      advance() {
        device.requireOpen();
        device.enter();
        const event = work();
        device.timeline.touch();
        device.timeline.after(ended, event);
        return true;
      },
      fail: ended,
    };
  }
}
