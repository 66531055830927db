/** The part of `Backend` that all devices share. */
import { computable, type DoubleWordForm } from '../../emit/double-word/index.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type {
  Backend,
  Binding,
  BoundProgram,
  CompiledKernel,
  CompileOptions,
  DeviceBuffer,
  DeviceKind,
  ProgramStep,
  RealArray,
} from '../device.ts';
import type { DeviceKernel } from './kernel.ts';
import type { Allocator, InFlight, OwnedBuffer } from './memory.ts';
import type { ProgramHost } from './program.ts';

export abstract class BaseBackend<B extends OwnedBuffer, K extends DeviceKernel>
  implements Backend, ProgramHost<B, K>, InFlight
{
  abstract readonly kind: DeviceKind;
  abstract readonly name: string;
  abstract readonly profile: DeviceProfile;
  abstract readonly memory: Allocator<B>;
  readonly pairForm?: DoubleWordForm;
  readonly store: CodeStore | undefined;
  protected closed = false;
  /** Kernels compiled by this device and not discarded. */
  private readonly kernels = new Set<DeviceKernel>();
  /** All kernels compiled by this device. */
  private readonly made = new WeakSet<CompiledKernel>();

  constructor(store?: CodeStore) {
    this.store = store;
  }

  allocate(bytes: number): DeviceBuffer {
    this.requireOpen();
    return this.memory.allocate(bytes);
  }

  /** Undefined by default, because on most devices host code does not see device memory. */
  locate(_array: ArrayBufferView): Binding | undefined {
    return undefined;
  }

  adopt(memory: unknown, what: string): DeviceBuffer | undefined {
    this.requireOpen();
    return this.memory.adopt(memory, what);
  }

  owns(buffer: DeviceBuffer): buffer is B {
    return this.memory.owns(buffer);
  }

  computable(kernel: Kernel): Kernel {
    return computable(kernel, this);
  }

  compile(kernel: Kernel, options: CompileOptions = {}): CompiledKernel {
    this.requireOpen();
    return this.keep(this.translate(kernel, options));
  }

  async warmUp(kernels: readonly CompiledKernel[], _watched?: boolean): Promise<void> {
    this.requireOpen();
    await Promise.all([...new Set(kernels)].map((kernel) => this.own(kernel).prepare()));
  }

  discard(kernel: CompiledKernel): void {
    const own = this.own(kernel);
    own.discarded = true;
    if (this.kernels.delete(own)) this.whenUnused(() => own.unload());
  }

  hasKernel(kernel: unknown): kernel is K {
    return this.kernels.has(kernel as DeviceKernel);
  }

  abstract bind(
    steps: readonly ProgramStep[],
    slots: readonly (Binding | undefined)[],
    chunks?: number,
    pipelined?: CompiledKernel,
  ): BoundProgram;
  abstract upload(target: Binding, data: RealArray): Promise<void>;
  abstract download(source: Binding, into: RealArray, move?: (into: RealArray, from: RealArray) => void): Promise<void>;
  abstract finish(): Promise<void>;

  /** Closes the device. Calls in flight are rejected with `device-closed`. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.stop(new FftError('device-closed', 'The device was closed before the call had ended.'));
    this.memory.clear();
    for (const kernel of this.kernels) kernel.unload();
    this.kernels.clear();
    this.leave();
  }

  requireOpen(): void {
    if (this.closed) throw new FftError('device-closed', 'The device is closed; open another one.');
  }

  /** Calls back when no work in flight uses freed memory: at once by default, for devices whose `free` does not disturb work in flight. */
  whenUnused(action: () => void): void {
    action();
  }

  drain(): void {}

  /** Writes a kernel in the device's language. @throws FftError `compile-failed`, `device-limit` */
  protected abstract translate(kernel: Kernel, options: CompileOptions): K;

  /** Rejects all calls in flight with a failure, and ends or awaits running work as far as the device allows. */
  protected abstract stop(failure: FftError): void;

  /** Releases the resources taken when the device was opened, after everything else is released. */
  protected leave(): void {}

  protected keep(kernel: K): K {
    this.kernels.add(kernel);
    this.made.add(kernel);
    return kernel;
  }

  protected own(kernel: CompiledKernel): K {
    if (this.made.has(kernel)) return kernel as K;
    throw new FftError('internal-error', `Kernel ${kernel.kernel.name} was compiled by another device.`);
  }

  /**
   * The buffer that a copy reads or writes.
   * @throws FftError `device-closed`, `device-lost`, `foreign-buffer`, `destroyed`, `wrong-length`, and the failure of an allocation that was
   *   reported late
   */
  protected copied({ buffer, byteOffset }: Binding, { byteLength }: RealArray): B {
    this.requireOpen();
    const own = this.memory.usable(buffer, 'A copy');
    if (byteOffset >= 0 && byteOffset + byteLength <= own.bytes) return own;
    throw new FftError(
      'wrong-length',
      `${byteLength} bytes at byte ${byteOffset} do not fit into a buffer of ${own.bytes} bytes.`,
    );
  }
}
