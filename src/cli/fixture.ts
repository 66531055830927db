/** The built program in processes of its own, for tests. `npm test` builds before it tests. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { NpyArray } from '../numpy/npy-array.ts';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder that is there until the tests of a file have ended, and the program as it runs in it. */
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

  /** Writes a file into the folder and returns its path. */
  function put(name: string, bytes: Uint8Array): string {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  }

  return { folder, omnifft, put };
}

/** A complex array with values that are easy to tell apart. */
export function sampleArray(shape: number[], dtype: NpyArray['dtype']): NpyArray {
  const entries = shape.reduce((product, length) => product * length, dtype.startsWith('complex') ? 2 : 1);
  const values = Array.from({ length: entries }, (_, k) => Math.sin(1 + 3 * k) + k / entries);
  const data = dtype === 'float32' || dtype === 'complex64' ? Float32Array.from(values) : Float64Array.from(values);
  return { data, shape, dtype };
}
