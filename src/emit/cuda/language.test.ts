/** Everything that the kernel language can say, as CUDA on the processor: what the interpreter says. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compiler, runOnProcessor } from '../../../test/support/cuda.ts';
import { copied, expectAsInterpreted, halfSamples, isExact } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { findNvcc } from '../../../test/support/nvcc.ts';
import { randomFor } from '../../../test/support/random.ts';
import { emitCuda } from './index.ts';

const random = randomFor('emit/cuda/language');
const samples = (['f32', 'f64'] as const).flatMap((type) => [
  ...languageSamples(random, type),
  ...halfSamples(random, type),
]);
const named = samples.map((sample) => [`${sample.kernel.precision}: ${sample.name}`, sample] as const);

describe.skipIf(!compiler)('the kernel language as CUDA', () => {
  it.each(named)('%s', (_, sample) => {
    const { kernel } = sample;
    const memory = copied(sample.memory);
    const program = emitCuda(kernel);
    runOnProcessor(
      program,
      [...kernel.globals, ...kernel.tables].map(({ name }) => memory[name]!),
    );
    expectAsInterpreted(sample, memory, isExact(sample));
  });
});

const nvcc = findNvcc();

describe.skipIf(!nvcc)('compiled for a GPU', () => {
  it.each(named)('%s', (_, { kernel }) => {
    const folder = mkdtempSync(join(tmpdir(), 'omnifft-cuda-'));
    const file = join(folder, 'kernel.cu');
    writeFileSync(file, emitCuda(kernel).source);
    const flags = ['-arch=sm_90', '-cubin', '-o', join(folder, 'kernel.cubin'), file];
    const { status, stderr } = spawnSync(nvcc!, flags, { encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    expect([status, stderr]).toEqual([0, '']);
  });
});
