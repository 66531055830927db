/**
 * The functions and constants of OpenCL 1.2 that the device uses, and `clCreateProgramWithIL` of 2.1, over the system's loader library. Handles are
 * BigInts. A failed call throws the error that its number means (errors.ts).
 */
import { FftError, show } from '../../problem/errors.ts';
import { functionsOf, isHandle, type NativeFunction, openLibrary } from '../native/library.ts';
import { type ClPurpose, clFailure } from './errors.ts';

/** A `cl_platform_id`, `cl_mem`, … */
export type Handle = bigint;

export const INFO = {
  platformName: 0x0902,
  deviceType: 0x1000,
  computeUnits: 0x1002,
  maxWorkGroupSize: 0x1004,
  vectorWidthFloat: 0x100a,
  maxAllocBytes: 0x1010,
  globalBytes: 0x101f,
  localBytes: 0x1023,
  available: 0x1027,
  compilerAvailable: 0x1028,
  deviceName: 0x102b,
  driverVersion: 0x102d,
  deviceVersion: 0x102f,
  extensions: 0x1030,
  doubleConfig: 0x1032,
  ilVersion: 0x105b,
  warpSizeNv: 0x4000,
  wavefrontWidthAmd: 0x4043,
  contextDevices: 0x1081,
  queueContext: 0x1090,
  queueDevice: 0x1091,
  queueProperties: 0x1093,
  memType: 0x1100,
  memFlags: 0x1101,
  memSize: 0x1102,
  memContext: 0x1106,
  memAssociated: 0x1107,
  memOffset: 0x1108,
  programDevices: 0x1162,
  binarySizes: 0x1165,
  binaries: 0x1166,
  buildLog: 0x1183,
  eventStatus: 0x11d3,
  profilingStart: 0x1282,
  profilingEnd: 0x1283,
} as const;

export const DEVICE_TYPE = { cpu: 2, gpu: 4, accelerator: 8, all: 0xffffffff } as const;
export const MEMORY = { readWrite: 1, writeOnly: 2, readOnly: 4, allocHost: 16, buffer: 0x10f0 } as const;
export const QUEUE = { outOfOrder: 1, profiling: 2 } as const;
export const MAP_READ_WRITE = 3;
/** Options for the driver's compiler. */
export const BUILD_OPTIONS = '-cl-std=CL1.2';
/** The format of a device's OpenCL version. */
export const VERSION = /^OpenCL (\d+)\.(\d+)/;
const CONTEXT_PLATFORM = 0x1084;
const DEVICE_NOT_FOUND = -1;
/** The loader's error number if no platform is installed. */
const PLATFORM_NOT_FOUND = -1001;

const P = 'void *';
/** The parameter types of each function. Functions in `MAKERS` return a handle, and write the error number through their last argument. */
const CALLS = {
  clGetPlatformIDs: ['uint32_t', P, P],
  clGetPlatformInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetDeviceIDs: [P, 'uint64_t', 'uint32_t', P, P],
  clGetDeviceInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetContextInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetCommandQueueInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetMemObjectInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetProgramInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetProgramBuildInfo: [P, P, 'uint32_t', 'size_t', P, P],
  clGetEventInfo: [P, 'uint32_t', 'size_t', P, P],
  clGetEventProfilingInfo: [P, 'uint32_t', 'size_t', P, P],
  clRetainContext: [P],
  clRetainCommandQueue: [P],
  clRetainMemObject: [P],
  clRetainEvent: [P],
  clReleaseContext: [P],
  clReleaseCommandQueue: [P],
  clReleaseMemObject: [P],
  clReleaseProgram: [P],
  clReleaseKernel: [P],
  clReleaseEvent: [P],
  clBuildProgram: [P, 'uint32_t', P, 'str', P, P],
  clSetKernelArg: [P, 'uint32_t', 'size_t', P],
  clFlush: [P],
  clFinish: [P],
  clWaitForEvents: ['uint32_t', P],
  clEnqueueNDRangeKernel: [P, P, 'uint32_t', P, P, P, 'uint32_t', P, P],
  clEnqueueReadBuffer: [P, P, 'uint32_t', 'size_t', 'size_t', P, 'uint32_t', P, P],
  clEnqueueWriteBuffer: [P, P, 'uint32_t', 'size_t', 'size_t', P, 'uint32_t', P, P],
  clEnqueueUnmapMemObject: [P, P, P, 'uint32_t', P, P],
  clEnqueueMarkerWithWaitList: [P, 'uint32_t', P, P],
  clEnqueueBarrierWithWaitList: [P, 'uint32_t', P, P],
} as const;
const MAKERS = {
  clCreateContext: [P, 'uint32_t', P, P, P, P],
  clCreateCommandQueue: [P, P, 'uint64_t', P],
  clCreateBuffer: [P, 'uint64_t', 'size_t', P, P],
  clCreateProgramWithSource: [P, 'uint32_t', 'const char **', P, P],
  clCreateProgramWithBinary: [P, 'uint32_t', P, P, P, P, P],
  clCreateKernel: [P, 'str', P],
  clEnqueueMapBuffer: [P, P, 'uint32_t', 'uint64_t', 'size_t', 'size_t', 'uint32_t', P, P, P],
} as const;
/** Creates a program from SPIR-V. Loaders older than OpenCL 2.1 lack the function. */
const TAKES_SPIRV = { clCreateProgramWithIL: [P, P, 'size_t', P] } as const;

type ClFunction = keyof typeof CALLS;
type Maker = keyof typeof MAKERS | keyof typeof TAKES_SPIRV;

/** The kinds of objects that can be queried, and the function that queries each. */
const QUERIES = {
  platform: 'clGetPlatformInfo',
  device: 'clGetDeviceInfo',
  context: 'clGetContextInfo',
  queue: 'clGetCommandQueueInfo',
  memory: 'clGetMemObjectInfo',
  event: 'clGetEventInfo',
  program: 'clGetProgramInfo',
  profiling: 'clGetEventProfilingInfo',
} as const satisfies Record<string, ClFunction>;
type Queried = keyof typeof QUERIES;

/** The functions of OpenCL that the device uses. */
export class OpenCl {
  /** The functions themselves, which return error numbers. */
  readonly raw: Readonly<Record<ClFunction, NativeFunction>>;
  private readonly makers: Readonly<Partial<Record<Maker, NativeFunction>>>;
  private readonly status = new Int32Array(2);
  private readonly word = new BigInt64Array(1);
  private readonly place = new BigUint64Array(1);

  private constructor(raw: OpenCl['raw'], makers: OpenCl['makers']) {
    this.raw = raw;
    this.makers = makers;
  }

  /** @throws FftError `device-unavailable` */
  static async load(): Promise<OpenCl> {
    const library = await openLibrary({
      names: LIBRARIES[process.platform] ?? LIBRARIES.linux!,
      what: 'The OpenCL loader library',
      install: INSTALL,
    });
    const il = library.optional('clCreateProgramWithIL', P, TAKES_SPIRV.clCreateProgramWithIL);
    const makers = { ...functionsOf(library, MAKERS, P), ...(il ? { clCreateProgramWithIL: il } : {}) };
    return new OpenCl(functionsOf(library, CALLS, 'int'), makers);
  }

  /** Calls a function, and throws if it fails. @param requested the purpose of the call, for the error, if the caller knows it */
  call(name: ClFunction, requested: ClPurpose | undefined, ...values: unknown[]): void {
    const status = this.raw[name](...values) as number;
    if (status !== 0) throw clFailure(name, status, requested);
  }

  /** Calls a function that creates an object. @returns the object's handle */
  make(name: Maker, requested: ClPurpose | undefined, ...values: unknown[]): Handle {
    this.status[0] = 0;
    const made = this.makers[name]!(...values, this.status) as Handle | null;
    if (this.status[0] !== 0 || made === null) throw clFailure(name, this.status[0]!, requested);
    return made;
  }

  /** A property that is a number; undefined if the object does not have it. */
  number(of: Queried, handle: Handle, what: number): number | undefined {
    this.word[0] = 0n;
    const status = this.raw[QUERIES[of]](handle, what, 8, this.word, null) as number;
    return status === 0 ? Number(this.word[0]) : undefined;
  }

  /** A property that is a handle; 0n if the object does not have it. */
  handle(of: Queried, handle: Handle, what: number): Handle {
    this.place[0] = 0n;
    this.call(QUERIES[of], undefined, handle, what, 8, this.place, null);
    return this.place[0];
  }

  /** A property that is text; empty if the object does not have it. */
  text(of: 'platform' | 'device', handle: Handle, what: number): string {
    return this.string((bytes, place, size) => this.raw[QUERIES[of]](handle, what, bytes, place, size) as number);
  }

  /** The compiler's log. */
  buildLog(program: Handle, device: Handle): string {
    const get = this.raw.clGetProgramBuildInfo;
    return this.string((bytes, place, size) => get(program, device, INFO.buildLog, bytes, place, size) as number);
  }

  /** Whether a device's driver creates programs from SPIR-V. */
  takesSpirv(device: Handle): boolean {
    if (!this.makers.clCreateProgramWithIL) return false;
    const [, major = '0', minor = '0'] = VERSION.exec(this.text('device', device, INFO.deviceVersion)) ?? [];
    const since = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 1);
    return since && this.text('device', device, INFO.ilVersion).includes('SPIR-V_1.');
  }

  /** Creates a program from SPIR-V without building it. */
  spirvProgram(context: Handle, source: Uint8Array, requested?: ClPurpose): Handle {
    return this.make('clCreateProgramWithIL', requested, context, source, source.length);
  }

  platforms(): Handle[] {
    const get = (count: number, place: unknown, found: unknown) =>
      this.raw.clGetPlatformIDs(count, place, found) as number;
    return this.list('clGetPlatformIDs', get, PLATFORM_NOT_FOUND);
  }

  devices(platform: Handle): Handle[] {
    const get = (count: number, place: unknown, found: unknown) =>
      this.raw.clGetDeviceIDs(platform, DEVICE_TYPE.all, count, place, found) as number;
    return this.list('clGetDeviceIDs', get, DEVICE_NOT_FOUND);
  }

  createContext(platform: Handle, device: Handle): Handle {
    const properties = new BigInt64Array([BigInt(CONTEXT_PLATFORM), platform, 0n]);
    return this.make('clCreateContext', undefined, properties, 1, new BigUint64Array([device]), null, null);
  }

  /** The execution status of an event's command: 0 complete, negative failed, positive pending. */
  eventStatus(event: Handle): number {
    const status = this.raw.clGetEventInfo(event, INFO.eventStatus, 4, this.status, null) as number;
    return status === 0 ? this.status[0]! : status;
  }

  private string(get: (bytes: number, place: unknown, size: unknown) => number): string {
    if (get(0, null, this.place) !== 0) return '';
    const bytes = new Uint8Array(Number(this.place[0]));
    if (get(bytes.length, bytes, null) !== 0) return '';
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
  }

  private list(
    name: ClFunction,
    get: (count: number, place: unknown, found: unknown) => number,
    none: number,
  ): Handle[] {
    const found = new Uint32Array(1);
    const status = get(0, null, found);
    if (status === none || (status === 0 && found[0] === 0)) return [];
    if (status !== 0) throw clFailure(name, status);
    const handles = new BigUint64Array(found[0]!);
    const second = get(handles.length, handles, null);
    if (second !== 0) throw clFailure(name, second);
    return [...handles];
  }
}

const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['libOpenCL.so.1', 'libOpenCL.so'],
  win32: ['OpenCL.dll'],
  darwin: ['/System/Library/Frameworks/OpenCL.framework/OpenCL'],
};

export const INSTALL =
  "Install the driver of your GPU; for the processor, on Debian and Ubuntu: 'apt install ocl-icd-libopencl1 pocl-opencl-icd'.";

let loading: Promise<OpenCl> | undefined;

/** Opens OpenCL, once. @throws FftError `device-unavailable` */
export function openCl(): Promise<OpenCl> {
  loading ??= OpenCl.load().catch((error: unknown) => {
    // A missing library or driver may be installed by the next attempt.
    loading = undefined;
    throw error;
  });
  return loading;
}

/** The least valid handle. The first page of memory is never mapped, so lower numbers are mistakes, which would crash the process. */
export const LEAST_HANDLE = 4096n;

/** Checks a handle that the caller has passed. @throws FftError `invalid-argument` */
export function requireHandle(value: unknown, what: string): Handle {
  if (isHandle(value, LEAST_HANDLE)) return value;
  throw new FftError('invalid-argument', `${what} is ${show(value)}; it must be a pointer, as a BigInt.`);
}
