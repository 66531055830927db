/**
 * A kernel as WGSL and as pipelines: one for each way in which its arrays are bound (arrangement.ts). Most kernels ever
 * need one, so the others are made when they are first bound.
 */
import type { Arrangement, SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { emitWgsl } from '../../emit/wgsl/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError, reasonOf } from '../../problem/errors.ts';
import { DeviceKernel, emitKernel } from '../common/kernel.ts';
import type { CompiledKernel, CompileOptions } from '../device.ts';
import { defaultArrangement, type GlobalUse, requireBindings, usesOf } from './arrangement.ts';
import type { Limits } from './options.ts';
import { type GpuWork, lossIn } from './work.ts';

/** Services of the device for its kernels. */
export interface Compiler {
  readonly work: GpuWork;
  readonly limits: Limits;
  /** Layouts of bindings, shared by pipelines with equal layouts. */
  readonly layouts: Map<string, GPUBindGroupLayout>;
  /** Whether compilers were found to keep exact operations unchanged without guards. */
  readonly unguarded: boolean;
}

export class WebGpuKernel extends DeviceKernel {
  readonly language = 'wgsl';
  readonly source: string;
  readonly uses: readonly GlobalUse[];
  private readonly compiler: Compiler;
  /** The most groups in one dimension of a dispatch. */
  readonly maxGroups: number;
  readonly unguarded: boolean;
  private readonly variants = new Map<string, Variant>();
  private readonly usual: Variant;

  /** @throws FftError `device-limit` */
  constructor(kernel: Kernel, compiler: Compiler, { maxGroups = Number.POSITIVE_INFINITY }: CompileOptions = {}) {
    super(kernel);
    this.compiler = compiler;
    this.maxGroups = Math.min(maxGroups, compiler.limits.maxComputeWorkgroupsPerDimension);
    this.unguarded = compiler.unguarded;
    this.uses = usesOf(kernel);
    this.usual = this.variant(defaultArrangement(kernel));
    this.source = this.usual.program.source;
  }

  get grid(): NonNullable<CompiledKernel['grid']> {
    const { groups, launches } = this.usual.program;
    return { blocks: groups, launches };
  }

  /** Compiles for the usual arrangement. @throws FftError `compile-failed` (as a rejection) */
  override prepare(): Promise<void> {
    return this.usual.prepare();
  }

  /** @throws FftError `device-limit` */
  variant(arrangement: Arrangement): Variant {
    const key = JSON.stringify(arrangement);
    let variant = this.variants.get(key);
    if (!variant) {
      this.variants.set(key, (variant = new Variant(this.whole, arrangement, this, this.compiler)));
    }
    return variant;
  }

  unload(): void {
    this.variants.clear();
  }
}

export class Variant {
  readonly program: SpmdProgram;
  readonly layout: GPUBindGroupLayout;
  /** The promise of the result of compiling at once; set until it settles. */
  verdict: Promise<void> | undefined;
  failure: FftError | undefined;
  private readonly work: GpuWork;
  private readonly name: string;
  private pipeline: GPUComputePipeline | undefined;
  private preparing: Promise<void> | undefined;

  constructor(
    kernel: Kernel,
    arrangement: Arrangement,
    { maxGroups, unguarded }: Pick<WebGpuKernel, 'maxGroups' | 'unguarded'>,
    { work, limits, layouts }: Compiler,
  ) {
    this.work = work;
    this.name = kernel.name;
    const { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = limits;
    const threads = Math.min(kernel.threads, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX);
    this.program = emitKernel(kernel, 'WGSL', () => emitWgsl(kernel, { threads, maxGroups, arrangement, unguarded }));
    const { sharedBytes, bindings, launches } = this.program;
    requireBindings(arrangement.bindings, bindings.length - arrangement.bindings, limits, kernel.name);
    if (sharedBytes > limits.maxComputeWorkgroupStorageSize) {
      throw new FftError(
        'device-limit',
        `Kernel ${kernel.name} needs ${sharedBytes} bytes of workgroup memory; the device allows ` +
          `maxComputeWorkgroupStorageSize = ${limits.maxComputeWorkgroupStorageSize}.`,
      );
    }
    this.layout = bindGroupLayout(work.gpu, layouts, [
      ...bindings.map(({ written }): GPUBufferBindingType => (written ? 'storage' : 'read-only-storage')),
      ...(arrangement.offsets || launches > 1 ? (['uniform'] as const) : []),
    ]);
  }

  /** Compiles without blocking the calling thread. @throws FftError `compile-failed` (as a rejection) */
  prepare(): Promise<void> {
    if (this.pipeline && !this.verdict) return this.failure ? Promise.reject(this.failure) : Promise.resolve();
    return (this.preparing ??= this.compile().finally(() => {
      this.preparing = undefined;
    }));
  }

  /** The pipeline, compiled at once if need be; then `verdict` tells whether it can run. */
  now(): GPUComputePipeline {
    if (this.pipeline) return this.pipeline;
    const { work } = this;
    let descriptor!: GPUComputePipelineDescriptor;
    let pipeline!: GPUComputePipeline;
    const verdict = work.judged(['validation', 'internal', 'out-of-memory'], () => {
      descriptor = this.descriptor();
      pipeline = work.gpu.createComputePipeline(descriptor);
    });
    this.pipeline = pipeline;
    this.verdict = verdict.then(async (error) => {
      this.verdict = undefined;
      if (error) this.failure = await this.refused(error, descriptor.compute.module);
    });
    return pipeline;
  }

  private async compile(): Promise<void> {
    const { work } = this;
    work.requireOpen();
    let descriptor!: GPUComputePipelineDescriptor;
    let created!: Promise<GPUComputePipeline>;
    const verdict = work.judged(['validation', 'internal', 'out-of-memory'], () => {
      descriptor = this.descriptor();
      created = work.gpu.createComputePipelineAsync(descriptor);
      created.catch(() => undefined);
    });
    try {
      // The error becomes a rejection, so that the loss of the device is not taken for a kernel that does not compile.
      const sound = verdict.then((error) => {
        if (error) throw error;
        return created;
      });
      const pipeline = await work.track(sound);
      this.pipeline ??= pipeline;
    } catch (cause) {
      if (cause instanceof FftError) throw cause;
      throw await this.refused(cause, descriptor.compute.module);
    }
  }

  private descriptor(): GPUComputePipelineDescriptor {
    const { gpu } = this.work;
    return {
      label: this.name,
      layout: gpu.createPipelineLayout({ bindGroupLayouts: [this.layout] }),
      compute: {
        module: gpu.createShaderModule({ label: this.name, code: this.program.source }),
        entryPoint: this.program.entry,
      },
    };
  }

  /** The error of a rejected kernel, with the compiler's messages. */
  private async refused(cause: unknown, module: GPUShaderModule): Promise<FftError> {
    const loss = lossIn(cause);
    if (loss) return loss;
    const info = await this.work.track(module.getCompilationInfo()).catch(() => undefined);
    const lines = info?.messages
      .filter(({ type }) => type === 'error')
      .map(({ lineNum, linePos, message }) => `line ${lineNum}:${linePos}: ${reasonOf(message)}`);
    const why = lines?.length ? lines.join('; ') : reasonOf(cause);
    return new FftError('compile-failed', `WebGPU refused kernel ${this.name}: ${why}`, { cause });
  }
}

function bindGroupLayout(
  gpu: GPUDevice,
  layouts: Map<string, GPUBindGroupLayout>,
  types: readonly GPUBufferBindingType[],
): GPUBindGroupLayout {
  const key = types.join();
  let layout = layouts.get(key);
  if (!layout) {
    const visibility = 0x4; // GPUShaderStage.COMPUTE
    const entries = types.map((type, binding) => ({ binding, visibility, buffer: { type } }));
    layouts.set(key, (layout = gpu.createBindGroupLayout({ entries })));
  }
  return layout;
}
