/** Everything that the kernel language can say, as OpenCL C on a device: what the interpreter says. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectOnDevice, halfSamples } from '../../../test/support/emitted.ts';
import { type LanguageSample, languageSamples } from '../../../test/support/language.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor } from '../../../test/support/random.ts';
import { exhaustive } from '../../../test/support/transforms.ts';
import type { Backend } from '../../devices/device.ts';
import { create as createOpenClBackend } from '../../devices/opencl/index.ts';

const random = randomFor('emit/opencl/language');
/** By what they say, in each precision that can say it. */
const kinds = new Map<string, LanguageSample[]>();
for (const type of ['f32', 'f64'] as const) {
  const met: string[] = [];
  for (const sample of [...languageSamples(random, type), ...halfSamples(random, type)]) {
    const kind = `${sample.name} ${met.filter((name) => name === sample.name).length}`;
    met.push(sample.name);
    kinds.set(kind, [...(kinds.get(kind) ?? []), sample]);
  }
}
/** What both can say, in one of them, each time another: the driver's compiler is slow. */
const samples = [...kinds.values()].flatMap((same) => (exhaustive ? same : [random.pick(same)]));

describe.skipIf(noOpenCl)('the kernel language as OpenCL C', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createOpenClBackend({});
  });
  afterAll(() => backend?.close());

  it.each(samples.map((sample) => [`${sample.kernel.precision}: ${sample.name}`, sample] as const))(
    '%s',
    async (_, sample) => {
      await expectOnDevice(backend, sample);
    },
  );
});
