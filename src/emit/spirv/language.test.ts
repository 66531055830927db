/** Everything that the kernel language can say, as SPIR-V on Vulkan devices: what the interpreter says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOnDevice, halfSamples, onePhase } from '../../../test/support/emitted.ts';
import { type LanguageSample, languageSamples } from '../../../test/support/language.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noVulkan, type VulkanDriver, vulkanOptions } from '../../../test/support/vulkan.ts';
import type { Backend } from '../../devices/device.ts';
import { create as createVulkanBackend } from '../../devices/vulkan/index.ts';
import { Expressions, index, variable } from '../../ir/index.ts';
import { emitSpirv } from './index.ts';

const random = randomFor('emit/spirv/language');
const samplesOf = (type: 'f32' | 'f64') => [...languageSamples(random, type), ...halfSamples(random, type)];
const samples: Readonly<Record<VulkanDriver, readonly LanguageSample[]>> = {
  lavapipe: [...samplesOf('f32'), ...samplesOf('f64')],
  swiftshader: samplesOf('f32').filter(({ kernel }) =>
    [...kernel.globals, ...kernel.tables, ...kernel.shared].every(({ type }) => type !== 'f64'),
  ),
};

describe.each(['lavapipe', 'swiftshader'] as const)('the kernel language as SPIR-V on %s', (driver) => {
  const skipped = noVulkan[driver] !== undefined;
  let backend: Backend;
  beforeAll(async () => {
    if (!skipped) backend = await createVulkanBackend(await vulkanOptions(driver));
  });
  afterAll(() => backend?.close());

  it
    .skipIf(skipped)
    .each(samples[driver].map((sample) => [`${sample.kernel.precision}: ${sample.name}`, sample] as const))(
    '%s',
    async (_, sample) => {
      await expectOnDevice(backend, sample);
    },
  );
});

describe('SPIR-V for Vulkan', () => {
  it('has no product and sum that are surely rounded once', () => {
    const x = new Expressions();
    const i = variable('i', 4);
    const global = { name: 'memory', space: 'global', type: 'f32' } as const;
    const value = x.load(global, i);
    const stores = [{ array: global, index: index(i), value: x.exactFma(value, value, value) }];
    const kernel = onePhase('fused', 'f32', [global], i, stores, { threads: 4, repeatable: false, inPlace: 1 });
    expect(() => emitSpirv(kernel)).toThrow(/rounded once/);
    expect(emitSpirv(kernel, { flavour: 'opencl' }).source.length).toBeGreaterThan(0);
  });
});
