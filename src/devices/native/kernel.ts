/** Kernels of devices behind C libraries. */

import type { SpirvProgram } from '../../emit/spirv/index.ts';
import { tablesBeside } from '../../emit/spmd/memory.ts';
import type { ComputedRoots, EntryPoint, SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { DeviceKernel, type KernelSource } from '../common/kernel.ts';
import type { CompiledKernel, KernelOutline, PackedKernel } from '../device.ts';

/** A kernel as it is launched: where all roots are computed, it has no tables of them. */
export function launched(kernel: Kernel, computedRoots: ComputedRoots): Kernel {
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

/** What is packed of a kernel beside its binary. */
export interface SpmdFacts<P extends SpmdProgram | SpirvProgram = SpmdProgram> {
  readonly program: P;
}

/** What is packed of a kernel in SPIR-V that its driver compiles to a binary: bytes of the SPIR-V, behind which the binary lies. */
interface SpirvFacts extends SpmdFacts<SpirvProgram> {
  readonly spirvBytes: number;
}

/** @param binary what the driver has made of it; empty where that is not packed. */
export function packedSpirv(outline: KernelOutline, program: SpirvProgram, binary: Uint8Array): PackedKernel {
  return { outline, facts: spirvFacts(program), code: withBinary(program, binary) };
}

/** What is packed beside the code that `withBinary` gives. */
export function spirvFacts(program: SpirvProgram): SpirvFacts {
  return { program: { ...program, source: new Uint8Array() }, spirvBytes: program.source.length };
}

/** A program's SPIR-V, and behind it what a compiler has made of it. */
export function withBinary({ source }: SpirvProgram, binary: Uint8Array): Uint8Array {
  const code = new Uint8Array(source.length + binary.length);
  code.set(source);
  code.set(binary, source.length);
  return code;
}

/** Undefined for kernels that were packed otherwise. */
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

  /** What is packed beside the program. */
  protected get more(): object {
    return {};
  }

  /** @param whole with the binary, which is otherwise kept by the text that it was made of. */
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
