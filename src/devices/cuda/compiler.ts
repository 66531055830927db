/** Run-time compilers: NVRTC and HIPRTC, which have the same interface under two prefixes. They compile source text for one architecture. */
import { FftError } from '../../problem/errors.ts';
import { functionsOf, type NativeFunction, type NativeLibrary } from '../native/library.ts';

export interface CompilerNames {
  /** The name of the compiler in messages: `NVRTC`, `HIPRTC`. */
  readonly title: string;
  /** The prefix of the compiler's function names. */
  readonly prefix: 'nvrtc' | 'hiprtc';
  /** The forms of compiled code (for NVRTC `CUBIN` and `PTX`) in order of preference: the first nonempty one is taken. */
  readonly results: readonly string[];
}

/** The part of a compiler that devices use. */
export type KernelCompiler = Pick<RuntimeCompiler, 'version' | 'architectures' | 'compile' | 'compileAside'>;

/** Stands in for a compiler that is not installed. A device without a compiler still runs kernels that were compiled before. */
export class MissingCompiler implements KernelCompiler {
  readonly version = 'none';
  private readonly reason: FftError;

  constructor(reason: FftError) {
    this.reason = reason;
  }

  architectures(): number[] {
    return [];
  }

  /** @throws FftError `device-unavailable` */
  compile(): never {
    throw this.reason;
  }

  /** @throws FftError (as a rejection) `device-unavailable` */
  compileAside(): Promise<never> {
    return Promise.reject(this.reason);
  }
}

/** The result code of a compilation error; all others report failures of the compiler itself. */
const COMPILATION_FAILED = 6;

export class RuntimeCompiler {
  readonly names: CompilerNames;
  private readonly functions: Readonly<Record<keyof typeof SIGNATURES, NativeFunction>>;
  private readonly errorString: NativeFunction;
  private readonly results: readonly { readonly size: NativeFunction; readonly get: NativeFunction }[];
  private readonly supported: NativeFunction | undefined;
  private readonly supportedCount: NativeFunction | undefined;

  /** @throws FftError `device-unavailable` if the library is too old. */
  constructor(library: NativeLibrary, names: CompilerNames) {
    this.names = names;
    const { prefix } = names;
    const nameOf = (name: string) => `${prefix}${name}`;
    this.functions = functionsOf(library, SIGNATURES, 'int', nameOf);
    this.errorString = library.func(nameOf('GetErrorString'), 'str', ['int']);
    this.results = names.results.flatMap((result) => {
      const size = library.optional(`${prefix}Get${result}Size`, 'int', ['void *', 'void *']);
      const get = library.optional(`${prefix}Get${result}`, 'int', ['void *', 'void *']);
      return size && get ? [{ size, get }] : [];
    });
    this.supportedCount = library.optional(`${prefix}GetNumSupportedArchs`, 'int', ['void *']);
    this.supported = library.optional(`${prefix}GetSupportedArchs`, 'int', ['void *']);
  }

  /** Name and version of the compiler, such as `NVRTC 12.4`. */
  get version(): string {
    const [major, minor] = [new Int32Array(1), new Int32Array(1)];
    const known = this.functions.Version(major, minor) === 0;
    return `${this.names.title} ${known ? `${major[0]}.${minor[0]}` : 'of unknown version'}`;
  }

  /** Numbers of the architectures that the compiler supports, ascending; empty if it does not report them. */
  architectures(): number[] {
    const count = new Int32Array(1);
    if (!this.supported || !this.supportedCount || this.supportedCount(count) !== 0) return [];
    const list = new Int32Array(count[0]!);
    return this.supported(list) === 0 ? [...list].sort((a, b) => a - b) : [];
  }

  /** Compiles on the calling thread. @throws FftError `compile-failed` with the compiler's log */
  compile(source: string, name: string, options: readonly string[]): Uint8Array {
    const program = this.create(source, name);
    try {
      return this.finish(program, name, this.functions.CompileProgram(program, options.length, [...options]) as number);
    } finally {
      this.destroy(program);
    }
  }

  /** Compiles on another thread. @throws FftError (as a rejection) `compile-failed` with the compiler's log */
  compileAside(source: string, name: string, options: readonly string[]): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const program = this.create(source, name);
      const ended = (error: unknown, status: number) => {
        try {
          if (error) throw error;
          resolve(this.finish(program, name, status));
        } catch (failure) {
          reject(failure);
        } finally {
          this.destroy(program);
        }
      };
      this.functions.CompileProgram.async(program, options.length, [...options], ended);
    });
  }

  private create(source: string, name: string): bigint {
    const out = new BigUint64Array(1);
    const status = this.functions.CreateProgram(out, source, `${name}.cu`, 0, null, null) as number;
    if (status !== 0) throw this.failure(name, status, '');
    return out[0]!;
  }

  private destroy(program: bigint): void {
    this.functions.DestroyProgram(new BigUint64Array([program]));
  }

  private finish(program: bigint, name: string, status: number): Uint8Array {
    if (status !== 0) throw this.failure(name, status, this.log(program));
    for (const { size, get } of this.results) {
      const bytes = new BigUint64Array(1);
      if (size(program, bytes) !== 0 || bytes[0] === 0n) continue;
      const code = new Uint8Array(Number(bytes[0]));
      const failed = get(program, code) as number;
      if (failed !== 0) throw this.failure(name, failed, '');
      return code;
    }
    throw new FftError('compile-failed', `${this.names.title} compiled kernel ${name} but gave no code for it.`);
  }

  private log(program: bigint): string {
    const bytes = new BigUint64Array(1);
    if (this.functions.GetProgramLogSize(program, bytes) !== 0 || bytes[0]! < 2n) return '';
    const text = new Uint8Array(Number(bytes[0]));
    if (this.functions.GetProgramLog(program, text) !== 0) return '';
    return new TextDecoder().decode(text.subarray(0, text.length - 1)).trim();
  }

  private failure(name: string, status: number, log: string): FftError {
    const reason = this.errorString(status) as string;
    const told = log === '' ? '' : `\n${log}`;
    const what = status === COMPILATION_FAILED ? 'refused' : 'failed on';
    // The message may truncate a long log.
    const cause = new Error(log);
    return new FftError('compile-failed', `${this.names.title} ${what} kernel ${name}: ${reason}.${told}`, { cause });
  }
}

const SIGNATURES = {
  Version: ['void *', 'void *'],
  CreateProgram: ['void *', 'str', 'str', 'int', 'void *', 'void *'],
  CompileProgram: ['void *', 'int', 'str *'],
  DestroyProgram: ['void *'],
  GetProgramLogSize: ['void *', 'void *'],
  GetProgramLog: ['void *', 'void *'],
} as const;
