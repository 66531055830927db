/** Every kernel of a fixed list of plans goes through AMD's run-time compiler, which needs no GPU. */
import { beforeAll, describe, expect, it } from 'vitest';
import { calledProblems, compiledProblems } from '../../../test/device/cases.ts';
import { kernelsOf } from '../../../test/device/kernels.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { halfSamples } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { missing } from '../../../test/support/optional.ts';
import { randomFor } from '../../../test/support/random.ts';
import { emitCuda } from '../../emit/cuda/index.ts';
import { FftError } from '../../problem/errors.ts';
import { DriverApi } from '../cuda/api.ts';
import { RuntimeCompiler } from '../cuda/compiler.ts';
import { openLibrary } from '../native/library.ts';
import { gpuProfile } from '../profiles/gpu.ts';
import { availability, hip } from './index.ts';

const options = ['--offload-arch=gfx90a', '--std=c++17'];

async function openCompiler(): Promise<RuntimeCompiler | undefined> {
  try {
    return new RuntimeCompiler(await openLibrary(hip.compilerLibrary()), hip.compiler);
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    missing('hiprtc', error.message);
    return undefined;
  }
}

const compiler = await openCompiler();

describe.runIf(compiler)('HIP', () => {
  let hiprtc: RuntimeCompiler;
  beforeAll(() => {
    hiprtc = compiler as RuntimeCompiler;
  });

  it('compiles every kernel of the list for an MI200', async () => {
    const profile = {
      ...gpuProfile,
      name: 'mi250x',
      lockstepBytes: 256,
      sharedBytes: 64 * 1024,
      maxThreads: 1024,
      multiprocessors: 104,
    };
    const kernels = kernelsOf([...compiledProblems, ...calledProblems()], profile);
    const tuned = { computedRoots: true, launches: 2 };
    const programs = [
      ...kernels.map((kernel) => emitCuda(kernel, { dialect: 'hip' })),
      ...kernels.slice(1, 3).map((kernel) => emitCuda(kernel, { dialect: 'hip', ...tuned })),
    ];
    for (const { source, entry } of programs) {
      const code = await hiprtc.compileAside(source, entry, options);
      // Code objects are ELF files, or bundles of them.
      expect(new TextDecoder('latin1').decode(code)).toContain('\x7fELF');
    }
  });

  it('compiles everything that the kernel language can say', async () => {
    const random = randomFor('devices/hip/language');
    for (const precision of ['f32', 'f64'] as const) {
      for (const { kernel } of [...languageSamples(random, precision), ...halfSamples(random, precision)]) {
        const { source, entry } = emitCuda(kernel, { dialect: 'hip' });
        const code = await hiprtc.compileAside(source, entry, options);
        expect(new TextDecoder('latin1').decode(code)).toContain('\x7fELF');
      }
    }
  });

  it('gives the log of the compiler with an error', async () => {
    const broken = 'extern "C" __global__ void broken() { undeclared = 1; }';
    expect(await codeOf(() => hiprtc.compile(broken, 'broken', options))).toBe('compile-failed');
    expect(() => hiprtc.compile(broken, 'broken', options)).toThrow(/undeclared/);
    await expect(hiprtc.compileAside(broken, 'broken', options)).rejects.toThrow(/undeclared/);
  });

  it('finds every function of the driver by its name', async () => {
    const library = await openLibrary(hip.driverLibrary);
    expect(new DriverApi(library, hip.driver).words).toBe(hip.driver);
  });

  it('says why there is no device, or its name', async () => {
    const { available, name, reason } = await availability();
    expect(name).toContain('HIP');
    expect(available ? name : reason).toMatch(/\w/);
  });
});
