// The library for Node: the package's entries and its command as ES modules, written to dist/.
//
//   node scripts/bundle-node.mjs [folder]
//
// What they share, and every device but the CPU, is a chunk of its own: a program loads only the device that it opens. What
// every program loads, and the CPU device, is one file: Node takes a millisecond to find, read and link each.
// Small packages that only the command needs are in the command's chunks; peers stay outside.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildDigest } from './build-digest.mjs';
import { builtPresets } from './built-presets.mjs';
import { groupsOfNode, mergeChunks } from './merge-chunks.mjs';
import { withNotices } from './notices.mjs';

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
  'lift/index',
  'nufft/index',
  'world/index',
  // No entry of the package, but a chunk of its own: who needs no transform gets none.
  'numpy/helpers',
  command,
  // For programs of this repository: examples/start.mjs and scripts/software-adapter.mjs.
  'cli/picture/index',
  'devices/webgpu/software',
];

/** What is loaded where it is installed. */
const peers = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).peerDependencies);

/**
 * Packages in CommonJS ask for Node's modules by `require`, which ES modules have not got: they get what an import of the
 * module gives as its default.
 */
const nodeModules = {
  name: 'node-modules',
  setup(plugin) {
    plugin.onResolve({ filter: /.*/ }, ({ path, kind, namespace }) => {
      if (kind !== 'require-call' || !isBuiltin(path)) return;
      return { path, namespace: namespace === 'required' ? 'imported' : 'required' };
    });
    plugin.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)}).default;`,
    }));
    plugin.onLoad({ filter: /.*/, namespace: 'imported' }, ({ path }) => ({
      contents: `export { default } from 'node:${path.replace(/^node:/, '')}';`,
    }));
  },
};

const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];

/** Imports that a bundler of the package's users is to leave alone are marked by comments, which go with the spaces: they come back. */
function withIgnored(contents) {
  const marked = '$1/* @vite-ignore */ /* webpackIgnore: true */ $2';
  return encoder.encode(decoder.decode(contents).replace(/(\bimport\()((?!["']\.{1,2}\/)[^)]*\))/g, marked));
}

/** @param {string} folder where the modules go; it is not emptied. */
export async function bundleNode(folder) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: peers,
    chunkNames: 'chunk-[hash]',
    legalComments: 'none',
    // Names stay, for whoever reads a stack: spaces alone are a third of what is installed.
    minifyWhitespace: true,
    plugins: [nodeModules, builtPresets(root)],
    metafile: true,
    write: false,
    logLevel: 'warning',
    // Compiled code that another state of the sources has written is not used (src/devices/code-cache/store.ts).
    define: { OMNIFFT_BUILD: JSON.stringify(buildDigest(root)) },
  });
  const nameOf = (path) => relative(folder, resolve(root, path)).split(sep).join('/');
  const written = new Map(outputFiles.map(({ path, contents }) => [nameOf(path), contents]));
  const named = Object.entries(metafile.outputs).map(([path, output]) => {
    return [
      nameOf(path),
      { ...output, imports: output.imports.map(({ path, ...more }) => ({ ...more, path: nameOf(path) })) },
    ];
  });
  const { files, outputs } = await mergeChunks(written, Object.fromEntries(named), groupsOfNode, { compact: true });
  for (const [name, contents] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withNotices(withIgnored(contents), Object.keys(outputs[name].inputs), root));
  }
  chmodSync(join(folder, `${command}.js`), 0o755);
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  await bundleNode(resolve(process.argv[2] ?? join(root, 'dist')));
}
