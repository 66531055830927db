/**
 * Vulkan 1.2 over the system's loader library: any GPU with a driver for it. Kernels are SPIR-V, which needs no compiler, and access memory by device
 * addresses.
 */
import type { DoubleWordForm } from '../../emit/double-word/index.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { BoundStep } from '../common/program.ts';
import type { Backend, CompileOptions, PackedKernel } from '../device.ts';
import { NativeBackend } from '../native/backend.ts';
import type { Launches } from '../native/driver.ts';
import type { SpmdFacts } from '../native/kernel.ts';
import { isHandle } from '../native/library.ts';
import type { DeviceOptions, Overridden, WithStore } from '../options.ts';
import { softwareProfile, webGpuProfile } from '../profiles/gpu.ts';
import { TYPE, type Vulkan, vulkan } from './api.ts';
import { LEAST_HANDLE, VkDriver, type VkSetup } from './driver.ts';
import { VkKernel, writtenVkKernel } from './kernel.ts';
import { VkLaunches } from './launches.ts';
import { VkAllocator, type VkBuffer } from './memory.ts';
import type { VkProgram } from './program.ts';
import { chooseVkDevice, describedVkDevice, SUBGROUP_SIZE_CONTROL, type VkDevice, type VkFeatures } from './select.ts';

export { availability } from './select.ts';

export interface VulkanOptions extends Pick<DeviceOptions, 'device' | 'software'>, WithStore, Overridden {
  /** File of the only driver to load, for tests. */
  readonly driver?: string | undefined;
}

/** A `VkDevice` of the caller's. It has timeline semaphores and buffer device addresses enabled, and stays open. */
export interface CallersVkDevice {
  readonly vkPhysicalDevice: bigint;
  readonly vkDevice: bigint;
  readonly vkQueue: bigint;
  readonly queueFamily: number;
  /**
   * Further features that were enabled: `shaderFloat64`, `shaderInt64`; for halves `shaderInt16` with `storageBuffer16BitAccess`; for `tuning: {
   * warpSize }` `subgroupSizeControl`.
   */
  readonly features?: readonly string[] | undefined;
}

/**
 * Opens a Vulkan device: a GPU where there is one, unless the options say which.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function create(options: VulkanOptions = {}): Promise<Backend> {
  const { device, profile, store } = options;
  const api = await vulkan();
  const callers = typeof device === 'object' && device !== null && 'vkDevice' in device;
  const setup = callers
    ? adoptedVkDevice(api, device as CallersVkDevice)
    : opened(api, await chooseVkDevice(api, options));
  try {
    const driver = new VkDriver(setup);
    return new VkBackend(driver, { ...vkProfile(setup), ...profile }, store);
  } catch (error) {
    if (setup.own) api.call('vkDestroyDevice', undefined, setup.device, null);
    throw error;
  }
}

function opened(api: Vulkan, physical: VkDevice): VkSetup {
  const { features, queueFamily = 0 } = physical;
  const can13 = features.subgroups && api.empty(TYPE.features13, 80);
  const can12 = api.empty(TYPE.features12, 208, can13);
  const can11 = api.empty(TYPE.features11, 64, can12);
  const can = api.empty(TYPE.features, 240, can11);
  const enable = (of: typeof can, at: number, wanted: boolean) => of.view.setUint32(at, Number(wanted), true);
  for (const place of [37, 38]) enable(can12, 16 + 4 * place, true);
  if (can13) enable(can13, SUBGROUP_SIZE_CONTROL, true);
  enable(can11, 16, features.storage16);
  enable(can, 172, features.doubles);
  enable(can, 176, features.wideIntegers);
  enable(can, 180, features.storage16);
  const priority = new Float32Array(new ArrayBuffer(4));
  priority[0] = 1;
  const queues = api.struct(TYPE.deviceQueue, undefined, 0, queueFamily, 1, priority);
  const nothing = [0, undefined, 0, undefined, undefined] as const;
  const info = api.struct(TYPE.device, can, 0, 1, queues, ...nothing);
  const purpose = { what: `Opening ${physical.name}`, otherwise: 'device-unavailable' } as const;
  const device = api.make('vkCreateDevice', purpose, physical.handle, info, null);
  const queue = api.make('vkGetDeviceQueue', purpose, device, queueFamily, 0);
  return { api, physical, features, device, queue, queueFamily, own: true };
}

/** A device of the caller's. @throws FftError `invalid-argument` */
function adoptedVkDevice(api: Vulkan, callers: CallersVkDevice): VkSetup {
  const { vkPhysicalDevice, vkDevice, vkQueue, queueFamily, features = [] } = callers;
  for (const [own, handle] of Object.entries({ vkPhysicalDevice, vkDevice, vkQueue })) {
    if (isHandle(handle, LEAST_HANDLE)) continue;
    throw new FftError('invalid-argument', `device.${own} is ${show(handle)}; it must be a handle, as a BigInt.`, {
      path: 'device',
    });
  }
  if (!(Number.isInteger(queueFamily) && queueFamily >= 0)) {
    const message = `device.queueFamily is ${show(queueFamily)}; the number of the queue's family is needed.`;
    throw new FftError('invalid-argument', message, { path: 'device' });
  }
  const physical = describedVkDevice(api, vkPhysicalDevice);
  const enabled = (...names: string[]) => names.every((each) => features.includes(each));
  const own: VkFeatures = {
    doubles: enabled('shaderFloat64'),
    wideIntegers: enabled('shaderInt64'),
    storage16: enabled('shaderInt16', 'storageBuffer16BitAccess'),
    subgroups: enabled('subgroupSizeControl') ? physical.features.subgroups : undefined,
  };
  return { api, physical, features: own, device: vkDevice, queue: vkQueue, queueFamily, own: false };
}

/**
 * The profile of a device. Vulkan does not report multiprocessors and their memory, so these numbers are taken from WebGPU, which was measured on
 * Vulkan.
 */
function vkProfile({ physical, features }: VkSetup): DeviceProfile {
  const { limits, memory, name, type } = physical;
  return {
    ...webGpuProfile,
    ...(type === 'cpu' ? softwareProfile : {}),
    name,
    lockstepBytes: 4 * (limits.subgroup || 32),
    sharedBytes: limits.sharedBytes,
    residentBytes: Math.max(webGpuProfile.residentBytes, limits.sharedBytes),
    maxBytes: memory,
    maxThreads: limits.threads,
    precisions: features.doubles ? ['single', 'double'] : ['single'],
  };
}

class VkBackend extends NativeBackend<VkBuffer, VkKernel> {
  /** Vulkan does not promise a fused multiply-add. */
  override readonly pairForm: DoubleWordForm = {};
  readonly driver: VkDriver;
  readonly memory: VkAllocator;

  constructor(driver: VkDriver, profile: DeviceProfile, store: CodeStore | undefined) {
    super(driver, driver.setup.physical.name, profile, store);
    this.driver = driver;
    this.memory = new VkAllocator(driver, this);
  }

  protected translate(kernel: Kernel, options: CompileOptions): VkKernel {
    return writtenVkKernel(kernel, this.driver, options);
  }

  protected revive({ outline, facts, code }: PackedKernel, whole: () => Kernel): VkKernel {
    const { program } = facts as SpmdFacts<VkProgram>;
    return new VkKernel({ ...outline, whole }, { ...program, source: code }, this.driver);
  }

  protected layOut(steps: readonly BoundStep<VkBuffer, VkKernel>[]): Launches {
    return new VkLaunches(this.driver, steps);
  }
}
