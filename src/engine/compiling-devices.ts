/** Devices that are not there, whose plans are compiled all the same. Commands only: nothing that a page loads imports it. */
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
 * Devices like that of `openProfile` whose plans can be serialized with their binaries: `omnifft aot-generate`. Several, where one
 * compilation does not fit all devices of the kind.
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
