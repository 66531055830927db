/**
 * Intel GPUs through Level Zero, over the system's loader library. Kernels are SPIR-V, which the driver compiles. The device has run on a stand-in
 * for the driver only.
 */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { BoundStep } from '../common/program.ts';
import type { Backend, CompileOptions, PackedKernel } from '../device.ts';
import { NativeBackend } from '../native/backend.ts';
import type { Launches } from '../native/driver.ts';
import { unpackedSpirv } from '../native/kernel.ts';
import { isHandle } from '../native/library.ts';
import type { NativeBuffer } from '../native/memory.ts';
import type { DeviceOptions, Overridden, WithStore } from '../options.ts';
import { gpuProfile, OPENCL_RESIDENT_GROUPS } from '../profiles/gpu.ts';
import { levelZero } from './api.ts';
import { LEAST_HANDLE, ZeDriver } from './driver.ts';
import { writtenZeKernel, ZeKernel } from './kernel.ts';
import { ZeLaunches } from './launches.ts';
import { ZeAllocator } from './memory.ts';
import { chooseZeDevice, type ZeDevice, zeDevices } from './select.ts';

export { availability } from './select.ts';

export interface LevelZeroOptions extends Pick<DeviceOptions, 'device' | 'context'>, WithStore, Overridden {
  /** File of the loader library, for tests. */
  readonly library?: string | undefined;
}

/**
 * Opens a GPU through Level Zero.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function create(options: LevelZeroOptions = {}): Promise<Backend> {
  const { device: wanted, context, profile, store, library } = options;
  if (context !== undefined && !isHandle(context, LEAST_HANDLE)) {
    const message = `context is ${show(context)}; it must be a ze_context_handle_t, as a BigInt.`;
    throw new FftError('invalid-argument', message, { path: 'context' });
  }
  const api = await levelZero(library);
  const device = chooseZeDevice(zeDevices(api), wanted);
  const driver = new ZeDriver({ api, device, context, store });
  return new ZeBackend(driver, { ...zeProfile(device), ...profile }, store);
}

/** The profile of a GPU, made from the same facts as the profile of an OpenCL device. */
function zeProfile({ name, memory, limits, doubles, multiprocessors }: ZeDevice): DeviceProfile {
  return {
    ...gpuProfile,
    name,
    lockstepBytes: 4 * limits.subgroup,
    sharedBytes: limits.sharedBytes,
    residentBytes: OPENCL_RESIDENT_GROUPS * limits.sharedBytes,
    maxBytes: memory,
    maxThreads: limits.threads,
    multiprocessors,
    precisions: doubles ? ['single', 'double'] : ['single'],
  };
}

class ZeBackend extends NativeBackend<NativeBuffer, ZeKernel> {
  readonly driver: ZeDriver;
  readonly memory: ZeAllocator;

  constructor(driver: ZeDriver, profile: DeviceProfile, store: CodeStore | undefined) {
    super(driver, driver.device.name, profile, store);
    this.driver = driver;
    this.memory = new ZeAllocator(driver, this);
  }

  protected translate(kernel: Kernel, options: CompileOptions): ZeKernel {
    return writtenZeKernel(kernel, this.driver, options);
  }

  protected revive(packed: PackedKernel, whole: () => Kernel): ZeKernel {
    const { program, binary } = unpackedSpirv(packed)!;
    return new ZeKernel({ ...packed.outline, whole }, program, this.driver, binary);
  }

  protected layOut(steps: readonly BoundStep<NativeBuffer, ZeKernel>[]): Launches {
    return new ZeLaunches(this.driver, steps);
  }
}
