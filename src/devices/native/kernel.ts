/** Kernels of devices behind C libraries. */
import { tablesBeside } from '../../emit/spmd/memory.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { DeviceKernel } from '../common/kernel.ts';
import type { CompiledKernel } from '../device.ts';

/** A kernel whose text every thread of a group runs. */
export abstract class SpmdKernel extends DeviceKernel {
  readonly program: SpmdProgram;

  /** @param computedRoots it has no tables of them then. */
  constructor(kernel: Kernel, program: SpmdProgram, computedRoots = false) {
    super(computedRoots ? { ...kernel, tables: tablesBeside(kernel) } : kernel);
    this.program = program;
  }

  get language(): string {
    return this.program.language;
  }

  get source(): string {
    return this.program.source;
  }

  get grid(): NonNullable<CompiledKernel['grid']> {
    return { blocks: this.program.groups, launches: this.program.launches };
  }
}
