/**
 * WebGPU as a device, in browsers and, through the package `webgpu`, in Node. Kernels are WGSL compute shaders in single
 * precision; memory is `GPUBuffer`s, the device's own or the caller's.
 */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type {
  Backend,
  Binding,
  BoundProgram,
  CompiledKernel,
  CompileOptions,
  DeviceBuffer,
  RealArray,
  Step,
} from '../device.ts';
import { limitsOf, nameOf, type Opened, openGpu, profileOf } from './adapter.ts';
import { Bindings, type Machine } from './bound.ts';
import { WebGpuKernel } from './kernel.ts';
import { USAGE, type WebGpuBuffer, WebGpuMemory } from './memory.ts';
import { checkWebGpuOptions, type Limits, type WebGpuSettings } from './options.ts';
import { WebGpuProgram } from './program.ts';
import { Transfers } from './transfer.ts';
import { Work } from './work.ts';

export { webGpuAvailability } from './adapter.ts';

/** @throws FftError `device-unavailable`, `device-lost`, `invalid-argument` */
export async function createWebGpuBackend(settings: WebGpuSettings = {}): Promise<Backend> {
  checkWebGpuOptions(settings);
  const opened = await openGpu(settings);
  const backend = new WebGpuBackend(opened, limitsOf(opened.gpu, settings.limits), settings.profile ?? {});
  // A device that was lost before it was given here says so now.
  await Promise.resolve();
  backend.work.requireOpen();
  return backend;
}

/** Offsets inside kernels that are kept: few are in use at a time. */
const OFFSETS_KEPT = 64;

class WebGpuBackend implements Backend, Machine {
  readonly kind = 'webgpu';
  readonly target = 'encoder';
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly work: Work;
  readonly limits: Limits;
  readonly layouts = new Map<string, GPUBindGroupLayout>();
  readonly memory: WebGpuMemory;
  private readonly own: boolean;
  private readonly transfers: Transfers;
  private readonly bindings: Bindings;
  private readonly uniforms = new Map<string, GPUBuffer>();
  private closed = false;

  constructor(opened: Opened, limits: Limits, profile: Partial<DeviceProfile>) {
    this.name = nameOf(opened.info);
    this.own = opened.own;
    this.limits = limits;
    this.profile = { ...profileOf(opened, limits), ...profile };
    this.work = new Work(opened.gpu);
    this.memory = new WebGpuMemory(this.work, limits);
    this.transfers = new Transfers(this.work, limits);
    this.bindings = new Bindings(this);
  }

  allocate(bytes: number): DeviceBuffer {
    return this.memory.allocate(bytes);
  }

  /** Host arrays are never device memory here. */
  locate(): undefined {
    return undefined;
  }

  adopt(memory: unknown, what: string): DeviceBuffer | undefined {
    return this.memory.adopt(memory, what);
  }

  owns(buffer: DeviceBuffer): boolean {
    return this.memory.owns(buffer);
  }

  compile(kernel: Kernel, options?: CompileOptions): CompiledKernel {
    this.work.requireOpen();
    return new WebGpuKernel(kernel, this, options);
  }

  async warmUp(kernels: readonly CompiledKernel[]): Promise<void> {
    this.work.requireOpen();
    await Promise.all(kernels.map((kernel) => this.ownKernel(kernel).prepare()));
  }

  discard(kernel: CompiledKernel): void {
    this.ownKernel(kernel).discard();
  }

  bind(steps: readonly Step[], slots: readonly (Binding | undefined)[]): BoundProgram {
    this.work.requireOpen();
    return new WebGpuProgram(this.work, this.bindings.of(steps, slots));
  }

  offsets(values: readonly number[]): GPUBuffer {
    const key = values.join();
    let buffer = this.uniforms.get(key);
    if (!buffer) {
      const size = 16 * Math.ceil(values.length / 4);
      buffer = this.work.gpu.createBuffer({ size, usage: USAGE.UNIFORM | USAGE.COPY_DST });
      this.work.gpu.queue.writeBuffer(buffer, 0, Uint32Array.from(values));
      // Whoever is bound to one that is forgotten keeps it alive; encoders of the caller may still wait for it.
      if (this.uniforms.size >= OFFSETS_KEPT) this.uniforms.delete(this.uniforms.keys().next().value!);
      this.uniforms.set(key, buffer);
    }
    return buffer;
  }

  async upload({ buffer, byteOffset }: Binding, data: RealArray): Promise<void> {
    await this.transfers.upload(this.ownBuffer(buffer), byteOffset, data);
  }

  async download({ buffer, byteOffset }: Binding, into: RealArray): Promise<void> {
    await this.transfers.download(this.ownBuffer(buffer), byteOffset, into);
  }

  async finish(): Promise<void> {
    if (this.closed) return;
    this.work.requireOpen();
    await this.work.track(this.work.gpu.queue.onSubmittedWorkDone());
  }

  /** Calls that have not ended are rejected with `device-closed`. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.work.finish({ code: 'device-closed', message: 'The device was closed; open another one.' });
    this.transfers.close();
    this.memory.clear();
    for (const buffer of this.uniforms.values()) buffer.destroy();
    this.uniforms.clear();
    this.layouts.clear();
    if (this.own) this.work.gpu.destroy();
  }

  private ownKernel(kernel: CompiledKernel): WebGpuKernel {
    if (kernel instanceof WebGpuKernel && kernel.compiler === this) return kernel;
    throw new FftError('internal-error', `Kernel ${kernel.kernel.name} was compiled by another device.`);
  }

  private ownBuffer(buffer: DeviceBuffer): WebGpuBuffer {
    if (this.memory.owns(buffer)) return buffer;
    throw new FftError('foreign-buffer', 'The buffer to copy from or to was not allocated on this device.');
  }
}
