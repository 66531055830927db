/** Devices that compile plans for hardware that is not present. Only the command line imports this file; pages never load it. */
import { createAheadBackends } from '../devices/offline/ahead.ts';
import type { AheadSettings } from '../devices/offline/compilers.ts';
import type { OfflineLanguage } from '../devices/offline/index.ts';
import type { ProfileName } from '../devices/profiles/names.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { FftError } from '../problem/index.ts';
import type { Device } from './device.ts';
import { loadGroupsBy } from './lazy/lazy-modules.ts';
import { loaders } from './lazy/lazy-tables.ts';
import { chosenProfile, ProfileDevice } from './profile-device.ts';

/**
 * Opens devices like the one of `openProfile`, but their plans can be serialized with binaries, for `omnifft aot-generate`. There are several
 * devices where one compilation does not fit all hardware of the kind.
 * @throws FftError (as a rejection) `unknown-device`, `invalid-argument`, `unsupported-feature`
 */
export async function compilingDevices(
  from: ProfileName | DeviceProfile,
  settings: AheadSettings & { readonly language?: OfflineLanguage | undefined } = {},
): Promise<Device[]> {
  const { profile, language, architecture: usual } = chosenProfile(from, settings.language);
  const architecture = settings.architecture ?? usual;
  if (settings.architecture !== undefined && language === 'wasm') {
    const message = `${language} is the same for all processors: leave architecture out.`;
    throw new FftError('invalid-argument', message, { path: 'architecture' });
  }
  loadGroupsBy(loaders);
  const backends = await createAheadBackends(profile, language, { ...settings, architecture });
  return backends.map((backend) => new ProfileDevice(backend));
}
