/**
 * The driver API that CUDA and HIP share, as a table of functions. What a kernel or a plan is, nobody here knows.
 *
 * Handles and device pointers are BigInts, as koffi gives them.
 */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import type { PeerName } from '../device.ts';
import type { LibraryRequest, NativeFunction, NativeLibrary } from '../native/library.ts';
import type { DriverAttribute, DriverFacts } from '../profiles/driver.ts';

const P = 'void *';
/** What each function takes, by CUDA's name for it. */
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
export interface DriverWords {
  readonly kind: 'cuda' | 'hip';
  /** For people: `CUDA`, `HIP`. */
  readonly title: string;
  /** What names of functions begin with. */
  readonly prefix: string;
  /** Functions with other names; null for those that this driver does not need. */
  readonly otherNames: Readonly<Partial<Record<DriverFunction, string | null>>>;
  /** Those missing are unknown here. */
  readonly attributes: Readonly<Partial<Record<DriverAttribute, number>>>;
  /** Error numbers after which the context answers nothing else any more. */
  readonly lost: readonly number[];
  /** Groups that a launch may have in x. */
  readonly mostGroups: number;
  /** The error's name is the result, not written to a place. */
  readonly errorNameIsResult: boolean;
  /** The vendor's library of transforms, to compare with. */
  readonly fft: VendorFft;
}

/** How a vendor's FFT library is found, and what differs between them. */
export interface VendorFft {
  readonly peer: PeerName;
  readonly title: string;
  /** Of its functions' names. */
  readonly prefix: string;
  /** What stands for a plan: a number, or a pointer. */
  readonly handle: 'int' | 'void *';
  library(): LibraryRequest;
}

const OUT_OF_MEMORY = 2;
export const NOT_READY = 600;

export class DriverApi {
  readonly words: DriverWords;
  /** The functions themselves, which give error numbers. */
  readonly raw: Readonly<Record<DriverFunction, NativeFunction>>;
  /** Ranges of addresses in which memory of several devices lies side by side: one array to all who work on it. */
  readonly windows = new Map<bigint, number>();
  /** Results are written here. */
  private readonly out = new BigUint64Array(2);
  private readonly out32 = new Int32Array(this.out.buffer);

  /** @throws FftError `device-unavailable` where the library is too old. */
  constructor(library: NativeLibrary, words: DriverWords) {
    this.words = words;
    const raw: Partial<Record<DriverFunction, NativeFunction>> = {};
    for (const name of Object.keys(PARAMETERS) as DriverFunction[]) {
      if (words.otherNames[name] === null) continue;
      const textResult = name === 'GetErrorName' && words.errorNameIsResult;
      const parameters = textResult ? ['int'] : PARAMETERS[name];
      raw[name] = library.func(this.nameOf(name), textResult ? 'str' : 'int', parameters);
    }
    this.raw = raw as Record<DriverFunction, NativeFunction>;
  }

  /** @throws FftError `launch-failed`, `out-of-memory`, `device-lost`, with the driver's own name for what went wrong */
  call(name: DriverFunction, ...values: unknown[]): void {
    const status = this.raw[name](...values) as number;
    if (status !== 0) throw this.failure(name, status);
  }

  /** The same for a function that writes a number to its first argument. */
  int(name: DriverFunction, ...values: unknown[]): number {
    this.call(name, this.out, ...values);
    return this.out32[0]!;
  }

  /** The same for one that writes a handle or an address there. */
  handle(name: DriverFunction, ...values: unknown[]): bigint {
    this.out[0] = 0n;
    this.call(name, this.out, ...values);
    return this.out[0]!;
  }

  /** Undefined where there is not enough memory. */
  allocate(name: 'MemAlloc' | 'MemHostAlloc', bytes: number): bigint | undefined {
    const status = this.raw[name](this.out, bytes, ...(name === 'MemHostAlloc' ? [0] : [])) as number;
    if (status === OUT_OF_MEMORY) return undefined;
    if (status !== 0) throw this.failure(name, status);
    return this.out[0]!;
  }

  /** The allocation that a device pointer lies in; undefined where it lies in none of this context. */
  addressRange(pointer: bigint): { readonly start: bigint; readonly bytes: bigint } | undefined {
    const window = this.windows.get(pointer);
    if (window !== undefined) return { start: pointer, bytes: BigInt(window) };
    if (this.raw.MemGetAddressRange(this.out, this.out.subarray(1), pointer) !== 0) return undefined;
    return { start: this.out[0]!, bytes: this.out[1]! };
  }

  /** Bytes of device memory: free, and in all. */
  memoryInfo(): { readonly free: number; readonly total: number } {
    this.call('MemGetInfo', this.out, this.out.subarray(1));
    return { free: Number(this.out[0]), total: Number(this.out[1]) };
  }

  /** What the driver says about a device. */
  facts(device: number): DriverFacts {
    const text = new Uint8Array(256);
    this.call('DeviceGetName', text, text.length, device);
    return {
      name: new TextDecoder().decode(text.subarray(0, text.indexOf(0))),
      memory: Number(this.handle('DeviceTotalMem', device)),
      attribute: (name) => {
        const number = this.words.attributes[name];
        return number !== undefined && this.raw.DeviceGetAttribute(this.out, number, device) === 0 ? this.out32[0]! : 0;
      },
    };
  }

  /** What an error number of the driver means to a caller. */
  failure(what: DriverFunction, status: number): FftError {
    const { lost, title } = this.words;
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
    return this.words.otherNames[name] ?? `${this.words.prefix}${name}`;
  }

  private errorName(status: number): string {
    const out: (string | null)[] = [null];
    const name = this.words.errorNameIsResult
      ? (this.raw.GetErrorName(status) as string | null)
      : this.raw.GetErrorName(status, out) === 0 && out[0];
    return `${name || 'an unknown error'} (${status})`;
  }
}
