/**
 * The functions of the driver API that CUDA and HIP share. This file knows nothing of kernels and plans.
 * Handles and device pointers are BigInts, as koffi returns them.
 */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import type { PeerName } from '../device.ts';
import type { LibraryRequest, NativeFunction, NativeLibrary } from '../native/library.ts';
import type { DriverAttribute, DriverFacts } from '../profiles/driver.ts';

const P = 'void *';
/** The parameter types of each function, under the function's name in CUDA without its prefix. */
const PARAMETERS = {
  Init: ['uint'],
  DriverGetVersion: [P],
  DeviceGetCount: [P],
  DeviceGet: [P, 'int'],
  DeviceGetName: [P, 'int', 'int'],
  DeviceTotalMem: [P, 'int'],
  DeviceGetAttribute: [P, 'int', 'int'],
  DevicePrimaryCtxRetain: [P, 'int'],
  DevicePrimaryCtxRelease: ['int'],
  CtxSetCurrent: [P],
  CtxGetDevice: [P],
  MemGetInfo: [P, P],
  MemAlloc: [P, 'size_t'],
  MemFree: [P],
  MemHostAlloc: [P, 'size_t', 'uint'],
  MemFreeHost: [P],
  MemGetAddressRange: [P, P, P],
  MemcpyHtoDAsync: [P, P, 'size_t', P],
  MemcpyDtoHAsync: [P, P, 'size_t', P],
  MemcpyDtoDAsync: [P, P, 'size_t', P],
  StreamCreate: [P, 'uint'],
  StreamDestroy: [P],
  StreamSynchronize: [P],
  StreamWaitEvent: [P, P, 'uint'],
  StreamIsCapturing: [P, P],
  StreamBeginCapture: [P, 'int'],
  StreamEndCapture: [P, P],
  EventCreate: [P, 'uint'],
  EventDestroy: [P],
  EventRecord: [P, P],
  EventQuery: [P],
  EventElapsedTime: [P, P, P],
  ModuleLoadData: [P, P],
  ModuleUnload: [P],
  ModuleGetFunction: [P, P, 'str'],
  FuncSetAttribute: [P, 'int', 'int'],
  LaunchKernel: [P, 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', P, P, P],
  GraphInstantiateWithFlags: [P, P, 'uint64_t'],
  GraphLaunch: [P, P],
  GraphDestroy: [P],
  GraphExecDestroy: [P],
  GetErrorName: ['int', '_Out_ str *'],
} as const satisfies Record<string, readonly string[]>;

export type DriverFunction = keyof typeof PARAMETERS;

/** The differences between CUDA and HIP: function names, attribute numbers, and missing functions. */
export interface DriverVariant {
  readonly kind: 'cuda' | 'hip';
  /** The name of the API in messages: `CUDA`, `HIP`. */
  readonly title: string;
  /** The prefix of function names: `cu`, `hip`. */
  readonly prefix: string;
  /** Functions whose names differ by more than the prefix; null for functions that this driver does not need. */
  readonly otherNames: Readonly<Partial<Record<DriverFunction, string | null>>>;
  /** Attribute numbers. A missing attribute is one that this driver does not have. */
  readonly attributes: Readonly<Partial<Record<DriverAttribute, number>>>;
  /** Error numbers after which the context fails every further call. */
  readonly lost: readonly number[];
  /** The most groups of a launch in dimension x. */
  readonly mostGroups: number;
  /** Whether the function for error names returns the name, instead of writing it through a pointer. */
  readonly errorNameIsResult: boolean;
  /** The vendor's FFT library, for comparisons. */
  readonly fft: VendorFft;
}

/** How to load a vendor's FFT library, and how the libraries differ. */
export interface VendorFft {
  readonly peer: PeerName;
  readonly title: string;
  /** The prefix of the library's function names. */
  readonly prefix: string;
  /** The C type of plans: a number, or a pointer. */
  readonly handle: 'int' | 'void *';
  library(): LibraryRequest;
}

const OUT_OF_MEMORY = 2;
export const NOT_READY = 600;

export class DriverApi {
  readonly variant: DriverVariant;
  /** The driver's functions, which return error numbers. */
  readonly raw: Readonly<Record<DriverFunction, NativeFunction>>;
  /** Sizes in bytes of windows by their first address: ranges in which memory of several devices appears as one array. */
  readonly windows = new Map<bigint, number>();
  /** Memory for results that functions write through a pointer. */
  private readonly out = new BigUint64Array(2);
  private readonly out32 = new Int32Array(this.out.buffer);

  /** @throws FftError `device-unavailable` if the library is too old. */
  constructor(library: NativeLibrary, variant: DriverVariant) {
    this.variant = variant;
    const raw: Partial<Record<DriverFunction, NativeFunction>> = {};
    for (const name of Object.keys(PARAMETERS) as DriverFunction[]) {
      if (variant.otherNames[name] === null) continue;
      const textResult = name === 'GetErrorName' && variant.errorNameIsResult;
      const parameters = textResult ? ['int'] : PARAMETERS[name];
      raw[name] = library.func(this.nameOf(name), textResult ? 'str' : 'int', parameters);
    }
    this.raw = raw as Record<DriverFunction, NativeFunction>;
  }

  /** Calls a function. @throws FftError `launch-failed`, `out-of-memory`, `device-lost`, with the driver's name for the error */
  call(name: DriverFunction, ...values: unknown[]): void {
    const status = this.raw[name](...values) as number;
    if (status !== 0) throw this.failure(name, status);
  }

  /** Calls a function that writes a number through its first argument. */
  int(name: DriverFunction, ...values: unknown[]): number {
    this.call(name, this.out, ...values);
    return this.out32[0]!;
  }

  /** Calls a function that writes a handle or an address through its first argument. */
  handle(name: DriverFunction, ...values: unknown[]): bigint {
    this.out[0] = 0n;
    this.call(name, this.out, ...values);
    return this.out[0]!;
  }

  /** Allocates memory; undefined if there is not enough. */
  allocate(name: 'MemAlloc' | 'MemHostAlloc', bytes: number): bigint | undefined {
    const status = this.raw[name](this.out, bytes, ...(name === 'MemHostAlloc' ? [0] : [])) as number;
    if (status === OUT_OF_MEMORY) return undefined;
    if (status !== 0) throw this.failure(name, status);
    return this.out[0]!;
  }

  /** The allocation that contains a device pointer; undefined if this context has none. */
  addressRange(pointer: bigint): { readonly start: bigint; readonly bytes: bigint } | undefined {
    const window = this.windows.get(pointer);
    if (window !== undefined) return { start: pointer, bytes: BigInt(window) };
    if (this.raw.MemGetAddressRange(this.out, this.out.subarray(1), pointer) !== 0) return undefined;
    return { start: this.out[0]!, bytes: this.out[1]! };
  }

  /** The device memory in bytes, free and in total. */
  memoryInfo(): { readonly free: number; readonly total: number } {
    this.call('MemGetInfo', this.out, this.out.subarray(1));
    return { free: Number(this.out[0]), total: Number(this.out[1]) };
  }

  /** Name, memory and attributes of a device. */
  facts(device: number): DriverFacts {
    const text = new Uint8Array(256);
    this.call('DeviceGetName', text, text.length, device);
    return {
      name: new TextDecoder().decode(text.subarray(0, text.indexOf(0))),
      memory: Number(this.handle('DeviceTotalMem', device)),
      attribute: (name) => {
        const number = this.variant.attributes[name];
        return number !== undefined && this.raw.DeviceGetAttribute(this.out, number, device) === 0 ? this.out32[0]! : 0;
      },
    };
  }

  /** The error for a driver's error number. */
  failure(what: DriverFunction, status: number): FftError {
    const { lost, title } = this.variant;
    const code: FftErrorCode = lost.includes(status)
      ? 'device-lost'
      : status === OUT_OF_MEMORY
        ? 'out-of-memory'
        : 'launch-failed';
    const consequence =
      code === 'device-lost' ? ': the device cannot be used any more; close it, open it again and plan anew' : '';
    return new FftError(code, `${title} reported ${this.errorName(status)} from ${this.nameOf(what)}${consequence}.`);
  }

  private nameOf(name: DriverFunction): string {
    return this.variant.otherNames[name] ?? `${this.variant.prefix}${name}`;
  }

  private errorName(status: number): string {
    const out: (string | null)[] = [null];
    const name = this.variant.errorNameIsResult
      ? (this.raw.GetErrorName(status) as string | null)
      : this.raw.GetErrorName(status, out) === 0 && out[0];
    return `${name || 'an unknown error'} (${status})`;
  }
}
