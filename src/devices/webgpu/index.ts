/**
 * WebGPU as a device, in browsers and, through the package `webgpu`, in Node. Kernels are WGSL compute shaders in single
 * precision; memory is `GPUBuffer`s, the device's own or the caller's.
 */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { FftError } from '../../problem/errors.ts';
import { BaseBackend } from '../common/backend.ts';
import type { Backend, Binding, BoundProgram, CompileOptions, ProgramStep, RealArray } from '../device.ts';
import { adapterName, adapterProfile, limitsOf, type Opened, openGpuDevice } from './adapter.ts';
import { Bindings, type WebGpuHost } from './bound.ts';
import { WebGpuKernel } from './kernel.ts';
import { USAGE, WebGpuAllocator, type WebGpuBuffer } from './memory.ts';
import { checkWebGpuOptions, type Limits, type WebGpuSettings } from './options.ts';
import { pairsSurvive } from './probe.ts';
import { WebGpuProgram } from './program.ts';
import { Transfers } from './transfer.ts';
import { GpuWork } from './work.ts';

export { webGpuAvailability as availability } from './adapter.ts';

/** @throws FftError `device-unavailable`, `device-lost`, `invalid-argument` */
export async function create(settings: WebGpuSettings = {}): Promise<Backend> {
  checkWebGpuOptions(settings);
  const opened = await openGpuDevice(settings);
  const backend = new WebGpuBackend(opened, limitsOf(opened.gpu, settings.limits), settings.profile ?? {});
  // A device that the caller lost before passing it here reports the loss during this wait.
  await Promise.resolve();
  backend.work.requireOpen();
  return backend;
}

/** The most uniform buffers of offsets that are kept: few are in use at a time. */
const OFFSETS_KEPT = 64;

class WebGpuBackend extends BaseBackend<WebGpuBuffer, WebGpuKernel> implements WebGpuHost {
  readonly kind = 'webgpu';
  readonly target = 'encoder';
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly work: GpuWork;
  readonly limits: Limits;
  readonly layouts = new Map<string, GPUBindGroupLayout>();
  readonly memory: WebGpuAllocator;
  private readonly ownDevice: boolean;
  private readonly transfers: Transfers;
  private readonly bindings: Bindings;
  private readonly uniforms = new Map<string, GPUBuffer>();
  unguarded = false;
  pairsBroken: string | undefined;
  private probing: Promise<void> | undefined;

  constructor(opened: Opened, limits: Limits, profile: Partial<DeviceProfile>) {
    super();
    this.name = adapterName(opened.info);
    this.ownDevice = opened.own;
    this.limits = limits;
    this.profile = { ...adapterProfile(opened, limits), ...profile };
    this.work = new GpuWork(opened.gpu);
    this.memory = new WebGpuAllocator(this.work, limits, this);
    this.transfers = new Transfers(this.work, limits);
    this.bindings = new Bindings(this);
  }

  /** Probes double-word arithmetic, once: first as it is written, then with guards that keep compilers from changing it. */
  probePairs(): Promise<void> {
    this.probing ??= this.tryPairs().catch((error) => {
      this.probing = undefined;
      throw error;
    });
    return this.probing;
  }

  private async tryPairs(): Promise<void> {
    this.unguarded = true;
    if (await pairsSurvive(this)) this.pairsBroken = '';
    else {
      this.unguarded = false;
      this.pairsBroken = (await pairsSurvive(this))
        ? ''
        : 'its compiler reorders the sums that pairs of singles rest on, whatever stands between them';
    }
  }

  bind(steps: readonly ProgramStep[], slots: readonly (Binding | undefined)[]): BoundProgram {
    this.requireOpen();
    return new WebGpuProgram(this, this.bindings.of(steps, slots));
  }

  offsets(values: readonly number[]): GPUBuffer {
    const key = values.join();
    let buffer = this.uniforms.get(key);
    if (!buffer) {
      const size = 16 * Math.ceil(values.length / 4);
      buffer = this.work.gpu.createBuffer({ size, usage: USAGE.UNIFORM | USAGE.COPY_DST });
      this.work.gpu.queue.writeBuffer(buffer, 0, Uint32Array.from(values));
      // A forgotten buffer is not destroyed: bound programs keep it alive, and the caller's encoders may still need it.
      if (this.uniforms.size >= OFFSETS_KEPT) this.uniforms.delete(this.uniforms.keys().next().value!);
      this.uniforms.set(key, buffer);
    }
    return buffer;
  }

  async upload(target: Binding, data: RealArray): Promise<void> {
    await this.transfers.upload(this.copied(target, data), target.byteOffset, data);
  }

  async download(source: Binding, into: RealArray): Promise<void> {
    await this.transfers.download(this.copied(source, into), source.byteOffset, into);
  }

  async finish(): Promise<void> {
    if (this.closed) return;
    this.work.requireOpen();
    await this.work.track(this.work.gpu.queue.onSubmittedWorkDone());
  }

  override requireOpen(): void {
    this.work.requireOpen();
  }

  protected translate(kernel: Kernel, options: CompileOptions): WebGpuKernel {
    return new WebGpuKernel(kernel, this, options);
  }

  protected stop({ code, message }: FftError): void {
    this.work.finish({ code, message });
    this.transfers.close();
  }

  protected override leave(): void {
    for (const buffer of this.uniforms.values()) buffer.destroy();
    this.uniforms.clear();
    this.layouts.clear();
    if (this.ownDevice) this.work.gpu.destroy();
  }
}
