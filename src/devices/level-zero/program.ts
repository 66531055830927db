/** Kernels as SPIR-V for Level Zero (the OpenCL flavour, with pointers as arguments). */
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { emitKernel } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/**
 * Writes a kernel. @param groups the most groups of one launch.
 * @throws FftError `device-limit` if the language cannot express the kernel
 */
export function zeProgram(
  kernel: Kernel,
  groups: number,
  { maxGroups = groups, computedRoots = false }: CompileOptions,
): SpirvProgram {
  const requested = { maxGroups: Math.min(maxGroups, groups), computedRoots };
  return emitKernel(kernel, 'SPIR-V', () => emitSpirv(kernel, { flavour: 'opencl', ...requested }));
}
