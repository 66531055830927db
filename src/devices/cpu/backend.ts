/**
 * The CPU as a device: kernels are WebAssembly SIMD, device memory is one WebAssembly memory, multiprocessors are
 * worker threads.
 */
import type { DoubleWordForm } from '../../emit/double-word/index.ts';
import type { VectorArithmetic } from '../../emit/wasm/multiply-adds.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import { BaseBackend } from '../common/backend.ts';
import type {
  Backend,
  Binding,
  BoundProgram,
  CodeFacts,
  CompiledKernel,
  PackedKernel,
  ProgramStep,
  RealArray,
} from '../device.ts';
import type { DeviceOptions, Overridden, WithStore } from '../options.ts';
import { cpuProfile } from '../profiles/cpu.ts';
import { cpuAvailability, hasSeparateAdders } from './host.ts';
import { type CpuKernel, unpackedKernel, writtenWasmKernel } from './kernel.ts';
import { Scratch } from './launch.ts';
import { CpuAllocator, type CpuBuffer } from './memory.ts';
import type { Pool } from './pool.ts';
import { type CpuHost, CpuProgram, isWorthSharing } from './program.ts';
import { DONE, immediately, Queue } from './queue.ts';
import { hasRelaxedSimd, roundsOnce } from './relaxed.ts';
import { beginWarmUp, warmUp, warmUpLater } from './warmup.ts';

/** `threads` includes the calling thread. Its default and its maximum are the number of threads that the machine runs at once. */
export type CpuOptions = Pick<DeviceOptions, 'threads'> & WithStore & Overridden;

/** The threads of a backend: their number and, if there are several, the pool that runs the others. */
interface KnownThreads {
  readonly threads: number;
  readonly workers?: typeof Pool | undefined;
}

/** Opens the backend without waiting, for a known number of threads. */
export function openCpuBackend({ threads, workers, ...options }: CpuOptions & KnownThreads): Backend {
  const { available, reason, name } = cpuAvailability();
  if (!available) throw new FftError('device-unavailable', `The CPU device cannot work: ${reason}.`);
  return new CpuBackend(name, workers ? threads : 1, options, workers);
}

class CpuBackend extends BaseBackend<CpuBuffer, CpuKernel> implements CpuHost {
  readonly kind = 'cpu';
  readonly runsBothWays = true;
  override readonly pairForm: DoubleWordForm;
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly queue = new Queue();
  readonly memory: CpuAllocator;
  readonly scratch: Scratch;
  readonly pool: Pool | undefined;
  private readonly vectors: VectorArithmetic;

  constructor(name: string, threads: number, { profile, store }: WithStore & Overridden, Workers?: typeof Pool) {
    super(store);
    this.name = name;
    this.vectors = { relaxedSimd: hasRelaxedSimd(), separateAdders: hasSeparateAdders(name) };
    this.pairForm = { fused: this.vectors.relaxedSimd === true && roundsOnce(), ordered: true };
    this.memory = new CpuAllocator(threads > 1, this);
    this.profile = {
      ...cpuProfile,
      name: `${name}, ${threads === 1 ? '1 thread' : `${threads} threads`}`,
      maxBytes: this.memory.buffer.byteLength,
      multiprocessors: threads,
      ...profile,
    };
    this.scratch = new Scratch(this.memory, threads);
    this.pool = Workers && threads > 1 ? new Workers(this.memory, this.scratch, threads) : undefined;
  }

  override locate(array: ArrayBufferView): Binding | undefined {
    return this.memory.locate(array);
  }

  override async warmUp(kernels: readonly CompiledKernel[], watched = true): Promise<void> {
    this.requireOpen();
    const own = kernels.map((kernel) => this.own(kernel));
    const { pool } = this;
    if (pool) for (const kernel of own) if (isWorthSharing(kernel)) pool.prepare(kernel);
    // Without `watched` nothing waits here: the JavaScript engine compiles the kernels anyway, and waiting would keep them alive.
    if (watched) await Promise.all([warmUp(own), pool?.ready()]);
  }

  override discard(kernel: CompiledKernel): void {
    super.discard(kernel);
    this.pool?.discard(this.own(kernel));
  }

  get codeFacts(): CodeFacts {
    const { memory, pairForm, vectors } = this;
    return { ...vectors, ...pairForm, sharedMemory: memory.shared };
  }

  pack(kernel: CompiledKernel): PackedKernel {
    return this.own(kernel).pack();
  }

  unpack(packed: PackedKernel, whole: () => Kernel): CompiledKernel {
    this.requireOpen();
    const kernel = unpackedKernel(packed, this.memory, whole);
    this.scratch.reserve(kernel.sharedBytes);
    warmUpLater(kernel);
    return this.keep(kernel);
  }

  bind(steps: readonly ProgramStep[], slots: readonly (Binding | undefined)[], chunks = 1): BoundProgram {
    this.requireOpen();
    return new CpuProgram(this, steps, slots, chunks);
  }

  /** Copies at once unless something is in flight; then `data` must stay as it is until the promise resolves. */
  upload(target: Binding, data: RealArray): Promise<void> {
    return this.copy(target, data, (device) => device.set(data));
  }

  download(source: Binding, into: RealArray, move?: (into: RealArray, from: RealArray) => void): Promise<void> {
    return this.copy(source, into, (device) => (move ? move(into, device) : into.set(device)));
  }

  together<T>(submit: () => T): T {
    return this.queue.together(submit);
  }

  finish(): Promise<void> {
    if (this.closed || this.queue.idle) return DONE;
    return this.queue.push(immediately(() => {}));
  }

  finishSync(): void {
    if (!this.queue.idle) this.queue.drain();
  }

  override whenUnused(action: () => void): void {
    if (this.queue.idle) action();
    else void this.queue.push(immediately(action)).catch(() => {});
  }

  override drain(): void {
    this.finishSync();
  }

  protected translate(kernel: Kernel): CpuKernel {
    const compiled = writtenWasmKernel(kernel, this.memory, this.vectors);
    this.scratch.reserve(compiled.sharedBytes);
    beginWarmUp(compiled);
    return compiled;
  }

  protected stop(failure: FftError): void {
    this.queue.abort(failure);
  }

  protected override leave(): void {
    this.pool?.close();
  }

  private copy(place: Binding, host: RealArray, move: (device: RealArray) => void): Promise<void> {
    try {
      const device = this.copied(place, host).window(place.byteOffset, host);
      return this.queue.push(immediately(() => moveWhole(host, device, move)));
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** @throws FftError `detached-array` where the caller has made the array shorter or longer since it was given. */
function moveWhole(host: RealArray, device: RealArray, move: (device: RealArray) => void): void {
  if (host.length !== device.length) {
    throw new FftError(
      'detached-array',
      `An array of a waiting call had ${device.length} numbers and has ${host.length} now: it was transferred away or ` +
        'resized. Leave it alone until the call has ended.',
    );
  }
  move(device);
}
