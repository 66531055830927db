/** Kernels as SPIR-V, as devices launch them. */
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/** The features and limits of a device that kernels are written for. */
export interface VkWords {
  readonly wideIntegers: boolean;
  readonly storage16: boolean;
  readonly pushBytes: number;
  /** Groups in one dimension of a dispatch. */
  readonly groups: number;
}

/** The features and limits that every device of Vulkan has. */
export const LEAST_WORDS: VkWords = { wideIntegers: false, storage16: false, pushBytes: 128, groups: 65535 };

/** A module, and the subgroup size that its pipeline requires; undefined where the driver chooses. */
export interface VkProgram extends SpirvProgram {
  readonly subgroupSize?: number;
}

/** @throws FftError `device-limit` where the language has no words for the kernel */
export function vkProgram(
  kernel: Kernel,
  { wideIntegers, storage16, pushBytes, groups }: VkWords,
  { maxGroups, computedRoots = false, subgroupSize }: CompileOptions,
): VkProgram {
  const most = Math.min(groups, maxGroups ?? groups);
  const requested = { wideIntegers, storage16, pushBytes, computedRoots, maxGroups: most };
  const program = written(kernel, 'SPIR-V', () => emitSpirv(kernel, requested));
  return subgroupSize === undefined ? program : { ...program, subgroupSize };
}
