/** SPIR-V by itself: what the validator of the SPIR-V tools says of kernels in both flavours, and what Intel's compiler says of OpenCL's. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { halfSamples } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { findProgram, hidden, missing } from '../../../test/support/optional.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noOcloc, oclocFault } from '../../../test/support/spirv.ts';
import { exhaustive } from '../../../test/support/transforms.ts';
import type { Kernel } from '../../ir/index.ts';
import { sampleKernel } from '../spmd/fixture.ts';
import { emitSpirv, type SpirvOptions } from './index.ts';

const random = randomFor('emit/spirv');
const validator = hidden ? undefined : findProgram(['spirv-val']);
missing('spirv', validator ? undefined : 'there is no spirv-val');

/** What the validator has against some kernels. */
function faults(kernels: readonly Kernel[], environment: string, options: SpirvOptions): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-spirv-'));
  try {
    return kernels.flatMap((kernel, n) => {
      const file = join(folder, `${n}.spv`);
      writeFileSync(file, emitSpirv(kernel, options).source);
      try {
        execFileSync(validator!, ['--target-env', environment, file], { stdio: 'pipe' });
        return [];
      } catch (error) {
        return [`${kernel.name}: ${(error as { stderr: Buffer }).stderr}`];
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As OpenCL's devices launch it. */
function arranged(kernel: Kernel): SpirvOptions {
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  return { flavour: 'opencl', arrangement: { globals, bindings: globals.length, offsets: true } };
}

const kernels = (type: 'f32' | 'f64') =>
  [...languageSamples(random, type), ...halfSamples(random, type)].map(({ kernel }) => kernel);
const samples = (['f16', 'f32', 'f64'] as const).flatMap((type) =>
  Array.from({ length: 3 }, () => sampleKernel(random.integer, type)),
);

describe.skipIf(noOcloc)("SPIR-V is accepted by Intel's compiler", () => {
  it.each([
    ['f32', ['dg2', 'pvc']],
    // dg2 has no doubles.
    ['f64', ['pvc', 'skl']],
  ] as const)('in %s', (type, devices) => {
    const all = kernels(type);
    const some = exhaustive ? all : [random.pick(all), random.pick(all)];
    for (const kernel of some) {
      const { source } = emitSpirv(kernel, arranged(kernel));
      for (const device of devices) expect(oclocFault(source, device), `${kernel.name} on ${device}`).toBeUndefined();
    }
  });
});

describe.skipIf(!validator)('SPIR-V is valid', () => {
  it.each(['f32', 'f64'] as const)('for Vulkan, every kernel of the language in %s', (type) => {
    expect(faults(kernels(type), 'vulkan1.2', {})).toEqual([]);
  });

  it('for Vulkan without wide integers or 16 bits by themselves, with many launches, with arguments behind an address', () => {
    const all = [
      ...kernels('f32'),
      ...samples.filter(({ kernel }) => kernel.precision === 'f32').map(({ kernel }) => kernel),
    ];
    const narrow = { wideIntegers: false, storage16: false };
    expect(faults(all, 'vulkan1.2', { ...narrow, launches: 3, pushBytes: 8 })).toEqual([]);
  });

  it('for OpenCL, with offsets', () => {
    const all = [...kernels('f32'), ...kernels('f64'), ...samples.map(({ kernel }) => kernel)];
    expect(all.flatMap((kernel) => faults([kernel], 'opencl1.2', arranged(kernel)))).toEqual([]);
  });
});
