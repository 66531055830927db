// The types of the package: one file for each entry, and one with what they share, because a class that is declared
// twice is two classes to a compiler.
//
//   node scripts/bundle-types.mjs FROM TO
//
// FROM holds a declaration for each module of src/, as tsc writes them; TO gets those of the package.

import { resolve } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const entries = [
  ...['index', 'sync', 'numeric', 'numpy/index', 'numpy/sync', 'signal/index', 'signal/sync'],
  ...['lift/index', 'nufft/index', 'world/index'],
];
const [from, to] = process.argv.slice(2).map((folder) => resolve(folder));

const bundle = await rollup({
  input: Object.fromEntries(entries.map((name) => [name, `${from}/${name}.d.ts`])),
  plugins: [dts()],
  // Types without a public name stay without one.
  onLog: (_level, { message }) => {
    if (!message.includes('private shared type exports')) throw new Error(message);
  },
});
await bundle.write({
  dir: to,
  format: 'es',
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'types/[name].ts',
});
await bundle.close();
