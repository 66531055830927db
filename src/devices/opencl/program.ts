/** Kernels as OpenCL C or as SPIR-V, as devices launch them. */
import { emitOpencl } from '../../emit/opencl/index.ts';
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { SpmdOptions, SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/** @throws FftError `device-limit` where the language has no words for the kernel */
export function clProgram(kernel: Kernel, options: CompileOptions): SpmdProgram {
  return written(kernel, 'OpenCL C', () => emitOpencl(kernel, bound(kernel, options)));
}

/** The same kernel with the same arguments. @throws FftError `device-limit` where SPIR-V has no words for the kernel */
export function clSpirvProgram(kernel: Kernel, options: CompileOptions): SpirvProgram {
  return written(kernel, 'SPIR-V', () => emitSpirv(kernel, { flavour: 'opencl', ...bound(kernel, options) }));
}

function bound(kernel: Kernel, { maxGroups, computedRoots = false }: CompileOptions): SpmdOptions {
  // Every global has an offset: `cl_mem` objects have no addresses to add one to.
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  const arrangement = { globals, bindings: globals.length, offsets: true };
  return { arrangement, computedRoots, ...(maxGroups === undefined ? {} : { maxGroups }) };
}
