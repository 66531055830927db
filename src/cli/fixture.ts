/**
 * The command line for tests: the built program in processes of its own (`npm test` builds before it tests); and commands run in this process, which
 * is faster, for tests that look at messages and files only.
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, vi } from 'vitest';
import type { NpyArray } from '../numpy/arrays/npy-array.ts';
import { runCommand } from './program.ts';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A temporary folder for the tests of a file, with the program running in it. */
export function workplace() {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function omnifft(...args: string[]): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      const outcome: Outcome = { code: null, stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => {
        outcome.stdout += chunk;
      });
      child.stderr.on('data', (chunk) => {
        outcome.stderr += chunk;
      });
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...outcome, code }));
    });
  }

  /** Runs a command in this process. Commands run one at a time, and none may write its result to the standard output. */
  async function inside(...args: string[]): Promise<Outcome> {
    const outcome: Outcome = { code: null, stdout: '', stderr: '' };
    const print = (stream: 'stdout' | 'stderr', end: string) => (text: unknown) => {
      outcome[stream] += `${text}${end}`;
      return true;
    };
    const spies = [
      vi.spyOn(process.stdout, 'write').mockImplementation(print('stdout', '')),
      vi.spyOn(process.stderr, 'write').mockImplementation(print('stderr', '')),
      vi.spyOn(console, 'log').mockImplementation(print('stdout', '\n')),
      vi.spyOn(console, 'error').mockImplementation(print('stderr', '\n')),
    ];
    const place = process.cwd();
    process.chdir(folder);
    try {
      outcome.code = await runCommand(args);
      return outcome;
    } finally {
      process.chdir(place);
      for (const spy of spies) spy.mockRestore();
    }
  }

  /** Writes a file into the folder and returns its path. */
  function put(name: string, bytes: Uint8Array): string {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  }

  return { folder, omnifft, inside, put };
}

/** A complex array with values that are easy to tell apart. */
export function sampleArray(shape: number[], dtype: NpyArray['dtype']): NpyArray {
  const entries = shape.reduce((product, length) => product * length, dtype.startsWith('complex') ? 2 : 1);
  const values = Array.from({ length: entries }, (_, k) => Math.sin(1 + 3 * k) + k / entries);
  const data = dtype === 'float32' || dtype === 'complex64' ? Float32Array.from(values) : Float64Array.from(values);
  return { data, shape, dtype };
}
