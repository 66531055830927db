/** NVIDIA's compiler for tests: it needs no GPU. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, missing } from './optional.ts';

/** Its path; undefined where there is none, and the tests with it are to be skipped. */
export function findNvcc(): string | undefined {
  const roots = [process.env.CUDA_PATH, process.env.CUDA_HOME, '/usr/local/cuda'];
  const path = findProgram(
    ['nvcc'],
    roots.flatMap((root) => (root ? [join(root, 'bin')] : [])),
  );
  missing('nvcc', path ? undefined : 'there is no nvcc');
  return path;
}

/** The kernels as one file: starting the compiler takes longer than compiling one. */
export function together(sources: readonly { readonly source: string; readonly entry: string }[]): string {
  return sources
    .map(
      ({ source, entry }, n) => `#define ${entry} ${entry}_${n}\nnamespace file${n} {\n${source}\n}\n#undef ${entry}\n`,
    )
    .join('\n');
}

/** What the compiler says against a source; nothing where it takes it. */
export function compile(nvcc: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-nvcc-'));
  try {
    const file = join(folder, 'kernels.cu');
    writeFileSync(file, text);
    const options = ['-arch=sm_90', '-std=c++17', '-cubin', '-o', join(folder, 'kernels.cubin'), file];
    const { status, stderr } = spawnSync(nvcc, options, { encoding: 'utf8' });
    return status === 0 ? '' : stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
