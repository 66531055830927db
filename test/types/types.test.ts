/** The declarations of the package, as its users' compilers see them: the oldest that is supported and the newest. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const module = { bundler: 'esnext', node16: 'node16' };
const cases = ['typescript-5.0', 'typescript-7.0'].flatMap((compiler) =>
  (['bundler', 'node16'] as const).map((moduleResolution) => ({ compiler, moduleResolution })),
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnifft-types-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'omnifft'), 'junction');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const source = readFileSync(new URL('consumer.ts', import.meta.url), 'utf8');
  // Each source under src/ is the entry of the package that it becomes.
  const consumer = source.replace(/'\.\.\/\.\.\/src\/(?:index|(.+?))(?:\/index)?\.ts'/g, (_, entry) =>
    entry ? `'omnifft/${entry}'` : "'omnifft'",
  );
  writeFileSync(join(folder, 'consumer.ts'), consumer);
  // Without what is expected to be wrong there are as many errors as that.
  writeFileSync(join(folder, 'unexpected.ts'), consumer.replaceAll('@ts-expect-error', ''));
});
afterAll(() => rmSync(folder, { recursive: true }));

function compile(compiler: string, moduleResolution: keyof typeof module, file: string): Promise<string> {
  const config = join(folder, `${compiler}.${moduleResolution}.${file}.json`);
  const options = {
    ...{ noEmit: true, strict: true, skipLibCheck: false, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
    ...{ module: module[moduleResolution], moduleResolution },
  };
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: [file] }));
  const script = join(root, 'node_modules', compiler, 'lib', 'tsc.js');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, '-p', config], { cwd: folder }, (error, stdout, stderr) => {
      resolve(error && stdout + stderr === '' ? error.message : stdout + stderr);
    });
  });
}

describe('the types of the package', () => {
  it.each(cases)('compile with $compiler, $moduleResolution', async ({ compiler, moduleResolution }) => {
    expect(await compile(compiler, moduleResolution, 'consumer.ts')).toBe('');
  });

  it('refuse what they should', async () => {
    const errors = await compile('typescript-7.0', 'bundler', 'unexpected.ts');
    const expected = readFileSync(join(folder, 'consumer.ts'), 'utf8').match(/@ts-expect-error/g)!;
    expect(errors.match(/^unexpected\.ts.*error TS/gm)).toHaveLength(expected.length);
  });
});
