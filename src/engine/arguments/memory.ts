/**
 * Device memory as users hold it.
 */
import type { DeviceBuffer, RealArray } from '../../devices/device.ts';
import type { StorageType } from '../../ir/index.ts';
import { show } from '../../problem/errors.ts';
import { FftError, type HostArray } from '../../problem/index.ts';
import { type Storage, storages } from '../../problem/problem.ts';

declare global {
  interface SymbolConstructor {
    // These symbols are declared exactly as TypeScript's `esnext.disposable` library declares them, so that both declarations agree.
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/**
 * The symbol of the method that `using` calls at the end of a block. Engines without `using` lack the symbol; compilers then fall back
 * to the registered symbol of the same name, and so do we.
 */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for('Symbol.dispose') as never);
/** The symbol of the method that `await using` calls at the end of a block. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never);

/** Memory of a device, from `device.alloc`; `A` is how its `array` shows it. */
export class DeviceMemory<A extends HostArray = HostArray> {
  /** Private, so that callers cannot exchange the buffer between the check of a call and its run. */
  readonly #buffer: DeviceBuffer;
  private readonly type: StorageType;

  /** @internal */
  constructor(buffer: DeviceBuffer, type: StorageType) {
    this.#buffer = buffer;
    this.type = type;
  }

  /** @internal The buffer behind a `DeviceMemory`; undefined for any other value. */
  static bufferOf(value: unknown): DeviceBuffer | undefined {
    return typeof value === 'object' && value !== null && #buffer in value ? value.#buffer : undefined;
  }

  /** Its size in bytes. */
  get bytes(): number {
    return this.#buffer.bytes;
  }

  /**
   * The memory itself, without a copy, where the device shares memory with the host (`cpu`): a `Float32Array`, or a
   * `Float64Array` when it was allocated for `double`.
   * @throws FftError `destroyed` after `free`, `unsupported-feature` where host code cannot see device memory.
   */
  get array(): A {
    return this.view(this.type) as A;
  }

  /**
   * The same memory as single-precision numbers.
   * @throws FftError as `array`.
   */
  get float32(): Float32Array {
    return this.view('f32') as Float32Array;
  }

  /**
   * The same memory as double-precision numbers.
   * @throws FftError as `array`.
   */
  get float64(): Float64Array {
    return this.view('f64') as Float64Array;
  }

  /** Gives the memory back. Views of it must not be used afterwards. A second call does nothing. */
  free(): void {
    this.#buffer.free();
  }

  /** `free`, for `using`. */
  [dispose](): void {
    this.free();
  }

  private view(type: StorageType): RealArray {
    if (this.#buffer.freed) throw new FftError('destroyed', 'This memory has been freed; allocate new memory.');
    if (!this.#buffer.view) {
      throw new FftError(
        'unsupported-feature',
        'Host code cannot see the memory of this device; pass host arrays to the plan instead.',
      );
    }
    return this.#buffer.view(type);
  }
}

/** The type of array elements in kernels that store the numbers of a problem. */
export function typeOfStorage(storage: Storage): StorageType {
  return ({ half: 'f16', single: 'f32', double: 'f64', 'double-double': 'dd' } as const)[storage];
}

/** The type of array elements on the host: a double-double is stored as two doubles. */
export function typeOfArrays(storage: Storage): Exclude<StorageType, 'dd'> {
  const type = typeOfStorage(storage);
  return type === 'dd' ? 'f64' : type;
}

/** @throws FftError `invalid-argument` for sizes and precisions that memory cannot have */
export function checkAllocation(bytes: number, precision: Storage): void {
  if (!Number.isSafeInteger(bytes) || bytes <= 0) {
    throw new FftError(
      'invalid-argument',
      `alloc was asked for ${show(bytes)} bytes; it takes a positive whole number.`,
    );
  }
  if (storages.includes(precision)) return;
  const words = storages.map((word) => `'${word}'`).join(', ');
  throw new FftError('invalid-argument', `alloc was asked for precision ${show(precision)}; it takes one of ${words}.`);
}
