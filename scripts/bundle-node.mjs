// The library for Node: the package's entries and its command as ES modules, written to dist/.
//
//   node scripts/bundle-node.mjs [folder]
//
// What they share, and every device, is a chunk of its own: a program loads only the device that it opens. One file for
// each source would be as good, but Node takes three times as long to find, read and link some hundred of them.

import { chmodSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const command = 'cli/main';

/** Module of src/ → module of dist/ with the same name. */
const entries = [
  'index',
  'sync',
  'numeric',
  'numpy/index',
  'numpy/sync',
  'signal/index',
  'signal/sync',
  // No entry of the package, but a chunk of its own: who needs no transform gets none.
  'numpy/helpers',
  command,
  // For programs of this repository: examples/start.mjs and scripts/software-adapter.mjs.
  'cli/picture/index',
  'devices/webgpu/software',
];

/** @param {string} folder where the modules go; it is not emptied. */
export async function bundleNode(folder) {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    chunkNames: 'chunk-[hash]',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  chmodSync(join(folder, `${command}.js`), 0o755);
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  await bundleNode(resolve(process.argv[2] ?? join(root, 'dist')));
}
