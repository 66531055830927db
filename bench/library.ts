/**
 * omnifft as a subject. What is timed is `dist/`, the code a user gets, not sources through a loader; `npm run bench`
 * builds it first. Only the few names of the public surface that are timed here are declared.
 */
import { fill } from './data.ts';
import { hasReals, pick, pickReals, points, type Subject, type Workload } from './subject.ts';

export type RealArray = Float32Array<ArrayBufferLike> | Float64Array<ArrayBufferLike>;

export interface Plan {
  readonly input: { readonly bytes: number };
  readonly output: { readonly bytes: number };
  forward(input: RealArray, output: RealArray): Promise<unknown>;
  forwardSync(input: RealArray, output: RealArray, options?: object): unknown;
  inverseSync(input: RealArray, output: RealArray): unknown;
  prepareKernelSync(h: RealArray): Memory;
  convolveSync(input: RealArray, kernel: Memory, output: RealArray): unknown;
  destroy(): void;
}

export interface Memory {
  readonly array: RealArray;
  free(): void;
}

export interface Device {
  alloc(bytes: number, precision?: 'single' | 'double'): Memory;
  plan(problem: object): Promise<Plan>;
  close(): void | Promise<void>;
}

interface Library {
  openDevice(kind: 'cpu', options: { threads: number }): Promise<Device>;
  readonly version: string;
}

/** Where child processes import the library from, too. */
export const libraryUrl = new URL('../dist/index.js', import.meta.url).href;

export async function loadLibrary(): Promise<Library> {
  return (await import(libraryUrl)) as Library;
}

/** An array as `omnifft/signal` takes it, slowest axis first. */
interface Dense {
  readonly data: RealArray;
  readonly shape: readonly number[];
  readonly dtype: string;
}

interface Signal {
  fftconvolve(x: Dense, y: Dense, options: { device: Device }): Promise<Dense>;
}

export async function loadSignal(): Promise<Signal> {
  return (await import(new URL('../dist/signal/index.js', import.meta.url).href)) as Signal;
}

export interface NumpySync {
  rfft(x: Dense | RealArray, options?: object): Dense;
}

/** What of `omnifft/signal` is timed. */
interface SignalLibrary {
  featureExtractor(preset: string, options: { device: Device }): { extract(x: Float32Array): Promise<unknown> };
}

export async function loadSignalLibrary(): Promise<SignalLibrary> {
  return (await import(new URL('../dist/signal/index.js', import.meta.url).href)) as SignalLibrary;
}

/** What of `omnifft/nufft` is timed. */
export interface NufftPlan {
  readonly fineGrid: readonly number[];
  setPoints(...axes: readonly RealArray[]): Promise<void>;
  execute(input: Memory, output: Memory): Promise<unknown>;
  destroy(): void;
}

interface NufftLibrary {
  plan(type: 1 | 2, modes: readonly number[], options: { eps: number; device: Device }): Promise<NufftPlan>;
}

export async function loadNufft(): Promise<NufftLibrary> {
  return (await import(new URL('../dist/nufft/index.js', import.meta.url).href)) as NufftLibrary;
}

export const numpyUrl = new URL('../dist/numpy/index.js', import.meta.url).href;
export const numpySyncUrl = new URL('../dist/numpy/sync.js', import.meta.url).href;

export async function loadNumpySync(): Promise<NumpySync> {
  return (await import(numpySyncUrl)) as NumpySync;
}

export interface Manner {
  readonly name?: string;
  /** `alloc`: buffers in the device's memory. `host`: the caller's arrays, so that a call copies in and out. */
  readonly buffers?: 'alloc' | 'host';
  /** Times `plan.forward`, which may use all threads of the device, instead of `plan.forwardSync`. */
  readonly asynchronous?: boolean;
}

export async function omnifft(device: Device, workload: Workload, manner: Manner = {}): Promise<Subject> {
  const { name = 'omnifft', buffers = 'alloc', asynchronous = false } = manner;
  const { size, precision, batches = 1, real = false, sums } = workload;
  const transform = sums ?? (real ? 'r2c' : 'c2c');
  const plan = await device.plan({ size: [...size], batches, precision, transform });
  const memories: Memory[] = [];
  const make = (bytes: number): RealArray => {
    const length = bytes / (precision === 'single' ? 4 : 8);
    if (buffers === 'host') return precision === 'single' ? new Float32Array(length) : new Float64Array(length);
    const memory = device.alloc(bytes);
    memories.push(memory);
    const { array } = memory;
    // The view the device hands out, where it is of the right type: that is what users pass.
    if (precision === 'single') {
      return array instanceof Float32Array ? array : new Float32Array(array.buffer, array.byteOffset, length);
    }
    return array instanceof Float64Array ? array : new Float64Array(array.buffer, array.byteOffset, length);
  };
  const input = make(plan.input.bytes);
  const output = make(plan.output.bytes);
  const words = precision === 'double-double' ? 2 : 1;
  if (input.length !== (hasReals(workload) ? 1 : 2) * words * points(workload))
    throw new Error(`omnifft's input has ${input.length} numbers`);

  const timeSync = (calls: number) => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) plan.forwardSync(input, output);
    return ((performance.now() - start) * 1000) / calls;
  };
  const timeAsync = async (calls: number) => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) await plan.forward(input, output);
    return ((performance.now() - start) * 1000) / calls;
  };
  return {
    name,
    load: (seed) => (words === 1 ? fill(input, seed) : fillHigh(input, seed)),
    async bins(indices) {
      output.fill(Number.NaN);
      if (asynchronous) await plan.forward(input, output);
      else plan.forwardSync(input, output);
      if (sums) return pickReals(output, indices);
      return pick(words === 1 ? output : output.filter((_, n) => n % words === 0), indices);
    },
    time: asynchronous ? timeAsync : timeSync,
    close() {
      plan.destroy();
      for (const memory of memories) memory.free();
    },
  };
}

/** Double-doubles that are doubles: each the higher of two words, the lower one 0. */
function fillHigh(input: RealArray, seed: number): void {
  const numbers = new Float64Array(input.length / 2);
  fill(numbers, seed);
  numbers.forEach((value, n) => input.set([value, 0], 2 * n));
}
