/** Every kernel of a fixed list of plans goes through NVIDIA's compiler, which needs no GPU. */
import { describe, expect, it } from 'vitest';
import { calledProblems, compiledProblems } from '../../../test/device/cases.ts';
import { kernelsOf } from '../../../test/device/kernels.ts';
import { compile, findNvcc, together } from '../../../test/support/nvcc.ts';
import { emitCuda } from '../../emit/cuda/index.ts';
import { gpuProfile } from '../profiles/gpu.ts';

const nvcc = findNvcc();

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
    expect(compile(nvcc!, together(programs))).toBe('');
    const tuned = kernels.slice(0, 6).map((kernel) => emitCuda(kernel, { computedRoots: true, launches: 2 }));
    expect(compile(nvcc!, together(tuned))).toBe('');
  });

  it('says what is wrong with text that is none', () => {
    expect(compile(nvcc!, 'extern "C" __global__ void broken() { undeclared = 1; }')).toContain('undeclared');
  });
});
