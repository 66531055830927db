/** Kernels as source in CUDA C++ or HIP, with the numbers that launches need. */
import { emitCuda } from '../../emit/cuda/index.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { emitKernel } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';
import type { DriverVariant } from './api.ts';

/** Writes a kernel. @throws FftError `device-limit` if the language cannot express the kernel */
export function cudaProgram(
  kernel: Kernel,
  { kind: dialect, mostGroups }: Pick<DriverVariant, 'kind' | 'mostGroups'>,
  { maxGroups, streams: launches = 1, computedRoots = false }: CompileOptions,
): SpmdProgram {
  const most = Math.min(mostGroups, maxGroups ?? mostGroups);
  return emitKernel(kernel, dialect, () => emitCuda(kernel, { dialect, maxGroups: most, launches, computedRoots }));
}
