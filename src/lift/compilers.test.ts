/** Kernels of programs go through the compilers of CUDA and HIP, which need no GPU. (PoCL and HIP do not go together in one process.) */
import { describe, expect, it } from 'vitest';
import * as programs from '../../test/support/lift-programs.ts';
import { compile, findNvcc, together } from '../../test/support/nvcc.ts';
import { missing } from '../../test/support/optional.ts';
import { randomFor } from '../../test/support/random.ts';
import { RuntimeCompiler } from '../devices/cuda/compiler.ts';
import { hip } from '../devices/hip/index.ts';
import { openLibrary } from '../devices/native/library.ts';
import { openProfile } from '../index.ts';
import type { Program } from './index.ts';

const random = randomFor('compilers of programs');
const nvcc = findNvcc();
const hiprtc = await openLibrary(hip.compilerLibrary()).then(
  (library) => new RuntimeCompiler(library, hip.compiler),
  (error: Error) => void missing('hiprtc', error.message),
);

/** The kernels of programs as one text; kernels of planned transforms between them are left out. */
async function textIn(language: 'cuda' | 'hip'): Promise<string> {
  const device = await openProfile('h200', { language });
  const sources: { source: string; entry: string }[] = [];
  const precision = random.pick(['single', 'double'] as const);
  for (const given of [programs.tiled, programs.dotProduct, programs.blur, programs.hierarchical([4], [4])]) {
    const compiled = await device.compile(given as Program, { sizes: sizesOf(given), precision });
    for (const { source } of compiled.kernels) {
      const [, entry] = /__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(/.exec(String(source))!;
      sources.push({ source: String(source), entry: entry! });
    }
    compiled.destroy();
  }
  device.close();
  return together(sources);
}

describe('kernels of programs', () => {
  it.runIf(nvcc)('are taken by the compiler of CUDA', async () => {
    expect(compile(nvcc!, await textIn('cuda'))).toBe('');
  });

  it.runIf(hiprtc)('are taken by the compiler of HIP', async () => {
    const code = await hiprtc!.compileAside(await textIn('hip'), 'program', ['--offload-arch=gfx90a', '--std=c++17']);
    expect(new TextDecoder('latin1').decode(code)).toContain('\x7fELF');
  });
});

/** 64 for each name in a program's type. */
function sizesOf({ type }: Pick<Program, 'type'>): Record<string, number> {
  return Object.fromEntries([...type.matchAll(/_([a-z])/g)].map(([, name]) => [name!, 64]));
}
