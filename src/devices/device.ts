/**
 * What a device offers to the engine: memory, compilation, launches. One folder per kind implements it.
 */
import type { DoubleWordForm } from '../emit/double-word/index.ts';
import type { ComputedRoots } from '../emit/spmd/tree/program.ts';
import type { Kernel, StorageType } from '../ir/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import type { FftError } from '../problem/errors.ts';
import type { CodeStore } from './code-cache/store.ts';

export const deviceKinds = ['cpu', 'webgpu', 'cuda', 'opencl', 'hip', 'vulkan', 'level-zero'] as const;
export type DeviceKind = (typeof deviceKinds)[number];
/** Kinds that this release can open. */
export type OpenableKind = DeviceKind;

/** One of the devices of a kind. */
export interface DeviceFacts {
  readonly name: string;
  /** Bytes of its memory, where they are known. */
  readonly memory?: number;
  /** The driver with its version, or whatever runs kernels there. */
  readonly driver?: string;
  /** Why it cannot be opened; absent where it can. */
  readonly fault?: string;
}

/** Whether a device can be opened here. */
export interface Availability {
  readonly name: string;
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason?: string;
  /** It works, but computes on the processor: `auto` never chooses it. */
  readonly software?: boolean;
  /** Those there are, in the order in which the option `device` counts them. */
  readonly devices?: readonly DeviceFacts[];
}

/** What a host array may be: singles, doubles, halves as their IEEE bits, or a table's integers. */
export type RealArray = Float32Array | Float64Array | Uint16Array | Uint32Array;

/** A stretch of memory: two of them overlap where they are `of` the same object and share a byte. */
export interface Stretch {
  readonly of: unknown;
  readonly start: number;
  readonly end: number;
}

/**
 * Memory that the caller made with the device's own API. `webgpu`: a `GPUBuffer`, or several that hold one array, in
 * order; `cuda`, `hip` and `level-zero`: `{ devicePointer, bytes }`; `opencl`: `{ clMem, bytes }`; `vulkan`: `{ vkBuffer, bytes }`.
 */
export type ForeignMemory =
  | ForeignGpuBuffer
  | readonly ForeignGpuBuffer[]
  | { readonly devicePointer: bigint | number; readonly bytes: number }
  | { readonly clMem: unknown; readonly bytes?: number }
  | { readonly vkBuffer: bigint; readonly bytes: number };

/** What a `GPUBuffer` is recognised by. */
export interface ForeignGpuBuffer {
  readonly size: number;
  readonly usage: number;
  readonly mapState: string;
  destroy(): unknown;
}

/** Memory on a device. */
export interface DeviceBuffer {
  readonly bytes: number;
  /** What a part of it occupies, where that cannot be told from the buffer's identity; for overlap checks. */
  stretches?(byteOffset: number, bytes: number): readonly Stretch[];
  /** Where host code can see the memory itself: a view without a copy, valid until `free`. */
  view?(type: StorageType): RealArray;
  /** Gives the memory back; a second call does nothing. */
  free(): void;
  readonly freed: boolean;
  /** Why the device could not give this memory after all; it is freed then. */
  readonly failure?: FftError | undefined;
}

/** A place in device memory. */
export interface Binding {
  readonly buffer: DeviceBuffer;
  readonly byteOffset: number;
}

/** How a kernel is to be written and launched, where that is not left to the device. */
export interface CompileOptions {
  /** Most groups in one dimension of a launch; more than the device allows is as much as it allows. */
  readonly maxGroups?: number;
  /** Streams that the groups are spread over. */
  readonly streams?: number;
  /** Where all roots of unity are computed, the compiled kernel has no tables of them. */
  readonly computedRoots?: ComputedRoots;
  /** Threads of a subgroup, where the device lets programs choose. */
  readonly subgroupSize?: number;
}

/** How the groups of two kernels are interleaved. */
export interface Schedule {
  /** Into how many the groups of either kernel are divided: a chunk of the second needs that chunk of the first, whole. */
  readonly chunks: number;
  /** By how many chunks the first kernel is ahead. */
  readonly ahead: number;
  /** Groups that are to run side by side on a multiprocessor. */
  readonly beside: number;
}

/** What has to be known of a kernel to launch it. */
export interface KernelOutline extends Pick<Kernel, 'name' | 'globals' | 'tables'> {
  readonly group: { readonly count: number };
  /** There where it runs both ways. */
  readonly reverse?: unknown;
}

/** A compiled kernel as it is kept for other processes. */
export interface PackedKernel {
  readonly outline: KernelOutline;
  /** What else its device has to know to launch it: plain data. */
  readonly facts: unknown;
  /** Its code for the device; empty where that is kept by itself, or made of the text in `facts`. */
  readonly code: Uint8Array;
}

/** The engine, driver, compiler … that compiled kernels depend on. */
export type CodeFacts = Readonly<Record<string, unknown>>;

/** A kernel that is ready to run. */
export interface CompiledKernel {
  readonly kernel: KernelOutline;
  /** For `explain` and `plan.kernels`: the text, or the bytes of a binary format. */
  readonly language: string;
  readonly source: string | Uint8Array;
  /** Blocks in each dimension of a launch, and how many launches it takes; absent where they are not numbered so. */
  readonly grid?: { readonly blocks: readonly [x: number, y: number, z: number]; readonly launches: number };
}

/** One launch of a program. Arguments follow the kernel's `globals`, then its `tables`. */
export interface ProgramStep {
  readonly kernel: CompiledKernel;
  /** Runs the kernel's `reverse` phases. */
  readonly reverse?: boolean;
  readonly arguments: readonly Argument[];
}

/** A slot that is bound at launch, plus an offset in it; or memory that is known when the program is made. */
export type Argument = { readonly slot: number; readonly byteOffset: number } | { readonly fixed: Binding };

/** Steps in order, bound to memory: may run any number of times. */
export interface BoundProgram {
  /** Runs all steps with everything the device has. Calls run in order. */
  run(): Promise<void>;
  /** Runs all steps, and returns when they and all work before them have run; absent where a device cannot do that. */
  runSync?(): void;
  /** Whether a run now would be over before it returns, because nothing else runs and no other thread is needed; absent: never. */
  readonly immediate?: boolean;
  /**
   * Appends all steps to work of the caller's own, which the caller submits: a `GPUCommandEncoder` or a compute pass, a
   * stream, a queue.
   * @returns where only the device can tell whether the target takes them, a promise of that; else nothing.
   * @throws FftError `invalid-encoder`
   */
  encode?(target: unknown): void | Promise<void>;
  /** Runs all steps so many times and resolves to the milliseconds that one of them took on the device. */
  time?(repeats: number): Promise<number>;
  /** Frees what binding took; memory stays, and runs that were submitted end as if it were bound. */
  release(): void;
}

/** Work of the caller's own that programs can be appended to: a `GPUCommandEncoder`, a stream, a command queue. */
export type EncodeTarget = 'encoder' | 'stream' | 'queue';

/** Libraries of transforms that devices can be compared with. */
export type PeerName = 'cufft' | 'rocfft';

/** What another library is asked for: complex numbers, packed and interleaved, not scaled. */
export interface PeerProblem {
  /** Real on the side that the forward direction reads. */
  readonly real?: boolean;
  /** Axes, fastest first. */
  readonly size: readonly number[];
  readonly precision: 'single' | 'double';
  readonly batches: number;
  readonly direction: 'forward' | 'inverse';
}

export type PeerProgram = Required<Pick<BoundProgram, 'time' | 'release'>>;

export interface Backend {
  readonly kind: DeviceKind;
  readonly name: string;
  readonly profile: DeviceProfile;
  /** Which work of a caller's own `BoundProgram.encode` appends to; absent where there is none. */
  readonly target?: EncodeTarget;
  /** @throws FftError `out-of-memory`, `device-closed` */
  allocate(bytes: number): DeviceBuffer;
  /**
   * The buffer and offset that a host array is a view of, where it is a view of this device's memory.
   * @throws FftError `destroyed` when the memory it is a view of has been freed.
   */
  locate(array: ArrayBufferView): Binding | undefined;
  /**
   * Device memory that the caller made (`ForeignMemory`); undefined for anything else. The same memory gives the same
   * buffer. It stays the caller's: `free` does not touch it.
   * @param what its name in messages: `input`, `output.re` …
   * @throws FftError `foreign-buffer`, `buffer-usage`, `misaligned-buffer`, `buffer-too-small`, `missing-buffer`,
   *   `aliased-buffers` for a buffer given twice, `invalid-argument`, `destroyed`
   */
  adopt?(memory: unknown, what: string): DeviceBuffer | undefined;
  /** True for live or freed memory that this device allocated or adopted. */
  owns(buffer: DeviceBuffer): boolean;
  /** Whether a launch may be spread over several streams. */
  readonly severalStreams?: boolean;
  /** Whether kernels can compute roots of unity, as exactly as tables have them but for a rounding or two. */
  readonly computesRoots?: boolean;
  /** How numbers that are pairs of those it computes in are computed with. */
  readonly pairForm?: DoubleWordForm;
  /** A kernel in numbers that the device computes in. */
  computable(kernel: Kernel): Kernel;
  /** Tries, once, whether its compilers leave alone what pairs rest on; where that is not known beforehand. */
  probePairs?(): Promise<void>;
  /** What was wrong then: undefined before it was tried, and '' where nothing was. */
  readonly pairsBroken?: string | undefined;
  /** Whether it takes kernels that run both ways: half as many to compile. */
  readonly runsBothWays?: true;
  /**
   * Synchronous; the same kernel is compiled again if asked again: the engine keeps them.
   * @throws FftError `compile-failed`, `device-limit`
   */
  compile(kernel: Kernel, options?: CompileOptions): CompiledKernel;
  /**
   * Two kernels as one whose groups are interleaved, so that the second one works on what the first one has just left. `bind` is
   * given it beside the steps, and runs it instead of them. Absent where a device cannot do that.
   * @returns undefined where these two do not fit together.
   */
  pipeline?(kernels: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined;
  /** Where compiled code is kept for other processes; absent where it is not. */
  readonly store?: CodeStore | undefined;
  /**
   * What compiled kernels depend on beside the profile, by name. There where kernels can be packed: on a device with the same
   * facts and profile a kernel that one has packed can be unpacked. `compiler` need not be the same: its code is there already.
   */
  readonly codeFacts?: CodeFacts;
  /** @param whole with code that is otherwise kept by itself. @throws FftError `compile-failed` */
  pack?(kernel: CompiledKernel, whole: boolean): PackedKernel;
  /**
   * @param whole gives all of the kernel, its expressions too, should that be asked for.
   * @throws FftError `compile-failed` where the code is not taken.
   */
  unpack?(packed: PackedKernel, whole: () => Kernel): CompiledKernel;
  /** Resolves when the kernels run at full speed. @param watched false if no caller waits; the warm-up is then only started. */
  warmUp(kernels: readonly CompiledKernel[], watched?: boolean): Promise<void>;
  /** Frees a kernel. */
  discard(kernel: CompiledKernel): void;
  /**
   * @param chunks into which the groups of every step are divided, so that one chunk goes through all steps after another;
   * 1 where the profile has none. It is no more than a wish: any order of a step's groups gives the same.
   * @param pipelined all steps as one kernel, from `pipeline`.
   */
  bind(
    steps: readonly ProgramStep[],
    slots: readonly (Binding | undefined)[],
    chunks?: number,
    pipelined?: CompiledKernel,
  ): BoundProgram;
  /**
   * The same transform by another library for this device, bound to the same memory, to compare with; absent where none
   * is known.
   * @throws FftError (as a rejection) `device-unavailable` where the library is missing, `unsupported-feature` where it is
   * not one for this device or has no such transform, `out-of-memory`
   */
  bindPeer?(peer: string, problem: PeerProblem, input: Binding, output: Binding): Promise<PeerProgram>;
  /** True where memory is pretended only: tables need no contents. */
  readonly pretends?: true;
  /** True where kernels are compiled for other devices than this one: whatever has the same `codeFacts` takes them. */
  readonly compilesAhead?: true;
  /** Host to device and back, ordered with the runs. */
  upload(target: Binding, data: RealArray): Promise<void>;
  /** @param move does the copying: given only where host code sees the device's memory and not all of it is wanted. */
  download(source: Binding, into: RealArray, move?: (into: RealArray, from: RealArray) => void): Promise<void>;
  /**
   * What is submitted meanwhile is one call: where a part of it fails, those after it are left undone and fail with it.
   * Missing where a result reaches host memory only when all of the call is known to have succeeded.
   */
  together?<T>(submit: () => T): T;
  /**
   * The same on the calling thread: when they return, `data` has been read and `into` been written. Where a device has
   * `runSync` and host code does not see its memory.
   */
  uploadSync?(target: Binding, data: RealArray): void;
  downloadSync?(source: Binding, into: RealArray): void;
  /** Resolves when all that was submitted has run. */
  finish(): Promise<void>;
  /** The same on the calling thread, before it returns; absent where a device cannot do that. */
  finishSync?(): void;
  close(): void;
}
