/**
 * Before all tests: PoCL keeps what it has compiled, by the text of each kernel, from run to run. Random problems add to
 * that every time, so it begins anew when it has grown large.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const poclCache = fileURLToPath(new URL('../../node_modules/.cache/omnifft-pocl', import.meta.url));

/** Each kernel takes some ten files of about a hundred kilobytes in all. */
const MOST_FILES = 20_000;

export function setup(): void {
  if (existsSync(poclCache) && readdirSync(poclCache, { recursive: true }).length > MOST_FILES) {
    rmSync(poclCache, { recursive: true, force: true });
  }
  mkdirSync(poclCache, { recursive: true });
}
