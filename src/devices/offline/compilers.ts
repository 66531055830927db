/** Compilers that need no device, one for each language, loaded on first use. */
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { KernelCompiler } from '../cuda/compiler.ts';
import type { CudaFacts } from '../cuda/kernel.ts';
import type { GpuKind } from '../cuda/open.ts';
import type { CodeFacts, CompileOptions, DeviceKind, Schedule } from '../device.ts';
import type { OfflineLanguage } from './languages.ts';

export interface AheadSettings {
  /**
   * The target processor, under its compiler's name: `sm_90`, `gfx90a`, `dg2`. SPIR-V is compiled for a named processor, for Level Zero; without a
   * name it stays SPIR-V, for Vulkan. WebAssembly takes no name.
   */
  readonly architecture?: string | undefined;
  /** Replace the system's compilers of CUDA and HIP, for tests. */
  readonly kinds?: { readonly [language in 'cuda' | 'hip']?: GpuKind };
}

/** A kernel in source form, ready to be compiled. */
export interface AheadCode {
  readonly source: string | Uint8Array;
  /** The facts that its device needs beside the code: `PackedKernel.facts`. */
  readonly facts: unknown;
  /** Compiles. @throws FftError `compile-failed`, `device-unavailable` if the compiler is missing */
  compile(): Uint8Array;
}

export interface AheadCompiler {
  /** The kind of devices that take the code, if it is not the usual one of the language. */
  readonly kind?: DeviceKind;
  /** The facts that a device has to share with the code. */
  readonly codeFacts: CodeFacts;
  write(kernel: Kernel, options: CompileOptions): AheadCode;
  /** Joins two kernels into one; undefined if they do not fit together. */
  pipeline?(first: Kernel, second: Kernel, schedule: Schedule): (AheadCode & { readonly name: string }) | undefined;
}

/** The compilers for a language. @throws FftError (as a rejection) `invalid-argument`, `unsupported-feature` */
export async function aheadCompilers(language: OfflineLanguage, settings: AheadSettings): Promise<AheadCompiler[]> {
  switch (language) {
    case 'cuda':
    case 'hip':
      return [await gpuCompiler(language, settings)];
    case 'opencl':
      return [await oclocCompiler(settings)];
    case 'spirv':
      return [await (settings.architecture === undefined ? spirvCompiler() : levelZeroCompiler(settings))];
    case 'wasm':
      return Promise.all([false, true].map(wasmCompiler));
    case 'wgsl':
    case 'msl':
      throw new FftError(
        'unsupported-feature',
        'WebGPU has no compiled code that could be kept: omnifft build --target wgsl writes transforms for pages.',
        { path: 'language' },
      );
  }
}

/** The format of an architecture's name, whose digits are the compute capability that its devices report. */
const ARCHITECTURES = {
  cuda: { pattern: /^sm_(\d+)(\d)[af]?$/, example: 'sm_90', option: '--gpu-architecture=' },
  hip: { pattern: /^gfx(\d+)([\da-f])[\da-f]$/, example: 'gfx90a', option: '--offload-arch=' },
} as const;

/** Compiles CUDA by NVRTC, HIP by HIPRTC. */
async function gpuCompiler(language: 'cuda' | 'hip', settings: AheadSettings): Promise<AheadCompiler> {
  const { architecture, kinds } = settings;
  const { pattern, example, option } = ARCHITECTURES[language];
  const [, major, minor] = pattern.exec(architecture ?? '') ?? [];
  if (major === undefined) throw wrongArchitecture(architecture, `an architecture of ${language}, such as ${example}`);
  const [{ openCompiler }, { cudaProgram }, { emitPipelined }, known] = await Promise.all([
    import('../cuda/open.ts'),
    import('../cuda/program.ts'),
    import('../../emit/cuda/pipelined.ts'),
    language === 'cuda'
      ? import('../cuda/index.ts').then(({ cuda }) => cuda)
      : import('../hip/index.ts').then(({ hip }) => hip),
  ]);
  const kind = kinds?.[language] ?? known;
  if (language === 'hip') await requireHipArchitecture(architecture!);
  const compiler = await openCompiler(kind);
  const options = [`${option}${architecture}`, '--std=c++17'];
  return {
    codeFacts: { capability: `${major}.${Number.parseInt(minor!, 16)}` },
    write: (kernel, requested) => {
      const program = cudaProgram(kernel, kind.driver, requested);
      return gpuCode(program, { program, streams: requested.streams ?? 1 }, compiler, options);
    },
    pipeline(first, second, schedule) {
      const program = language === 'cuda' ? emitPipelined(first, second, schedule) : undefined;
      if (!program) return undefined;
      const { entry: name, counters } = program;
      return { name, ...gpuCode(program, { program, streams: 1, counters }, compiler, options) };
    },
  };
}

/** Checks an architecture of AMD. @throws FftError (as a rejection) `device-unavailable` if AMD's compiler does not know it */
async function requireHipArchitecture(architecture: string): Promise<void> {
  const [{ hipArchitectures }, { comgr }] = await Promise.all([
    import('../hip/architectures.ts'),
    import('../hip/index.ts'),
  ]);
  const known = await hipArchitectures(comgr());
  if (!known || known.includes(architecture)) return;
  const list = [...new Set(known)].join(', ');
  const message = `HIPRTC of this machine does not compile for ${architecture}: it knows ${list}. Install a newer ROCm.`;
  throw new FftError('device-unavailable', message);
}

function gpuCode(
  { source, entry }: SpmdProgram,
  facts: CudaFacts,
  compiler: KernelCompiler,
  options: readonly string[],
): AheadCode {
  return { source, facts, compile: () => compiler.compile(source, entry, options) };
}

/** Compiles OpenCL C by Intel's offline compiler. */
async function oclocCompiler(settings: AheadSettings): Promise<AheadCompiler> {
  const architecture = oclocDevice(settings);
  const [{ clProgram }, { compileWithOcloc }] = await Promise.all([
    import('../opencl/program.ts'),
    import('./ocloc.ts'),
  ]);
  return {
    // Empty, because the driver itself checks that a binary is for its device.
    codeFacts: {},
    write(kernel, options) {
      const program = clProgram(kernel, options);
      const compile = () => compileWithOcloc(program.source, program.entry, architecture);
      return { source: program.source, facts: { program }, compile };
    },
  };
}

/** The most groups of a launch on Level Zero: Intel's drivers allow at least as many as a signed 32-bit number counts. */
const INTEL_GROUPS = 2 ** 31 - 1;

/** Compiles SPIR-V by Intel's offline compiler. The SPIR-V is kept with the binary, so that a driver that rejects the binary can compile it. */
async function levelZeroCompiler(settings: AheadSettings): Promise<AheadCompiler> {
  const architecture = oclocDevice(settings);
  const [{ zeProgram }, { spirvFacts, withBinary }, { compileWithOcloc }] = await Promise.all([
    import('../level-zero/program.ts'),
    import('../native/kernel.ts'),
    import('./ocloc.ts'),
  ]);
  return {
    kind: 'level-zero',
    codeFacts: {},
    write(kernel, options) {
      const program = zeProgram(kernel, INTEL_GROUPS, options);
      const { source, entry } = program;
      const compile = () => withBinary(program, compileWithOcloc(source, entry, architecture));
      return { source, facts: spirvFacts(program), compile };
    },
  };
}

function oclocDevice({ architecture }: AheadSettings): string {
  if (architecture && /^[\w.-]+$/.test(architecture)) return architecture;
  throw wrongArchitecture(architecture, 'a device of ocloc, such as dg2');
}

/** Compiles nothing, because Vulkan drivers take SPIR-V. */
async function spirvCompiler(): Promise<AheadCompiler> {
  const { LEAST_FEATURES, vkProgram } = await import('../vulkan/program.ts');
  return {
    codeFacts: {},
    write(kernel, options) {
      const program = vkProgram(kernel, LEAST_FEATURES, options);
      const { source } = program;
      return { source, facts: { program: { ...program, source: new Uint8Array() } }, compile: () => source };
    },
  };
}

/** Pages of 4 GiB, so that code fits every memory of a device. */
const WASM_PAGES = 65536;

/** @param shared whether memory is shared, as on devices with several threads. */
async function wasmCompiler(shared: boolean): Promise<AheadCompiler> {
  const [{ emitWasm }, { estimatedGroupTime }] = await Promise.all([
    import('../../emit/wasm/lower.ts'),
    import('../cpu/kernel.ts'),
  ]);
  return {
    codeFacts: { sharedMemory: shared },
    write(kernel) {
      const { bytes, sharedBytes } = emitWasm(kernel, { initial: 1, maximum: WASM_PAGES, shared });
      const groupCost = estimatedGroupTime(kernel);
      return { source: bytes, facts: { sharedBytes, groupCost }, compile: () => bytes };
    },
  };
}

function wrongArchitecture(architecture: string | undefined, wanted: string): FftError {
  const what = architecture === undefined ? 'No architecture is named' : `architecture is ${show(architecture)}`;
  return new FftError('invalid-argument', `${what}; it must be ${wanted}.`, { path: 'architecture' });
}
