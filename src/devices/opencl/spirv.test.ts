/** Kernels that are given to an OpenCL driver as SPIR-V. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { codeOf, scaleKernel } from '../../../test/support/device-kernels.ts';
import { expectOnDevice, halfSamples } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noTranslator, takingSpirv } from '../../../test/support/spirv.ts';
import { exhaustive } from '../../../test/support/transforms.ts';
import type { Backend, PackedKernel } from '../device.ts';
import { OpenCl } from './api.ts';
import { create } from './index.ts';

const random = randomFor('devices/opencl/spirv');
const all = (['f32', 'f64'] as const).flatMap((type) => [
  ...languageSamples(random, type),
  ...halfSamples(random, type),
]);
const offset = random.integer(0, 11);
/** A different sample in every run, because the driver's compiler is slow. */
const samples = exhaustive ? all : all.filter((_, n) => (n + offset) % 12 === 0);

describe.skipIf(noOpenCl || noTranslator)('the kernel language as SPIR-V on an OpenCL device', () => {
  let backend: Backend;
  let end: () => void;
  beforeAll(async () => {
    end = await takingSpirv();
    backend = await create({});
  });
  afterAll(() => {
    backend?.close();
    end?.();
  });

  it.each(samples.map((sample) => [`${sample.kernel.precision}: ${sample.name}`, sample] as const))(
    '%s',
    async (_, sample) => {
      expect(await expectOnDevice(backend, sample)).toBe('spirv');
    },
  );

  it('packs them with what the driver has made of them, and takes both', async () => {
    const kernel = scaleKernel(2, 8, 3);
    const translations = vi.mocked(OpenCl.prototype.spirvProgram).mock.calls;
    const compiled = backend.compile(kernel);
    const before = translations.length;
    const [whole, source] = [backend.pack!(compiled, true), backend.pack!(compiled, false)];
    expect(source.code.length).toBeLessThan(whole.code.length);
    // A packed kernel as it is read from a disk: equal data in new objects.
    const read = (packed: PackedKernel) => ({ ...packed, facts: JSON.parse(JSON.stringify(packed.facts)) });
    for (const [packed, times] of [
      [whole, 0],
      [source, 1],
      // A binary that every driver rejects.
      [{ ...whole, code: whole.code.map((byte, n) => (n < source.code.length ? byte : 7)) }, 1],
    ] as const) {
      translations.length = before;
      const again = backend.unpack!(read(packed), () => kernel);
      expect(translations.length - before).toBe(times);
      const place = { buffer: backend.allocate(64), byteOffset: 0 };
      await backend.upload(place, new Float32Array(16).fill(1));
      const bound = backend.bind([{ kernel: again, arguments: [{ fixed: place }, { fixed: place }] }], []);
      await bound.run();
      const got = new Float32Array(16);
      await backend.download(place, got);
      expect(got).toEqual(new Float32Array(16).fill(4));
      bound.release();
    }
  });

  it('are written as text where that is asked for', async () => {
    const other = await create({ spirv: false });
    expect(other.compile(scaleKernel(1, 4, 2)).language).toBe('opencl');
    other.close();
  });
});

describe.skipIf(noOpenCl)('a driver that takes no SPIR-V', () => {
  it('is given text, and refused where SPIR-V is asked for', async () => {
    const takes = vi.spyOn(OpenCl.prototype, 'takesSpirv').mockReturnValue(false);
    const backend = await create({});
    expect(backend.compile(scaleKernel(1, 4, 2)).language).toBe('opencl');
    backend.close();
    expect(await codeOf(() => create({ spirv: true }))).toBe('device-unavailable');
    takes.mockRestore();
  });
});
