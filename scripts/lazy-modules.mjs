// What a page loads only when a problem needs it: modules by group. The build for browsers puts functions in the place of those that
// other modules import from them; these look the group up in src/engine/lazy/lazy-modules.ts, which says what a problem needs.
// Nothing else may be imported from such a module: neither constants nor classes can be had before they are loaded.

import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** By what the code is for, as the error says it. */
export const groups = {
  debugging: ['ir/verify'],
  'saved and measured plans': [
    'engine/saved/load-saved',
    'engine/measuring/measure',
    'engine/measuring/peer',
    'engine/measuring/trials',
  ],
  'device functions': [
    'engine/ahead/device-function',
    'plan/device-function',
    'emit/device-function/index',
    'emit/device-function/registers',
    'emit/device-function/elements',
  ],
  // Where something is kept in a database, which pages ask for.
  'kept plans': ['engine/kept/keeping', 'engine/kept/kept-plan', 'engine/kept/binaries'],
  bands: ['problem/normalize/read-bands', 'plan/bands', 'plan/launch/bands', 'kernels/bands'],
  callbacks: ['problem/recording/record', 'kernels/views/callbacks', 'kernels/views/logarithms'],
  gradients: [
    'problem/adjoint/steps',
    'problem/adjoint/transposed',
    'problem/adjoint/adjoint-problem',
    'problem/adjoint/adjoint-convolution',
    'problem/adjoint/adjoint-layer',
    'engine/plans/adjoint-programs',
  ],
  // Layouts that are not just memory with strides.
  layouts: [
    'layout/normal-form/normal-form',
    'layout/normal-form/constructors',
    'layout/normal-form/continue',
    'layout/normal-form/rows',
    'layout/normal-form/signs',
    'layout/queries/runs',
    'layout/queries/through',
    'layout/queries/boxes',
  ],
  convolutions: [
    'problem/normalize/read-convolution',
    'plan/convolution',
    'plan/launch/kernel-layout',
    'engine/arguments/prepared-kernels',
    'kernels/views/products',
  ],
  'spectral layers': [
    'plan/spectral-layer',
    'plan/launch/mix',
    'plan/launch/layer',
    'plan/price/layer',
    'kernels/mix-channels',
    'kernels/layer',
  ],
  'real transforms': [
    'plan/schemes/r2c',
    'plan/schemes/real-columns',
    'plan/schemes/unordered-reals',
    'plan/schemes/r2r/r2r',
    'plan/schemes/r2r/dct-via-rfft',
    'plan/schemes/r2r/dct4',
    'plan/schemes/r2r/dct1',
    'plan/schemes/r2r/dht',
    'plan/schemes/r2r/r2r-ends',
    'kernels/passes/hermitian-split',
    'kernels/passes/symmetric-passes',
  ],
  'large primes': [
    'plan/schemes/bluestein',
    'plan/schemes/rader',
    'kernels/passes/rader-pass',
    'numeric/large-primes/powers',
    'numeric/large-primes/chirp',
    'numeric/double-double/complex-dd',
  ],
  // What compiles any program of patterns: the language alone is there at once.
  'programs of patterns': ['engine/compiling/compile'],
  'sums in programs': ['kernels/programs/expressions/sums'],
  'tables in programs': ['kernels/programs/expressions/tables', 'kernels/programs/expressions/bands'],
  // Outputs that share operands.
  'tiles in programs': ['kernels/programs/loops/tiling'],
  'logarithms in programs': ['kernels/views/logarithms'],
  // Groups of threads with memory of their own.
  'work-groups in programs': ['kernels/programs/loops/groups'],
  // What is done beside planned transforms.
  'transforms in programs': [
    'kernels/programs/transforms/beside-transforms',
    'kernels/programs/transforms/callback-nodes',
    'kernels/programs/transforms/convolutions',
    'kernels/programs/transforms/rows',
    'engine/compiling/transforms',
  ],
  // What compares ways to compile a program, by price or by time.
  'programs in several ways': [
    'engine/compiling/ways',
    'engine/compiling/price',
    'engine/compiling/ranking',
    'engine/compiling/trials',
  ],
  'pairs of numbers': ['emit/double-word/expansion', 'emit/double-word/arithmetic', 'numeric/double-double/complex-dd'],
  // Threads, as GPUs have them: nothing for a processor.
  threads: [
    'kernels/threads/thread-phases',
    'kernels/threads/thread-twiddles',
    'kernels/threads/stage',
    'kernels/threads/geometry',
    'kernels/threads/banks',
    'plan/launch/fuse',
    'plan/group/thread-tiling',
    'plan/group/share',
    'plan/group/cuts',
  ],
};

/** Groups that no problem needs: who has no programs of patterns, and no profiles, gets not even what would load them. */
const ofPrograms = Object.keys(groups).filter((name) => /programs/.test(name));
const ofProfiles = ['device functions'];
const names = Object.keys(groups).filter((name) => ![...ofPrograms, ...ofProfiles].includes(name));
const quoted = JSON.stringify;

/** The tables of src/engine/lazy/lazy-tables.ts, each a module of its own: who imports one gets nothing that only another one needs. */
const tables = {
  loaders: tableOfLoaders('loaders', names),
  programLoaders: tableOfLoaders('programLoaders', ofPrograms),
  profileLoaders: tableOfLoaders('profileLoaders', ofProfiles),
  allAtOnce: tableAtOnce(
    'allAtOnce',
    names.filter((name) => name !== 'threads' && name !== 'kept plans' && name !== 'gradients'),
  ),
  streamsAtOnce: tableAtOnce('streamsAtOnce', [
    'layouts',
    'real transforms',
    'large primes',
    'saved and measured plans',
  ]),
};

function tableOfLoaders(table, wanted) {
  return `export const ${table} = {${wanted.map((name) => `${quoted(name)}: () => import(${quoted(`lazy:${name}`)})`)}};`;
}

function tableAtOnce(table, wanted) {
  const imports = wanted.map((name, n) => `import * as group${n} from ${quoted(`lazy:${name}`)};`);
  return `${imports.join('\n')}\nexport const ${table} = {${wanted.map((name, n) => `${quoted(name)}: group${n}`)}};`;
}

/** Names of the functions that a file exports. */
function functionsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(/^export (?:async )?function\*? (\w+)/gm)].map(([, name]) => name);
}

/** @param {string} root of the repository */
export function lazyModules(root) {
  const source = join(root, 'src');
  const fileOf = (module) => join(source, `${module}.ts`);
  /** A module may belong to several: whoever asks for it from elsewhere gets the last one. */
  const groupOf = new Map(
    Object.entries(groups).flatMap(([name, modules]) => modules.map((module) => [fileOf(module), name])),
  );
  const together = (...files) =>
    Object.values(groups).some((modules) => files.every((file) => modules.some((module) => fileOf(module) === file)));
  // Of two functions of one name in a group, the modules that are built would have neither.
  for (const [name, modules] of Object.entries(groups)) {
    const all = modules.flatMap((module) => functionsOf(fileOf(module)));
    const twice = all.filter((one, n) => all.indexOf(one) !== n);
    if (twice.length > 0) throw new Error(`modules for ${name} export ${twice.join(', ')} twice`);
  }
  /** In the place of a module: the same functions, which look it up. */
  const standIn = (file) => {
    const lookUp = `lazyGroup(${quoted(groupOf.get(file))})`;
    return [
      `import { lazyGroup } from ${quoted(join(source, 'engine', 'lazy', 'lazy-modules.ts'))};`,
      ...functionsOf(file).map((name) => `export const ${name} = (...given) => ${lookUp}.${name}(...given);`),
    ].join('\n');
  };
  return {
    name: 'lazy-modules',
    setup(plugin) {
      plugin.onResolve({ filter: /^lazy:/ }, ({ path }) => ({ path: path.slice('lazy:'.length), namespace: 'lazy' }));
      plugin.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({
        contents: groups[path].map((module) => `export * from ${quoted(fileOf(module))};`).join('\n'),
        resolveDir: source,
      }));
      plugin.onResolve({ filter: /\/lazy-tables\.ts$/ }, ({ importer }) => {
        const [, table] = /import \{ (\w+) \} from '.*lazy-tables\.ts'/.exec(readFileSync(importer, 'utf8'));
        return { path: table, namespace: 'lazy-table' };
      });
      plugin.onLoad({ filter: /.*/, namespace: 'lazy-table' }, ({ path }) => ({
        contents: tables[path],
        resolveDir: source,
      }));
      plugin.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = resolve(resolveDir, path);
        // The modules of a group have each other.
        if (!groupOf.has(file) || namespace !== 'file' || together(importer, file)) return;
        return { path: file, namespace: 'stand-in' };
      });
      plugin.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path }) => ({
        contents: standIn(path),
        resolveDir: dirname(path),
      }));
    },
  };
}
