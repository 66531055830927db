/**
 * OpenCL 1.2 as a device, over the system's loader library: any GPU with an OpenCL driver, and processors through PoCL.
 * Kernels are compiled by the driver when a plan is made.
 */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type {
  Backend,
  Binding,
  BoundProgram,
  CompiledKernel,
  CompileOptions,
  DeviceBuffer,
  RealArray,
  Step,
} from '../device.ts';
import { loadKoffi } from '../native/library.ts';
import { type Handle, INFO, type OpenCl, openCl, requireHandle } from './api.ts';
import { Completion, type Ending } from './completion.ts';
import { ClKernel } from './kernel.ts';
import { ClBuffer, ClMemory } from './memory.ts';
import { profileOf } from './profile.ts';
import { ClProgram, type Machine } from './program.ts';
import { Chain, ClQueue } from './queue.ts';
import { type Candidate, candidates, choose, contextDevices } from './select.ts';
import { type Staged, Staging } from './staging.ts';

export { openClAvailability } from './select.ts';

export interface OpenClOptions {
  /** Part of a platform's name, or its number in the system's order. */
  readonly platform?: string | number | undefined;
  /**
   * Part of a device's name, or its number among the devices of `platform` or `context`, or among all; default: a GPU
   * where there is one.
   */
  readonly device?: unknown;
  /** The caller's `cl_context`, so that its `cl_mem` objects can be transformed. */
  readonly context?: bigint | undefined;
  /** The caller's `cl_command_queue` to run everything in, which also says which context and device to use. */
  readonly queue?: bigint | undefined;
  /** Replaces parts of the profile that the planner sees. */
  readonly profile?: Partial<DeviceProfile> | undefined;
}

/**
 * Opens an OpenCL device.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function createOpenClBackend(options: OpenClOptions = {}): Promise<Backend> {
  const cl = await openCl();
  const koffi = await loadKoffi();
  const { chosen, context, queue } = place(cl, options);
  const release = () => {
    if (queue !== undefined) cl.raw.clReleaseCommandQueue(queue);
    cl.raw.clReleaseContext(context);
  };
  try {
    const own = queue ?? cl.make('clCreateCommandQueue', undefined, context, chosen.device, 0);
    try {
      const staging = new Staging(cl, koffi, context, chosen.device);
      return new ClBackend({ cl, chosen, context, queue: own, staging, profile: options.profile ?? {} });
    } catch (error) {
      if (queue === undefined) cl.raw.clReleaseCommandQueue(own);
      throw error;
    }
  } catch (error) {
    release();
    throw error;
  }
}

interface Parts {
  readonly cl: OpenCl;
  readonly chosen: Candidate;
  readonly context: Handle;
  readonly queue: Handle;
  readonly staging: Staging;
  readonly profile: Partial<DeviceProfile>;
}

/** The device with its context, and the caller's queue: retained or made, so that they are ours to release. */
function place(cl: OpenCl, options: OpenClOptions): { chosen: Candidate; context: Handle; queue?: Handle } {
  const { platform, device, context, queue } = options;
  if (context === undefined && queue === undefined) {
    const chosen = choose(candidates(cl), { platform, device });
    return { chosen, context: cl.createContext(chosen.platform, chosen.device) };
  }
  refuseBoth({ platform }, context === undefined ? 'queue' : 'context');
  if (queue === undefined) {
    const given = requireHandle(context, 'context');
    const chosen = choose(contextDevices(cl, given), { device });
    cl.call('clRetainContext', undefined, given);
    return { chosen, context: given };
  }
  requireHandle(queue, 'queue');
  refuseBoth({ device }, 'queue');
  const owner = cl.handle('queue', queue, INFO.queueContext);
  if (context !== undefined && context !== owner) {
    throw new FftError('invalid-argument', 'context and queue do not belong together; leave context out.', {
      path: 'context',
    });
  }
  const own = cl.handle('queue', queue, INFO.queueDevice);
  const chosen = choose(
    contextDevices(cl, owner).filter((each) => each.device === own),
    {},
  );
  cl.call('clRetainContext', undefined, owner);
  cl.call('clRetainCommandQueue', undefined, queue);
  return { chosen, context: owner, queue };
}

/** @throws FftError `invalid-argument` where an option is given that another one decides. */
function refuseBoth(option: Readonly<Record<string, unknown>>, other: string): void {
  for (const [name, value] of Object.entries(option)) {
    if (value === undefined) continue;
    throw new FftError(
      'invalid-argument',
      `${name} and ${other} were given, but ${other} decides; leave ${name} out.`,
      {
        path: name,
      },
    );
  }
}

/** What failed, where a copy did. */
const WRITE = 'clEnqueueWriteBuffer';
const READ = 'clEnqueueReadBuffer';

/** A copy that was submitted. */
interface Copying {
  readonly event: Handle;
  readonly ended: Ending;
}

class ClBackend implements Backend, Machine {
  readonly kind = 'opencl';
  readonly target = 'queue';
  readonly computesRoots = true;
  readonly name: string;
  readonly profile: DeviceProfile;
  readonly cl: OpenCl;
  readonly context: Handle;
  readonly device: Handle;
  readonly queue: ClQueue;
  readonly completion: Completion;
  readonly chain: Chain;
  readonly memory: ClMemory;
  private readonly staging: Staging;
  private readonly kernels = new Set<ClKernel>();
  private closed = false;

  constructor({ cl, chosen, context, queue, staging, profile }: Parts) {
    this.cl = cl;
    this.name = chosen.name;
    this.context = context;
    this.device = chosen.device;
    this.memory = new ClMemory(cl, context, chosen.device);
    this.queue = new ClQueue(cl, queue, this.memory);
    this.completion = new Completion(cl);
    this.chain = new Chain(this.queue, this.completion);
    this.staging = staging;
    this.profile = { ...profileOf(cl, chosen, chosen.name), ...profile };
  }

  allocate(bytes: number): DeviceBuffer {
    this.requireOpen();
    return this.memory.allocate(bytes);
  }

  /** Host code does not see device memory: no array is a view of it. */
  locate(): undefined {
    return undefined;
  }

  adopt(memory: unknown, what: string): DeviceBuffer | undefined {
    this.requireOpen();
    return this.memory.adopt(memory, what);
  }

  owns(buffer: DeviceBuffer): buffer is ClBuffer {
    return buffer instanceof ClBuffer && buffer.memory === this.memory;
  }

  compile(kernel: Kernel, options?: CompileOptions): CompiledKernel {
    this.requireOpen();
    const compiled = new ClKernel(kernel, this, options);
    this.kernels.add(compiled);
    return compiled;
  }

  /** Nothing gets faster by running. */
  async warmUp(): Promise<void> {
    this.requireOpen();
  }

  discard(kernel: CompiledKernel): void {
    if (!(kernel instanceof ClKernel) || !this.kernels.delete(kernel)) return;
    kernel.discard();
  }

  bind(steps: readonly Step[], slots: readonly (Binding | undefined)[]): BoundProgram {
    this.requireOpen();
    return new ClProgram(this, steps, slots);
  }

  /** `data` is read before this returns. */
  upload(target: Binding, data: RealArray): Promise<void> {
    return this.waiting(() => {
      const copy = this.copyIn(target, data);
      return copy && this.completion.of(copy.event, WRITE, copy.ended);
    });
  }

  uploadSync(target: Binding, data: RealArray): void {
    const copy = this.copyIn(target, data);
    if (copy) void this.completion.of(copy.event, WRITE, copy.ended).catch(() => undefined);
  }

  /** `into` is written when everything before has run, just before the promise resolves. */
  download(source: Binding, into: RealArray): Promise<void> {
    return this.waiting(() => {
      const copy = this.copyOut(source, into);
      return copy && this.completion.of(copy.event, READ, copy.ended);
    });
  }

  downloadSync(source: Binding, into: RealArray): void {
    const copy = this.copyOut(source, into);
    if (copy) this.completion.now(copy.event, READ, copy.ended);
  }

  async finish(): Promise<void> {
    if (this.closed) return;
    this.chain.enter(this.queue);
    const event = this.queue.marker();
    this.queue.flush();
    await this.completion.of(event, 'clEnqueueMarkerWithWaitList');
  }

  finishSync(): void {
    if (this.closed) return;
    this.chain.enter(this.queue);
    this.cl.call('clFinish', undefined, this.queue.handle);
    this.completion.drain();
  }

  /** Calls that have not ended are rejected with `device-closed`; the device ends them all the same. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.memory.clear();
    for (const kernel of this.kernels) kernel.discard();
    this.kernels.clear();
    this.chain.forget();
    this.completion.abort(new FftError('device-closed', 'The device was closed before the call had ended.'), () => {
      this.staging.close();
      this.cl.raw.clReleaseCommandQueue(this.queue.handle);
      this.cl.raw.clReleaseContext(this.context);
    });
  }

  requireOpen(): void {
    if (this.closed) throw new FftError('device-closed', 'The device is closed; open another one.');
  }

  private async waiting(submit: () => Promise<void> | undefined): Promise<void> {
    await submit();
  }

  private copyIn(target: Binding, data: RealArray): Copying | undefined {
    const { buffer, byteOffset } = this.checked(target, data);
    return this.copying('in', buffer, byteOffset, data.byteLength, {
      before: (staged) => staged.bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
    });
  }

  private copyOut(source: Binding, into: RealArray): Copying | undefined {
    const { buffer, byteOffset } = this.checked(source, into);
    const bytes = into.byteLength;
    return this.copying('out', buffer, byteOffset, bytes, {
      after: (staged) => {
        if (into.byteLength !== bytes) return;
        new Uint8Array(into.buffer, into.byteOffset, bytes).set(staged.bytes.subarray(0, bytes));
      },
    });
  }

  /** Submits a copy through staging memory; undefined where there is nothing to copy. */
  private copying(
    direction: 'in' | 'out',
    buffer: ClBuffer,
    byteOffset: number,
    bytes: number,
    { before, after }: { readonly before?: (staged: Staged) => void; readonly after?: (staged: Staged) => void },
  ): Copying | undefined {
    if (bytes === 0) return undefined;
    const staged = this.staging.take(bytes);
    try {
      before?.(staged);
      this.chain.enter(this.queue);
      const event = this.queue.copy(direction, buffer.handle, byteOffset, bytes, staged.address);
      this.queue.flush();
      const ended: Ending = (error) => {
        try {
          if (!error) after?.(staged);
        } finally {
          this.staging.give(staged);
        }
      };
      return { event, ended };
    } catch (error) {
      this.staging.give(staged);
      throw error;
    }
  }

  private checked({ buffer, byteOffset }: Binding, host: RealArray): { buffer: ClBuffer; byteOffset: number } {
    this.requireOpen();
    if (!this.owns(buffer)) {
      throw new FftError('foreign-buffer', 'The buffer to copy from or to was not allocated on this device.');
    }
    if (buffer.freed) throw new FftError('destroyed', 'The device memory to copy from or to was freed.');
    if (byteOffset < 0 || byteOffset + host.byteLength > buffer.bytes) {
      throw new FftError(
        'wrong-length',
        `${host.byteLength} bytes at byte ${byteOffset} do not fit into a buffer of ${buffer.bytes} bytes.`,
      );
    }
    return { buffer, byteOffset };
  }
}
