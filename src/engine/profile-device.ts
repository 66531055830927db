/** The device that `openProfile` gives: it plans, writes kernels, and has no memory. */
import { createOfflineBackend, type OfflineLanguage, offlineLanguages, profileOnly } from '../devices/offline/index.ts';
import { type NamedProfile, namedProfiles } from '../devices/profiles/index.ts';
import { type ProfileName, profileNames } from '../devices/profiles/names.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { show } from '../problem/errors.ts';
import { FftError } from '../problem/index.ts';
import { readOptions } from './arguments/options.ts';
import { Device } from './device.ts';
import { loadGroupsBy } from './lazy/lazy-modules.ts';
import { loaders } from './lazy/lazy-tables.ts';
import { readProfile } from './profile-check.ts';

/** Plans like the device it stands for, and has no memory. */
export class ProfileDevice extends Device {
  /** @throws FftError `device-unavailable`, always */
  override alloc(): never {
    throw profileOnly(this.name, 'allocate memory');
  }
}

/** See `openProfile`. */
export async function profileDevice(
  from: ProfileName | DeviceProfile,
  options: { readonly language?: OfflineLanguage },
): Promise<Device> {
  const { language: requested } = readOptions(options, { works: ['language'] }, 'openProfile');
  const { profile, language } = chosenProfile(from, requested);
  loadGroupsBy(loaders);
  return new ProfileDevice(await createOfflineBackend({ profile, language }));
}

/** The profile as far as kernels in a language can use it, and the compiler's name for its architecture. */
export function chosenProfile(from: ProfileName | DeviceProfile, requested: OfflineLanguage | undefined) {
  const named: Partial<NamedProfile> = typeof from === 'string' ? byName(from) : { profile: readProfile(from) };
  const profile = named.profile!;
  const usual = named.language ?? (profile.lockstep === 'vector' ? 'wasm' : 'cuda');
  const language = requested ?? usual;
  requireLanguage(language, profile);
  const architecture = language === usual ? named.architecture : undefined;
  return { profile: expressible(profile, language), language, architecture };
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
 * The profile without the features that the language cannot express: double precision in WGSL and in Metal's language, clusters and interleaved
 * launches in all languages but CUDA.
 */
function expressible(profile: DeviceProfile, language: OfflineLanguage): DeviceProfile {
  if (language === 'cuda') return profile;
  const { cluster: _, ...apart } = profile;
  const { chunks, ...one } = apart;
  const plain = chunks?.ahead === undefined ? apart : one;
  return language === 'wgsl' || language === 'msl' ? { ...plain, precisions: ['single'] } : plain;
}
