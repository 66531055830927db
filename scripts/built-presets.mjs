// Kernels of the presets of speech features, which the package brings along: the planner makes them while the package is built,
// and src/signal/features/built-presets.ts, whose place this takes in both builds, lists a module for each. A page that takes a
// preset then loads this module and no planner.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

/** Writes what `presetData` finds as JSON. It runs in a process of its own, whose functions no test runner has rewritten. */
const PROGRAM = `import { presetData } from './src/signal/features/preset-data.ts';
const found = await presetData();
process.stdout.write(JSON.stringify(found.map((part) => ({ ...part, code: Array.from(part.code) }))));`;

/** @param {string} root of the repository */
async function presetData(root) {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: root },
    ...{ bundle: true, write: false, format: 'esm', platform: 'node', target: 'node20', packages: 'external' },
    logLevel: 'error',
  });
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-presets-'));
  try {
    const file = join(folder, 'presets.mjs');
    writeFileSync(file, outputFiles[0].contents);
    const options = { encoding: 'utf8', maxBuffer: 2 ** 28 };
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], options);
    if (status !== 0) throw new Error(`The presets of speech features cannot be built: ${stderr}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same for all builds of a process. */
let found;

/** @param {string} root of the repository */
export function builtPresets(root) {
  const quoted = JSON.stringify;
  const modules = async () => {
    found ??= presetData(root);
    return found;
  };
  return {
    name: 'built-presets',
    setup(plugin) {
      plugin.onLoad({ filter: /features[/\\]built-presets\.ts$/ }, async () => {
        const lines = (await modules()).map(
          ({ preset }) => `${quoted(preset)}: () => import(${quoted(`preset:${preset}`)}),`,
        );
        return { contents: `export const builtPresets = {\n${lines.join('\n')}\n};` };
      });
      plugin.onResolve({ filter: /^preset:/ }, ({ path }) => ({
        path: path.slice('preset:'.length),
        namespace: 'preset',
      }));
      plugin.onLoad({ filter: /.*/, namespace: 'preset' }, async ({ path }) => {
        const all = await modules();
        if (path === 'functions') return { contents: all[0].runtime };
        const { data, code } = all.find(({ preset }) => preset === path);
        const bytes = Buffer.concat([Buffer.from(data), Buffer.from(code)]);
        const packed = deflateRawSync(bytes, { level: 9, memLevel: 9 }).toString('base64');
        return { contents: `export { make } from 'preset:functions';\nexport const packed = ${quoted(packed)};` };
      });
    },
  };
}
