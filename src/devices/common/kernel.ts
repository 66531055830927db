/** The base class of compiled kernels. */
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel, KernelOutline } from '../device.ts';

/** A kernel, or the outline of a kernel that another process has compiled. */
export type KernelSource = Kernel | UnpackedOutline;

/** An outline, with a function that gives the whole kernel. */
export interface UnpackedOutline extends KernelOutline {
  readonly whole: () => Kernel;
}

export abstract class DeviceKernel implements CompiledKernel {
  readonly kernel: KernelOutline;
  abstract readonly language: string;
  abstract readonly source: string | Uint8Array;
  /** Set once the kernel is unloaded and must not be bound any more. */
  discarded = false;

  constructor(kernel: KernelSource) {
    this.kernel = kernel;
  }

  /** The kernel with its expressions. */
  get whole(): Kernel {
    const kernel = this.kernel as KernelSource;
    return 'whole' in kernel ? kernel.whole() : kernel;
  }

  /** The facts needed to launch the kernel, as plain data except for the tables. */
  get outline(): KernelOutline {
    const { name, globals, tables, group, reverse } = this.kernel;
    const { count } = group;
    return { name, globals, tables, group: { count }, ...(reverse ? { reverse: true } : {}) };
  }

  /** Resolves when the kernel can be launched. @throws FftError (as a rejection) `compile-failed` */
  async prepare(): Promise<void> {}

  /** Frees the kernel. No launch of it may be in flight. */
  abstract unload(): void;
}

/** Runs an emitter. @throws FftError `device-limit` if the language cannot express the kernel */
export function emitKernel<T>({ name }: Kernel, language: string, emit: () => T): T {
  try {
    return emit();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `Kernel ${name} cannot be written in ${language}: ${cause.message}.`;
    throw new FftError('device-limit', message, { cause });
  }
}
