/**
 * The CPU as a device: kernels are WebAssembly SIMD, device memory is one WebAssembly memory, multiprocessors are
 * worker threads.
 */
import type { VectorArithmetic } from '../../emit/wasm/multiply-adds.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type { Backend, Binding, BoundProgram, CompiledKernel, DeviceBuffer, RealArray, Step } from '../device.ts';
import { cpuProfile } from '../profiles/cpu.ts';
import { canShareMemory, cpuAvailability, hasSeparateAdders, processorCount } from './host.ts';
import { CpuKernel } from './kernel.ts';
import { CpuBuffer, CpuMemory } from './memory.ts';
import { MOST_THREADS, Pool } from './pool.ts';
import { CpuProgram, isWorthSharing, type Machine } from './program.ts';
import { DONE, immediately, Queue } from './queue.ts';
import { hasRelaxedSimd } from './relaxed.ts';
import { Scratch } from './scratch.ts';
import { beginWarmUp, warmUp } from './warmup.ts';

export { cpuAvailability } from './host.ts';

export interface CpuOptions {
  /** Threads to work with, the calling one included; default, and at most: as many as the machine runs at once. */
  readonly threads?: number | undefined;
  /** Replaces parts of the profile that the planner sees. */
  readonly profile?: Partial<DeviceProfile> | undefined;
}

/**
 * Opens the CPU. Where memory cannot be shared (browser pages without cross-origin isolation) there is one thread,
 * whatever was asked for, and there are never more than processors: `profile.multiprocessors` tells.
 *
 * With one thread the memory is not shared, because copying from and to shared memory is three times slower.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function createCpuBackend(options: CpuOptions = {}): Promise<Backend> {
  const most = Math.min(await processorCount(), MOST_THREADS);
  const { threads = most } = options;
  requireCount(threads);
  // More would only take turns, and each takes its time to start and some megabytes.
  return openCpuBackend({ ...options, threads: Math.min(threads, most) });
}

function requireCount(threads: number): void {
  if (Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS) return;
  throw new FftError(
    'invalid-argument',
    `threads must be a whole number from 1 to ${MOST_THREADS}, but ${threads} was given.`,
    { path: 'threads' },
  );
}

/** The same at once, where the number of threads is known. */
export function openCpuBackend({ threads, profile = {} }: CpuOptions & { readonly threads: number }): Backend {
  const { available, reason, name } = cpuAvailability();
  if (!available) throw new FftError('device-unavailable', `The CPU device cannot work: ${reason}.`);
  requireCount(threads);
  return new CpuBackend(name, canShareMemory() ? threads : 1, profile);
}

class CpuBackend implements Backend, Machine {
  readonly kind = 'cpu';
  readonly runsBothWays = true;
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly queue = new Queue();
  readonly memory: CpuMemory;
  readonly scratch: Scratch;
  readonly pool: Pool | undefined;
  private readonly vectors: VectorArithmetic;
  private closed = false;

  constructor(name: string, threads: number, profile: Partial<DeviceProfile>) {
    this.name = name;
    this.vectors = { relaxedSimd: hasRelaxedSimd(), separateAdders: hasSeparateAdders(name) };
    const { queue } = this;
    this.memory = new CpuMemory(threads > 1, {
      defer(release) {
        if (queue.idle) release();
        else void queue.push(immediately(release)).catch(() => {});
      },
      settle() {
        if (queue.idle) return false;
        queue.drain();
        return true;
      },
    });
    this.profile = {
      ...cpuProfile,
      name: `${name}, ${threads === 1 ? '1 thread' : `${threads} threads`}`,
      maxBytes: this.memory.buffer.byteLength,
      multiprocessors: threads,
      ...profile,
    };
    this.scratch = new Scratch(this.memory, threads);
    this.pool = threads > 1 ? new Pool(this.memory, this.scratch, threads) : undefined;
  }

  /** What was in the memory before is still there. */
  allocate(bytes: number): DeviceBuffer {
    this.requireOpen();
    return this.memory.allocate(bytes);
  }

  locate(array: ArrayBufferView): Binding | undefined {
    return this.memory.locate(array);
  }

  owns(buffer: DeviceBuffer): buffer is CpuBuffer {
    return buffer instanceof CpuBuffer && buffer.memory === this.memory;
  }

  compile(kernel: Kernel): CompiledKernel {
    this.requireOpen();
    const compiled = new CpuKernel(kernel, this.memory, this.vectors);
    this.scratch.reserve(compiled.sharedBytes);
    beginWarmUp(compiled);
    return compiled;
  }

  async warmUp(kernels: readonly CompiledKernel[], watched = true): Promise<void> {
    this.requireOpen();
    const own = kernels.map((kernel) => this.own(kernel));
    const { pool } = this;
    if (pool) for (const kernel of own) if (isWorthSharing(kernel)) pool.prepare(kernel);
    // The engine compiles them anyway; whoever watched would hold them until then.
    if (watched) await Promise.all([warmUp(own), pool?.ready()]);
  }

  discard(kernel: CompiledKernel): void {
    const compiled = this.own(kernel);
    compiled.discarded = true;
    this.pool?.discard(compiled);
  }

  bind(steps: readonly Step[], slots: readonly (Binding | undefined)[], chunks = 1): BoundProgram {
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

  /** Calls that have not ended are rejected with `device-closed`. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.queue.abort(new FftError('device-closed', 'The device was closed before the call had ended.'));
    this.pool?.close();
    this.memory.close();
    // Programs look again whether they may run when the generation changes.
    this.memory.generation++;
  }

  requireOpen(): void {
    if (this.closed) throw new FftError('device-closed', 'The device is closed; open another one.');
  }

  private copy(place: Binding, host: RealArray, move: (device: RealArray) => void): Promise<void> {
    try {
      this.requireOpen();
      const { buffer, byteOffset } = place;
      if (!this.owns(buffer)) {
        throw new FftError('foreign-buffer', 'The buffer to copy from or to was not allocated on this device.');
      }
      const device = buffer.window(byteOffset, host);
      return this.queue.push(immediately(() => moveWhole(host, device, move)));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private own(kernel: CompiledKernel): CpuKernel {
    if (kernel instanceof CpuKernel && kernel.memory === this.memory) return kernel;
    throw new FftError('internal-error', `Kernel ${kernel.kernel.name} was compiled by another device.`);
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
