/** The package as a program in Node finds it: entries that export what their sources do. `npm test` has built it. */

import { readFileSync } from 'node:fs';
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
});
