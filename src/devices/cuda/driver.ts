/**
 * The driver API that CUDA and HIP share, as a table of functions. Each call throws where the driver reports an error,
 * by the driver's own name for it; what a kernel or a plan is, nobody here knows.
 *
 * Handles and device pointers are BigInts, as koffi gives them.
 */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';
import type { NativeFunction, NativeLibrary } from '../native/library.ts';

/** What differs between the two: names of functions, numbers of attributes, and what there is at all. */
export interface DriverNames {
  readonly kind: 'cuda' | 'hip';
  /** For people: `CUDA`, `HIP`. */
  readonly title: string;
  /** The driver's name for each function; an empty one where the driver needs no such call. */
  readonly functions: Readonly<Record<DriverFunction, string>>;
  readonly attributes: Readonly<Record<DriverAttribute, number>>;
  /** Error numbers that mean more than a failed call. */
  readonly errors: {
    readonly notReady: number;
    readonly outOfMemory: readonly number[];
    /** After these the context answers nothing else any more. */
    readonly lost: readonly number[];
  };
  /** Groups that a launch may have in x. */
  readonly mostGroups: number;
  /** `flags` parameters where CUDA's function has none. */
  readonly hostAllocTakesFlags: boolean;
  /** The error's name is the result, not written to a place. */
  readonly errorNameIsResult: boolean;
}

export type DriverFunction =
  | 'init'
  | 'deviceCount'
  | 'device'
  | 'deviceName'
  | 'deviceMemory'
  | 'attribute'
  | 'retainContext'
  | 'releaseContext'
  | 'setContext'
  | 'contextDevice'
  | 'memoryInfo'
  | 'allocate'
  | 'free'
  | 'allocateHost'
  | 'freeHost'
  | 'addressRange'
  | 'copyIn'
  | 'copyOut'
  | 'copyAcross'
  | 'createStream'
  | 'destroyStream'
  | 'synchronizeStream'
  | 'waitEvent'
  | 'isCapturing'
  | 'createEvent'
  | 'destroyEvent'
  | 'recordEvent'
  | 'queryEvent'
  | 'elapsed'
  | 'loadModule'
  | 'unloadModule'
  | 'getFunction'
  | 'setFunctionAttribute'
  | 'launch'
  | 'beginCapture'
  | 'endCapture'
  | 'instantiateGraph'
  | 'launchGraph'
  | 'destroyGraph'
  | 'destroyGraphExec'
  | 'errorName';

export type DriverAttribute =
  | 'maxThreads'
  | 'sharedPerBlock'
  | 'sharedPerBlockOptin'
  | 'sharedPerMultiprocessor'
  | 'registersPerMultiprocessor'
  | 'warpSize'
  | 'multiprocessors'
  | 'major'
  | 'minor'
  | 'clusters';

const EVENT_TIMING = 0;
const EVENT_NO_TIMING = 2;
const STREAM_NON_BLOCKING = 1;
/** Other threads may call what cannot be captured meanwhile. */
const CAPTURE_RELAXED = 2;
const FUNCTION_SHARED_BYTES = 8;
const FUNCTION_LARGE_CLUSTERS = 14;

const P = 'void *';
const PARAMETERS: Readonly<Record<DriverFunction, readonly string[]>> = {
  init: ['uint'],
  deviceCount: [P],
  device: [P, 'int'],
  deviceName: [P, 'int', 'int'],
  deviceMemory: [P, 'int'],
  attribute: [P, 'int', 'int'],
  retainContext: [P, 'int'],
  releaseContext: ['int'],
  setContext: [P],
  contextDevice: [P],
  memoryInfo: [P, P],
  allocate: [P, 'size_t'],
  free: [P],
  allocateHost: [P, 'size_t'],
  freeHost: [P],
  addressRange: [P, P, P],
  copyIn: [P, P, 'size_t', P],
  copyOut: [P, P, 'size_t', P],
  copyAcross: [P, P, 'size_t', P],
  createStream: [P, 'uint'],
  destroyStream: [P],
  synchronizeStream: [P],
  waitEvent: [P, P, 'uint'],
  isCapturing: [P, P],
  createEvent: [P, 'uint'],
  destroyEvent: [P],
  recordEvent: [P, P],
  queryEvent: [P],
  elapsed: [P, P, P],
  loadModule: [P, P],
  unloadModule: [P],
  getFunction: [P, P, 'str'],
  setFunctionAttribute: [P, 'int', 'int'],
  launch: [P, 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', P, P, P],
  beginCapture: [P, 'int'],
  endCapture: [P, P],
  instantiateGraph: [P, P, 'uint64_t'],
  launchGraph: [P, P],
  destroyGraph: [P],
  destroyGraphExec: [P],
  errorName: ['int', '_Out_ str *'],
};

/** A kernel's entry point, the launch configuration and its arguments. */
export interface LaunchSetup {
  readonly entry: bigint;
  readonly groups: readonly [number, number, number];
  readonly threads: number;
  readonly sharedBytes: number;
  /** Address of the array of pointers to the arguments. */
  readonly parameters: bigint;
}

export class Driver {
  readonly names: DriverNames;
  private readonly call: Readonly<Partial<Record<DriverFunction, NativeFunction>>>;
  /** Results are written here. */
  private readonly out = new BigUint64Array(2);
  private readonly out32 = new Int32Array(this.out.buffer);

  /** @throws FftError `device-unavailable` where the library is too old. */
  constructor(library: NativeLibrary, names: DriverNames) {
    this.names = names;
    const call: Partial<Record<DriverFunction, NativeFunction>> = {};
    for (const name of Object.keys(PARAMETERS) as DriverFunction[]) {
      const symbol = names.functions[name];
      if (symbol === '') continue;
      let parameters = PARAMETERS[name];
      if (name === 'allocateHost' && names.hostAllocTakesFlags) parameters = [...parameters, 'uint'];
      const textResult = name === 'errorName' && names.errorNameIsResult;
      if (textResult) parameters = ['int'];
      call[name] = library.func(symbol, textResult ? 'str' : 'int', parameters);
    }
    this.call = call;
  }

  init(): void {
    this.do('init', 0);
  }

  get deviceCount(): number {
    return this.int('deviceCount');
  }

  device(ordinal: number): number {
    this.do('device', this.out, ordinal);
    return this.out32[0]!;
  }

  deviceName(device: number): string {
    const text = new Uint8Array(256);
    this.do('deviceName', text, text.length, device);
    return new TextDecoder().decode(text.subarray(0, text.indexOf(0)));
  }

  deviceMemory(device: number): number {
    this.do('deviceMemory', this.out, device);
    return Number(this.out[0]);
  }

  /** Zero where this driver does not know the attribute. */
  attribute(name: DriverAttribute, device: number): number {
    const number = this.names.attributes[name];
    if (number < 0) return 0;
    this.out32[0] = 0;
    return this.status('attribute', this.out, number, device) === 0 ? this.out32[0]! : 0;
  }

  retainContext(device: number): bigint {
    return this.handle('retainContext', device);
  }

  releaseContext(device: number): void {
    this.status('releaseContext', device);
  }

  setContext(context: bigint): void {
    this.do('setContext', context);
  }

  contextDevice(): number {
    return this.int('contextDevice');
  }

  /** Bytes of device memory: free, and in all. */
  memoryInfo(): { readonly free: number; readonly total: number } {
    this.do('memoryInfo', this.out, this.out.subarray(1));
    return { free: Number(this.out[0]), total: Number(this.out[1]) };
  }

  /** Undefined where there is not enough memory. */
  allocate(bytes: number): bigint | undefined {
    return this.handleUnlessFull('allocate', bytes);
  }

  free(pointer: bigint): void {
    this.status('free', pointer);
  }

  /** Host memory that the device copies from and to on its own; undefined where there is not enough. */
  allocateHost(bytes: number): bigint | undefined {
    return this.names.hostAllocTakesFlags
      ? this.handleUnlessFull('allocateHost', bytes, 0)
      : this.handleUnlessFull('allocateHost', bytes);
  }

  freeHost(pointer: bigint): void {
    this.status('freeHost', pointer);
  }

  /** The allocation that a device pointer lies in; undefined where it lies in none of this context. */
  addressRange(pointer: bigint): { readonly start: bigint; readonly bytes: bigint } | undefined {
    if (this.status('addressRange', this.out, this.out.subarray(1), pointer) !== 0) return undefined;
    return { start: this.out[0]!, bytes: this.out[1]! };
  }

  copyIn(device: bigint, host: bigint, bytes: number, stream: bigint): void {
    this.do('copyIn', device, host, bytes, stream);
  }

  copyOut(host: bigint, device: bigint, bytes: number, stream: bigint): void {
    this.do('copyOut', host, device, bytes, stream);
  }

  copyAcross(target: bigint, source: bigint, bytes: number, stream: bigint): void {
    this.do('copyAcross', target, source, bytes, stream);
  }

  createStream(): bigint {
    return this.handle('createStream', STREAM_NON_BLOCKING);
  }

  destroyStream(stream: bigint): void {
    this.status('destroyStream', stream);
  }

  synchronize(stream: bigint): void {
    this.do('synchronizeStream', stream);
  }

  waitEvent(stream: bigint, event: bigint): void {
    this.do('waitEvent', stream, event, 0);
  }

  isCapturing(stream: bigint): boolean {
    this.do('isCapturing', stream, this.out);
    return this.out32[0] !== 0;
  }

  createEvent(timing = false): bigint {
    return this.handle('createEvent', timing ? EVENT_TIMING : EVENT_NO_TIMING);
  }

  destroyEvent(event: bigint): void {
    this.status('destroyEvent', event);
  }

  recordEvent(event: bigint, stream: bigint): void {
    this.do('recordEvent', event, stream);
  }

  /** Whether all work before the event has run. */
  hasPassed(event: bigint): boolean {
    const status = this.status('queryEvent', event);
    if (status === this.names.errors.notReady) return false;
    if (status !== 0) throw this.failure('queryEvent', status);
    return true;
  }

  /** Milliseconds between two events that have passed. */
  elapsed(start: bigint, end: bigint): number {
    const out = new Float32Array(1);
    this.do('elapsed', out, start, end);
    return out[0]!;
  }

  loadModule(image: Uint8Array): bigint {
    return this.handle('loadModule', image);
  }

  unloadModule(module: bigint): void {
    this.status('unloadModule', module);
  }

  entry(module: bigint, name: string): bigint {
    return this.handle('getFunction', module, name);
  }

  /** Lets a kernel have more shared memory than every device has; nothing to do where that needs no asking. */
  allowShared(entry: bigint, bytes: number): void {
    if (this.call.setFunctionAttribute) this.do('setFunctionAttribute', entry, FUNCTION_SHARED_BYTES, bytes);
  }

  /** Lets a kernel have clusters of more blocks than every device with clusters has. */
  allowLargeClusters(entry: bigint): void {
    this.do('setFunctionAttribute', entry, FUNCTION_LARGE_CLUSTERS, 1);
  }

  launch({ entry, groups: [x, y, z], threads, sharedBytes, parameters }: LaunchSetup, stream: bigint): void {
    const status = this.call.launch!(entry, x, y, z, threads, 1, 1, sharedBytes, stream, parameters, null) as number;
    if (status !== 0) throw this.failure('launch', status);
  }

  beginCapture(stream: bigint): void {
    this.do('beginCapture', stream, CAPTURE_RELAXED);
  }

  /** What was submitted since `beginCapture`, ready to be launched. */
  endCapture(stream: bigint): bigint {
    this.do('endCapture', stream, this.out);
    const graph = this.out[0]!;
    try {
      return this.handle('instantiateGraph', graph, 0);
    } finally {
      this.status('destroyGraph', graph);
    }
  }

  launchGraph(graph: bigint, stream: bigint): void {
    this.do('launchGraph', graph, stream);
  }

  /** A launch in flight still ends. */
  destroyGraph(graph: bigint): void {
    this.status('destroyGraphExec', graph);
  }

  /** What an error number of the driver means to a caller. */
  failure(what: DriverFunction, status: number): FftError {
    const { errors, functions, title } = this.names;
    const code: FftErrorCode = errors.lost.includes(status)
      ? 'device-lost'
      : errors.outOfMemory.includes(status)
        ? 'out-of-memory'
        : 'launch-failed';
    const consequence =
      code === 'device-lost' ? ': the device cannot be used any more; close it, open it again and plan anew' : '';
    return new FftError(code, `${title} reported ${this.errorName(status)} from ${functions[what]}${consequence}.`);
  }

  private errorName(status: number): string {
    const out: (string | null)[] = [null];
    const name = this.names.errorNameIsResult
      ? (this.call.errorName!(status) as string | null)
      : this.call.errorName!(status, out) === 0 && out[0];
    return `${name || 'an unknown error'} (${status})`;
  }

  private do(name: DriverFunction, ...values: unknown[]): void {
    const status = this.status(name, ...values);
    if (status !== 0) throw this.failure(name, status);
  }

  private status(name: DriverFunction, ...values: unknown[]): number {
    return this.call[name]!(...values) as number;
  }

  private int(name: DriverFunction): number {
    this.do(name, this.out);
    return this.out32[0]!;
  }

  private handle(name: DriverFunction, ...values: unknown[]): bigint {
    this.out[0] = 0n;
    this.do(name, this.out, ...values);
    return this.out[0]!;
  }

  private handleUnlessFull(name: DriverFunction, ...values: unknown[]): bigint | undefined {
    this.out[0] = 0n;
    const status = this.status(name, this.out, ...values);
    if (this.names.errors.outOfMemory.includes(status)) return undefined;
    if (status !== 0) throw this.failure(name, status);
    return this.out[0]!;
  }
}
