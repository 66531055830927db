/**
 * Every kind of device that this build can open, and how: a new device is a folder beside this file and a line here.
 * Modules are loaded on first use.
 */
import type { Availability, Backend, DeviceKind, OpenableKind } from './device.ts';
import type { DeviceOptions } from './options.ts';

interface DeviceModule {
  /** @param hardware what computes on the processor is not wanted: where that is all there can be, nothing is loaded. */
  availability(hardware?: boolean): Availability | Promise<Availability>;
  create(options: DeviceOptions): Promise<Backend>;
}

/** In the order in which `auto` tries them. */
const modules: Readonly<Record<OpenableKind, () => Promise<DeviceModule>>> = {
  cuda: () => import('./cuda/index.ts'),
  hip: () => import('./hip/index.ts'),
  webgpu: () => import('./webgpu/index.ts'),
  opencl: () => import('./opencl/index.ts'),
  cpu: () => import('./cpu/index.ts'),
};

/** The kinds that this build knows how to open, best first. */
export const openableKinds = Object.keys(modules) as readonly OpenableKind[];

/** The module of a kind, or undefined where this build has none. */
export async function deviceModule(kind: DeviceKind): Promise<DeviceModule | undefined> {
  return (modules as Partial<Record<DeviceKind, () => Promise<DeviceModule>>>)[kind]?.();
}
