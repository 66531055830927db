/**
 * The languages that kernels can be written in without a device: each emitter behind one signature, loaded when it is
 * asked for.
 */
import type { EntryPoint, SpmdOptions } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel, CompileOptions, DeviceKind, Schedule } from '../device.ts';

export const offlineLanguages = ['cuda', 'hip', 'opencl', 'spirv', 'wgsl', 'msl', 'wasm'] as const;
export type OfflineLanguage = (typeof offlineLanguages)[number];

/** The device that kernels in a language are for. */
export const kindOf: Readonly<Record<OfflineLanguage, DeviceKind>> = {
  cuda: 'cuda',
  hip: 'hip',
  opencl: 'opencl',
  spirv: 'vulkan',
  wgsl: 'webgpu',
  // On Apple's systems that is what stands on Metal.
  msl: 'webgpu',
  wasm: 'cpu',
};

/** A kernel in a language of threads. */
type Written = EntryPoint & Pick<CompiledKernel, 'source'>;

/** @throws RangeError where the language has no words for the kernel. */
export type Writer = (kernel: Kernel, options: CompileOptions) => Pick<CompiledKernel, 'source' | 'grid'>;

/** Two kernels as one; undefined where they do not fit together. */
export type PipelineWriter = (
  first: Kernel,
  second: Kernel,
  schedule: Schedule,
) => (Pick<CompiledKernel, 'source' | 'grid'> & { readonly name: string }) | undefined;

/** Undefined for languages of devices that do not run two kernels as one. */
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

/** What a WebAssembly module may address; a device names what it has. */
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
      // Its emitter is none of a page's business.
      throw new FftError(
        'unsupported-feature',
        'Kernels in SPIR-V are written for devices of Vulkan and by omnifft aot-generate; choose another language to look at.',
        { path: 'language' },
      );
    case 'wgsl': {
      const { emitWgsl } = await import('../../emit/wgsl/index.ts');
      const { defaultArrangement } = await import('../webgpu/arrangement.ts');
      // What is one memory may be bound only once.
      return spmd((kernel, options) => emitWgsl(kernel, { ...options, arrangement: defaultArrangement(kernel) }));
    }
    case 'wasm': {
      const { emitWasm } = await import('../../emit/wasm/lower.ts');
      return (kernel) => ({ source: emitWasm(kernel, { initial: 1, maximum: WASM_PAGES, shared: false }).bytes });
    }
  }
}
