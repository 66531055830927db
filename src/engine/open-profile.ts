/**
 * Planning for a device that is not present, by a named profile or by the caller's own. The code for it is loaded when
 * it is called for.
 */
import type { OfflineLanguage } from '../devices/offline/index.ts';
import type { ProfileName } from '../devices/profiles/names.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import type { Checked, ProblemInput, ProblemLike } from '../problem/index.ts';
import type { asyncDispose, dispose } from './arguments/memory.ts';
import type { Device } from './device.ts';
import { loadGroups } from './lazy/lazy-modules.ts';
import { profileLoaders } from './lazy/lazy-tables.ts';
import type { Plan } from './plan.ts';
import type { PlanOptions, PlanTypesFor } from './plans/plan-types.ts';

export { type ProfileName, profileNames } from '../devices/profiles/names.ts';

export interface ProfileOptions {
  /** The language of the kernels. Default: that of the named profile; for other profiles `cuda`, or `wasm` if they have vectors. */
  readonly language?: OfflineLanguage;
}

/** The parts of a plan that work where nothing can run. */
export type ProfiledPlan<P extends ProblemLike = ProblemInput> = Pick<
  Plan<PlanTypesFor<P>>,
  | 'problem'
  | 'input'
  | 'output'
  | 'directions'
  | 'bytes'
  | 'kernels'
  | 'explain'
  | 'toJSON'
  | 'serialize'
  | 'deviceFunction'
  | 'destroy'
  | typeof dispose
>;

/** A device that plans, and has no memory and runs nothing. */
export interface ProfiledDevice
  extends Pick<
    Device,
    'kind' | 'name' | 'profile' | 'compile' | 'finish' | 'close' | typeof dispose | typeof asyncDispose
  > {
  /** Plans a problem, as `plan` of a device does. */
  plan<const P extends ProblemInput | string>(problem: P & Checked<P>, options?: PlanOptions): Promise<ProfiledPlan<P>>;
  /** Plans a problem at once, as `planSync` of a device does. */
  planSync<const P extends ProblemInput | string>(problem: P & Checked<P>, options?: PlanOptions): ProfiledPlan<P>;
}

/**
 * A device to plan with, explain and read kernels of, without the hardware: `plan.explain()`, `plan.toJSON()`,
 * `plan.kernels`, `plan.bytes`, `plan.serialize()` and `plan.deviceFunction()` work; calls that need memory or run are refused.
 *
 * @param from a name such as `h200`, or a profile: a real device's (`device.profile`) or one of your own.
 * @throws FftError (as a rejection) `unknown-device`, `invalid-argument`, `unknown-field`; its plans and memory throw
 * `device-unavailable` where they would have to run or allocate.
 */
export async function openProfile(
  from: ProfileName | DeviceProfile,
  options: ProfileOptions = {},
): Promise<ProfiledDevice> {
  const { profileDevice } = await import('./profile-device.ts');
  const loading = loadGroups(['device functions'], profileLoaders);
  if (loading) await loading;
  return profileDevice(from, options);
}
