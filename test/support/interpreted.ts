/**
 * A device that runs kernels by the interpreter (interpret.ts): plans for any profile, GPUs included, can be tried
 * without one. Slow, exact in its rounding, and it sees every rule of the kernel language.
 */

import type {
  Backend,
  Binding,
  BoundProgram,
  CompiledKernel,
  DeviceBuffer,
  ProgramStep,
  RealArray,
} from '../../src/devices/device.ts';
import { arrayOver, typeOfArray } from '../../src/devices/host-arrays.ts';
import { computable } from '../../src/emit/double-word/index.ts';
import { Device } from '../../src/engine/device.ts';
import { type Kernel, type StorageType, storageBytes, verify } from '../../src/ir/index.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { interpret } from './interpret.ts';

class HostBuffer implements DeviceBuffer {
  freed = false;
  readonly bytes: number;
  readonly memory: ArrayBuffer;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.memory = new ArrayBuffer(Math.ceil(bytes / 8) * 8);
  }

  view(type: StorageType): RealArray {
    return arrayOver(type, this.memory, 0, Math.floor(this.memory.byteLength / storageBytes(type)));
  }

  free(): void {
    this.freed = true;
  }
}

class InterpretingBackend implements Backend {
  readonly kind = 'cpu';
  readonly name = 'interpreter';
  readonly runsBothWays = true;
  readonly profile: DeviceProfile;

  constructor(profile: DeviceProfile) {
    this.profile = profile;
  }

  allocate(bytes: number): DeviceBuffer {
    return new HostBuffer(bytes);
  }

  locate(): undefined {
    return undefined;
  }

  owns(buffer: DeviceBuffer): boolean {
    return buffer instanceof HostBuffer;
  }

  computable(kernel: Kernel): Kernel {
    return computable(kernel, this);
  }

  compile(kernel: Kernel): CompiledKernel {
    const broken = verify(kernel);
    if (broken.length > 0) throw new Error(broken.join('; '));
    const shared = kernel.shared.reduce(
      (sum, { partLength, length, type }) => sum + storageBytes(type) * (partLength ?? length!),
      0,
    );
    // Of vectors that is a share of a cache, which long transforms may exceed.
    if (this.profile.lockstep === 'threads' && shared > this.profile.sharedBytes)
      throw new Error(`${shared} bytes of shared memory`);
    if (kernel.threads > this.profile.maxThreads) throw new Error(`${kernel.threads} threads`);
    return { kernel, language: 'none', source: '' };
  }

  async warmUp(): Promise<void> {}
  discard(): void {}

  bind(steps: readonly ProgramStep[], slots: readonly (Binding | undefined)[]): BoundProgram {
    const run = () => {
      for (const { kernel: compiled, reverse, arguments: given } of steps) {
        const kernel = compiled.kernel as Kernel;
        const arrays = [...kernel.globals, ...kernel.tables];
        const memory = given.map((argument, n) => {
          const place = 'fixed' in argument ? argument.fixed : slots[argument.slot]!;
          const start = place.byteOffset + ('fixed' in argument ? 0 : argument.byteOffset);
          const whole = (place.buffer as HostBuffer).memory;
          const { type } = arrays[n]!;
          return arrayOver(type, whole, start, Math.floor((whole.byteLength - start) / storageBytes(type)));
        });
        const phases = reverse ? kernel.reverse : kernel.phases;
        interpret(kernel, Object.fromEntries(arrays.map(({ name }, n) => [name, memory[n]!])), phases);
      }
    };
    return { run: async () => run(), runSync: run, release: () => undefined };
  }

  async upload({ buffer, byteOffset }: Binding, data: RealArray): Promise<void> {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    new Uint8Array((buffer as HostBuffer).memory).set(bytes, byteOffset);
  }

  async download(
    { buffer, byteOffset }: Binding,
    into: RealArray,
    move = (to: RealArray, from: RealArray) => to.set(from),
  ): Promise<void> {
    move(into, arrayOver(typeOfArray(into), (buffer as HostBuffer).memory, byteOffset, into.length));
  }

  async finish(): Promise<void> {}
  finishSync(): void {}
  close(): void {}
}

export function openInterpreted(profile: DeviceProfile): Device {
  return new Device(new InterpretingBackend(profile));
}
