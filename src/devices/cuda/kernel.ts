/** A kernel as text, then as code for one device, then as a loaded module. */
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel } from '../device.ts';
import type { Counters } from './counters.ts';
import type { Driver } from './driver.ts';

/** More than this a kernel gets only where it asks for it. */
const SHARED_UNASKED = 48 * 1024;
const CLUSTER_UNASKED = 8;

/** Turns text into code that the driver loads. */
export interface Compile {
  now(program: SpmdProgram): Uint8Array;
  aside(program: SpmdProgram): Promise<Uint8Array>;
}

export class GpuKernel implements CompiledKernel {
  readonly kernel: Kernel;
  readonly program: SpmdProgram;
  readonly language: string;
  readonly source: string;
  /** Streams that its launches are spread over. */
  readonly streams: number;
  /** Its last argument is an array of these; missing where its groups do not wait for one another. */
  readonly counters: Counters | undefined;
  discarded = false;
  private readonly owner: object;
  private compiling: Promise<Uint8Array> | undefined;
  private loaded: { readonly module: bigint; readonly entry: bigint } | undefined;

  /** @param owner the device that the code is for. */
  constructor(owner: object, kernel: Kernel, program: SpmdProgram, streams = 1, counters?: Counters) {
    this.owner = owner;
    this.kernel = kernel;
    this.program = program;
    this.language = program.language;
    this.source = program.source;
    this.streams = streams;
    this.counters = counters;
  }

  get grid(): NonNullable<CompiledKernel['grid']> {
    return { blocks: this.program.groups, launches: this.program.launches };
  }

  belongsTo(owner: object): boolean {
    return this.owner === owner;
  }

  /** Compiles on another thread, unless that has been done. */
  async prepare(compile: Compile): Promise<Uint8Array | undefined> {
    if (this.loaded) return undefined;
    this.compiling ??= compile.aside(this.program);
    try {
      return await this.compiling;
    } finally {
      this.compiling = undefined;
    }
  }

  /** The entry point; what is not there yet is made on this thread. The device's context is the current one. */
  entry(driver: Driver, compile: Compile, code?: Uint8Array): bigint {
    if (this.discarded) throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded.`);
    if (!this.loaded) {
      const module = driver.loadModule(code ?? compile.now(this.program));
      try {
        const entry = driver.entry(module, this.program.entry);
        if (this.program.sharedBytes > SHARED_UNASKED) driver.allowShared(entry, this.program.sharedBytes);
        if (this.program.cluster > CLUSTER_UNASKED) driver.allowLargeClusters(entry);
        this.loaded = { module, entry };
      } catch (error) {
        driver.unloadModule(module);
        throw error;
      }
    }
    return this.loaded.entry;
  }

  /** No launch of it may be in flight. */
  unload(driver: Driver): void {
    this.counters?.free();
    if (this.loaded) driver.unloadModule(this.loaded.module);
    this.loaded = undefined;
  }
}
