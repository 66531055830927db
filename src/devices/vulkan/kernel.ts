/** A kernel as SPIR-V, and the pipeline that the driver compiles from it. */
import { GROUP_SIZE_CONSTANT } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { KernelSource } from '../common/kernel.ts';
import type { CompileOptions, PackedKernel } from '../device.ts';
import { requireGroupFits, type SpmdFacts, SpmdKernel, withoutComputedTables } from '../native/kernel.ts';
import { immovableBytes, type Struct, textBytes } from '../native/structs.ts';
import { COMPUTE, type Handle, TYPE, vkFailure } from './api.ts';
import type { VkDriver } from './driver.ts';
import { type VkProgram, vkProgram } from './program.ts';

/** A pipeline with its layout, as launches bind it. */
export interface VkPipeline {
  readonly pipeline: Handle;
  readonly layout: Handle;
}

/** A pipeline with the shader module that it was made from. */
interface MadePipeline extends VkPipeline {
  readonly module: Handle;
}

export class VkKernel extends SpmdKernel<VkProgram> {
  private readonly driver: VkDriver;
  private made: MadePipeline | undefined;
  private preparing: Promise<void> | undefined;

  /** @throws FftError `device-limit` where the device cannot run groups as large as the kernel's. */
  constructor(kernel: KernelSource, program: VkProgram, driver: VkDriver) {
    super(kernel, program);
    this.driver = driver;
    requireGroupFits(program, kernel.name, driver.setup.physical.limits);
  }

  /** The driver compiles on another thread. */
  override prepare(): Promise<void> {
    if (this.made || this.discarded) return Promise.resolve();
    this.preparing ??= this.compileAside().finally(() => {
      this.preparing = undefined;
    });
    return this.preparing;
  }

  /** The pipeline; compiled on this thread if that has not been done. @throws FftError `compile-failed` */
  pipeline(): VkPipeline {
    if (this.discarded) throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded.`);
    if (this.made) return this.made;
    const { api, device } = this.driver;
    const { info, ...parts } = this.request();
    try {
      const pipeline = api.make('vkCreateComputePipelines', this.purpose, device, 0n, 1, info, null);
      this.made = { ...parts, pipeline };
      return this.made;
    } catch (error) {
      this.destroy({ ...parts, pipeline: 0n });
      throw error;
    }
  }

  /** Packs the SPIR-V as the code; the other facts about the program are packed beside it. */
  override pack(): PackedKernel {
    const { outline, program } = this;
    const facts: SpmdFacts<VkProgram> = { program: { ...program, source: new Uint8Array() } };
    return { outline, facts, code: program.source };
  }

  unload(): void {
    if (this.made) this.destroy(this.made);
    this.made = undefined;
  }

  protected binary(): Uint8Array {
    return this.program.source;
  }

  private get purpose() {
    return { what: `Compiling kernel ${this.kernel.name}`, otherwise: 'compile-failed' } as const;
  }

  private async compileAside(): Promise<void> {
    const { api, device } = this.driver;
    const { info, ...parts } = this.request();
    const out = new BigUint64Array(new ArrayBuffer(8));
    const result = await new Promise<number>((resolve, reject) => {
      const done = (error: unknown, value: number) => (error ? reject(error) : resolve(value));
      api.raw.vkCreateComputePipelines.async(device, 0n, 1, info.bytes, null, out, done);
    });
    const made = { ...parts, pipeline: out[0]! };
    if (result < 0 || this.discarded || this.made) this.destroy(made);
    else this.made = made;
    if (result < 0) throw vkFailure('vkCreateComputePipelines', result, this.purpose);
  }

  private request(): { info: Struct; module: Handle; layout: Handle } {
    const { api, device } = this.driver;
    const { source, entry, argumentBytes, indirect } = this.program;
    const code = immovableBytes(source);
    const requested = api.struct(TYPE.shaderModule, undefined, 0, BigInt(code.length), code);
    const module = api.make('vkCreateShaderModule', this.purpose, device, requested, null);
    const range = api.plain(COMPUTE.stage, 0, indirect ? 8 : argumentBytes);
    const shape = api.struct(TYPE.pipelineLayout, undefined, 0, 0, undefined, 1, range);
    const layout = api.make('vkCreatePipelineLayout', this.purpose, device, shape, null);
    const name = textBytes(entry);
    // `VkPipelineShaderStageCreateInfo` is embedded by value: type, pointer, flags, stage, module, name, specialization.
    const stage = [TYPE.stage, this.subgroup(), 0, COMPUTE.stage, module, name, this.specialization()] as const;
    const info = api.struct(TYPE.computePipeline, undefined, 0, 0, ...stage, layout, 0n, -1, 0);
    return { info, module, layout };
  }

  /** Specialization of the constant that is the number of threads in a group. */
  private specialization(): Struct {
    const { api } = this.driver;
    const bytes = 4;
    const entry = api.plain(GROUP_SIZE_CONSTANT, 0, BigInt(bytes));
    return api.plain(1, entry, BigInt(bytes), api.plain(this.program.threads));
  }

  /** Requires the subgroup size that the program asks for, if the device can and a group then has no more subgroups than allowed. */
  private subgroup(): Struct | undefined {
    const { api, setup } = this.driver;
    const { subgroupSize = 0, threads } = this.program;
    const { least, most, perGroup } = setup.features.subgroups ?? { least: 1, most: 0, perGroup: 0 };
    if (subgroupSize < least || subgroupSize > most || threads > subgroupSize * perGroup) return undefined;
    return api.struct(TYPE.requiredSubgroupSize, undefined, subgroupSize);
  }

  private destroy({ pipeline, layout, module }: MadePipeline): void {
    const { api, device } = this.driver;
    api.call('vkDestroyPipeline', undefined, device, pipeline, null);
    api.call('vkDestroyPipelineLayout', undefined, device, layout, null);
    api.call('vkDestroyShaderModule', undefined, device, module, null);
  }
}

/** Writes a kernel as SPIR-V. @throws FftError as `VkKernel`, and `device-limit` if the language cannot express the kernel */
export function writtenVkKernel(kernel: Kernel, driver: VkDriver, options: CompileOptions): VkKernel {
  const { physical, features } = driver.setup;
  const program = vkProgram(kernel, { ...features, ...physical.limits }, options);
  return new VkKernel(withoutComputedTables(kernel, options.computedRoots ?? false), program, driver);
}
