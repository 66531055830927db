/**
 * Planning for a device that is not there: named profiles, and profiles of the caller's own.
 */

import { createOfflineBackend, type OfflineLanguage, offlineLanguages, profileOnly } from '../devices/offline/index.ts';
import { type NamedProfile, namedProfiles, type ProfileName } from '../devices/profiles/index.ts';
import type { DeviceProfile } from '../plan/profile.ts';
import { show } from '../problem/errors.ts';
import { type Checked, FftError, type ProblemInput, type ProblemLike } from '../problem/index.ts';
import { Device, type PlanOptions } from './device.ts';
import { readOptions } from './options.ts';
import type { Plan } from './plan.ts';
import type { PlanTypesFor } from './plan-types.ts';
import { readProfile } from './profile-check.ts';

export interface ProfileOptions {
  /** What kernels are written in. Default: the named profile's own; of other profiles `cuda`, or `wasm` for vectors. */
  readonly language?: OfflineLanguage;
}

/** What a plan is there for where nothing can run. */
export type ProfiledPlan<P extends ProblemLike = ProblemInput> = Pick<
  Plan<PlanTypesFor<P>>,
  'problem' | 'input' | 'output' | 'directions' | 'bytes' | 'kernels' | 'explain' | 'toJSON' | 'serialize' | 'destroy'
>;

/** A device that plans, and has no memory and runs nothing. */
export interface ProfiledDevice extends Pick<Device, 'kind' | 'name' | 'profile' | 'finish' | 'close'> {
  /** As `plan` of a device. */
  plan<const P extends ProblemInput | string>(problem: P & Checked<P>, options?: PlanOptions): Promise<ProfiledPlan<P>>;
  /** As `planSync` of a device. */
  planSync<const P extends ProblemInput | string>(problem: P & Checked<P>, options?: PlanOptions): ProfiledPlan<P>;
}

/** Plans like the device it stands for, and has no memory. */
class ProfileDevice extends Device {
  /** @throws FftError `device-unavailable`, always */
  override alloc(): never {
    throw profileOnly(this.name, 'allocate memory');
  }
}

/** Names that `openProfile` knows. */
export const profileNames = Object.freeze(Object.keys(namedProfiles)) as readonly ProfileName[];

/**
 * A device to plan with, explain and read kernels of, without the hardware: `plan.explain()`, `plan.toJSON()`,
 * `plan.kernels`, `plan.bytes` and `plan.serialize()` work; what needs memory or runs is refused.
 *
 * @param from a name such as `h200`, or a profile: that of a real device (`device.profile`) or one of your own.
 * @throws FftError (as a rejection) `unknown-device`, `invalid-argument`, `unknown-field`; its plans and memory throw
 * `device-unavailable` where they would have to run or allocate.
 */
export async function openProfile(
  from: ProfileName | DeviceProfile,
  options: ProfileOptions = {},
): Promise<ProfiledDevice> {
  const { language: asked } = readOptions(options, { works: ['language'] }, 'openProfile');
  const named: Partial<NamedProfile> = typeof from === 'string' ? byName(from) : { profile: readProfile(from) };
  const profile = named.profile!;
  const usual = named.language ?? (profile.lockstep === 'vector' ? 'wasm' : 'cuda');
  const language = asked ?? usual;
  requireLanguage(language, profile);
  return new ProfileDevice(await createOfflineBackend({ profile: sayable(profile, language), language }));
}

function byName(name: string): NamedProfile {
  if (Object.hasOwn(namedProfiles, name)) return namedProfiles[name as ProfileName];
  throw new FftError('unknown-device', `There is no profile ${show(name)}; choose one of ${profileNames.join(', ')}.`);
}

function requireLanguage(language: OfflineLanguage, { name, lockstep }: DeviceProfile): void {
  const fits = offlineLanguages.filter((known) => (known === 'wasm') === (lockstep === 'vector'));
  if (fits.includes(language)) return;
  throw new FftError(
    'invalid-argument',
    `language is ${show(language)}; kernels for ${name} can be written in ${fits.join(', ')}.`,
    { path: 'language' },
  );
}

/**
 * The profile, less what the language has no words for: double precision in WGSL, clusters and launches that take turns in
 * all but CUDA.
 */
function sayable(profile: DeviceProfile, language: OfflineLanguage): DeviceProfile {
  if (language === 'cuda') return profile;
  const { cluster: _, ...apart } = profile;
  const { chunks, ...one } = apart;
  const said = chunks?.ahead === undefined ? apart : one;
  return language === 'wgsl' ? { ...said, precisions: ['single'] } : said;
}
