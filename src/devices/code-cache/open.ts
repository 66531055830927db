/** Opens what compiled code is kept in: a folder where there is a disk, a database in pages that ask for it. */
import { show } from '../../problem/errors.ts';
import { wrongOption } from '../wrong-option.ts';
import type { CodeStore } from './store.ts';
import { type CacheOption, systemStore } from './system.ts';

/**
 * @param cache the option of `openDevice`.
 * @param version of omnifft.
 * @returns undefined where nothing is kept.
 * @throws FftError `invalid-argument`
 */
export async function openStore(cache: CacheOption, version: string): Promise<CodeStore | undefined> {
  if (!(cache === undefined || typeof cache === 'boolean' || (typeof cache === 'string' && cache !== ''))) {
    throw wrongOption('cache', `cache is ${show(cache)}; it takes true, false, or text that names where code is kept.`);
  }
  return systemStore(cache, version);
}
