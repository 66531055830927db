/** Everything that the kernel language can say, as WGSL on a software adapter: what the interpreter says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copied, expectAsInterpreted, halfSamples, isExact, onePhase } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { openGpu, runProgram } from '../../../test/support/wgsl.ts';
import { Expressions, index, variable } from '../../ir/index.ts';
import { emitWgsl } from './index.ts';

const random = randomFor('emit/wgsl/language');
const samples = [...languageSamples(random, 'f32'), ...languageSamples(random, 'f32'), ...halfSamples(random, 'f32')];
let gpu: GPUDevice;

beforeAll(async () => {
  if (!noWebGpu) gpu = await openGpu();
});
afterAll(() => gpu?.destroy());

describe.skipIf(noWebGpu)('the kernel language as WGSL', () => {
  it.each(samples.map((sample) => [sample.name, sample] as const))('%s', async (_, sample) => {
    const { kernel } = sample;
    const memory = copied(sample.memory);
    const program = emitWgsl(kernel);
    await runProgram(
      gpu,
      program,
      [...kernel.globals, ...kernel.tables].map(({ name }) => memory[name]!),
    );
    expectAsInterpreted(sample, memory, isExact(sample));
  });
});

describe('WGSL', () => {
  it('has no product and sum that are surely rounded once', () => {
    const x = new Expressions();
    const i = variable('i', 4);
    const global = { name: 'memory', space: 'global', type: 'f32' } as const;
    const value = x.load(global, i);
    const stores = [{ array: global, index: index(i), value: x.exactFma(value, value, value) }];
    const kernel = onePhase('fused', 'f32', [global], i, stores, { threads: 4, repeatable: false, inPlace: 1 });
    expect(() => emitWgsl(kernel)).toThrow(/rounded once/);
  });
});
