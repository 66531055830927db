/** A kernel as source, then as code for one device, then as a loaded module. */
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { FftError } from '../../problem/errors.ts';
import type { KernelSource } from '../common/kernel.ts';
import type { KernelCode } from '../native/binaries.ts';
import { type SpmdFacts, SpmdKernel } from '../native/kernel.ts';
import { Counters } from './counters.ts';
import type { CudaHost } from './memory.ts';

/** Bytes of shared memory above which a kernel has to opt in (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`). */
const SHARED_WITHOUT_OPT_IN = 48 * 1024;
const CLUSTER_WITHOUT_OPT_IN = 8;
/** Numbers of function attributes. */
const SHARED_BYTES = 8;
const LARGE_CLUSTERS = 14;

interface KernelOptions {
  /** The number of streams that the kernel's launches are spread over. */
  readonly streams?: number;
  /** The number of counters by which the groups of a pipelined kernel wait for one another. Their address is the kernel's last argument. */
  readonly counters?: number | undefined;
  /** Code from an earlier process, compiled for a device like this one. */
  readonly code?: Uint8Array;
}

/** Facts about the kernel that are packed beside its code. */
export interface CudaFacts extends SpmdFacts {
  readonly streams: number;
  readonly counters?: number;
}

export class CudaKernel extends SpmdKernel {
  readonly streams: number;
  readonly counters: Counters | undefined;
  private readonly host: CudaHost;
  private readonly countersWanted: number | undefined;
  private compiling: Promise<KernelCode> | undefined;
  /** The code that the kernel was made with; undefined if it has to be compiled. */
  private readonly given: KernelCode | undefined;
  private loaded: { readonly module: bigint; readonly entry: bigint } | undefined;

  constructor(host: CudaHost, kernel: KernelSource, program: SpmdProgram, options: KernelOptions = {}) {
    super(kernel, program);
    this.host = host;
    this.streams = options.streams ?? 1;
    this.countersWanted = options.counters;
    this.counters = options.counters === undefined ? undefined : new Counters(host, options.counters);
    this.given = options.code && { bytes: options.code, fresh: false };
  }

  /** Compiles on another thread if the kernel has no code yet, and loads the module. */
  override async prepare(): Promise<void> {
    const { host } = this;
    if (!this.loaded && !this.given) this.compiling ??= host.driver.codeAsideOf(this.program);
    let code: KernelCode | undefined;
    try {
      code = await this.compiling;
    } finally {
      this.compiling = undefined;
    }
    host.requireOpen();
    if (this.discarded) return;
    host.driver.enter();
    this.entry(code);
    this.counters?.prepare();
  }

  /** The entry point. Compiles and loads on this thread if that has not been done. The device's context has to be current. */
  entry(code = this.given): bigint {
    if (this.discarded) throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded.`);
    if (this.loaded) return this.loaded.entry;
    const { api } = this.host.driver;
    const { sharedBytes, cluster, entry: name } = this.program;
    const module = this.load(code ?? this.host.driver.codeOf(this.program));
    try {
      const entry = api.handle('ModuleGetFunction', module, name);
      if (api.variant.otherNames.FuncSetAttribute !== null) {
        if (sharedBytes > SHARED_WITHOUT_OPT_IN) api.call('FuncSetAttribute', entry, SHARED_BYTES, sharedBytes);
        if (cluster > CLUSTER_WITHOUT_OPT_IN) api.call('FuncSetAttribute', entry, LARGE_CLUSTERS, 1);
      }
      this.loaded = { module, entry };
      return entry;
    } catch (error) {
      api.raw.ModuleUnload(module);
      throw error;
    }
  }

  protected override get more(): Omit<CudaFacts, 'program'> {
    const { streams, countersWanted: counters } = this;
    return { streams, ...(counters === undefined ? {} : { counters }) };
  }

  protected binary(): Uint8Array {
    return (this.given ?? this.host.driver.codeOf(this.program)).bytes;
  }

  /** Loads the module. Kept code that the driver rejects is compiled again. */
  private load(code: KernelCode): bigint {
    const { api } = this.host.driver;
    if (code.fresh) return api.handle('ModuleLoadData', code.bytes);
    try {
      return api.handle('ModuleLoadData', code.bytes);
    } catch (error) {
      if (!(error instanceof FftError) || error.code !== 'launch-failed') throw error;
      return api.handle('ModuleLoadData', this.host.driver.compile(this.program).bytes);
    }
  }

  unload(): void {
    this.counters?.free();
    if (this.loaded) this.host.driver.api.raw.ModuleUnload(this.loaded.module);
    this.loaded = undefined;
  }
}
