/** The package as a program in Node finds it: entries that export what their sources do. `npm test` has built it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

type Targets = string | { readonly types: string; readonly default: string };

const root = new URL('../', import.meta.url);
const { exports, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string;
  exports: Record<string, Targets>;
};
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [{ name, target }],
);

describe('the package', () => {
  it.each(entries)('$name exports what its source does', async ({ target }) => {
    const built = (await import(new URL(target.default, root).href)) as object;
    const source = (await import(
      new URL(target.default.replace('/dist/', '/src/').replace(/js$/, 'ts'), root).href
    )) as object;
    expect(Object.keys(built)).toEqual(Object.keys(source).sort());
    expect(Object.keys(built).length).toBeGreaterThan(0);
    expect(readFileSync(new URL(target.types, root), 'utf8')).toContain('export');
  });

  it('has its version, one copy of what its entries share, and classes that keep their names', async () => {
    const [main, sync, numpy] = (await Promise.all(
      ['.', './sync', './numpy'].map((name) => {
        const { target } = entries.find((entry) => entry.name === name)!;
        return import(new URL(target.default, root).href);
      }),
    )) as [typeof import('../src/index.ts'), typeof import('../src/sync.ts'), typeof import('../src/numpy/index.ts')];
    expect(main.version).toBe(version);
    expect(sync.FftError).toBe(main.FftError);
    expect(main.FftError.name).toBe('FftError');
    const device = sync.openCpuSync();
    const plan = device.planSync('scfo8');
    expect([device.constructor.name, plan.constructor.name]).toEqual(['Device', 'Plan']);
    plan.destroy();
    await device.close();
    await expect(numpy.fft(new Float32Array(3), { n: 0 })).rejects.toBeInstanceOf(main.FftError);
  });

  it.each(['browser', 'node'] as const)('gives who takes one function no more than that: %s', async (platform) => {
    const { outputFiles } = await build({
      stdin: { contents: "export { fftshift } from 'omnifft/numpy';", resolveDir: fileURLToPath(root) },
      ...{ bundle: true, write: false, minify: true, format: 'esm', platform, logLevel: 'error' },
    });
    // What checks the arguments, and its messages.
    expect(outputFiles[0]!.contents.length).toBeLessThan(9500);
    expect(outputFiles[0]!.text).not.toMatch(/coalescedBytes|four-step|WebAssembly/);
    expect(outputFiles[0]!.text).toContain('fftshift');
  });

  it('leaves bundlers no import that they could not follow', () => {
    const folder = fileURLToPath(new URL('dist', root));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    const open = files.flatMap((name) => {
      const code = readFileSync(join(folder, name), 'utf8');
      return [...code.matchAll(/\bimport\(([^)]*)\)/g)].map(([, request = '']) => `${name}: ${request.trim()}`);
    });
    const unknown = open.filter((place) => !/: ["']\.{1,2}\//.test(place));
    expect(unknown.filter((place) => !place.includes('webpackIgnore: true'))).toEqual([]);
    // Node's own modules, and packages that need not be there.
    expect(unknown.length).toBeGreaterThan(0);
  });
});
