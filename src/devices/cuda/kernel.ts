/** A kernel as text, then as code for one device, then as a loaded module. */
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { SpmdKernel } from '../native/kernel.ts';
import { Counters } from './counters.ts';
import type { CudaHost } from './memory.ts';

/** More than this a kernel gets only where it asks for it. */
const SHARED_UNASKED = 48 * 1024;
const CLUSTER_UNASKED = 8;
/** Numbers of attributes of a function. */
const SHARED_BYTES = 8;
const LARGE_CLUSTERS = 14;

interface KernelOptions {
  /** Streams that its launches are spread over. */
  readonly streams?: number;
  readonly computedRoots?: boolean;
  /** How many its groups wait for one another by: their address is its last argument. */
  readonly counters?: number;
}

export class CudaKernel extends SpmdKernel {
  readonly streams: number;
  readonly counters: Counters | undefined;
  private readonly host: CudaHost;
  private compiling: Promise<Uint8Array> | undefined;
  private loaded: { readonly module: bigint; readonly entry: bigint } | undefined;

  constructor(host: CudaHost, kernel: Kernel, program: SpmdProgram, options: KernelOptions = {}) {
    super(kernel, program, options.computedRoots);
    this.host = host;
    this.streams = options.streams ?? 1;
    this.counters = options.counters === undefined ? undefined : new Counters(host, options.counters);
  }

  /** Compiles on another thread, unless that has been done, and loads the code. */
  override async prepare(): Promise<void> {
    const { host } = this;
    if (!this.loaded) this.compiling ??= host.driver.compileAside(this.program);
    let code: Uint8Array | undefined;
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

  /** The entry point; what is not there yet is made on this thread. The device's context is the current one. */
  entry(code?: Uint8Array): bigint {
    if (this.discarded) throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded.`);
    if (this.loaded) return this.loaded.entry;
    const { api } = this.host.driver;
    const { sharedBytes, cluster, entry: name } = this.program;
    const module = api.handle('ModuleLoadData', code ?? this.host.driver.compile(this.program));
    try {
      const entry = api.handle('ModuleGetFunction', module, name);
      if (api.words.otherNames.FuncSetAttribute !== null) {
        if (sharedBytes > SHARED_UNASKED) api.call('FuncSetAttribute', entry, SHARED_BYTES, sharedBytes);
        if (cluster > CLUSTER_UNASKED) api.call('FuncSetAttribute', entry, LARGE_CLUSTERS, 1);
      }
      this.loaded = { module, entry };
      return entry;
    } catch (error) {
      api.raw.ModuleUnload(module);
      throw error;
    }
  }

  unload(): void {
    this.counters?.free();
    if (this.loaded) this.host.driver.api.raw.ModuleUnload(this.loaded.module);
    this.loaded = undefined;
  }
}
