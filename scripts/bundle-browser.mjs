// The library for browsers: ES modules that need nothing but a browser, written to dist/browser/.
//
//   node scripts/bundle-browser.mjs [folder]
//
// omnifft.js is the package's main entry, the others are its further entries. What they share, and every device, is a
// chunk of its own: a page loads only the device that it opens.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildDigest } from './build-digest.mjs';
import { builtPresets } from './built-presets.mjs';
import { lazyModules } from './lazy-modules.mjs';
import { groupsOfPages, mergeChunks } from './merge-chunks.mjs';
import { withNotices } from './notices.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** File of the bundle → what it consists of. */
export const libraryEntries = {
  omnifft: 'src/index.ts',
  lift: 'src/lift/index.ts',
  nufft: 'src/nufft/index.ts',
  numeric: 'src/numeric.ts',
  numpy: 'src/numpy/index.ts',
  'numpy-sync': 'src/numpy/sync.ts',
  signal: 'src/signal/index.ts',
  // An AudioWorklet has no import(), so these may load nothing later.
  'signal-sync': 'src/signal/sync.ts',
  sync: 'src/sync.ts',
  // Of many ranks, those that a page can hold.
  world: 'src/world/index.ts',
};

/**
 * No entries of the package, but chunks of their own, which take nothing from others: who takes no more than this from an
 * entry gets no more, from bundlers that leave out single statements and from those that leave out files only.
 */
const helpers = {
  'lift-programs': 'src/lift/program.ts',
  'numpy-helpers': 'src/numpy/helpers.ts',
  'signal-windows': 'src/signal/windows/windows.ts',
  'signal-filters': 'src/signal/filters.ts',
  'signal-speech': 'src/signal/speech.ts',
};

/** The modules of devices that a browser can never open. */
const NATIVE = /^src\/devices\/(cuda|opencl|hip|vulkan|level-zero)\/index\.ts$/;

/** In the place of such a module: the same exports, saying that the device is not to be had. */
async function absent(file) {
  const { metafile } = await build({
    entryPoints: [file],
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'error',
  });
  const [{ exports }] = Object.values(metafile.outputs);
  const reason = 'it needs Node, Bun or Deno; the build for browsers, which this is, has cpu and webgpu';
  const lines = exports.map((name) =>
    /availability$/i.test(name)
      ? `export const ${name} = () => ({ name: ${JSON.stringify(basename(dirname(file)))}, available: false, reason });`
      : `export const ${name} = () => { throw new Error(reason); };`,
  );
  return `const reason = ${JSON.stringify(reason)};\n${lines.join('\n')}`;
}

const browserOnly = {
  name: 'browser-only',
  setup(plugin) {
    plugin.onLoad({ filter: /devices[/\\]cpu[/\\]import\.ts$/ }, () => ({
      contents: 'export const importModule = async () => undefined; export const canImport = false;',
    }));
    // Deno takes the build for Node: here nobody is asked for permission.
    plugin.onLoad({ filter: /devices[/\\]permissions\.ts$/ }, () => ({
      contents: `export const environmentVariable = () => undefined;
        export const librariesForbidden = () => undefined;
        export const askSystem = (_, ask) => { try { return ask(); } catch {} };`,
    }));
    // In the place of a folder to keep code in there is a database, for pages that ask for it.
    plugin.onLoad({ filter: /devices[/\\]code-cache[/\\]system\.ts$/ }, ({ path }) => ({
      contents: `export const systemStore = async (cache, version) =>
          cache ? (await import('./database.ts')).openDatabase(cache === true ? 'omnifft' : cache, version) : undefined;`,
      resolveDir: dirname(path),
    }));
    plugin.onLoad({ filter: /devices[/\\]code-cache[/\\]system-sync\.ts$/ }, () => ({
      contents: 'export const systemStoreSync = () => undefined;',
    }));
    // A page is started by no launcher, and loads no drivers.
    plugin.onLoad({ filter: /devices[/\\]fabric[/\\](mpi|gpus)[/\\]fabric\.ts$/ }, ({ path }) => {
      const [name, what] = /mpi/.test(basename(dirname(path)))
        ? ['mpiFabric', 'MPI']
        : ['openGpuFabric', 'world of GPUs'];
      return {
        contents: `import { FftError } from '../../../problem/errors.ts';
        export const ${name} = async () => {
          throw new FftError('world-unavailable', "There is no ${what} in a page; openWorld('workers', { ranks }) shares out the processor.");
        };`,
        resolveDir: dirname(path),
      };
    });
    // What a browser has no files to look for.
    plugin.onLoad({ filter: /devices[/\\]webgpu[/\\]software\.ts$/ }, () => ({
      contents:
        "export const softwareDriver = async () => { throw new Error('software adapters are the browser\\'s own'); };",
    }));
    plugin.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, kind }) => {
      if (kind !== 'dynamic-import') return;
      const file = resolve(resolveDir, path);
      return NATIVE.test(file.slice(root.length + 1)) ? { path: file, namespace: 'native' } : undefined;
    });
    plugin.onLoad({ filter: /.*/, namespace: 'native' }, async ({ path }) => ({ contents: await absent(path) }));
  },
};

/**
 * @param options.entries name → file, relative to the repository
 * @param options.define as esbuild's
 * @returns {Promise<{ files: Map<string, Uint8Array>, metafile: import('esbuild').Metafile }>} files by their name in
 * the bundle; those of the metafile have the same names
 */
export async function bundleBrowser({ entries, minify = true, define = {} } = {}) {
  const whole = entries === undefined;
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries ?? { ...libraryEntries, ...helpers },
    outdir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    chunkNames: 'chunk-[hash]',
    define: { OMNIFFT_BUILD: JSON.stringify(buildDigest(root)), ...define },
    minify,
    metafile: true,
    write: false,
    plugins: [browserOnly, builtPresets(root), lazyModules(root)],
  });
  const written = new Map(outputFiles.map(({ path, contents }) => [path.slice(root.length + 1), contents]));
  const { files, outputs } = whole
    ? await mergeChunks(written, metafile.outputs, groupsOfPages, { compact: true })
    : { files: written, ...metafile };
  const noted = [...files].map(([name, contents]) => {
    return [name, withNotices(contents, Object.keys(outputs[name]?.inputs ?? {}), root)];
  });
  return { metafile: { ...metafile, outputs }, files: new Map(noted) };
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const folder = resolve(process.argv[2] ?? join(root, 'dist', 'browser'));
  const { files } = await bundleBrowser();
  mkdirSync(folder, { recursive: true });
  // Chunks are named after their contents: those of an earlier build would stay for ever.
  for (const name of readdirSync(folder)) if (/^chunk-\w+\.js$/.test(name)) rmSync(join(folder, name));
  for (const [name, contents] of files) writeFileSync(join(folder, name), contents);
  console.log(`${files.size} files for browsers`);
}
