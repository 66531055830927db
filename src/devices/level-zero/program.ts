/** Kernels as the SPIR-V that Level Zero takes. */
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/**
 * @param groups that the device launches at once.
 * @throws FftError `device-limit` where the language has no words for the kernel
 */
export function zeProgram(
  kernel: Kernel,
  groups: number,
  { maxGroups = groups, computedRoots = false }: CompileOptions,
): SpirvProgram {
  const requested = { maxGroups: Math.min(maxGroups, groups), computedRoots };
  return written(kernel, 'SPIR-V', () => emitSpirv(kernel, { flavour: 'opencl', ...requested }));
}
