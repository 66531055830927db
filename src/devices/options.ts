/** Options for opening devices. */
import type { DeviceProfile } from '../plan/device/profile.ts';
import type { CodeStore } from './code-cache/store.ts';

/** Options of `openDevice`. Each kind of device reads its own options only. */
export interface DeviceOptions {
  /** The precision that plans on the device will need: `auto` skips devices that cannot compute in it. */
  readonly precision?: 'single' | 'double' | undefined;
  /** `cpu`: the number of threads. Default and maximum: one for each processor. `profile.multiprocessors` is the actual number. */
  readonly threads?: number | undefined;
  /** `webgpu`: a `GPU` to ask for adapters, kept as long as the process lasts; default: `navigator.gpu`, in Node the one of the package `webgpu`. */
  readonly gpu?: object | undefined;
  /** `webgpu`: a `GPUAdapter` that has not given a device yet. */
  readonly adapter?: object | undefined;
  /**
   * Which of several devices, by its number in `listDevices()` or a part of its name. `webgpu`: also a `GPUDevice` of the
   * caller, which stays open when the device closes; `vulkan`: a `VkDevice` of the caller, as `{ vkPhysicalDevice, vkDevice,
   * vkQueue, queueFamily, features }`.
   */
  readonly device?: object | number | string | undefined;
  /** `webgpu`: which of several adapters to prefer. */
  readonly powerPreference?: 'low-power' | 'high-performance' | undefined;
  /**
   * `webgpu`, `vulkan`: a device that computes on the processor; for `webgpu` in Node that is SwiftShader out of the package
   * `@sparticuz/chromium`, for `vulkan` it is that where the system has none of its own. Default: false, unless the environment has `OMNIFFT_SOFTWARE_GPU=1`.
   */
  readonly software?: boolean | undefined;
  /**
   * `cuda`, `hip`: a context of the caller's, which stays open. Default: the primary context of the device with the number `device`.
   * `opencl`: a `cl_context`. `level-zero`: a `ze_context_handle_t` of the driver of the device that `device` chooses.
   */
  readonly context?: bigint | undefined;
  /** `cuda`, `hip`: a stream of the caller's in that context, for all work. Default: the device makes its own. */
  readonly stream?: bigint | undefined;
  /** `opencl`: part of a platform's name, or its number in the system's order; `device` chooses among its devices likewise. */
  readonly platform?: string | number | undefined;
  /** `opencl`: a `cl_command_queue` of the caller's, for all work. */
  readonly queue?: bigint | undefined;
  /** `opencl`: whether kernels are given to the driver as SPIR-V (true) or as source (false). Default: as SPIR-V if the driver takes it. */
  readonly spirv?: boolean | undefined;
  /**
   * Whether compiled code and plans are kept for later processes, and where: a folder; in pages a database (`true`: `omnifft`).
   * Default: the folder of the system for such files, unless the environment has `OMNIFFT_CACHE`; in pages nothing. docs/cache.md says what is kept.
   */
  readonly cache?: boolean | string | undefined;
}

/** The store that a device is opened with, beside its options. */
export interface WithStore {
  /** The store that keeps compiled code for other processes; absent if nothing is kept. */
  readonly store?: CodeStore | undefined;
}

/** The names of all options, by which misspelt ones are found. */
export const deviceOptionNames: readonly string[] = Object.keys({
  ...{ precision: 0, threads: 0, gpu: 0, adapter: 0, device: 0, powerPreference: 0, software: 0 },
  ...{ context: 0, stream: 0, platform: 0, queue: 0, spirv: 0, cache: 0 },
} satisfies Record<keyof DeviceOptions, 0>);

/** Overrides for tests, which `openDevice` does not offer. */
export interface Overridden {
  /** Replaces parts of the profile that the planner sees. */
  readonly profile?: Partial<DeviceProfile> | undefined;
}
