/**
 * The programs in README and docs run as they stand. A program is a block of JavaScript with imports; `npm test` has built the package
 * that they import.
 */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

const programs = documents.flatMap((name) =>
  [...readFileSync(root + name, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)]
    .map(([, code = '']) => code)
    .filter((code) => code.startsWith('import '))
    .map((code, index) => ({ name, index, code })),
);

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

describe('the documents', () => {
  it('have programs', () => {
    expect(programs.length).toBeGreaterThan(3);
  });

  it.each(programs)('$name, program $index', async ({ code }) => {
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
