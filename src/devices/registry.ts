/**
 * The kinds of devices of this build, and how to open them: a new device is a folder beside this file and a line here. Modules are loaded on first
 * use.
 */
import { FftError, reasonOf } from '../problem/errors.ts';
import type { Availability, Backend, DeviceKind, OpenableKind } from './device.ts';
import type { DeviceOptions, WithStore } from './options.ts';
import { librariesForbidden } from './permissions.ts';

interface DeviceModule {
  /** @param hardware whether to leave out devices that compute on the processor; a kind without any others is then not loaded. */
  availability(hardware?: boolean): Availability | Promise<Availability>;
  create(options: DeviceOptions & WithStore): Promise<Backend>;
}

type Load = () => Promise<DeviceModule>;

/** The modules by kind, in the order in which `auto` tries them. */
const modules: Readonly<Record<OpenableKind, Load>> = {
  cuda: behindLibrary('CUDA', () => import('./cuda/index.ts')),
  hip: behindLibrary('HIP', () => import('./hip/index.ts')),
  webgpu: () => import('./webgpu/index.ts'),
  opencl: behindLibrary('OpenCL', () => import('./opencl/index.ts')),
  vulkan: behindLibrary('Vulkan', () => import('./vulkan/index.ts')),
  'level-zero': behindLibrary('Level Zero', () => import('./level-zero/index.ts')),
  cpu: () => import('./cpu/index.ts'),
};

/** The kinds that this build can open, in order of preference. */
export const openableKinds = Object.keys(modules) as readonly OpenableKind[];

/**
 * The module of a kind; undefined if this build has none. Runtimes may forbid or lack parts of it and throw errors of their own. Here such a kind is
 * reported as not available, and opening it throws `device-unavailable`.
 */
export async function deviceModule(kind: DeviceKind): Promise<DeviceModule | undefined> {
  const load = (modules as Partial<Record<DeviceKind, Load>>)[kind];
  if (!load) return undefined;
  const module = await load().catch((cause) => missingModule(kind, reasonOf(cause), cause));
  return {
    async availability(hardware) {
      try {
        return await module.availability(hardware);
      } catch (cause) {
        return { name: kind, available: false, reason: reasonOf(cause) };
      }
    },
    async create(options) {
      try {
        return await module.create(options);
      } catch (cause) {
        throw cause instanceof FftError ? cause : unavailable(kind, reasonOf(cause), cause);
      }
    },
  };
}

/** The module of a device behind a C library: it is not loaded if native libraries are forbidden. */
function behindLibrary(title: string, load: Load): Load {
  return async () => {
    const reason = librariesForbidden();
    return reason === undefined ? load() : missingModule(title, reason);
  };
}

function missingModule(name: string, reason: string, cause?: unknown): DeviceModule {
  return {
    availability: () => ({ name, available: false, reason }),
    create: () => Promise.reject(unavailable(name, reason, cause)),
  };
}

function unavailable(name: string, reason: string, cause?: unknown): FftError {
  return new FftError('device-unavailable', `${name} cannot be opened: ${reason}.`, { cause });
}
