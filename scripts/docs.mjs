// The documentation site, as static files in out/site/: the guides, the reference out of the docstrings, and beside them the
// library, the playground and the examples, which the pages run.
//
//   npm run docs                        (OMNIFFT_SITE_BASE=/omnifft/ where it is not served from the root)
//   npm run docs -- --preview           builds it and serves it on this machine

import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPlayground } from '../playground/build.mjs';
import { root } from './bundle-browser.mjs';
import { brokenLinks } from './site-links.mjs';

const site = join(root, 'out', 'site');

rmSync(join(root, 'docs', 'reference'), { recursive: true, force: true });
run('typedoc', 'bin/typedoc', ['--options', 'docs/typedoc.json']);
run('vitepress', 'bin/vitepress.js', ['build', 'docs']);
await buildPlayground(site);
// The pages of the guides have the playground's icon.
cpSync(join(root, 'playground', 'icon.svg'), join(site, 'playground', 'icon.svg'));
// From the playground there is a way back.
const playground = join(site, 'playground', 'index.html');
const page = readFileSync(playground, 'utf8');
writeFileSync(playground, page.replace('<h1>omnifft ', '<h1><a href="../index.html">omnifft</a> '));
// What guides link to and no page shows.
cpSync(join(root, 'docs', 'pictures'), join(site, 'docs', 'pictures'), { recursive: true });
const licence = readFileSync(join(root, 'LICENSE'), 'utf8').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
writeFileSync(
  join(site, 'LICENSE.html'),
  `<!doctype html><meta charset="utf-8"><title>Licence</title><pre>${licence}</pre>\n`,
);

const broken = brokenLinks(site, process.env.OMNIFFT_SITE_BASE);
if (broken.length > 0) {
  console.error(`omnifft: links that lead nowhere:\n  ${broken.join('\n  ')}`);
  process.exit(1);
}
console.log(`omnifft: the site is in ${site}`);
if (process.argv.includes('--preview')) run('vitepress', 'bin/vitepress.js', ['preview', 'docs']);

function run(packageName, script, arguments_) {
  const path = join(root, 'node_modules', packageName, script);
  const { status } = spawnSync(process.execPath, [path, ...arguments_], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
