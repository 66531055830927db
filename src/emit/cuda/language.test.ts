/** Everything that the kernel language can say, as CUDA on the processor: what the interpreter says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiler, OnProcessor } from '../../../test/support/cuda.ts';
import { copied, expectAsInterpreted, halfSamples, isExact } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { compile, findNvcc, together } from '../../../test/support/nvcc.ts';
import { randomFor } from '../../../test/support/random.ts';
import { emitCuda } from './index.ts';

const random = randomFor('emit/cuda/language');
const samples = (['f32', 'f64'] as const).flatMap((type) => [
  ...languageSamples(random, type),
  ...halfSamples(random, type),
]);

describe.skipIf(!compiler)('the kernel language as CUDA', () => {
  const memories = samples.map(({ kernel, memory }) => {
    const own = copied(memory);
    return { own, bindings: [...kernel.globals, ...kernel.tables].map(({ name }) => own[name]!) };
  });
  let processor: OnProcessor;
  beforeAll(() => {
    processor = new OnProcessor(
      samples.map(({ kernel }, n) => ({
        program: emitCuda(kernel),
        sizes: memories[n]!.bindings.map(({ byteLength }) => byteLength),
      })),
    );
  });
  afterAll(() => processor?.remove());

  it.each(samples.map((sample, n) => [`${sample.kernel.precision}: ${sample.name}`, n] as const))('%s', (_, n) => {
    const sample = samples[n]!;
    const { own, bindings } = memories[n]!;
    processor.run(n, bindings);
    expectAsInterpreted(sample, own, isExact(sample));
  });
});

const nvcc = findNvcc();

describe.skipIf(!nvcc)('compiled for a GPU', () => {
  it.each(['f32', 'f64'] as const)('every kernel of %s', (precision) => {
    const kernels = samples.filter(({ kernel }) => kernel.precision === precision);
    expect(compile(nvcc!, together(kernels.map(({ kernel }) => emitCuda(kernel))))).toBe('');
  });
});
