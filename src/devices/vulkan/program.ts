/** Kernels as SPIR-V for Vulkan, with the numbers that launches need. */
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { emitKernel } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/** The features and limits of a device that kernels are written for. */
export interface VkKernelFeatures {
  readonly wideIntegers: boolean;
  readonly storage16: boolean;
  readonly pushBytes: number;
  /** The most groups in one dimension of a dispatch. */
  readonly groups: number;
}

/** The features and limits that every Vulkan device has. */
export const LEAST_FEATURES: VkKernelFeatures = {
  wideIntegers: false,
  storage16: false,
  pushBytes: 128,
  groups: 65535,
};

/** A SPIR-V module, and the subgroup size that its pipeline requires; undefined if the driver chooses one. */
export interface VkProgram extends SpirvProgram {
  readonly subgroupSize?: number;
}

/** Writes a kernel. @throws FftError `device-limit` if the language cannot express the kernel */
export function vkProgram(
  kernel: Kernel,
  { wideIntegers, storage16, pushBytes, groups }: VkKernelFeatures,
  { maxGroups, computedRoots = false, subgroupSize }: CompileOptions,
): VkProgram {
  const most = Math.min(groups, maxGroups ?? groups);
  const requested = { wideIntegers, storage16, pushBytes, computedRoots, maxGroups: most };
  const program = emitKernel(kernel, 'SPIR-V', () => emitSpirv(kernel, requested));
  return subgroupSize === undefined ? program : { ...program, subgroupSize };
}
