/**
 * The functions and numbers of Level Zero 1.2 that the device uses, over the system's loader library. Handles are BigInts; calls
 * that fail throw what their result means.
 */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import { functionsOf, loadKoffi, openLibrary } from '../native/library.ts';
import { StructApi } from '../native/structs.ts';

/** A `ze_device_handle_t`, `ze_kernel_handle_t`, … */
export type Handle = bigint;

/** Structure types: the values of `stype`. */
export const TYPE = {
  ...{ driverProperties: 0x1, computeProperties: 0x4, moduleProperties: 0x5, queueGroup: 0x6, memory: 0x7 },
  ...{ context: 0xd, queue: 0xe, eventPool: 0x10, event: 0x11, deviceMemory: 0x15, hostMemory: 0x16 },
  /** `ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2`, where `timerResolution` counts cycles per second. */
  ...{ allocation: 0x17, module: 0x1b, kernel: 0x1d, deviceProperties: 0x20006 },
} as const;

/** The formats of code that a module is created from. */
export const FORMAT = { spirv: 0, native: 1 } as const;
export const NOT_READY = 1;

const [H, U, W, P] = ['uint64_t', 'uint32_t', 'size_t', 'void *'];
const CALLS = {
  zeInit: [U],
  zeDriverGet: [P, P],
  zeDriverGetApiVersion: [H, P],
  zeDriverGetProperties: [H, P],
  zeDeviceGet: [H, P, P],
  zeDeviceGetProperties: [H, P],
  zeDeviceGetComputeProperties: [H, P],
  zeDeviceGetModuleProperties: [H, P],
  zeDeviceGetMemoryProperties: [H, P, P],
  zeDeviceGetCommandQueueGroupProperties: [H, P, P],
  zeContextCreate: [H, P, P],
  zeContextDestroy: [H],
  zeMemAllocDevice: [H, P, W, W, H, P],
  zeMemAllocShared: [H, P, P, W, W, H, P],
  zeMemAllocHost: [H, P, W, W, P],
  zeMemFree: [H, H],
  zeMemGetAllocProperties: [H, H, P, P],
  zeMemGetAddressRange: [H, H, P, P],
  zeModuleCreate: [H, H, P, P, P],
  zeModuleDestroy: [H],
  zeModuleGetNativeBinary: [H, P, P],
  zeModuleBuildLogGetString: [H, P, P],
  zeModuleBuildLogDestroy: [H],
  zeKernelCreate: [H, P, P],
  zeKernelDestroy: [H],
  zeKernelSetGroupSize: [H, U, U, U],
  zeKernelSetArgumentValue: [H, U, W, P],
  zeCommandListCreateImmediate: [H, H, P, P],
  zeCommandListDestroy: [H],
  zeCommandListAppendLaunchKernel: [H, H, P, H, U, P],
  zeCommandListAppendMemoryCopy: [H, H, H, W, H, U, P],
  zeCommandListAppendBarrier: [H, H, U, P],
  zeEventPoolCreate: [H, P, U, P, P],
  zeEventPoolDestroy: [H],
  zeEventCreate: [H, P, P],
  zeEventDestroy: [H],
  zeEventQueryStatus: [H],
  zeEventHostSynchronize: [H, H],
  zeEventHostReset: [H],
  zeEventQueryKernelTimestamp: [H, P],
} as const;
export type ZeFunction = keyof typeof CALLS;

export const INSTALL =
  "Install the driver of your GPU; for Intel's, on Debian and Ubuntu: 'apt install libze1 intel-opencl-icd', elsewhere Intel's compute runtime.";

const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['libze_loader.so.1', 'libze_loader.so'],
  win32: ['ze_loader.dll'],
};

/** The purpose of a call, for the message of its error. */
export interface Purpose {
  /** The action at the beginning of a sentence: `Allocating 4096 bytes`. */
  readonly what: string;
  /** The error code for results without a meaning of their own. Default `launch-failed`. */
  readonly otherwise?: FftErrorCode;
}

const NAMES: Readonly<Record<number, string>> = {
  1879048193: 'ZE_RESULT_ERROR_DEVICE_LOST',
  1879048194: 'ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY',
  1879048195: 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY',
  1879048196: 'ZE_RESULT_ERROR_MODULE_BUILD_FAILURE',
  1879048198: 'ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET',
  2013265921: 'ZE_RESULT_ERROR_UNINITIALIZED',
  2013265924: 'ZE_RESULT_ERROR_INVALID_ARGUMENT',
  2013265928: 'ZE_RESULT_ERROR_INVALID_SIZE',
  2013265929: 'ZE_RESULT_ERROR_UNSUPPORTED_SIZE',
  2013265935: 'ZE_RESULT_ERROR_INVALID_NATIVE_BINARY',
  2013265937: 'ZE_RESULT_ERROR_INVALID_KERNEL_NAME',
  2147483646: 'ZE_RESULT_ERROR_UNKNOWN',
};
const OUT_OF_MEMORY = [0x70000002, 0x70000003, 0x78000009];
const LOST = [0x70000001, 0x70000006];

/** The error for the result of a call. */
export function zeFailure(name: string, result: number, purpose?: Purpose): FftError {
  const { what = `The call of ${name}`, otherwise = 'launch-failed' } = purpose ?? {};
  const number = `0x${result.toString(16)}, from ${name}`;
  const said = `${NAMES[result] ?? 'a result that this library does not name'} (${number})`;
  if (OUT_OF_MEMORY.includes(result)) {
    return new FftError('out-of-memory', `${what} failed for lack of memory: ${said}.`);
  }
  if (LOST.includes(result)) {
    return new FftError('device-lost', `${what} failed because the device is gone: ${said}. Open it anew.`);
  }
  return new FftError(otherwise, `${what} failed: ${said}.`);
}

/** The functions of Level Zero that the device uses. */
export class LevelZero extends StructApi<ZeFunction, Purpose> {
  /**
   * @param names names of the loader library, in order of preference.
   * @throws FftError `device-unavailable` if the library or a driver behind it is missing.
   */
  static async load(names: readonly string[]): Promise<LevelZero> {
    const koffi = await loadKoffi();
    const what = 'The Level Zero loader library';
    const library = await openLibrary({ names, what, install: INSTALL });
    const api = new LevelZero(koffi, functionsOf(library, CALLS, 'int'));
    const result = api.raw.zeInit(0) as number;
    // If initialization fails, all further calls may crash the process.
    if (result === 0) return api;
    const { message } = zeFailure('zeInit', result, { what: 'Level Zero has no driver that starts: it' });
    throw new FftError('device-unavailable', `${message} ${INSTALL}`);
  }

  protected errorOf(name: ZeFunction, result: number, purpose: Purpose | undefined): FftError {
    return zeFailure(name, result, purpose);
  }

  /** Lists handles: one call for their number, another for the handles. */
  handles(name: ZeFunction, ...of: Handle[]): Handle[] {
    const count = new Uint32Array(new ArrayBuffer(4));
    this.call(name, undefined, ...of, count, null);
    const found = new BigUint64Array(new ArrayBuffer(8 * count[0]!));
    if (found.length > 0) this.call(name, undefined, ...of, count, found);
    return [...found];
  }

  /** Lists structures. @param bytes size of one structure. */
  structs(name: ZeFunction, of: Handle, type: number, bytes: number): DataView[] {
    const count = new Uint32Array(new ArrayBuffer(4));
    this.call(name, undefined, of, count, null);
    const memory = new ArrayBuffer(bytes * count[0]!);
    const views = Array.from({ length: count[0]! }, (_, n) => new DataView(memory, n * bytes, bytes));
    for (const view of views) view.setUint32(0, type, true);
    if (views.length > 0) this.call(name, undefined, of, count, memory);
    return views;
  }
}

const loaded = new Map<string, Promise<LevelZero>>();

/** Opens Level Zero, once for each library. @param library file of the loader library, for tests. @throws FftError `device-unavailable` */
export function levelZero(library?: string): Promise<LevelZero> {
  const names = library === undefined ? (LIBRARIES[process.platform] ?? LIBRARIES.linux!) : [library];
  const key = names.join();
  const known = loaded.get(key);
  if (known) return known;
  const loading = LevelZero.load(names).catch((error: unknown) => {
    // A missing library or driver may be installed by the next attempt.
    loaded.delete(key);
    throw error;
  });
  loaded.set(key, loading);
  return loading;
}
