/**
 * The folder in which compiled code is kept in Node, Deno and Bun. The build for browsers has another file in the place of this one
 * (scripts/bundle-browser.mjs): there is no disk.
 */
import { builtin, nodeModule } from '../cpu/host.ts';
import { environmentVariable, isPermitted } from '../permissions.ts';
import { DiskStore, type NodeModules } from './disk.ts';
import { buildDigest, type CodeStore } from './store.ts';

/** What the caller said: no, a folder, or nothing. `true` is what happens anyway. */
export type CacheOption = boolean | string | undefined;

/** By folder and build: devices of a process share what waits to be written. */
const stores = new Map<string, CodeStore>();

/** @param version of omnifft. */
export async function systemStore(option: CacheOption, version: string): Promise<CodeStore | undefined> {
  const folder = folderOf(option);
  if (folder === undefined) return undefined;
  try {
    const fs = await nodeModule<typeof import('node:fs')>('node:fs');
    const crypto = await nodeModule<typeof import('node:crypto')>('node:crypto');
    return fs && crypto && storeIn(folder, version, { fs, crypto });
  } catch {
    return undefined;
  }
}

/** The same at once; undefined also in Node before 20.16. */
export function systemStoreSync(option: CacheOption, version: string): CodeStore | undefined {
  const folder = folderOf(option);
  if (folder === undefined) return undefined;
  const fs = builtin<typeof import('node:fs')>('node:fs');
  const crypto = builtin<typeof import('node:crypto')>('node:crypto');
  return fs && crypto && storeIn(folder, version, { fs, crypto });
}

function storeIn(folder: string, version: string, node: NodeModules): CodeStore {
  const build = `${version}+${buildDigest ?? 'sources'}`;
  const key = JSON.stringify([folder, build]);
  let store = stores.get(key);
  if (!store) stores.set(key, (store = new DiskStore(folder, build, node)));
  return store;
}

/** The folder, if code is to be kept and may be. */
function folderOf(option: CacheOption): string | undefined {
  if (option === false || typeof process === 'undefined' || !process.versions?.node) return undefined;
  const told = environmentVariable('OMNIFFT_CACHE') || undefined;
  if (told === 'off') return undefined;
  const folder =
    typeof option === 'string' ? option : (told ?? (buildDigest === undefined ? undefined : usualFolder()));
  if (folder === undefined) return undefined;
  // Deno would ask the user for permission, and a cache is not worth a question.
  return (['read', 'write'] as const).every((name) => isPermitted({ name, path: folder })) ? folder : undefined;
}

/** Where systems want such files: https://specifications.freedesktop.org/basedir-spec, and its like elsewhere. */
function usualFolder(): string | undefined {
  const xdg = environmentVariable('XDG_CACHE_HOME');
  // The specification says that relative paths are to be ignored.
  if (xdg?.startsWith('/')) return `${xdg}/omnifft`;
  if (process.platform === 'win32') {
    const local = environmentVariable('LOCALAPPDATA');
    return local && `${local}\\omnifft\\Cache`;
  }
  const home = environmentVariable('HOME');
  if (!home?.startsWith('/')) return undefined;
  return process.platform === 'darwin' ? `${home}/Library/Caches/omnifft` : `${home}/.cache/omnifft`;
}
