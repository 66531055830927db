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

/** Facts of one of the devices of a kind. */
export interface DeviceFacts {
  readonly name: string;
  /** Bytes of the device's memory, if known. */
  readonly memory?: number;
  /** The driver with its version, or other software that runs the kernels. */
  readonly driver?: string;
  /** The reason why the device cannot be opened; absent if it can. */
  readonly fault?: string;
}

/** Whether a device can be opened here. */
export interface Availability {
  readonly name: string;
  readonly available: boolean;
  /** The reason why no device of the kind is available. */
  readonly reason?: string;
  /** Whether the device works but computes on the processor: `auto` never chooses it. */
  readonly software?: boolean;
  /** The devices of the kind, in the order in which the option `device` counts them. */
  readonly devices?: readonly DeviceFacts[];
}

/** A host array: of singles, doubles, halves as their IEEE bits, or a table's integers. */
export type RealArray = Float32Array | Float64Array | Uint16Array | Uint32Array;

/** A range of bytes within memory that `of` identifies. Two ranges overlap if they have the same `of` and share a byte. */
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

/** The fields by which a `GPUBuffer` is recognised. */
export interface ForeignGpuBuffer {
  readonly size: number;
  readonly usage: number;
  readonly mapState: string;
  destroy(): unknown;
}

/** Memory on a device. */
export interface DeviceBuffer {
  readonly bytes: number;
  /** The ranges of memory that a part of the buffer occupies, for checks of overlap. Absent if the buffer's identity and offsets suffice. */
  stretches?(byteOffset: number, bytes: number): readonly Stretch[];
  /** A view of the buffer without a copy, valid until `free`. Absent if host code cannot access the memory. */
  view?(type: StorageType): RealArray;
  /** Frees the memory; a second call does nothing. */
  free(): void;
  readonly freed: boolean;
  /** The failure of the allocation, if the device reports it late; the memory is freed then. */
  readonly failure?: FftError | undefined;
}

/** A place in device memory. */
export interface Binding {
  readonly buffer: DeviceBuffer;
  readonly byteOffset: number;
}

/** Options of compilation. The device decides what is left out. */
export interface CompileOptions {
  /** The most groups in one dimension of a launch; values above the device's limit count as that limit. */
  readonly maxGroups?: number;
  /** The number of streams that the groups are spread over. */
  readonly streams?: number;
  /** Where all roots of unity are computed; the compiled kernel has no tables of them. */
  readonly computedRoots?: ComputedRoots;
  /** The number of threads in a subgroup, on devices where programs may choose it. */
  readonly subgroupSize?: number;
}

/** How the groups of two kernels are interleaved. */
export interface Schedule {
  /** The number of chunks that the groups of either kernel are divided into. A chunk of the second kernel needs the whole same chunk of the first. */
  readonly chunks: number;
  /** The number of chunks by which the first kernel is ahead of the second. */
  readonly ahead: number;
  /** The number of groups that should reside on a multiprocessor at the same time. */
  readonly beside: number;
}

/** The facts about a kernel that are needed to launch it. */
export interface KernelOutline extends Pick<Kernel, 'name' | 'globals' | 'tables'> {
  readonly group: { readonly count: number };
  /** Present if the kernel has phases for both directions. */
  readonly reverse?: unknown;
}

/** A compiled kernel in the form that is kept for other processes. */
export interface PackedKernel {
  readonly outline: KernelOutline;
  /** Further facts that the device needs to launch the kernel: plain data. */
  readonly facts: unknown;
  /** The compiled code; empty if it is kept in another place, or compiled again from the source in `facts`. */
  readonly code: Uint8Array;
}

/** Names and versions of the engine, driver and compiler that compiled kernels depend on. */
export type CodeFacts = Readonly<Record<string, unknown>>;

/** A kernel that is ready to run. */
export interface CompiledKernel {
  readonly kernel: KernelOutline;
  /** The kernel in the device's language, for `explain` and `plan.kernels`: text, or the bytes of a binary format. */
  readonly language: string;
  readonly source: string | Uint8Array;
  /** The number of blocks in each dimension of a launch, and the number of launches; absent on devices without such a grid. */
  readonly grid?: { readonly blocks: readonly [x: number, y: number, z: number]; readonly launches: number };
}

/** One launch of a program. Its arguments belong to the kernel's `globals`, followed by its `tables`. */
export interface ProgramStep {
  readonly kernel: CompiledKernel;
  /** Whether to run the kernel's `reverse` phases. */
  readonly reverse?: boolean;
  readonly arguments: readonly Argument[];
}

/** The memory of an argument: a slot that is bound at launch, with an offset; or memory that is fixed when the program is made. */
export type Argument = { readonly slot: number; readonly byteOffset: number } | { readonly fixed: Binding };

/** Steps bound to memory, which may be run any number of times. */
export interface BoundProgram {
  /** Runs all steps in order, with all resources of the device. Calls run one after another. */
  run(): Promise<void>;
  /** Runs all steps, and returns when these and all earlier work have run. Absent if the device cannot block. */
  runSync?(): void;
  /** Whether a run would be complete when `run` returns, because nothing else runs and no other thread is needed. Absent means never. */
  readonly immediate?: boolean;
  /**
   * Appends all steps to work that the caller submits: a `GPUCommandEncoder` or a compute pass, a stream, a queue.
   * @returns a promise of acceptance if only the device can tell whether the target takes the steps; otherwise nothing.
   * @throws FftError `invalid-encoder`
   */
  encode?(target: unknown): void | Promise<void>;
  /** Runs all steps `repeats` times, and resolves to the milliseconds on the device of one run. */
  time?(repeats: number): Promise<number>;
  /** Frees the resources that binding took. Memory stays allocated, and submitted runs end normally. */
  release(): void;
}

/** The kind of target that programs can be appended to: a `GPUCommandEncoder`, a stream, a command queue. */
export type EncodeTarget = 'encoder' | 'stream' | 'queue';

/** FFT libraries that devices can be compared with. */
export type PeerName = 'cufft' | 'rocfft';

/** A transform for another library: complex numbers are interleaved, both sides are packed, results are not scaled. */
export interface PeerProblem {
  /** Whether the side that the forward direction reads is real. */
  readonly real?: boolean;
  /** Lengths of the axes, fastest first. */
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
  /** The kind of target that `BoundProgram.encode` appends to; absent if there is none. */
  readonly target?: EncodeTarget;
  /** Allocates memory. @throws FftError `out-of-memory`, `device-closed` */
  allocate(bytes: number): DeviceBuffer;
  /**
   * The buffer and offset that a host array is a view of; undefined if it is not a view of this device's memory.
   * @throws FftError `destroyed` if the memory has been freed.
   */
  locate(array: ArrayBufferView): Binding | undefined;
  /**
   * Device memory that the caller made (`ForeignMemory`) as a buffer; undefined for anything else. The same memory gives the same buffer. The memory
   * belongs to the caller: `free` does not free it.
   * @param what the name of the argument in messages: `input`, `output.re` …
   * @throws FftError `foreign-buffer`, `buffer-usage`, `misaligned-buffer`, `buffer-too-small`, `missing-buffer`, `aliased-buffers` for a buffer
   *   given twice, `invalid-argument`, `destroyed`
   */
  adopt?(memory: unknown, what: string): DeviceBuffer | undefined;
  /** Whether this device allocated or adopted the memory, which may have been freed since. */
  owns(buffer: DeviceBuffer): boolean;
  /** Whether a launch may be spread over several streams. */
  readonly severalStreams?: boolean;
  /** Whether kernels can compute roots of unity almost as exactly as tables have them: to within one or two roundings. */
  readonly computesRoots?: boolean;
  /** The form of double-word arithmetic, for numbers that are pairs of numbers of the device's own precision. */
  readonly pairForm?: DoubleWordForm;
  /** The kernel in numbers of the device's own precision. */
  computable(kernel: Kernel): Kernel;
  /** Tests once whether the device's compilers preserve double-word arithmetic. Absent if that is known beforehand. */
  probePairs?(): Promise<void>;
  /** The fault that `probePairs` has found: undefined before the test, '' if there is none. */
  readonly pairsBroken?: string | undefined;
  /** Whether the device takes kernels with phases for both directions, which halves the number of kernels to compile. */
  readonly runsBothWays?: true;
  /**
   * Compiles a kernel synchronously. The device does not remember kernels: the engine does.
   * @throws FftError `compile-failed`, `device-limit`
   */
  compile(kernel: Kernel, options?: CompileOptions): CompiledKernel;
  /**
   * Joins two kernels into one whose groups are interleaved, so that the second kernel finds the results of the first in a cache. `bind` takes the
   * joined kernel beside the steps, and runs it instead of them. Absent if the device cannot do that.
   * @returns undefined if the two kernels do not fit together.
   */
  pipeline?(kernels: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined;
  /** The store that keeps compiled code for other processes; absent if nothing is kept. */
  readonly store?: CodeStore | undefined;
  /**
   * Facts that compiled kernels depend on beside the profile, by name; absent if the device cannot pack kernels. Devices with equal facts and
   * profiles can unpack one another's kernels. The fact `compiler` may differ, because the code is already compiled.
   */
  readonly codeFacts?: CodeFacts;
  /** Packs a kernel. @param whole whether to include code that is otherwise kept in another place. @throws FftError `compile-failed` */
  pack?(kernel: CompiledKernel, whole: boolean): PackedKernel;
  /**
   * Unpacks a kernel.
   * @param whole gives the whole kernel with its expressions, if they are needed.
   * @throws FftError `compile-failed` if the device rejects the code.
   */
  unpack?(packed: PackedKernel, whole: () => Kernel): CompiledKernel;
  /** Resolves when the kernels run at full speed. @param watched false if no caller waits; the warm-up is then only started. */
  warmUp(kernels: readonly CompiledKernel[], watched?: boolean): Promise<void>;
  /** Frees a kernel. */
  discard(kernel: CompiledKernel): void;
  /**
   * Binds steps to memory.
   * @param chunks the number of chunks that the groups of every step are divided into: each chunk goes through all steps before the next one. 1 if
   *   the profile has no chunks. The number is a hint, because every order of a step's groups gives the same result.
   * @param pipelined one kernel that does the work of all steps, from `pipeline`.
   */
  bind(
    steps: readonly ProgramStep[],
    slots: readonly (Binding | undefined)[],
    chunks?: number,
    pipelined?: CompiledKernel,
  ): BoundProgram;
  /**
   * The same transform by another library, bound to the same memory, for comparisons; absent if no library is known for the device.
   * @throws FftError (as a rejection) `device-unavailable` if the library is missing, `unsupported-feature` if it does not work on this device or
   *   lacks the transform, `out-of-memory`
   */
  bindPeer?(peer: string, problem: PeerProblem, input: Binding, output: Binding): Promise<PeerProgram>;
  /** Whether memory is only simulated, so that tables need no contents. */
  readonly withoutMemory?: true;
  /** Whether kernels are compiled for other devices: every device with the same `codeFacts` takes them. */
  readonly compilesAhead?: true;
  /** Copies from the host to the device, in order with the runs. */
  upload(target: Binding, data: RealArray): Promise<void>;
  /**
   * Copies from the device to the host. @param move copies instead of a plain copy; given only if host code can access the memory and not all of it
   * is wanted.
   */
  download(source: Binding, into: RealArray, move?: (into: RealArray, from: RealArray) => void): Promise<void>;
  /**
   * Treats everything that `submit` submits as one call: if a part fails, the later parts are skipped and fail with it. Absent on devices where
   * results reach host memory only after the whole call has succeeded.
   */
  together?<T>(submit: () => T): T;
  /**
   * The same copies on the calling thread: on return `data` has been read and `into` written. Present on devices that have `runSync` and whose memory
   * host code cannot access.
   */
  uploadSync?(target: Binding, data: RealArray): void;
  downloadSync?(source: Binding, into: RealArray): void;
  /** Resolves when all submitted work has run. */
  finish(): Promise<void>;
  /** Blocks until all submitted work has run; absent if the device cannot block. */
  finishSync?(): void;
  close(): void;
}
