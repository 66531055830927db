/**
 * The programs in README and docs run as they stand, and compile as TypeScript. A program is a block of JavaScript with imports; one
 * of TypeScript is compiled only. `npm test` has built the package that they import.
 */

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

const programs = documents.flatMap((name) =>
  [...readFileSync(root + name, 'utf8').matchAll(/^```([jt]s)\n(.*?)^```$/gms)]
    .map(([, language = '', code = '']) => ({ language, code }))
    .filter(({ code }) => code.startsWith('import '))
    .map(({ language, code }, index) => ({ name, index, language, code })),
);
const running = programs.filter(({ language }) => language === 'js');

function run(code: string): Promise<{ exit: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (exit) => resolve({ exit, output }));
  });
}

/** What a strict compiler says about the programs, as files of a package that has omnifft installed. */
function compileAll(): string {
  const folder = mkdtempSync(join(root, 'out', 'docs-'));
  try {
    const files = programs.map(({ name, index, code }) => {
      const file = `${name.replaceAll('/', '-')}-${index}.ts`;
      writeFileSync(join(folder, file), code);
      return file;
    });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules', 'omnifft'), 'junction');
    const options = {
      ...{ noEmit: true, strict: true, target: 'es2022', lib: ['es2022', 'dom'], types: ['node'] },
      ...{ module: 'node16', moduleResolution: 'node16' },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    const compiler = join(root, 'node_modules', 'typescript-7.0', 'lib', 'tsc.js');
    const { stdout, stderr } = spawnSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8' });
    return stdout + stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the documents', () => {
  it('have programs', () => {
    expect(running.length).toBeGreaterThan(3);
  });

  it('have programs that compile under strict', () => {
    mkdirSync(join(root, 'out'), { recursive: true });
    expect(compileAll()).toBe('');
  });

  it.each(running)('$name, program $index', async ({ code }) => {
    const { exit, output } = await run(code);
    expect(output).not.toMatch(/Error|NaN|undefined/);
    expect({ exit, output }).toMatchObject({ exit: 0, output: expect.stringMatching(/\S/) });
  });

  it.each(documents)('%s links to what is there', (name) => {
    const links = [...readFileSync(root + name, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(
      ([, target = '']) => target,
    );
    const base = new URL(`../${name}`, import.meta.url);
    expect(links.filter((link) => !existsSync(new URL(link, base)))).toEqual([]);
  });
});
