/** Kernels of a fixed list of plans go through AMD's run-time compiler, which needs no GPU. */
import { beforeAll, describe, expect, it } from 'vitest';
import { calledProblems, compiledProblems } from '../../../test/device/cases.ts';
import { kernelsOf } from '../../../test/device/kernels.ts';
import { documentedFunctions, documentedKernels } from '../../../test/support/device-functions.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { halfSamples } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { together } from '../../../test/support/nvcc.ts';
import { missing } from '../../../test/support/optional.ts';
import { randomFor } from '../../../test/support/random.ts';
import { someOf } from '../../../test/support/transforms.ts';
import { emitCuda } from '../../emit/cuda/index.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { compilingDevices } from '../../engine/compiling-devices.ts';
import { FftError } from '../../problem/errors.ts';
import { DriverApi } from '../cuda/api.ts';
import { RuntimeCompiler } from '../cuda/compiler.ts';
import { openLibrary } from '../native/library.ts';
import { gpuProfile } from '../profiles/gpu.ts';
import { availability, hip } from './index.ts';

/** The number of kernels in one compilation. */
const TOGETHER = 16;
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

  /** Compiles several kernels at a time, because the compiler takes longer for its own headers than for a kernel. */
  async function expectCompiled(programs: readonly SpmdProgram[]): Promise<void> {
    for (let first = 0; first < programs.length; first += TOGETHER) {
      const some = programs.slice(first, first + TOGETHER);
      const code = await hiprtc.compileAside(together(some), some.map(({ entry }) => entry).join(', '), options);
      // Code objects are ELF files, or bundles of them.
      const text = new TextDecoder('latin1').decode(code);
      expect(text).toContain('\x7fELF');
      for (const [n, { entry }] of some.entries()) expect(text).toContain(`${entry}_${n}`);
    }
  }

  it('compiles kernels of the list for an MI200', async () => {
    const profile = {
      ...gpuProfile,
      name: 'mi250x',
      lockstepBytes: 256,
      sharedBytes: 64 * 1024,
      maxThreads: 1024,
      multiprocessors: 104,
    };
    // Except for some words, the same source passes NVIDIA's compiler as a whole; half of the kernels, a different half in every run, suffice here.
    const problems = [...compiledProblems, ...calledProblems()];
    const some = someOf(randomFor('devices/hip/compile'), problems, Math.ceil(problems.length / 2));
    const kernels = kernelsOf(some, profile);
    const tuned = { computedRoots: true, launches: 2 };
    const programs = [
      ...kernels.map((kernel) => emitCuda(kernel, { dialect: 'hip' })),
      ...kernels.slice(1, 3).map((kernel) => emitCuda(kernel, { dialect: 'hip', ...tuned })),
    ];
    await expectCompiled(programs);
  });

  it('compiles everything that the kernel language can say', async () => {
    const random = randomFor('devices/hip/language');
    for (const precision of ['f32', 'f64'] as const) {
      const samples = [...languageSamples(random, precision), ...halfSamples(random, precision)];
      await expectCompiled(samples.map(({ kernel }) => emitCuda(kernel, { dialect: 'hip' })));
    }
  });

  it('compiles the kernels of docs/device-functions.md, in one file', async () => {
    const functions = Object.values(await documentedFunctions('hip'));
    const source = [...functions.map((one) => one.source), ...documentedKernels('cuda')].join('\n');
    const code = new TextDecoder('latin1').decode(await hiprtc.compileAside(source, 'convolve', options));
    for (const name of ['convolve', 'smooth', 'spectra']) expect(code).toContain(name);
  });

  it('gives the log of the compiler with an error', async () => {
    const broken = 'extern "C" __global__ void broken() { undeclared = 1; }';
    expect(await codeOf(() => hiprtc.compile(broken, 'broken', options))).toBe('compile-failed');
    expect(() => hiprtc.compile(broken, 'broken', options)).toThrow(/undeclared/);
    await expect(hiprtc.compileAside(broken, 'broken', options)).rejects.toThrow(/undeclared/);
  });

  it('compiles plans ahead of time', async () => {
    const [device] = await compilingDevices('mi250x');
    const saved = (await device!.plan({ size: [16] })).serialize({ binaries: true });
    expect(new TextDecoder('latin1').decode(saved)).toContain('\x7fELF');
    device!.close();
    await expect(compilingDevices('mi250x', { architecture: 'gfx1ff' })).rejects.toMatchObject({
      code: 'device-unavailable',
      message: expect.stringContaining('gfx90a'),
    });
  });

  it('finds every function of the driver by its name', async () => {
    const library = await openLibrary(hip.driverLibrary);
    expect(new DriverApi(library, hip.driver).variant).toBe(hip.driver);
  });

  it('says why there is no device, or its name', async () => {
    const { available, name, reason } = await availability();
    expect(name).toContain('HIP');
    expect(available ? name : reason).toMatch(/\w/);
  });
});
