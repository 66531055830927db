/** What is hidden is hidden: else a run with everything hidden would say nothing of a bare machine. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram, hidden } from './optional.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnifft-optional-'));
const [program, text] = ['program', 'text'].map((name) => join(folder, name)) as [string, string];
for (const path of [program, text]) writeFileSync(path, '');
chmodSync(program, 0o755);
chmodSync(text, 0o644);
afterAll(() => rmSync(folder, { recursive: true }));

describe('looking for a program', () => {
  it('takes the first that can be run, and none outside the PATH where everything is hidden', () => {
    expect(findProgram(['no-such-thing', 'text', 'program'], [folder])).toBe(hidden ? undefined : program);
    expect(findProgram(['text'], [folder])).toBe(undefined);
  });

  it.runIf(hidden)('finds what a shell needs, and nothing else', () => {
    for (const name of ['sh', 'cat', 'ln', 'rm', 'node']) expect(findProgram([name])).toContain(name);
    for (const name of ['cc', 'c++', 'python3', 'firefox-esr', 'Xvfb', 'nvcc', 'tar', 'ls']) {
      expect(findProgram([name])).toBe(undefined);
      expect(spawnSync(name).error).toMatchObject({ code: 'ENOENT' });
    }
  });
});

describe.runIf(hidden)('packages that open devices', () => {
  it.each(['koffi', 'webgpu'])('%s is not found, here or by a program', async (name) => {
    await expect(import(/* @vite-ignore */ name)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
    const { status, stderr } = spawnSync(process.execPath, ['-e', `import('${name}')`], { encoding: 'utf8' });
    expect(stderr).toContain(`Cannot find package ${name}`);
    expect(status).toBe(1);
  });
});
