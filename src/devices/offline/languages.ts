/** Languages that kernels can be written in without a device. All emitters have the same signature here, and are loaded on first use. */
import type { EntryPoint, SpmdOptions } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel, CompileOptions, DeviceKind, Schedule } from '../device.ts';

export const offlineLanguages = ['cuda', 'hip', 'opencl', 'spirv', 'wgsl', 'msl', 'wasm'] as const;
export type OfflineLanguage = (typeof offlineLanguages)[number];

/** The kind of device that a language is usually for. */
export const kindOf: Readonly<Record<OfflineLanguage, DeviceKind>> = {
  cuda: 'cuda',
  hip: 'hip',
  opencl: 'opencl',
  spirv: 'vulkan',
  wgsl: 'webgpu',
  // WebGPU is what runs on Metal on Apple's systems.
  msl: 'webgpu',
  wasm: 'cpu',
};

/** A kernel written in a language of threads. */
type Written = EntryPoint & Pick<CompiledKernel, 'source'>;

/** Writes a kernel. @throws RangeError if the language cannot express the kernel. */
export type Writer = (kernel: Kernel, options: CompileOptions) => Pick<CompiledKernel, 'source' | 'grid'>;

/** Joins two kernels into one; undefined if they do not fit together. */
export type PipelineWriter = (
  first: Kernel,
  second: Kernel,
  schedule: Schedule,
) => (Pick<CompiledKernel, 'source' | 'grid'> & { readonly name: string }) | undefined;

/** The writer of joined kernels; undefined for languages whose devices do not run them. */
export async function pipelineWriterOf(language: OfflineLanguage): Promise<PipelineWriter | undefined> {
  if (language !== 'cuda') return undefined;
  const { emitPipelined } = await import('../../emit/cuda/pipelined.ts');
  return (first, second, schedule) => {
    const program = emitPipelined(first, second, schedule);
    if (!program) return undefined;
    const { source, entry, groups, launches } = program;
    return { name: entry, source, grid: { blocks: groups, launches } };
  };
}

/** The most pages that a WebAssembly module can address; a device declares the pages that it has. */
const WASM_PAGES = 65536;

export async function writerOf(language: OfflineLanguage, { maxThreads }: DeviceProfile): Promise<Writer> {
  const spmd = (emit: (kernel: Kernel, options: SpmdOptions) => Written): Writer => {
    return (kernel, { maxGroups, streams = 1, computedRoots = false }) => {
      const { source, groups, launches } = emit(kernel, {
        threads: Math.min(kernel.threads, maxThreads),
        launches: streams,
        computedRoots,
        ...(maxGroups === undefined ? {} : { maxGroups }),
      });
      return { source, grid: { blocks: groups, launches } };
    };
  };
  switch (language) {
    case 'cuda':
    case 'hip': {
      const { emitCuda } = await import('../../emit/cuda/index.ts');
      return spmd((kernel, options) => emitCuda(kernel, { ...options, dialect: language }));
    }
    case 'opencl': {
      const { emitOpencl } = await import('../../emit/opencl/index.ts');
      return spmd(emitOpencl);
    }
    case 'msl': {
      const { emitMsl } = await import('../../emit/msl/index.ts');
      return spmd(emitMsl);
    }
    case 'spirv':
      // The build for browsers leaves this emitter out.
      throw new FftError(
        'unsupported-feature',
        'Kernels in SPIR-V are written for devices of Vulkan and by omnifft aot-generate; choose another language to look at.',
        { path: 'language' },
      );
    case 'wgsl': {
      const { emitWgsl } = await import('../../emit/wgsl/index.ts');
      const { defaultArrangement } = await import('../webgpu/arrangement.ts');
      // In place, the arrays of both sides are the same memory, which WebGPU binds only once.
      return spmd((kernel, options) => emitWgsl(kernel, { ...options, arrangement: defaultArrangement(kernel) }));
    }
    case 'wasm': {
      const { emitWasm } = await import('../../emit/wasm/lower.ts');
      return (kernel) => ({ source: emitWasm(kernel, { initial: 1, maximum: WASM_PAGES, shared: false }).bytes });
    }
  }
}
