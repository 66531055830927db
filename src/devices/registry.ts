/**
 * Every kind of device that this build can open, and how: a new device is a folder beside this file and a line here.
 * Modules are loaded on first use.
 */
import type { Availability, Backend, DeviceKind } from './device.ts';
import type { DeviceOptions } from './options.ts';

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
