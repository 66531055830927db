/** The base class of compiled kernels. */
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel } from '../device.ts';

export abstract class DeviceKernel implements CompiledKernel {
  readonly kernel: Kernel;
  abstract readonly language: string;
  abstract readonly source: string | Uint8Array;
  /** Set once the kernel is unloaded and must not be bound any more. */
  discarded = false;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** Resolves when it is ready to be launched. @throws FftError (as a rejection) `compile-failed` */
  async prepare(): Promise<void> {}

  /** Frees the kernel. No launch of it may be in flight. */
  abstract unload(): void;
}

/** Runs an emitter. @throws FftError `device-limit` if the language cannot express the kernel */
export function written<T>({ name }: Kernel, language: string, emit: () => T): T {
  try {
    return emit();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `Kernel ${name} cannot be written in ${language}: ${cause.message}.`;
    throw new FftError('device-limit', message, { cause });
  }
}
