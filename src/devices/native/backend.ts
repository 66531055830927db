/** A device behind a C library: memory, copies, launches, all on one stream of its driver. */
import type { DoubleWordForm } from '../../emit/double-word/index.ts';
import type { SpirvProgram } from '../../emit/spirv/index.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { FftError } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import { BaseBackend } from '../common/backend.ts';
import { type BoundStep, boundSteps, buffersOf } from '../common/program.ts';
import type {
  Binding,
  BoundProgram,
  CodeFacts,
  CompiledKernel,
  DeviceKind,
  EncodeTarget,
  PackedKernel,
  ProgramStep,
  RealArray,
} from '../device.ts';
import type { Launches, NativeDriver } from './driver.ts';
import type { SpmdKernel } from './kernel.ts';
import { MappedCopy } from './mapped.ts';
import type { NativeBuffer } from './memory.ts';
import { type NativeHost, NativeProgram } from './program.ts';
import { PinnedStaging, StagedCopy } from './staging.ts';
import { CallerStreams } from './streams.ts';
import { Timeline } from './timeline.ts';

export abstract class NativeBackend<B extends NativeBuffer, K extends SpmdKernel<SpmdProgram | SpirvProgram>>
  extends BaseBackend<B, K>
  implements NativeHost
{
  readonly kind: DeviceKind;
  readonly target: EncodeTarget;
  readonly computesRoots = true;
  override readonly pairForm: DoubleWordForm = { fused: true };
  readonly name: string;
  readonly profile: DeviceProfile;
  abstract readonly driver: NativeDriver;
  readonly timeline: Timeline;
  readonly streams: CallerStreams;
  protected readonly staging: PinnedStaging;

  constructor(driver: NativeDriver, name: string, profile: DeviceProfile, store?: CodeStore) {
    super(store);
    this.kind = driver.kind;
    this.target = driver.target;
    this.name = name;
    this.profile = profile;
    this.timeline = new Timeline(driver);
    this.streams = new CallerStreams(driver, this.timeline);
    this.staging = new PinnedStaging({ driver, timeline: this.timeline, enter: () => this.enter() });
  }

  bind(
    steps: readonly ProgramStep[],
    slots: readonly (Binding | undefined)[],
    _chunks?: number,
    pipelined?: CompiledKernel,
  ): BoundProgram {
    this.requireOpen();
    const bound = boundSteps(this, steps, slots);
    return new NativeProgram(this, buffersOf(bound, false), this.layOut(bound, pipelined && this.own(pipelined)));
  }

  get codeFacts(): CodeFacts {
    return this.driver.codeFacts;
  }

  pack(kernel: CompiledKernel, whole: boolean): PackedKernel {
    return this.own(kernel).pack(whole);
  }

  unpack(packed: PackedKernel, whole: () => Kernel): CompiledKernel {
    this.requireOpen();
    return this.keep(this.revive(packed, whole));
  }

  async upload(target: Binding, data: RealArray): Promise<void> {
    await this.submitCopy('in', target, data).done;
  }

  async download(source: Binding, into: RealArray): Promise<void> {
    await this.submitCopy('out', source, into).done;
  }

  /** Begins an upload, and returns once `data` has been copied to pinned memory. */
  uploadSync(target: Binding, data: RealArray): void {
    const copy = this.submitCopy('in', target, data);
    if (!this.timeline.caughtUp) this.drain();
    copy.requireSound();
  }

  downloadSync(source: Binding, into: RealArray): void {
    const copy = this.submitCopy('out', source, into);
    this.drain();
    copy.requireSound();
  }

  finish(): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.afterAll((failure) => (failure ? reject(failure) : resolve()));
    });
  }

  finishSync(): void {
    if (this.closed) return;
    this.enter();
    this.drain();
  }

  override requireOpen(): void {
    super.requireOpen();
    const { failure } = this.timeline;
    if (failure) throw failure;
  }

  /** Makes the device's context current, and orders the device's own stream after all work in callers' streams. */
  enter(): void {
    this.driver.enter();
    this.streams.join();
  }

  override drain(): void {
    this.timeline.settle();
  }

  override whenUnused(action: () => void): void {
    if (this.closed) action();
    else this.afterAll(action);
  }

  protected override stop(failure: FftError): void {
    try {
      this.enter();
      this.driver.synchronize(this.driver.stream);
    } catch {
      // A lost device has no work left to wait for.
    }
    this.timeline.close(failure);
  }

  protected override leave(): void {
    this.streams.release();
    this.staging.release();
    this.driver.close();
  }

  /** A kernel that a device like this one has packed. @throws FftError `compile-failed` */
  protected abstract revive(packed: PackedKernel, whole: () => Kernel): K;

  /** Lays out the arguments of all steps, or of the one kernel `pipelined` that runs them all. */
  protected abstract layOut(steps: readonly BoundStep<B, K>[], pipelined: K | undefined): Launches;

  private afterAll(done: (failure?: unknown) => void): void {
    this.timeline.submit({
      advance: () => {
        this.enter();
        this.timeline.after(done);
        return true;
      },
      fail: done,
    });
  }

  private submitCopy(direction: 'in' | 'out', place: Binding, host: RealArray): StagedCopy | MappedCopy {
    const buffer = this.copied(place, host);
    const { byteOffset } = place;
    const seen = buffer.mapped?.subarray(byteOffset, byteOffset + host.byteLength);
    const copy = seen
      ? new MappedCopy(this, direction, seen, host)
      : new StagedCopy(this.staging, direction, buffer, byteOffset, host);
    this.timeline.submit(copy);
    return copy;
  }
}
