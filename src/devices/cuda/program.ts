/** Kernels as the text of CUDA's kind of language, as its devices launch them. */
import { emitCuda } from '../../emit/cuda/index.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';
import type { DriverWords } from './api.ts';

/** @throws FftError `device-limit` where the language has no words for the kernel */
export function cudaProgram(
  kernel: Kernel,
  { kind: dialect, mostGroups }: Pick<DriverWords, 'kind' | 'mostGroups'>,
  { maxGroups, streams: launches = 1, computedRoots = false }: CompileOptions,
): SpmdProgram {
  const most = Math.min(mostGroups, maxGroups ?? mostGroups);
  return written(kernel, dialect, () => emitCuda(kernel, { dialect, maxGroups: most, launches, computedRoots }));
}
