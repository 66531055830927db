/**
 * Every kind of device that this build can open, and how: a new device is a folder beside this file and a line here.
 * Modules are loaded on first use.
 */
import type { Availability, Backend, DeviceKind } from './device.ts';

/** What `openDevice` may be told. */
export interface DeviceOptions {
  /** Threads of the `cpu` device; default: one for each processor. */
  readonly threads?: number;
}

export interface DeviceModule {
  availability(): Availability;
  create(options: DeviceOptions): Promise<Backend>;
}

/** In the order in which `auto` tries them. */
const modules: readonly (readonly [DeviceKind, () => Promise<DeviceModule>])[] = [
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
