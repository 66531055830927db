/** Every kernel of a fixed list of plans goes through NVIDIA's compiler, which needs no GPU. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { calledProblems, compiledProblems } from '../../../test/device/cases.ts';
import { kernelsOf } from '../../../test/device/kernels.ts';
import { findNvcc } from '../../../test/support/nvcc.ts';
import { emitCuda } from '../../emit/cuda/index.ts';
import { gpuProfile } from '../profiles/gpu.ts';

const nvcc = findNvcc();

/** The kernels as one file: starting the compiler takes longer than compiling one. */
function together(sources: readonly { readonly source: string; readonly entry: string }[]): string {
  return sources
    .map(
      ({ source, entry }, n) => `#define ${entry} ${entry}_${n}\nnamespace file${n} {\n${source}\n}\n#undef ${entry}\n`,
    )
    .join('\n');
}

function compile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-nvcc-'));
  try {
    const file = join(folder, 'kernels.cu');
    writeFileSync(file, text);
    const options = ['-arch=sm_90', '-std=c++17', '-cubin', '-o', join(folder, 'kernels.cubin'), file];
    const { status, stderr } = spawnSync(nvcc as string, options, { encoding: 'utf8' });
    return status === 0 ? '' : stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.runIf(nvcc)('CUDA', () => {
  it('compiles every kernel of the list for Hopper', () => {
    const profile = {
      ...gpuProfile,
      name: 'h200',
      sharedBytes: 227 * 1024,
      residentBytes: 228 * 1024,
      cluster: {
        blocks: 16,
        sharedBytes: 64 * 1024,
        above: { single: 64 * 1024, double: 64 * 1024 },
      },
      registerFile: 65536,
      maxThreads: 1024,
      multiprocessors: 132,
    };
    const kernels = kernelsOf([...compiledProblems, ...calledProblems()], profile);
    expect(kernels.length).toBeGreaterThanOrEqual(compiledProblems.length);
    const programs = kernels.map((kernel) => emitCuda(kernel));
    expect(Math.max(...programs.map(({ cluster }) => cluster))).toBeGreaterThan(1);
    expect(compile(together(programs))).toBe('');
    const tuned = kernels.slice(0, 6).map((kernel) => emitCuda(kernel, { computedRoots: true, launches: 2 }));
    expect(compile(together(tuned))).toBe('');
  });

  it('says what is wrong with text that is none', () => {
    expect(compile('extern "C" __global__ void broken() { undeclared = 1; }')).toContain('undeclared');
  });
});
