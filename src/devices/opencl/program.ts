/** Kernels as OpenCL C or as SPIR-V, with the numbers that launches need. */
import { emitOpencl } from '../../emit/opencl/index.ts';
import { emitSpirv, type SpirvProgram } from '../../emit/spirv/index.ts';
import type { SpmdOptions, SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { emitKernel } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';

/** Writes a kernel as OpenCL C. @throws FftError `device-limit` if the language cannot express the kernel */
export function clProgram(kernel: Kernel, options: CompileOptions): SpmdProgram {
  return emitKernel(kernel, 'OpenCL C', () => emitOpencl(kernel, bound(kernel, options)));
}

/** Writes a kernel as SPIR-V with the same arguments as in OpenCL C. @throws FftError `device-limit` if SPIR-V cannot express the kernel */
export function clSpirvProgram(kernel: Kernel, options: CompileOptions): SpirvProgram {
  return emitKernel(kernel, 'SPIR-V', () => emitSpirv(kernel, { flavour: 'opencl', ...bound(kernel, options) }));
}

function bound(kernel: Kernel, { maxGroups, computedRoots = false }: CompileOptions): SpmdOptions {
  // Every global takes an offset as a further argument, because `cl_mem` objects have no addresses.
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  const arrangement = { globals, bindings: globals.length, offsets: true };
  return { arrangement, computedRoots, ...(maxGroups === undefined ? {} : { maxGroups }) };
}
