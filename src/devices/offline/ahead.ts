/** A device without hardware that compiles its kernels, so that plans can be saved with their code for all devices that the code runs on. */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { DeviceKernel, type KernelSource } from '../common/kernel.ts';
import type { Backend, CodeFacts, CompiledKernel, CompileOptions, PackedKernel, Schedule } from '../device.ts';
import { withoutComputedTables } from '../native/kernel.ts';
import { type AheadCode, type AheadCompiler, type AheadSettings, aheadCompilers } from './compilers.ts';
import { OfflineBackend, type OfflineLanguage } from './index.ts';

/**
 * Opens the backends for a language. There are several if no single compilation fits all devices: for processors one without threads and one with
 * threads.
 * @throws FftError (as a rejection) `invalid-argument` for an unknown architecture, `unsupported-feature` for a language that devices compile
 *   themselves
 */
export async function createAheadBackends(
  profile: DeviceProfile,
  language: OfflineLanguage,
  settings: AheadSettings,
): Promise<Backend[]> {
  const compilers = await aheadCompilers(language, settings);
  return compilers.map((compiler) => new AheadBackend(compiler, profile, language));
}

class AheadBackend extends OfflineBackend {
  readonly compilesAhead = true;
  private readonly compiler: AheadCompiler;

  constructor(compiler: AheadCompiler, profile: DeviceProfile, language: OfflineLanguage) {
    super(profile, language, (kernel, options) => compiler.write(kernel, options), undefined, compiler.kind);
    this.compiler = compiler;
  }

  get codeFacts(): CodeFacts {
    return this.compiler.codeFacts;
  }

  override compile(kernel: Kernel, options: CompileOptions = {}): CompiledKernel {
    const code = this.compiler.write(kernel, options);
    return new AheadKernel(withoutComputedTables(kernel, options.computedRoots ?? false), this.language, code);
  }

  override pipeline([first, second]: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined {
    const wholeOf = (kernel: CompiledKernel) => (kernel as AheadKernel).whole;
    const code = this.compiler.pipeline?.(wholeOf(first!), wholeOf(second!), schedule);
    return code && new AheadKernel({ ...wholeOf(first!), name: code.name }, this.language, code);
  }

  /** Compiles a kernel and packs it. @throws FftError `compile-failed`, `device-unavailable` if the compiler is missing */
  pack(kernel: CompiledKernel): PackedKernel {
    return (kernel as AheadKernel).pack();
  }
}

class AheadKernel extends DeviceKernel {
  readonly language: string;
  private readonly code: AheadCode;
  private bytes: Uint8Array | undefined;

  constructor(kernel: KernelSource, language: string, code: AheadCode) {
    super(kernel);
    this.language = language;
    this.code = code;
  }

  get source(): string | Uint8Array {
    return this.code.source;
  }

  /** Compiles the kernel once, for all plans that it is part of. */
  pack(): PackedKernel {
    this.bytes ??= this.code.compile();
    return { outline: this.outline, facts: this.code.facts, code: this.bytes };
  }

  unload(): void {}
}
