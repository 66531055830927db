/** Kernels as OpenCL C, as devices launch them. */
import { emitOpencl } from '../../emit/opencl/index.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/** @throws FftError `device-limit` where the language has no words for the kernel */
export function clProgram(kernel: Kernel, { maxGroups, computedRoots = false }: CompileOptions): SpmdProgram {
  // Every global has an offset: `cl_mem` objects have no addresses to add one to.
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  const arrangement = { globals, bindings: globals.length, offsets: true };
  const most = maxGroups === undefined ? {} : { maxGroups };
  return written(kernel, 'OpenCL C', () => emitOpencl(kernel, { arrangement, computedRoots, ...most }));
}
