/** A kernel as WebAssembly, and an estimate of how long it takes. */
import { emitWasm, type MemoryLimits, type WasmKernel } from '../../emit/wasm/lower.ts';
import type { VectorArithmetic } from '../../emit/wasm/multiply-adds.ts';
import { type Kernel, reachable } from '../../ir/index.ts';
import { FftError, reasonOf } from '../../problem/errors.ts';
import { DeviceKernel, type KernelSource } from '../common/kernel.ts';
import type { PackedKernel } from '../device.ts';
import { type CpuAllocator, PAGE_BYTES } from './memory.ts';
import { compileModule } from './relaxed.ts';

/** Runs groups first … last − 1; `shared` and the pointers are addresses. */
export type KernelEntry = (first: number, last: number, shared: number, ...pointers: number[]) => void;

/** Nanoseconds per node of the expression graph and byte of an element, measured on radix-4 passes, within a factor of 2. */
const NANOSECONDS_PER_NODE_BYTE = 0.0045;

export class CpuKernel extends DeviceKernel {
  readonly language = 'wasm';
  readonly source: Uint8Array;
  readonly module: WebAssembly.Module;
  readonly run: KernelEntry;
  /** Calls `run` over no groups, `times` times. */
  readonly idle: (times: number) => void;
  /** Bytes that a thread needs for the arrays that a group shares. */
  readonly sharedBytes: number;
  /** Resolves when the kernel runs at full speed; undefined until that is asked for. */
  warming: Promise<void> | undefined;
  /** Whether warming up has begun. */
  warm = false;
  /** The time of a call over no groups before warming up, in milliseconds. */
  coldCall = 0;
  private cost: number | undefined;

  /**
   * @param code gives the WebAssembly code; from an earlier process together with its cost.
   * @throws FftError `compile-failed`
   */
  constructor(kernel: KernelSource, memory: CpuAllocator, code: () => CompiledCode) {
    super(kernel);
    try {
      const { wasm, module, cost } = code();
      this.cost = cost;
      this.source = wasm.bytes;
      this.sharedBytes = wasm.sharedBytes;
      this.module = module;
      const instance = new WebAssembly.Instance(this.module, { env: { memory: memory.memory } });
      this.run = instance.exports.run as KernelEntry;
      this.idle = instance.exports.repeat as CpuKernel['idle'];
    } catch (cause) {
      throw new FftError(
        'compile-failed',
        `WebAssembly refused kernel ${kernel.name}: ${reasonOf(cause)}. Where a content security policy forbids run-time ` +
          "compilation, it has to allow 'wasm-unsafe-eval'.",
        { cause },
      );
    }
  }

  /** Expected nanoseconds for one group; right within a small factor. It is needed only with several threads. */
  get groupCost(): number {
    this.cost ??= estimatedGroupTime(this.whole);
    return this.cost;
  }

  pack(): PackedKernel {
    const { outline, source: code, sharedBytes, groupCost } = this;
    return { outline, code, facts: { sharedBytes, groupCost } satisfies PackedFacts };
  }

  /** Nothing to do: the JavaScript engine collects the code. */
  unload(): void {}
}

/** A kernel written as WebAssembly for a memory. @throws FftError `compile-failed` */
export function writtenWasmKernel(kernel: Kernel, memory: CpuAllocator, vectors: VectorArithmetic = {}): CpuKernel {
  const pages = memory.buffer.byteLength / PAGE_BYTES;
  const limits = { initial: 1, maximum: pages, shared: memory.shared };
  return new CpuKernel(kernel, memory, () => compiled(kernel, limits, vectors));
}

/** A kernel that a device like this one has packed. @throws FftError `compile-failed` */
export function unpackedKernel(packed: PackedKernel, memory: CpuAllocator, whole: () => Kernel): CpuKernel {
  const { sharedBytes, groupCost: cost } = packed.facts as PackedFacts;
  const bytes = packed.code as Uint8Array<ArrayBuffer>;
  return new CpuKernel({ ...packed.outline, whole }, memory, () => {
    return { wasm: { bytes, sharedBytes }, module: compileModule(bytes), cost };
  });
}

/** Facts that are packed beside the code. */
export interface PackedFacts {
  readonly sharedBytes: number;
  readonly groupCost: number;
}

interface CompiledCode {
  readonly wasm: Pick<WasmKernel, 'bytes' | 'sharedBytes'>;
  readonly module: WebAssembly.Module;
  readonly cost?: number;
}

/** Compiles a kernel; without relaxed SIMD, and so more slowly, if other threads keep resetting the engine's flag for it (relaxed.ts). */
function compiled(kernel: Kernel, limits: MemoryLimits, vectors: VectorArithmetic): CompiledCode {
  const wasm = emitWasm(kernel, limits, vectors);
  try {
    return { wasm, module: compileModule(wasm.bytes) };
  } catch (error) {
    if (!vectors.relaxedSimd) throw error;
    return compiled(kernel, limits, {});
  }
}

/** Expected nanoseconds for one group: see `CpuKernel.groupCost`. */
export function estimatedGroupTime(kernel: Kernel): number {
  const bytes = kernel.precision === 'f32' ? 4 : 8;
  let nodes = 0;
  for (const phase of kernel.phases) {
    const items = phase.loops.reduce((product, loop) => product * loop.variable.count, 1);
    nodes += items * (phase.stores.length + reachable(phase.stores.map((store) => store.value)).length);
  }
  return nodes * bytes * NANOSECONDS_PER_NODE_BYTE;
}
