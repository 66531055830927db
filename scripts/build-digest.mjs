// Which code of the library a build is: compiled code that another state of the sources has written is not used
// (src/devices/code-cache/store.ts).

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from 'esbuild';

/** Of all sources but tests, and of what bundles them. @param {string} root of the repository */
export function buildDigest(root) {
  const folder = join(root, 'src');
  const hash = createHash('sha256').update(version);
  const names = readdirSync(folder, { recursive: true }).filter(
    (name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name),
  );
  for (const name of names.sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
