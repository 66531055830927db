/**
 * OpenCL 1.2 over the system's loader library: any GPU with an OpenCL driver, and processors through PoCL. The driver compiles kernels when a plan is
 * made.
 */
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type { CodeStore } from '../code-cache/store.ts';
import type { BoundStep } from '../common/program.ts';
import type { Backend, CompileOptions, PackedKernel } from '../device.ts';
import { NativeBackend } from '../native/backend.ts';
import type { Launches } from '../native/driver.ts';
import { type SpmdFacts, unpackedSpirv } from '../native/kernel.ts';
import { loadKoffi } from '../native/library.ts';
import type { DeviceOptions, Overridden, WithStore } from '../options.ts';
import { type Handle, INFO, type OpenCl, openCl, requireHandle } from './api.ts';
import { ClDriver } from './driver.ts';
import { ClKernel, writtenClKernel } from './kernel.ts';
import { ClLaunches } from './launches.ts';
import { ClAllocator, type ClBuffer } from './memory.ts';
import { openClProfile } from './profile.ts';
import { type ClDevice, chooseClDevice, clDevices, contextDevices } from './select.ts';

export { openClAvailability as availability } from './select.ts';

export type OpenClOptions = Pick<DeviceOptions, 'platform' | 'device' | 'context' | 'queue' | 'spirv'> &
  WithStore &
  Overridden;

/**
 * Opens an OpenCL device: a GPU where there is one, unless the options say which.
 * @throws FftError `device-unavailable`, `invalid-argument`, `out-of-memory`
 */
export async function create(options: OpenClOptions = {}): Promise<Backend> {
  const cl = await openCl();
  const koffi = await loadKoffi();
  const { chosen, context, queue } = openContext(cl, options);
  try {
    const spirv = wantsSpirv(cl, chosen, options.spirv);
    const driver = new ClDriver({ cl, koffi, context, device: chosen.device, queue, spirv, store: options.store });
    const profile = { ...openClProfile(cl, chosen, chosen.name), ...options.profile };
    return new ClBackend(driver, chosen.name, profile, options.store);
  } catch (error) {
    if (queue !== undefined) cl.raw.clReleaseCommandQueue(queue);
    cl.raw.clReleaseContext(context);
    throw error;
  }
}

/**
 * Whether kernels are given to the driver as SPIR-V. @throws FftError `device-unavailable` if the option asks for SPIR-V and the driver does not take
 * it.
 */
function wantsSpirv(cl: OpenCl, { device, name }: ClDevice, wanted: boolean | undefined): boolean {
  if (wanted === false) return false;
  const taken = cl.takesSpirv(device);
  if (taken || wanted === undefined) return taken;
  const message = `The driver of ${name} takes no SPIR-V: that needs OpenCL 2.1 and a driver that says so. Leave spirv out.`;
  throw new FftError('device-unavailable', message, { path: 'spirv' });
}

/** The chosen device with a context and the caller's queue, all retained or created here. */
function openContext(cl: OpenCl, options: OpenClOptions): { chosen: ClDevice; context: Handle; queue?: Handle } {
  const { platform, device, context, queue } = options;
  if (context === undefined && queue === undefined) {
    const chosen = chooseClDevice(clDevices(cl), { platform, device });
    return { chosen, context: cl.createContext(chosen.platform, chosen.device) };
  }
  refuseBoth('platform', platform, context === undefined ? 'queue' : 'context');
  if (queue === undefined) {
    const given = requireHandle(context, 'context');
    const chosen = chooseClDevice(contextDevices(cl, given), { device });
    cl.call('clRetainContext', undefined, given);
    return { chosen, context: given };
  }
  requireHandle(queue, 'queue');
  refuseBoth('device', device, 'queue');
  const owner = cl.handle('queue', queue, INFO.queueContext);
  if (context !== undefined && context !== owner) {
    throw new FftError('invalid-argument', 'context and queue do not belong together; leave context out.', {
      path: 'context',
    });
  }
  const own = cl.handle('queue', queue, INFO.queueDevice);
  const chosen = chooseClDevice(
    contextDevices(cl, owner).filter((each) => each.device === own),
    {},
  );
  cl.call('clRetainContext', undefined, owner);
  cl.call('clRetainCommandQueue', undefined, queue);
  return { chosen, context: owner, queue };
}

/** Refuses an option that another option decides. @throws FftError `invalid-argument` */
function refuseBoth(name: 'platform' | 'device', value: unknown, other: string): void {
  if (value === undefined) return;
  throw new FftError('invalid-argument', `${name} and ${other} were given, but ${other} decides; leave ${name} out.`, {
    path: name,
  });
}

class ClBackend extends NativeBackend<ClBuffer, ClKernel> {
  readonly driver: ClDriver;
  readonly memory: ClAllocator;

  constructor(driver: ClDriver, name: string, profile: DeviceProfile, store: CodeStore | undefined) {
    super(driver, name, profile, store);
    this.driver = driver;
    this.memory = driver.memory = new ClAllocator(driver, this);
  }

  protected translate(kernel: Kernel, options: CompileOptions): ClKernel {
    return writtenClKernel(kernel, this.driver, options);
  }

  protected revive({ outline, facts, code }: PackedKernel, whole: () => Kernel): ClKernel {
    const kernel = { ...outline, whole };
    const spirv = unpackedSpirv({ outline, facts, code });
    if (spirv) return new ClKernel(kernel, spirv.program, this.driver, spirv.binary);
    return new ClKernel(kernel, (facts as SpmdFacts).program, this.driver, code);
  }

  protected layOut(steps: readonly BoundStep<ClBuffer, ClKernel>[]): Launches {
    return new ClLaunches(this.driver, steps);
  }
}
