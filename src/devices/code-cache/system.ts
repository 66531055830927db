/**
 * The folder of compiled code in Node, Deno and Bun. The build for browsers replaces this file (scripts/bundle-browser.mjs), because browsers have no
 * disk.
 */
import { builtin, nodeModule } from '../cpu/host.ts';
import { environmentVariable, isPermitted } from '../permissions.ts';
import { DiskStore, type NodeModules } from './disk.ts';
import { buildDigest, type CodeStore } from './store.ts';

/** The caller's option `cache`: `false` keeps nothing, a text names the folder; `true` and `undefined` mean the default folder. */
export type CacheOption = boolean | string | undefined;

/** Stores by folder and build: devices of one process share the queue of entries to be written. */
const stores = new Map<string, CodeStore>();

/** Opens the store that the option asks for. @param version of omnifft. */
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

/** `systemStore` for callers that cannot wait; undefined also in Node before 20.16. */
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

/** The folder; undefined if code must not be kept. */
function folderOf(option: CacheOption): string | undefined {
  if (option === false || typeof process === 'undefined' || !process.versions?.node) return undefined;
  const told = environmentVariable('OMNIFFT_CACHE') || undefined;
  if (told === 'off') return undefined;
  const folder =
    typeof option === 'string' ? option : (told ?? (buildDigest === undefined ? undefined : usualFolder()));
  if (folder === undefined) return undefined;
  // Deno would ask the user for the permission, and a cache does not justify a question.
  return (['read', 'write'] as const).every((name) => isPermitted({ name, path: folder })) ? folder : undefined;
}

/** The system's folder for caches: https://specifications.freedesktop.org/basedir-spec on Linux, and its counterparts elsewhere. */
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
