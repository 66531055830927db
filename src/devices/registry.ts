/**
 * Every kind of device that this build can open, and how: a new device is a folder beside this file and a line here.
 * Modules are loaded on first use.
 */
import type { Availability, Backend, DeviceKind } from './device.ts';

/** What `openDevice` may be told. A kind of device looks at its own options only. */
export interface DeviceOptions {
  /** What plans on the device will need: `auto` passes over devices that cannot compute in it. */
  readonly precision?: 'single' | 'double';
  /** `cpu`: threads; default, and at most: one for each processor. `profile.multiprocessors` tells how many there are. */
  readonly threads?: number;
  /** `webgpu`: a `GPU` to ask for adapters, kept as long as the process lasts; default: `navigator.gpu`, in Node the one of the package `webgpu`. */
  readonly gpu?: object;
  /** `webgpu`: a `GPUAdapter` that still gives a device. */
  readonly adapter?: object;
  /**
   * `webgpu`: a `GPUDevice` of the caller, which stays open when the device closes. `cuda`, `hip`, `opencl`: which of
   * several devices, by its number; `opencl` also by its name.
   */
  readonly device?: object | number | string;
  /** `webgpu`: which of several adapters to prefer. */
  readonly powerPreference?: 'low-power' | 'high-performance';
  /**
   * `webgpu`: an adapter that computes on the processor; in Node that is SwiftShader out of the package
   * `@sparticuz/chromium`. Default: false, unless the environment has `OMNIFFT_SOFTWARE_GPU=1`.
   */
  readonly software?: boolean;
  /**
   * `cuda`, `hip`: a context of the caller's, which stays open; default: the primary one of the device of number `device`.
   * `opencl`: a `cl_context`.
   */
  readonly context?: bigint;
  /** `cuda`, `hip`: a stream of the caller's in that context, for all work; default: one of the device's own. */
  readonly stream?: bigint;
  /** `opencl`: part of a platform's name, or its number in the system's order; `device` chooses among its devices likewise. */
  readonly platform?: string | number;
  /** `opencl`: a `cl_command_queue` of the caller's, for all work. */
  readonly queue?: bigint;
}

/** The names of all of them: a misspelt one must not be ignored. */
export const deviceOptionNames: readonly string[] = Object.keys({
  ...{ precision: 0, threads: 0, gpu: 0, adapter: 0, device: 0, powerPreference: 0, software: 0 },
  ...{ context: 0, stream: 0, platform: 0, queue: 0 },
} satisfies Record<keyof DeviceOptions, 0>);

export interface DeviceModule {
  /** @param hardware what computes on the processor is not wanted: where that is all there can be, nothing is loaded. */
  availability(hardware?: boolean): Availability | Promise<Availability>;
  create(options: DeviceOptions): Promise<Backend>;
}

/** In the order in which `auto` tries them. */
const modules: readonly (readonly [DeviceKind, () => Promise<DeviceModule>])[] = [
  [
    'cuda',
    async () => {
      const { createCudaBackend, cudaAvailability } = await import('./cuda/index.ts');
      return { availability: cudaAvailability, create: createCudaBackend };
    },
  ],
  [
    'hip',
    async () => {
      const { createHipBackend, hipAvailability } = await import('./hip/index.ts');
      return { availability: hipAvailability, create: createHipBackend };
    },
  ],
  [
    'webgpu',
    async () => {
      const { createWebGpuBackend, webGpuAvailability } = await import('./webgpu/index.ts');
      return { availability: webGpuAvailability, create: createWebGpuBackend };
    },
  ],
  [
    'opencl',
    async () => {
      const { createOpenClBackend, openClAvailability } = await import('./opencl/index.ts');
      return { availability: openClAvailability, create: createOpenClBackend };
    },
  ],
  [
    'cpu',
    async () => {
      const { cpuAvailability, createCpuBackend } = await import('./cpu/index.ts');
      return { availability: cpuAvailability, create: createCpuBackend };
    },
  ],
];

/** The kinds that this build knows how to open, best first. */
export const openableKinds: readonly DeviceKind[] = modules.map(([kind]) => kind);

/** The module of a kind, or undefined where this build has none. */
export async function deviceModule(kind: DeviceKind): Promise<DeviceModule | undefined> {
  return modules.find(([known]) => known === kind)?.[1]();
}
