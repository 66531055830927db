// The playground as static files: it and the library, in folders side by side, wherever they are served from.
//
//   node playground/build.mjs [folder]        (default: out/playground-site)

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleBrowser, libraryEntries, root } from '../scripts/bundle-browser.mjs';

/** What the page consists of beside its script. */
const FILES = ['index.html', 'style.css', 'icon.svg'];

/** @param {string} folder gets playground/ and dist/browser/ */
export async function buildPlayground(folder) {
  const { files } = await bundleBrowser({ entries: { ...libraryEntries, playground: 'playground/src/main.ts' } });
  const library = join(folder, 'dist', 'browser');
  mkdirSync(library, { recursive: true });
  mkdirSync(join(folder, 'playground'), { recursive: true });
  for (const [name, contents] of files) writeFileSync(join(library, name), contents);
  for (const name of FILES) cpSync(join(root, 'playground', name), join(folder, 'playground', name));
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const folder = resolve(process.argv[2] ?? join(root, 'out', 'playground-site'));
  await buildPlayground(folder);
  console.log(`The playground is in ${folder}: serve it, with any server of static files, and open playground/.`);
}
