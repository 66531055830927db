// A bundler that splits code makes a chunk of all modules that the same entries need: some dozens, most of them small, each
// a request, and each compressed by itself; Node looks for each, reads and links it. What is always loaded together becomes
// one file here.

import { posix } from 'node:path';
import { rollup } from 'rollup';

/** Files that are loaded at once with another, itself included. */
export function atOnce(outputs, entry) {
  const found = new Set([entry]);
  for (const name of found) {
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') found.add(path);
  }
  return found;
}

/**
 * Entries that consist of parts which programs use alone. They only say where their names are, and their code is in a file
 * beside them: a bundler that splits code takes every file that one in use imports.
 */
const SEVERAL = ['lift.js', 'numpy.js', 'signal.js'];
const faceOf = (name) => (SEVERAL.includes(name) ? `face:${name}` : name);
const moduleOf = (name) => name.replace(/^face:/, '');

/** What prints, rewrites and interprets programs, and those parts that compiling some of them takes, which are files of their own. */
const aboutPrograms = [
  ['about programs', /^src\/(lift\/index|patterns\/([\w-]+\/)?(index|interpret|print|rewrite|rules))\.ts$/],
  ['rewriting', /^src\/patterns\/([\w-]+\/)?(places|stencils)\.ts$/],
  ['interpreter', /^src\/patterns\/([\w-]+\/)?interpreter\.ts$/],
];

/** Which file of those that belong together a chunk goes into: what pages of any device have, what a device adds, a group of lazy modules. */
export function groupsOfPages(outputs) {
  const chunkOf = (module) => Object.keys(outputs).find((name) => outputs[name].entryPoint === module);
  const device = (kind) => atOnce(outputs, chunkOf(`src/devices/${kind}/index.ts`));
  const [cpu, webgpu] = [device('cpu'), device('webgpu')];
  const names = ['omnifft', 'sync', 'numeric', 'numpy-helpers', 'signal-windows', 'signal-filters'];
  const [main, sync, numeric, helpers, windows, filters] = names.map((name) => atOnce(outputs, `${name}.js`));
  const [programs, nonuniform] = ['lift', 'nufft'].map((entry) => atOnce(outputs, `${entry}.js`));
  const lazy = Object.keys(outputs).filter((name) => outputs[name].entryPoint?.startsWith('lazy:'));
  const lazyWith = (chunk) => lazy.filter((group) => atOnce(outputs, group).has(chunk));
  return (name) => {
    if (!outputs[name] || /^src\/.*\.ts$/.test(outputs[name].entryPoint)) return undefined;
    if (helpers.has(name)) return 'helpers';
    if (windows.has(name)) return 'windows';
    if (numeric.has(name)) return 'numbers';
    if (filters.has(name) && !main.has(name) && !sync.has(name)) return 'filters';
    // Those who cannot load anything later get no file that would.
    if (sync.has(name) && (main.has(name) || (cpu.has(name) && webgpu.has(name)))) return 'core';
    if (sync.has(name) && cpu.has(name)) return 'cpu';
    if (webgpu.has(name) && !sync.has(name)) return undefined;
    // Calls of programs are those of non-uniform transforms, too, which have no patterns.
    if (nonuniform.has(name) && lazyWith(name).length > 0) return 'programs and points';
    // The language is there before what compiles it.
    if (programs.has(name)) {
      const modules = Object.keys(outputs[name].inputs);
      const about = aboutPrograms.find(([, pattern]) => modules.every((module) => pattern.test(module)));
      return about ? about[0] : 'programs';
    }
    const compiling = lazy.find((group) => outputs[group].entryPoint === 'lazy:programs of patterns');
    // What lowers programs of patterns is there before a lazy group of theirs that needs it.
    if (atOnce(outputs, compiling).has(name)) return compiling;
    const [group, ...others] = lazyWith(name);
    // A file that several chunks are put into takes along what they share with a device that is no such file.
    const sharesDevice = group && outputs[group].entryPoint === 'lazy:device functions';
    return others.length === 0 && !sharesDevice ? group : undefined;
  };
}

/**
 * The same for Node: what programs of any device have, and the CPU, is one file. What can be had without transforms stays as it
 * is: bundlers leave out files that a program needs nothing of, and less of a large one.
 */
export function groupsOfNode(outputs) {
  const cpu = Object.keys(outputs).find((name) => outputs[name].entryPoint === 'src/devices/cpu/index.ts');
  const [main, sync, numeric, helpers] = ['index', 'sync', 'numeric', 'numpy/helpers'].map((name) =>
    atOnce(outputs, `${name}.js`),
  );
  const core = new Set([...main, ...sync, ...atOnce(outputs, cpu)]);
  return (name) => {
    // Entries stay files of their own. What is loaded later has an entry point, too.
    if (outputs[name].entryPoint && name !== cpu) return undefined;
    if (helpers.has(name) || numeric.has(name)) return name;
    return core.has(name) ? 'core' : undefined;
  };
}

/**
 * @param {Map<string, Uint8Array>} files
 * @param {Record<string, import('esbuild').Metafile['outputs'][string]>} outputs of the same names
 * @param {(outputs: object) => (name: string) => string | undefined} groupsOf which chunks become one file: those of one name
 */
export async function mergeChunks(files, outputs, groupsOf, { compact = false } = {}) {
  const decoder = new TextDecoder();
  const entries = Object.keys(outputs).filter((name) => outputs[name].entryPoint && !/^chunk-/.test(name));
  const bundle = await rollup({
    input: Object.fromEntries([
      ...entries.map((name) => [name.replace(/\.js$/, ''), faceOf(name)]),
      ...SEVERAL.filter((name) => files.has(name)).map((name) => [`all of ${name}`, name]),
    ]),
    // Nothing is left out but imports of files of which nothing is used.
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: 'chunks',
        // What is no file of the bundle is Node's own, or installed beside it.
        resolveId: (path, importer) => {
          if (path !== moduleOf(path)) return path;
          const name = posix.join(posix.dirname(importer ?? ''), path);
          return files.has(name) ? name : { id: path, external: true };
        },
        load: (name) => (files.has(name) ? decoder.decode(files.get(name)) : `export * from '${moduleOf(name)}';`),
      },
    ],
  });
  const { output } = await bundle.generate({
    format: 'es',
    compact,
    entryFileNames: ({ facadeModuleId }) => (SEVERAL.includes(facadeModuleId) ? 'chunk-[hash].js' : '[name].js'),
    chunkFileNames: 'chunk-[hash].js',
    hoistTransitiveImports: false,
    manualChunks: groupsOf(outputs),
  });
  const importsOf = (names, kind) => names.map((path) => ({ path, kind }));
  return {
    files: new Map(output.map(({ fileName, code }) => [fileName, new TextEncoder().encode(code)])),
    outputs: Object.fromEntries(
      output.map(({ fileName, moduleIds, facadeModuleId, imports, dynamicImports }) => {
        const inputs = Object.assign({}, ...moduleIds.map((name) => outputs[name]?.inputs ?? {}));
        const isEntry = facadeModuleId && !SEVERAL.includes(facadeModuleId);
        const entryPoint = isEntry ? outputs[moduleOf(facadeModuleId)].entryPoint : undefined;
        const all = [...importsOf(imports, 'import-statement'), ...importsOf(dynamicImports, 'dynamic-import')];
        return [fileName, { inputs, imports: all, ...(entryPoint ? { entryPoint } : {}) }];
      }),
    ),
  };
}
