// What a page loads only when a problem asks for it: modules by part. The build for browsers puts functions in the place of
// those that other modules import from them; these ask src/engine/later.ts for the part, and `device.plan` loads what is not there.
// Nothing else may be imported from such a module: neither constants nor classes can be had before they are loaded.

import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** By what the code is for, as the error says it. */
export const parts = {
  debugging: ['ir/verify'],
  'saved and measured plans': ['engine/load-saved', 'engine/measure', 'engine/peer', 'engine/trials'],
  callbacks: ['problem/record', 'kernels/callbacks'],
  convolutions: ['plan/convolution', 'engine/kernels', 'kernels/products'],
  'real transforms': [
    'plan/real',
    'plan/sums',
    'plan/real-sums',
    'plan/facing-sums',
    'plan/continued-sums',
    'kernels/pairing',
    'kernels/symmetric-passes',
    'kernels/reals',
  ],
  'large primes': ['plan/bluestein', 'plan/rader', 'numeric/powers', 'numeric/chirp', 'numeric/quads'],
  'pairs of numbers': ['emit/pairs/expansion', 'emit/pairs/arithmetic', 'numeric/quads'],
  // Threads, as GPUs have them: nothing for a processor.
  threads: [
    'kernels/thread-phases',
    'kernels/thread-twiddles',
    'kernels/stage',
    'kernels/geometry',
    'kernels/banks',
    'plan/fuse',
    'plan/thread-tiling',
    'plan/share',
    'plan/cuts',
  ],
};

/** What is at hand at once for who cannot wait, by the module whose place the table takes: any problem on a processor, or real frames. */
const atOnce = {
  'engine/all-parts': { name: 'allParts', wanted: Object.keys(parts).filter((part) => part !== 'threads') },
  'engine/stream-parts': {
    name: 'streamParts',
    wanted: ['real transforms', 'large primes', 'saved and measured plans'],
  },
};

/** @param {string} root of the repository */
export function laterModules(root) {
  const source = join(root, 'src');
  const fileOf = (module) => join(source, `${module}.ts`);
  /** A module may belong to several: whoever asks for it from elsewhere gets the last one. */
  const partOf = new Map(
    Object.entries(parts).flatMap(([part, modules]) => modules.map((module) => [fileOf(module), part])),
  );
  const together = (one, other) =>
    Object.values(parts).some((modules) =>
      [one, other].every((file) => modules.some((module) => fileOf(module) === file)),
    );
  const later = JSON.stringify(join(source, 'engine', 'later.ts'));
  /** In the place of a module: the same functions, which ask for the part. */
  const standIn = (file) => {
    const names = [...readFileSync(file, 'utf8').matchAll(/^export (?:async )?function\*? (\w+)/gm)].map(
      ([, name]) => name,
    );
    const part = JSON.stringify(partOf.get(file));
    return [
      `import { partOf } from ${later};`,
      ...names.map((name) => `export const ${name} = (...given) => partOf(${part}).${name}(...given);`),
    ].join('\n');
  };
  const whole = (part) =>
    parts[part].map((module) => `export * from ${JSON.stringify(join(source, `${module}.ts`))};`).join('\n');
  const tableOf = ({ name, wanted }) => {
    const imports = wanted.map((part, n) => `import * as part${n} from ${JSON.stringify(`part:${part}`)};`);
    return `${imports.join('\n')}\nexport const ${name} = {${wanted.map((part, n) => `${JSON.stringify(part)}: part${n}`)}};`;
  };
  const table = {
    ...Object.fromEntries(Object.entries(atOnce).map(([module, told]) => [module, () => tableOf(told)])),
    'engine/parts': () =>
      `export const partLoaders = {${Object.keys(parts).map((part) => `${JSON.stringify(part)}: () => import(${JSON.stringify(`part:${part}`)})`)}};`,
  };
  return {
    name: 'later-modules',
    setup(plugin) {
      plugin.onResolve({ filter: /^part:/ }, ({ path }) => ({ path: path.slice('part:'.length), namespace: 'part' }));
      plugin.onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({ contents: whole(path), resolveDir: source }));
      plugin.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = resolve(resolveDir, path);
        const part = partOf.get(file);
        // The modules of a part have each other.
        if (!part || namespace !== 'file' || together(importer, file)) return;
        return { path: file, namespace: 'stand-in' };
      });
      plugin.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path }) => ({
        contents: standIn(path),
        resolveDir: dirname(path),
      }));
      plugin.onLoad({ filter: /engine[/\\]((all|stream)-)?parts\.ts$/ }, ({ path }) => {
        const module = relative(source, path).split(sep).join('/').replace(/\.ts$/, '');
        return table[module] && { contents: table[module](), resolveDir: source };
      });
    },
  };
}
