/** A kernel as SPIR-V, and the module that the driver compiles from it. */
import type { SpirvProgram } from '../../emit/spirv/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { KernelSource } from '../common/kernel.ts';
import type { CompileOptions, PackedKernel } from '../device.ts';
import type { KernelCode } from '../native/binaries.ts';
import { packedSpirv, requireGroupFits, SpmdKernel, withoutComputedTables } from '../native/kernel.ts';
import { immovableBytes, type Struct, textBytes } from '../native/structs.ts';
import { FORMAT, type Handle, type Purpose, TYPE, zeFailure } from './api.ts';
import type { ZeDriver } from './driver.ts';
import { zeProgram } from './program.ts';

interface Made {
  readonly module: Handle;
  readonly kernel: Handle;
}

export class ZeKernel extends SpmdKernel<SpirvProgram> {
  /** The launch whose arguments were set last on the kernel object. */
  bound: unknown;
  private readonly driver: ZeDriver;
  private given: KernelCode | undefined;
  private made: Made | undefined;
  private preparing: Promise<void> | undefined;
  /** Memory that the compiling thread reads, kept alive until it has finished. */
  protected read: Struct | undefined;

  /**
   * @param code a binary from an earlier process, compiled for a device like this one; empty if there is none.
   * @throws FftError `device-limit` where the device cannot run groups as large as the kernel's.
   */
  constructor(kernel: KernelSource, program: SpirvProgram, driver: ZeDriver, code: Uint8Array = new Uint8Array()) {
    super(kernel, program);
    this.driver = driver;
    this.given = code.length > 0 ? { bytes: code, fresh: false } : undefined;
    requireGroupFits(program, kernel.name, driver.device.limits);
  }

  /** The driver compiles on another thread. */
  override prepare(): Promise<void> {
    if (this.made || this.discarded) return Promise.resolve();
    this.preparing ??= this.makeAside().finally(() => {
      this.preparing = undefined;
    });
    return this.preparing;
  }

  /** The kernel object; compiled on this thread if that has not been done. @throws FftError `compile-failed` */
  object(): Handle {
    if (this.discarded) throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded.`);
    this.made ??= this.fromBinary() ?? this.fromSpirv();
    return this.made.kernel;
  }

  override pack(whole: boolean): PackedKernel {
    return packedSpirv(this.outline, this.program, whole ? this.binary() : new Uint8Array());
  }

  unload(): void {
    if (!this.made) return;
    const { raw } = this.driver.api;
    raw.zeKernelDestroy(this.made.kernel);
    raw.zeModuleDestroy(this.made.module);
    this.made = undefined;
  }

  protected binary(): Uint8Array {
    this.object();
    return this.binaryOf(this.made!.module);
  }

  private get purpose(): Purpose {
    return { what: `Compiling kernel ${this.kernel.name}`, otherwise: 'compile-failed' };
  }

  private async makeAside(): Promise<void> {
    const { api, context, device } = this.driver;
    const kept = this.fromBinary();
    if (kept) {
      this.made = kept;
      return;
    }
    const requested = this.request(FORMAT.spirv, this.program.source);
    this.read = requested;
    const [module, log] = [new BigUint64Array(new ArrayBuffer(8)), new BigUint64Array(new ArrayBuffer(8))];
    const result = await new Promise<number>((resolve, reject) => {
      const done = (error: unknown, value: number) => (error ? reject(error) : resolve(value));
      api.raw.zeModuleCreate.async(context, device.handle, requested.bytes, module, log, done);
    });
    this.read = undefined;
    const handle = this.checked(result, module[0]!, log[0]!);
    if (this.discarded || this.made) api.raw.zeModuleDestroy(handle);
    else this.made = this.compiled(handle);
  }

  /** A module from the binary that the kernel was packed with, or from a kept one; undefined if there is none or the driver rejects it. */
  private fromBinary(): Made | undefined {
    const code = this.given ?? this.driver.binaries.find(this.program.source);
    this.given = undefined;
    if (!code) return undefined;
    try {
      return this.entered(this.module(FORMAT.native, code.bytes));
    } catch (error) {
      if (error instanceof FftError && error.code === 'compile-failed') return undefined;
      throw error;
    }
  }

  private fromSpirv(): Made {
    return this.compiled(this.module(FORMAT.spirv, this.program.source));
  }

  private module(format: number, code: Uint8Array): Handle {
    const { api, context, device } = this.driver;
    const [module, log] = [new BigUint64Array(new ArrayBuffer(8)), new BigUint64Array(new ArrayBuffer(8))];
    const requested = this.request(format, code);
    const result = api.raw.zeModuleCreate(context, device.handle, requested.bytes, module, log) as number;
    return this.checked(result, module[0]!, log[0]!);
  }

  private request(format: number, code: Uint8Array): Struct {
    const bytes = immovableBytes(code);
    return this.driver.api.struct(
      ...[TYPE.module, undefined, format, BigInt(code.length), bytes, textBytes(''), undefined],
    );
  }

  /** Checks the result of a compilation. @throws FftError with the compiler's log */
  private checked(result: number, module: Handle, log: Handle): Handle {
    const { raw } = this.driver.api;
    const text = result === 0 || log === 0n ? '' : this.logOf(log);
    if (log !== 0n) raw.zeModuleBuildLogDestroy(log);
    if (result === 0) return module;
    const error = zeFailure('zeModuleCreate', result, this.purpose);
    if (error.code !== 'compile-failed' || text === '') throw error;
    throw new FftError('compile-failed', `${error.message} The compiler said: ${text}`, { cause: new Error(text) });
  }

  private logOf(log: Handle): string {
    const get = this.driver.api.raw.zeModuleBuildLogGetString;
    const size = new BigUint64Array(new ArrayBuffer(8));
    if (get(log, size, null) !== 0) return '';
    const bytes = new Uint8Array(new ArrayBuffer(Number(size[0])));
    if (get(log, size, bytes) !== 0) return '';
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
  }

  /** Keeps the binary of a module that was compiled just now. */
  private compiled(module: Handle): Made {
    const made = this.entered(module);
    const { binaries } = this.driver;
    if (binaries.keepsCode) binaries.keep(this.program.source, this.binaryOf(module));
    return made;
  }

  private entered(module: Handle): Made {
    const { api } = this.driver;
    let kernel: Handle | undefined;
    try {
      const requested = api.struct(TYPE.kernel, undefined, 0, textBytes(this.program.entry));
      kernel = api.make('zeKernelCreate', this.purpose, module, requested);
      api.call('zeKernelSetGroupSize', this.purpose, kernel, this.program.threads, 1, 1);
      return { module, kernel };
    } catch (error) {
      if (kernel !== undefined) api.raw.zeKernelDestroy(kernel);
      api.raw.zeModuleDestroy(module);
      throw error;
    }
  }

  private binaryOf(module: Handle): Uint8Array {
    const { api } = this.driver;
    const size = new BigUint64Array(new ArrayBuffer(8));
    api.call('zeModuleGetNativeBinary', this.purpose, module, size, null);
    const bytes = new Uint8Array(new ArrayBuffer(Number(size[0])));
    api.call('zeModuleGetNativeBinary', this.purpose, module, size, bytes);
    return bytes;
  }
}

/** Writes a kernel as SPIR-V. @throws FftError as `ZeKernel`, and `device-limit` if the language cannot express the kernel */
export function writtenZeKernel(kernel: Kernel, driver: ZeDriver, options: CompileOptions): ZeKernel {
  const program = zeProgram(kernel, driver.device.limits.groups, options);
  return new ZeKernel(withoutComputedTables(kernel, options.computedRoots ?? false), program, driver);
}
