// The playground, the examples and the library as static files, in folders side by side, wherever they are served from.
//
//   node playground/build.mjs [folder]        (default: out/playground-site)

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, mergeConfig } from 'vite';
import { bundleBrowser, root } from '../scripts/bundle-browser.mjs';
import { configWith } from './vite.config.mjs';

/**
 * @param {string} folder gets playground/, examples/ and dist/browser/
 * @param {ReadonlyMap<string, Uint8Array>} [files] of the library, by name; bundled where they are not given
 */
export async function buildPlayground(folder, files) {
  writeBeside(folder, files ?? (await bundleBrowser()).files);
  const here = { configFile: false, logLevel: 'warn', build: { outDir: folder, emptyOutDir: false } };
  await build(mergeConfig(configWith(join(folder, 'dist', 'browser')), here));
}

/**
 * The examples and a library for them.
 * @param {string} folder gets examples/ and dist/browser/
 * @param {ReadonlyMap<string, Uint8Array>} files of the library, by name
 */
export function writeBeside(folder, files) {
  const library = join(folder, 'dist', 'browser');
  mkdirSync(library, { recursive: true });
  for (const [name, contents] of files) writeFileSync(join(library, name), contents);
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const folder = resolve(process.argv[2] ?? join(root, 'out', 'playground-site'));
  await buildPlayground(folder);
  console.log(`The playground is in ${folder}: serve it, with any server of static files, and open playground/.`);
}
