/**
 * The functions and constants of Vulkan 1.2 that the device uses, over the system's loader library. Handles are BigInts. A failed call throws the
 * error that its result means.
 */

import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import { functionsOf, type Koffi, loadKoffi, type NativeFunction, openLibrary } from '../native/library.ts';
import { StructApi } from '../native/structs.ts';
import { softwareDriver } from '../webgpu/software.ts';

/** A `VkDevice`, `VkBuffer`, … */
export type Handle = bigint;

/** Structure types: the values of `sType`. */
export const TYPE = {
  ...{
    applicationInfo: 0,
    instance: 1,
    deviceQueue: 2,
    device: 3,
    submit: 4,
    allocate: 5,
    semaphore: 9,
    queryPool: 11,
  },
  ...{ buffer: 12, shaderModule: 16, stage: 18, computePipeline: 29, pipelineLayout: 30, commandPool: 39 },
  ...{ commandBuffers: 40, begin: 42, memoryBarrier: 46, features11: 49, properties11: 50, features12: 51 },
  ...{
    properties12: 52,
    features13: 53,
    properties13: 54,
    features: 1000059000,
    properties: 1000059001,
    allocateFlags: 1000060000,
  },
  ...{ semaphoreType: 1000207002, timelineSubmit: 1000207003, semaphoreWait: 1000207004, bufferAddress: 1000244001 },
  ...{ requiredSubgroupSize: 1000225001 },
} as const;

export const MEMORY = { deviceLocal: 1, hostVisible: 2, hostCoherent: 4, hostCached: 8 } as const;
/** Buffer usage: transfer source and destination, storage buffer, device address. */
export const BUFFER_USAGE = 0x1 | 0x2 | 0x20 | 0x20000;
export const COMPUTE = { queue: 2, stage: 0x20, bindPoint: 1 } as const;

const [H, U, P] = ['uint64_t', 'uint32_t', 'void *'];
/** Functions that return a `VkResult`. */
const CALLS = {
  vkCreateInstance: [P, P, P],
  vkEnumeratePhysicalDevices: [H, P, P],
  vkCreateDevice: [H, P, P, P],
  vkDeviceWaitIdle: [H],
  vkCreateBuffer: [H, P, P, P],
  vkAllocateMemory: [H, P, P, P],
  vkBindBufferMemory: [H, H, H, H],
  vkMapMemory: [H, H, H, H, U, P],
  vkCreateShaderModule: [H, P, P, P],
  vkCreatePipelineLayout: [H, P, P, P],
  vkCreateComputePipelines: [H, H, U, P, P, P],
  vkCreateCommandPool: [H, P, P, P],
  vkAllocateCommandBuffers: [H, P, P],
  vkBeginCommandBuffer: [H, P],
  vkEndCommandBuffer: [H],
  vkCreateQueryPool: [H, P, P, P],
  vkGetQueryPoolResults: [H, H, U, U, 'size_t', P, H, U],
  vkQueueSubmit: [H, U, P, H],
  vkCreateSemaphore: [H, P, P, P],
  vkGetSemaphoreCounterValue: [H, H, P],
  vkWaitSemaphores: [H, P, H],
} as const;
/** Functions that return nothing. */
const VOID_CALLS = {
  vkDestroyInstance: [H, P],
  vkGetPhysicalDeviceProperties2: [H, P],
  vkGetPhysicalDeviceFeatures2: [H, P],
  vkGetPhysicalDeviceMemoryProperties: [H, P],
  vkGetPhysicalDeviceQueueFamilyProperties: [H, P, P],
  vkDestroyDevice: [H, P],
  vkGetDeviceQueue: [H, U, U, P],
  vkDestroyBuffer: [H, H, P],
  vkGetBufferMemoryRequirements: [H, H, P],
  vkFreeMemory: [H, H, P],
  vkDestroyShaderModule: [H, H, P],
  vkDestroyPipelineLayout: [H, H, P],
  vkDestroyPipeline: [H, H, P],
  vkDestroyCommandPool: [H, H, P],
  vkFreeCommandBuffers: [H, H, U, P],
  vkCmdBindPipeline: [H, U, H],
  vkCmdPushConstants: [H, H, U, U, U, P],
  vkCmdDispatch: [H, U, U, U],
  vkCmdPipelineBarrier: [H, U, U, U, U, P, U, P, U, P],
  vkCmdCopyBuffer: [H, H, H, U, P],
  vkCmdWriteTimestamp: [H, U, H, U],
  vkCmdResetQueryPool: [H, H, U, U],
  vkDestroyQueryPool: [H, H, P],
  vkDestroySemaphore: [H, H, P],
} as const;
export type VkFunction = keyof typeof CALLS | keyof typeof VOID_CALLS;

export const INSTALL =
  "Install the driver of your GPU; for the processor, on Debian and Ubuntu: 'apt install libvulkan1 mesa-vulkan-drivers'.";

const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['libvulkan.so.1', 'libvulkan.so'],
  win32: ['vulkan-1.dll'],
  darwin: ['libvulkan.1.dylib', '/usr/local/lib/libvulkan.1.dylib', 'libMoltenVK.dylib'],
};

/** The functions of Vulkan that the device uses. */
export class Vulkan extends StructApi<VkFunction, Purpose> {
  /** `vkGetBufferDeviceAddress`, which returns an address instead of a result code. */
  private readonly bufferAddress: NativeFunction;

  private constructor(koffi: Koffi, raw: Vulkan['raw'], bufferAddress: NativeFunction) {
    super(koffi, raw);
    this.bufferAddress = bufferAddress;
  }

  /** @throws FftError `device-unavailable` */
  static async load(): Promise<Vulkan> {
    const koffi = await loadKoffi();
    const system = LIBRARIES[process.platform] ?? LIBRARIES.linux!;
    // SwiftShader's package contains a loader, for systems that have none.
    const brought = await softwareDriver().then(
      ({ loader }) => [loader],
      () => [],
    );
    const what = 'The Vulkan loader library';
    const library = await openLibrary({ names: [...system, ...brought], what, install: INSTALL });
    const raw = { ...functionsOf(library, CALLS, 'int'), ...functionsOf(library, VOID_CALLS, 'void') };
    return new Vulkan(koffi, raw, library.func('vkGetBufferDeviceAddress', 'uint64_t', [H, P]));
  }

  protected errorOf(name: VkFunction, result: number, purpose: Purpose | undefined): FftError | undefined {
    return result < 0 ? vkFailure(name, result, purpose) : undefined;
  }

  addressOfBuffer(device: Handle, buffer: Handle): bigint {
    const info = this.struct(TYPE.bufferAddress, undefined, buffer);
    return BigInt(this.bufferAddress(device, info.bytes));
  }

  /** Lists structures: one call for their number, another for the structures. @param bytes size of one structure. */
  list(name: VkFunction, of: Handle, bytes: number): DataView {
    const count = new Uint32Array(new ArrayBuffer(4));
    this.call(name, undefined, of, count, null);
    const memory = new ArrayBuffer(bytes * count[0]!);
    if (count[0]! > 0) this.call(name, undefined, of, count, memory);
    return new DataView(memory);
  }
}

let loading: Promise<Vulkan> | undefined;

/** Opens Vulkan, once. @throws FftError `device-unavailable` */
export function vulkan(): Promise<Vulkan> {
  loading ??= Vulkan.load().catch((error: unknown) => {
    // A missing library or driver may be installed by the next attempt.
    loading = undefined;
    throw error;
  });
  return loading;
}

/** The purpose of a call, for the message of its error. */
export interface Purpose {
  /** The action at the beginning of a sentence: `Allocating 4096 bytes`. */
  readonly what: string;
  /** The error code for results without a meaning of their own. Default `launch-failed`. */
  readonly otherwise?: FftErrorCode;
}

const NAMES: Readonly<Record<number, string>> = {
  [-1]: 'VK_ERROR_OUT_OF_HOST_MEMORY',
  [-2]: 'VK_ERROR_OUT_OF_DEVICE_MEMORY',
  [-3]: 'VK_ERROR_INITIALIZATION_FAILED',
  [-4]: 'VK_ERROR_DEVICE_LOST',
  [-5]: 'VK_ERROR_MEMORY_MAP_FAILED',
  [-6]: 'VK_ERROR_LAYER_NOT_PRESENT',
  [-7]: 'VK_ERROR_EXTENSION_NOT_PRESENT',
  [-8]: 'VK_ERROR_FEATURE_NOT_PRESENT',
  [-9]: 'VK_ERROR_INCOMPATIBLE_DRIVER',
  [-10]: 'VK_ERROR_TOO_MANY_OBJECTS',
  [-13]: 'VK_ERROR_UNKNOWN',
};
const OUT_OF_MEMORY = [-1, -2, -5, -10];
const DEVICE_LOST = -4;

/** The error for the result of a call. */
export function vkFailure(name: string, result: number, purpose?: Purpose): FftError {
  const { what = `The call of ${name}`, otherwise = 'launch-failed' } = purpose ?? {};
  const said = `${NAMES[result] ?? 'a result that this library does not name'} (${result}, from ${name})`;
  if (OUT_OF_MEMORY.includes(result)) {
    return new FftError('out-of-memory', `${what} failed for lack of memory: ${said}.`);
  }
  if (result === DEVICE_LOST) {
    return new FftError('device-lost', `${what} failed because the device is gone: ${said}. Open it anew.`);
  }
  return new FftError(otherwise, `${what} failed: ${said}.`);
}
