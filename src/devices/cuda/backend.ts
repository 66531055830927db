/**
 * A GPU behind a driver API of CUDA's kind: memory, compilation, launches, all in one stream. CUDA and HIP differ in
 * their tables of names alone.
 */
import { emitCuda } from '../../emit/cuda/index.ts';
import { emitPipelined } from '../../emit/cuda/pipelined.ts';
import { tablesBeside } from '../../emit/spmd/memory.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError, show } from '../../problem/errors.ts';
import type {
  Backend,
  Binding,
  BoundProgram,
  CompiledKernel,
  CompileOptions,
  DeviceBuffer,
  DeviceKind,
  PeerProblem,
  PeerProgram,
  RealArray,
  Schedule,
  Step,
} from '../device.ts';
import type { Koffi } from '../native/library.ts';
import { readProfile } from '../profiles/driver.ts';
import type { RuntimeCompiler } from './compiler.ts';
import { Counters } from './counters.ts';
import { bindCufft } from './cufft.ts';
import type { Driver } from './driver.ts';
import { Jobs } from './jobs.ts';
import { type Compile, GpuKernel } from './kernel.ts';
import { GpuBuffer, GpuMemory } from './memory.ts';
import { GpuProgram, type Machine } from './program.ts';
import { SideStreams } from './side-streams.ts';
import { Download, Staging, Upload } from './staging.ts';
import { CallerStreams } from './streams.ts';
import { Timeline } from './timeline.ts';

/** A device that was opened, and how to compile for it. */
export interface GpuSetup {
  readonly koffi: Koffi;
  readonly driver: Driver;
  readonly compiler: RuntimeCompiler;
  /** For the architecture of the device. */
  readonly compilerOptions: readonly string[];
  readonly device: number;
  readonly context: bigint;
  /** The caller's; absent: one of the device's own. */
  readonly stream?: bigint | undefined;
  /** Gives the context back. */
  readonly leave: () => void;
  readonly profile?: Partial<DeviceProfile> | undefined;
}

export class GpuBackend implements Backend, Machine {
  readonly kind: DeviceKind;
  readonly target = 'stream';
  readonly severalStreams = true;
  readonly computesRoots = true;
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly driver: Driver;
  readonly stream: bigint;
  readonly memory: GpuMemory;
  readonly jobs = new Jobs();
  readonly timeline: Timeline;
  readonly streams: CallerStreams;
  readonly sides: SideStreams;
  private readonly setup: GpuSetup;
  private readonly staging: Staging;
  private readonly kernels = new Set<GpuKernel>();
  private readonly compiling: Compile;
  private closed = false;

  constructor(setup: GpuSetup) {
    const { driver, device, context, koffi, compiler, compilerOptions } = setup;
    this.setup = setup;
    this.driver = driver;
    this.kind = driver.names.kind;
    this.profile = { ...readProfile(driver, device), ...setup.profile };
    this.name = driver.deviceName(device);
    driver.setContext(context);
    this.stream = setup.stream ?? driver.createStream();
    const enter = () => driver.setContext(context);
    this.timeline = new Timeline(driver, this.stream, enter);
    this.streams = new CallerStreams(driver, this.stream, this.timeline);
    this.sides = new SideStreams(driver);
    const retire = (action: () => void) => this.retire(action);
    this.memory = new GpuMemory(driver, driver.deviceMemory(device), retire, () => this.drain());
    this.staging = new Staging({
      driver,
      stream: this.stream,
      timeline: this.timeline,
      view: (address, bytes) => koffi.view(address, bytes),
      enter: () => this.enter(),
      pump: () => this.jobs.pump(),
    });
    this.compiling = {
      now: ({ source, entry }) => compiler.compile(source, entry, compilerOptions),
      aside: ({ source, entry }) => compiler.compileAside(source, entry, compilerOptions),
    };
  }

  allocate(bytes: number): DeviceBuffer {
    this.requireOpen();
    this.driver.setContext(this.setup.context);
    return this.memory.allocate(bytes);
  }

  /** Host arrays are never device memory here. */
  locate(): undefined {
    return undefined;
  }

  adopt(memory: unknown, what: string): DeviceBuffer | undefined {
    if (typeof memory !== 'object' || memory === null || !('devicePointer' in memory)) return undefined;
    this.requireOpen();
    const { devicePointer, bytes } = memory as { devicePointer: unknown; bytes: unknown };
    const pointer =
      typeof devicePointer === 'number' && Number.isSafeInteger(devicePointer) ? BigInt(devicePointer) : devicePointer;
    if (typeof pointer !== 'bigint' || pointer <= 0n || pointer >= 2n ** 64n) {
      throw new FftError(
        'invalid-argument',
        `${what}.devicePointer is ${show(devicePointer)}; an address is needed, a bigint.`,
      );
    }
    if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes <= 0) {
      throw new FftError(
        'invalid-argument',
        `${what}.bytes is ${show(bytes)}; the bytes at devicePointer are needed, a positive whole number.`,
      );
    }
    this.driver.setContext(this.setup.context);
    return this.memory.adopt(pointer, bytes, what);
  }

  owns(buffer: DeviceBuffer): buffer is GpuBuffer {
    return buffer instanceof GpuBuffer && buffer.memory === this.memory;
  }

  /** Only to text: the compiler takes its time, which `warmUp` spends on another thread. */
  compile(kernel: Kernel, options: CompileOptions = {}): CompiledKernel {
    this.requireOpen();
    const { maxGroups, streams = 1, computedRoots = false } = options;
    let program: SpmdProgram;
    try {
      const { kind, mostGroups } = this.driver.names;
      const most = Math.min(mostGroups, maxGroups ?? mostGroups);
      program = emitCuda(kernel, { dialect: kind, maxGroups: most, launches: streams, computedRoots });
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new FftError(
        'device-limit',
        `Kernel ${kernel.name} cannot be written for ${this.name}: ${cause.message}.`,
        {
          cause,
        },
      );
    }
    const compiled = new GpuKernel(
      this,
      computedRoots ? { ...kernel, tables: tablesBeside(kernel) } : kernel,
      program,
      streams,
    );
    this.kernels.add(compiled);
    return compiled;
  }

  pipeline(kernels: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined {
    this.requireOpen();
    const [first, second, more] = kernels.map((kernel) => this.own(kernel));
    if (!first || !second || more || this.kind !== 'cuda') return undefined;
    const program = emitPipelined(first.kernel, second.kernel, schedule);
    if (!program) return undefined;
    const compiled = new GpuKernel(
      this,
      { ...first.kernel, name: program.entry },
      program,
      1,
      new Counters(program.counters),
    );
    this.kernels.add(compiled);
    return compiled;
  }

  async warmUp(kernels: readonly CompiledKernel[]): Promise<void> {
    this.requireOpen();
    const load = async (kernel: GpuKernel) => {
      const code = await kernel.prepare(this.compiling);
      this.requireOpen();
      if (kernel.discarded) return;
      this.driver.setContext(this.setup.context);
      kernel.entry(this.driver, this.compiling, code);
      kernel.counters?.prepare(this);
    };
    await Promise.all([...new Set(kernels)].map((kernel) => load(this.own(kernel))));
  }

  discard(kernel: CompiledKernel): void {
    const own = this.own(kernel);
    own.discarded = true;
    if (this.kernels.delete(own) && !this.closed) this.retire(() => own.unload(this.driver));
  }

  bind(
    steps: readonly Step[],
    slots: readonly (Binding | undefined)[],
    _chunks?: number,
    pipelined?: CompiledKernel,
  ): BoundProgram {
    this.requireOpen();
    return new GpuProgram(this, steps, slots, pipelined && this.own(pipelined));
  }

  async bindPeer(peer: string, problem: PeerProblem, input: Binding, output: Binding): Promise<PeerProgram> {
    this.requireOpen();
    if (peer !== 'cufft' || this.kind !== 'cuda') {
      throw new FftError(
        'unsupported-feature',
        `A ${this.kind} device cannot be compared with ${show(peer)}: cuda has cufft.`,
      );
    }
    const [from, to] = [input, output].map(({ buffer, byteOffset }) => {
      if (this.owns(buffer) && !buffer.freed) return buffer.address + BigInt(byteOffset);
      throw new FftError('foreign-buffer', `What ${peer} is to be bound to is not memory of this device.`);
    });
    return bindCufft(this, problem, from!, to!);
  }

  upload(target: Binding, data: RealArray): Promise<void> {
    return this.copy(target, data, (address) => new Upload(this.staging, address, data));
  }

  download(source: Binding, into: RealArray): Promise<void> {
    return this.copy(source, into, (address) => new Download(this.staging, address, into));
  }

  /** Returns when `data` is in pinned memory, on its way. */
  uploadSync(target: Binding, data: RealArray): void {
    const copy = new Upload(this.staging, this.addressIn(target, data), data);
    this.jobs.submit(copy);
    if (!this.jobs.idle) this.drain();
    copy.requireSound();
  }

  downloadSync(source: Binding, into: RealArray): void {
    const copy = new Download(this.staging, this.addressIn(source, into), into);
    this.jobs.submit(copy);
    this.drain();
    copy.requireSound();
  }

  finish(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        resolve();
        return;
      }
      this.jobs.submit({
        advance: () => {
          this.enter();
          this.timeline.after((failure) => (failure ? reject(failure) : resolve()));
          return true;
        },
        fail: reject,
      });
    });
  }

  finishSync(): void {
    if (this.closed) return;
    this.enter();
    this.drain();
  }

  /** Calls that have not ended are rejected with `device-closed`. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    const { driver } = this;
    const failure = new FftError('device-closed', 'The device was closed before the call had ended.');
    this.jobs.abort(failure);
    try {
      this.enter();
      driver.synchronize(this.stream);
    } catch {
      // A device that was lost has nothing left to wait for.
    }
    this.timeline.close(failure);
    this.memory.clear();
    this.memory.generation++;
    for (const kernel of this.kernels) kernel.unload(driver);
    this.kernels.clear();
    this.streams.release();
    this.sides.release();
    this.staging.release();
    if (this.setup.stream === undefined) driver.destroyStream(this.stream);
    this.setup.leave();
  }

  requireOpen(): void {
    if (this.closed) throw new FftError('device-closed', 'The device is closed; open another one.');
    const { failure } = this.timeline;
    if (failure) throw failure;
  }

  enter(): void {
    this.driver.setContext(this.setup.context);
    this.streams.join();
  }

  entry(kernel: GpuKernel): bigint {
    return kernel.entry(this.driver, this.compiling);
  }

  addressOf(block: ArrayBuffer): bigint {
    return this.setup.koffi.address(block);
  }

  drain(): void {
    this.timeline.settle();
  }

  retire(action: () => void): void {
    if (this.closed) {
      action();
      return;
    }
    this.jobs.submit({
      advance: () => {
        this.enter();
        this.timeline.after(() => action());
        return true;
      },
      fail: () => action(),
    });
  }

  private copy(place: Binding, host: RealArray, make: (address: bigint) => Upload | Download): Promise<void> {
    try {
      const copy = make(this.addressIn(place, host));
      this.jobs.submit(copy);
      return copy.done;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Where a copy begins. */
  private addressIn({ buffer, byteOffset }: Binding, host: RealArray): bigint {
    this.requireOpen();
    if (!this.owns(buffer)) {
      throw new FftError('foreign-buffer', 'The buffer to copy from or to is not memory of this device.');
    }
    if (buffer.freed) throw new FftError('destroyed', 'The device memory to copy from or to was freed.');
    if (byteOffset < 0 || byteOffset + host.byteLength > buffer.bytes) {
      throw new FftError(
        'wrong-length',
        `${host.byteLength} bytes at byte ${byteOffset} do not fit into a buffer of ${buffer.bytes} bytes.`,
      );
    }
    return buffer.address + BigInt(byteOffset);
  }

  private own(kernel: CompiledKernel): GpuKernel {
    if (kernel instanceof GpuKernel && kernel.belongsTo(this)) return kernel;
    throw new FftError('internal-error', `Kernel ${kernel.kernel.name} was compiled by another device.`);
  }
}
