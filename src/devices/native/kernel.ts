/** Kernels of devices behind C libraries. */

import type { SpirvProgram } from '../../emit/spirv/index.ts';
import { tablesBeside } from '../../emit/spmd/lowering/memory.ts';
import type { ComputedRoots, EntryPoint, SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { DeviceKernel, type KernelSource } from '../common/kernel.ts';
import type { CompiledKernel, KernelOutline, PackedKernel } from '../device.ts';

/** The kernel as it is launched: without tables of roots, if all roots are computed. */
export function withoutComputedTables(kernel: Kernel, computedRoots: ComputedRoots): Kernel {
  return computedRoots === true ? { ...kernel, tables: tablesBeside(kernel) } : kernel;
}

/** @throws FftError `device-limit` where the device cannot run groups as large as the kernel's. */
export function requireGroupFits(
  { threads, sharedBytes }: EntryPoint,
  name: string,
  most: { readonly threads: number; readonly sharedBytes: number },
): void {
  if (threads <= most.threads && sharedBytes <= most.sharedBytes) return;
  throw new FftError(
    'device-limit',
    `A group of kernel ${name} takes ${threads} threads and ${sharedBytes} bytes of shared memory; ` +
      `the device has ${most.threads} and ${most.sharedBytes}.`,
  );
}

/** Facts that are packed with a kernel's binary. */
export interface SpmdFacts<P extends SpmdProgram | SpirvProgram = SpmdProgram> {
  readonly program: P;
}

/** Facts that are packed with a kernel in SPIR-V that its driver compiles: the number of bytes of SPIR-V, which the binary follows. */
interface SpirvFacts extends SpmdFacts<SpirvProgram> {
  readonly spirvBytes: number;
}

/** Packs a kernel in SPIR-V. @param binary the driver's binary; empty if it is not packed. */
export function packedSpirv(outline: KernelOutline, program: SpirvProgram, binary: Uint8Array): PackedKernel {
  return { outline, facts: spirvFacts(program), code: withBinary(program, binary) };
}

/** The facts that are packed with the code of `withBinary`. */
export function spirvFacts(program: SpirvProgram): SpirvFacts {
  return { program: { ...program, source: new Uint8Array() }, spirvBytes: program.source.length };
}

/** The bytes of a program's SPIR-V, followed by its binary. */
export function withBinary({ source }: SpirvProgram, binary: Uint8Array): Uint8Array {
  const code = new Uint8Array(source.length + binary.length);
  code.set(source);
  code.set(binary, source.length);
  return code;
}

/** The program and binary of a packed kernel in SPIR-V; undefined for kernels in other languages. */
export function unpackedSpirv({
  facts,
  code,
}: PackedKernel): { readonly program: SpirvProgram; readonly binary: Uint8Array } | undefined {
  const { program, spirvBytes } = facts as Partial<SpirvFacts>;
  if (!program || spirvBytes === undefined) return undefined;
  return { program: { ...program, source: code.subarray(0, spirvBytes) }, binary: code.subarray(spirvBytes) };
}

/** A kernel whose text every thread of a group runs. */
export abstract class SpmdKernel<P extends SpmdProgram | SpirvProgram = SpmdProgram> extends DeviceKernel {
  readonly program: P;

  constructor(kernel: KernelSource, program: P) {
    super(kernel);
    this.program = program;
  }

  /** The binary for this device, which is compiled now if it is neither loaded nor kept. @throws FftError `compile-failed` */
  protected abstract binary(): Uint8Array;

  /** Further facts that are packed beside the program. */
  protected get more(): object {
    return {};
  }

  /** Packs the kernel. @param whole whether to include the binary, which the cache of code otherwise has in an entry of its own. */
  pack(whole: boolean): PackedKernel {
    const { outline, program, more } = this;
    const facts: SpmdFacts<P> = { program, ...more };
    return { outline, facts, code: whole ? this.binary() : new Uint8Array() };
  }

  get language(): string {
    return this.program.language;
  }

  get source(): string | Uint8Array {
    return this.program.source;
  }

  get grid(): NonNullable<CompiledKernel['grid']> {
    return { blocks: this.program.groups, launches: this.program.launches };
  }
}
