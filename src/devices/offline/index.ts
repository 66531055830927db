/**
 * A device without hardware: it plans for a profile and writes kernels, but has no memory and runs nothing. Its buffers only have sizes, which plans
 * need to describe themselves.
 */
import { computable, type DoubleWordForm } from '../../emit/double-word/index.ts';
import { tablesBeside } from '../../emit/spmd/lowering/memory.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import { emitKernel } from '../common/kernel.ts';
import type {
  Backend,
  BoundProgram,
  CompiledKernel,
  CompileOptions,
  DeviceBuffer,
  DeviceKind,
  Schedule,
} from '../device.ts';
import {
  kindOf,
  type OfflineLanguage,
  type PipelineWriter,
  pipelineWriterOf,
  type Writer,
  writerOf,
} from './languages.ts';

export { type OfflineLanguage, offlineLanguages } from './languages.ts';

interface OfflineSettings {
  readonly profile: DeviceProfile;
  readonly language: OfflineLanguage;
}

/** Loads the emitter of the language, so that kernels can then be written synchronously. */
export async function createOfflineBackend({ profile, language }: OfflineSettings): Promise<Backend> {
  return new OfflineBackend(profile, language, await writerOf(language, profile), await pipelineWriterOf(language));
}

/** The error for an operation that a profile cannot carry out. */
export function profileOnly(name: string, what: string): FftError {
  return new FftError(
    'device-unavailable',
    `${name} is a profile only, so it cannot ${what}: it plans, explains and shows kernels. ` +
      'openDevice() opens a device that runs; listDevices() says which there are.',
  );
}

/** A buffer that has a size but no memory. */
class SizeOnlyBuffer implements DeviceBuffer {
  freed = false;
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  free(): void {
    this.freed = true;
  }
}

export class OfflineBackend implements Backend {
  readonly kind: DeviceKind;
  readonly withoutMemory = true;
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly severalStreams: boolean;
  readonly computesRoots: boolean;
  readonly pairForm: DoubleWordForm;
  readonly runsBothWays?: true;
  protected readonly language: OfflineLanguage;
  private readonly write: Writer;
  private readonly writePipelined: PipelineWriter | undefined;

  /** @param kind the kind of devices that take the kernels; default: the usual one of the language. */
  constructor(
    profile: DeviceProfile,
    language: OfflineLanguage,
    write: Writer,
    writePipelined?: PipelineWriter,
    kind: DeviceKind = kindOf[language],
  ) {
    this.kind = kind;
    this.name = `${profile.name} (profile)`;
    this.profile = profile;
    this.severalStreams = language === 'cuda' || language === 'hip';
    this.computesRoots = this.severalStreams || language === 'opencl' || language === 'spirv';
    this.pairForm = { fused: this.computesRoots && kind !== 'vulkan', ordered: language === 'wasm' };
    // The CPU device, which WebAssembly is for, runs kernels both ways.
    if (language === 'wasm') this.runsBothWays = true;
    this.language = language;
    this.write = write;
    this.writePipelined = writePipelined;
  }

  allocate(bytes: number): DeviceBuffer {
    return new SizeOnlyBuffer(bytes);
  }

  locate(): undefined {
    return undefined;
  }

  owns(buffer: DeviceBuffer): boolean {
    return buffer instanceof SizeOnlyBuffer;
  }

  computable(kernel: Kernel): Kernel {
    return computable(kernel, this);
  }

  compile(kernel: Kernel, options: CompileOptions = {}): CompiledKernel {
    return {
      kernel: options.computedRoots === true ? { ...kernel, tables: tablesBeside(kernel) } : kernel,
      language: this.language,
      ...emitKernel(kernel, this.language, () => this.write(kernel, options)),
    };
  }

  pipeline([first, second]: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined {
    const written = this.writePipelined?.(first!.kernel as Kernel, second!.kernel as Kernel, schedule);
    if (!written) return undefined;
    const { name, ...rest } = written;
    return { kernel: { ...first!.kernel, name }, language: this.language, ...rest };
  }

  async warmUp(): Promise<void> {}

  discard(): void {}

  bind(): BoundProgram {
    throw profileOnly(this.name, 'run anything');
  }

  async upload(): Promise<void> {}

  async download(): Promise<void> {
    throw profileOnly(this.name, 'give anything back');
  }

  async finish(): Promise<void> {}

  close(): void {}
}
