/** What compiled kernels of every device have in common. */
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel } from '../device.ts';

export abstract class DeviceKernel implements CompiledKernel {
  readonly kernel: Kernel;
  abstract readonly language: string;
  abstract readonly source: string | Uint8Array;
  /** Nobody may bind it any more. */
  discarded = false;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** Resolves when it is ready to be launched. @throws FftError (as a rejection) `compile-failed` */
  async prepare(): Promise<void> {}

  /** Frees it; no launch of it is in flight any more. */
  abstract unload(): void;
}

/** What an emitter writes. @throws FftError `device-limit` where the language has no words for the kernel. */
export function written<T>({ name }: Kernel, language: string, emit: () => T): T {
  try {
    return emit();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `Kernel ${name} cannot be written in ${language}: ${cause.message}.`;
    throw new FftError('device-limit', message, { cause });
  }
}
