/** Steps bound to memory: the buffers of their arguments, and whether these are still live. */
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { type StorageType, storageBytes } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { Binding, BoundProgram, ProgramStep } from '../device.ts';
import type { DeviceKernel } from './kernel.ts';
import type { Allocator, OwnedBuffer } from './memory.ts';

/** Device memory that is bound to an array of a kernel. */
export interface BoundArray<B> {
  readonly buffer: B;
  readonly byteOffset: number;
  readonly type: StorageType;
  /** The name of the array, at the beginning of a sentence. */
  readonly what: string;
  /** Whether the memory was fixed when the program was made, as it is for tables. */
  readonly fixed: boolean;
}

/** A step with its kernel and the memory of the kernel's arrays: globals first, then tables. */
export interface BoundStep<B, K> {
  readonly kernel: K;
  readonly arrays: readonly BoundArray<B>[];
  /** Runs the kernel's reverse phases. */
  readonly reverse: boolean;
}

/** Services of a device for its programs. */
export interface ProgramHost<B extends OwnedBuffer, K extends DeviceKernel> {
  readonly memory: Allocator<B>;
  /** @throws FftError `device-closed`, `device-lost` */
  requireOpen(): void;
  /** Whether a kernel was compiled here and not discarded. */
  hasKernel(kernel: unknown): kernel is K;
}

/**
 * Finds the memory of every step.
 * @throws FftError `internal-error`, `missing-buffer`, `foreign-buffer`, `destroyed`, and the failure of an allocation that was reported late
 */
export function boundSteps<B extends OwnedBuffer, K extends DeviceKernel>(
  host: ProgramHost<B, K>,
  steps: readonly ProgramStep[],
  slots: readonly (Binding | undefined)[],
): BoundStep<B, K>[] {
  return steps.map((step, number) => {
    const { kernel, reverse = false } = step;
    if (!host.hasKernel(kernel)) {
      throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
    }
    const { globals, tables, name } = kernel.kernel;
    const arrays = [...globals, ...tables];
    if (step.arguments.length !== arrays.length) {
      throw new FftError(
        'internal-error',
        `Kernel ${name} takes ${arrays.length} arrays, ${step.arguments.length} were bound.`,
      );
    }
    const bound = step.arguments.map((argument, position): BoundArray<B> => {
      const { name: array, type } = arrays[position]!;
      const what = `Array ${array} of kernel ${name}`;
      const fixed = 'fixed' in argument;
      const place = fixed ? argument.fixed : slots[argument.slot];
      if (!place) throw new FftError('missing-buffer', `${what} was given nothing.`);
      const byteOffset = place.byteOffset + (fixed ? 0 : argument.byteOffset);
      return { buffer: host.memory.usable(place.buffer, what), byteOffset, type, what, fixed };
    });
    return { kernel, arrays: bound, reverse };
  });
}

/** The memory that steps use. @param tables whether to include the memory of tables, which callers neither know nor can free. */
export function buffersOf<B>(steps: readonly BoundStep<B, unknown>[], tables = true): Set<B> {
  const buffers = new Set<B>();
  for (const { arrays } of steps) for (const { buffer, fixed } of arrays) if (tables || !fixed) buffers.add(buffer);
  return buffers;
}

/**
 * Checks the alignment of an array.
 * @param position the index of the array among the bindings of the program.
 * @param at the byte where the array begins: an offset in its buffer, or an address.
 * @throws FftError `misaligned-buffer` if an array that is read in pairs begins inside a pair.
 */
export function requireAligned(
  { type, what }: BoundArray<unknown>,
  { alignments }: Pick<SpmdProgram, 'alignments'>,
  position: number,
  at: number | bigint,
): void {
  // Tables begin where the device puts them.
  const multiple = (alignments[position] ?? 1) * storageBytes(type);
  if (BigInt(at) % BigInt(multiple) === 0n) return;
  throw new FftError('misaligned-buffer', `${what} begins at byte ${at}; here that must be a multiple of ${multiple}.`);
}

/** A bound program that knows whether it may still run. */
export abstract class DeviceProgram<B extends OwnedBuffer> implements BoundProgram {
  protected readonly memory: Allocator<B>;
  protected released = false;
  /** Memory that callers may free while the program is bound to it. */
  protected readonly buffers: readonly B[];
  /** The allocator's generation at the last check that all buffers are live. */
  protected generation = -1;
  private readonly host: { requireOpen(): void };

  constructor(host: ProgramHost<B, DeviceKernel>, buffers: Iterable<B>) {
    this.host = host;
    this.memory = host.memory;
    this.buffers = [...buffers];
  }

  abstract run(): Promise<void>;

  release(): void {
    if (this.released) return;
    this.released = true;
    this.generation = -1;
    this.unbind();
  }

  /** Releases the resources that binding has taken. */
  protected unbind(): void {}

  /** @throws FftError `device-closed`, `device-lost`, `destroyed` */
  protected requireUsable(): void {
    this.host.requireOpen();
    if (this.generation === this.memory.generation) return;
    if (this.released) {
      throw new FftError('destroyed', 'This program was released and cannot run any more; bind it anew.');
    }
    for (const { freed } of this.buffers) {
      if (!freed) continue;
      throw new FftError('destroyed', 'Device memory that this program is bound to was freed; bind it to live memory.');
    }
    this.generation = this.memory.generation;
  }
}

/** Checks a number of repetitions. @throws FftError `invalid-argument` */
export function requireRepeats(repeats: number): void {
  if (Number.isSafeInteger(repeats) && repeats >= 1) return;
  throw new FftError('invalid-argument', `The repeats are ${repeats}; a whole number from 1 up is needed.`);
}
