/**
 * The runtime of modules that are built ahead of time. The source texts of {@link RUNTIME}, or {@link GPU_RUNTIME}, become part of the module,
 * so these functions refer only to one another: neither to imports nor to functions that an AudioWorklet lacks (`atob`, `TextDecoder`).
 * Comments stand outside the functions, so that pages do not load them.
 */
import type {
  ArrayName,
  DirectionData,
  RootRunData,
  SideData,
  TableData,
  TransformData,
} from '../../emit/host/data.ts';
import type { PipelineData } from './pipeline.ts';

/** Options of a transform: the memory, the transform's first byte in it, and the compiled code. */
export interface TransformOptions {
  readonly memory?: WebAssembly.Memory;
  readonly byteOffset?: number;
  readonly module?: WebAssembly.Module;
}

type Numbers = Float32Array | Float64Array | Uint16Array | Uint32Array;
type SideNumbers = Numbers | { readonly re: Numbers; readonly im: Numbers };

/** A transform of a built module, as the module's declarations have it. */
export interface BuiltTransform {
  readonly memory: WebAssembly.Memory;
  readonly input: SideNumbers;
  readonly output: SideNumbers;
  forward?(from?: SideNumbers, to?: SideNumbers): SideNumbers;
  inverse?(from?: SideNumbers, to?: SideNumbers): SideNumbers;
}

/** The addresses of arrays, relative to the beginning of a transform's memory, each a multiple of 64 bytes. */
interface Places {
  readonly tables: readonly number[];
  /** The addresses of the one or two arrays of each side; in place there is one side. */
  readonly sides: readonly (readonly number[])[];
  readonly temp: number;
  readonly shared: number;
  readonly end: number;
}

function bytesPerElement(array: ArrayName): number {
  return Number(array.replace(/\D/g, '')) / 8;
}

function memoryPlaces({ array, input, output, tables, temp, shared }: TransformData): Places {
  let end = 0;
  const take = (bytes: number) => {
    const at = end;
    end += Math.ceil(bytes / 64) * 64;
    return at;
  };
  const sideOf = ({ length, planar }: SideData) =>
    (planar ? [0, 1] : [0]).map(() => take(length * bytesPerElement(array)));
  return {
    tables: tables.map((table) => take(table.length * bytesPerElement(table.array))),
    sides: output ? [sideOf(input), sideOf(output)] : [sideOf(input)],
    temp: take(temp),
    shared: take(shared),
    end,
  };
}

/** The bytes of a text that `textOfBytes` wrote. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let end = 0;
  let page = 0;
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    const digit = code - (code > 92 ? 35 : code > 60 ? 34 : code > 34 ? 33 : 32);
    if (digit < 90) {
      bytes[end++] = digit + page - 47;
      page = 0;
    } else page = 90 * (digit - 89);
  }
  return bytes.slice(0, end);
}

/** Computes the roots of a table. Angles are reduced to an eighth of a turn in integers, which loses no accuracy. */
function fillRoots(numbers: Numbers, runs: readonly RootRunData[]): void {
  for (const [p, step, q, count, re, im, stride, block, skip] of runs) {
    for (let i = 0; i < count; i++) {
      const turns = 4 * ((p + step * i) % q);
      const quarter = Math.round(turns / q);
      const angle = (Math.PI / 2) * ((turns - quarter * q) / q);
      const c = Math.cos(angle);
      const s = Math.sin(angle);
      const sign = quarter & 2 ? -1 : 1;
      const at = stride * i + skip * Math.floor(i / block);
      numbers[re + at] = sign * (quarter & 1 ? -s : c);
      numbers[im + at] = -sign * (quarter & 1 ? c : s);
    }
  }
}

/**
 * A call of a kernel over a chunk of its groups, or the first share of a chunk. Few arguments are passed without a list, which would cost a short
 * transform too much time.
 */
function callOf(
  run: (...values: number[]) => void,
  groups: number,
  rest: readonly number[],
): (chunk: number, share: number) => void {
  const [a, b, c, d, e] = rest as [number, number, number, number, number];
  if (rest.length === 4) return (n, share) => run(n * groups, Math.ceil((n + share) * groups), a, b, c, d);
  if (rest.length === 5) return (n, share) => run(n * groups, Math.ceil((n + share) * groups), a, b, c, d, e);
  return (n, share) => run(n * groups, Math.ceil((n + share) * groups), ...rest);
}

/**
 * All launches of a direction, chunk by chunk.
 * @param slots addresses of the sides and of memory between launches
 * @returns a function of the share of each chunk's groups that run
 */
function launchSequence(
  { chunks, steps }: DirectionData,
  exports: WebAssembly.Exports,
  slots: readonly number[],
  tables: readonly number[],
  shared: number,
): (share?: number) => void {
  const calls = steps.map((step) =>
    callOf(exports[step.kernel] as (...values: number[]) => void, step.groups, [
      shared,
      ...(step.reverse === undefined ? [] : [step.reverse]),
      ...step.arrays.map(([slot, offset]) => slots[slot]! + offset),
      ...step.tables.map((n) => tables[n]!),
    ]),
  );
  const [first] = calls;
  if (chunks === 1 && calls.length === 1) return (share = 1) => first!(0, share);
  return (share = 1) => {
    for (let n = 0; n < chunks; n++) for (const call of calls) call(n, share);
  };
}

function planesOf(side: SideNumbers): readonly Numbers[] {
  return 're' in side ? [side.re, side.im] : [side];
}

function copyNumbers(from: SideNumbers, to: SideNumbers, isResult: boolean): void {
  const [source, target] = [planesOf(from), planesOf(to)];
  if (source.length !== target.length || source.some((part, n) => part.length !== target[n]!.length)) {
    const wanted = (isResult ? source : target).map(({ length }) => length).join(' and ');
    throw new RangeError(`${isResult ? 'The result' : 'The input'} has ${wanted} numbers.`);
  }
  for (const [n, part] of source.entries()) target[n]!.set(part);
}

/** The memory of a transform from `base` on: the caller's, or its own. It is grown to hold `bytes` more. */
function memoryFor(given: WebAssembly.Memory | undefined, base: number, bytes: number): WebAssembly.Memory {
  if (!(Number.isInteger(base / 64) && base >= 0)) {
    throw new RangeError(`byteOffset must be a multiple of 64, but is ${base}.`);
  }
  const pages = Math.ceil((base + bytes) / 65536);
  const memory = given ?? new WebAssembly.Memory({ initial: pages });
  const missing = pages - memory.buffer.byteLength / 65536;
  if (missing > 0) memory.grow(missing);
  return memory;
}

/**
 * Returns a function that makes transforms of one kind, each in its own memory or the caller's. Growing a memory detaches its views, which
 * become empty, so a transform makes its views anew then.
 * @param compiled gives the kernels of the file, if the caller gives no module
 */
function transformFactory(data: TransformData, compiled: () => WebAssembly.Module) {
  const places = memoryPlaces(data);
  const make = ({ memory: given, byteOffset = 0, module }: TransformOptions = {}): BuiltTransform => {
    const memory = memoryFor(given, byteOffset, places.end);
    const { exports } = new WebAssembly.Instance(module ?? compiled(), { env: { memory } });
    const view = (array: ArrayName, at: number, length: number): Numbers =>
      new ({ Float32Array, Float64Array, Uint16Array, Uint32Array })[array](memory.buffer, byteOffset + at, length);
    fillTables(data.tables, (array, n, length) => view(array, places.tables[n]!, length));
    const [input, output = input] = places.sides as [Places['sides'][0], Places['sides'][0] | undefined];
    const addresses = [...[input, output].flatMap(([re, im = re]) => [re!, im!]), places.temp];
    const absolute = (list: readonly number[]) => list.map((at) => byteOffset + at);
    const [slots, tables] = [absolute(addresses), absolute(places.tables)];
    let sides: readonly SideNumbers[] = [];
    const side = (n: number): SideNumbers => {
      if (sides.length === 0 || planesOf(sides[0]!)[0]!.byteLength === 0) {
        const lengths = [data.input.length, (data.output ?? data.input).length];
        const whole = places.sides.map((list, k) => list.map((at) => view(data.array, at, lengths[k]!)));
        sides = whole.map(([re, im]) => (im ? { re: re!, im } : re!));
      }
      return sides[n] ?? sides[0]!;
    };
    const caller = (direction: DirectionData, reading: number) => {
      const run = launchSequence(direction, exports, slots, tables, byteOffset + places.shared);
      const { gaps } = (reading === 0 && data.output) || data.input;
      return (from?: SideNumbers, to = data.output ? undefined : from): SideNumbers => {
        const [read, written] = [side(reading), side(1 - reading)];
        if (to && gaps) copyNumbers(to, written, false);
        if (from && from !== read) copyNumbers(from, read, false);
        run();
        if (to && to !== written) copyNumbers(written, to, true);
        return to ?? written;
      };
    };
    return {
      memory,
      get input() {
        return side(0);
      },
      get output() {
        return side(1);
      },
      ...(data.forward && { forward: caller(data.forward, 0) }),
      ...(data.inverse && { inverse: caller(data.inverse, 1) }),
    };
  };
  return Object.assign(make, { byteLength: places.end });
}

/** Writes the contents of tables. @param view the memory of a table, by its number */
function fillTables(
  tables: readonly TableData[],
  view: (array: ArrayName, n: number, length: number) => Numbers,
): void {
  for (const [n, { array, length, runs, bytes }] of tables.entries()) {
    const numbers = view(array, n, length);
    if (runs) fillRoots(numbers, runs);
    if (bytes) new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength).set(decoded(bytes));
  }
}

/** Launches in a pipeline's own memory. */
export interface BuiltPipeline {
  /** The singles of a buffer. */
  view(buffer: number): Float32Array<ArrayBuffer>;
  /** @param share the share of each launch's groups that run, from the first one on; default 1 */
  run(share?: number): void;
}

function pipelineIn({ buffers, shared, tables, steps }: PipelineData, module: WebAssembly.Module): BuiltPipeline {
  let end = 0;
  const take = (bytes: number) => {
    const at = end;
    end += Math.ceil(bytes / 64) * 64;
    return at;
  };
  const places = buffers.map(take);
  const constants = tables.map(({ array, length }) => take(length * bytesPerElement(array)));
  const scratch = take(shared);
  const memory = memoryFor(undefined, 0, end);
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  fillTables(
    tables,
    (array, n, length) =>
      new ({ Float32Array, Float64Array, Uint16Array, Uint32Array })[array](memory.buffer, constants[n]!, length),
  );
  const run = launchSequence({ chunks: 1, steps }, exports, places, constants, scratch);
  const view = (n: number) => new Float32Array(memory.buffer as ArrayBuffer, places[n]!, buffers[n]! / 4);
  return { view, run };
}

/** The functions of a built module. The last one is called for each transform. */
export const RUNTIME = [
  bytesPerElement,
  memoryPlaces,
  decoded,
  fillRoots,
  fillTables,
  callOf,
  launchSequence,
  planesOf,
  copyNumbers,
  memoryFor,
  transformFactory,
] as const;

/** The functions of a built module that makes pipelines. The last one makes them. */
export const PIPELINE_RUNTIME = [
  bytesPerElement,
  decoded,
  fillRoots,
  fillTables,
  callOf,
  launchSequence,
  memoryFor,
  pipelineIn,
] as const;

// The rest is for WebGPU. Modules for WebGPU also contain the functions above that fill tables.

/** A kernel of a module: its text, its groups and its bindings. */
export interface GpuKernelData {
  readonly code: string;
  readonly entry: string;
  readonly groups: readonly [x: number, y: number, z: number];
  /** For each binding, tables included, whether the kernel writes to it. */
  readonly written: readonly boolean[];
  /** For each binding of a side, the number of its array; bindings of tables come after them. */
  readonly shows: readonly number[];
}

/** A transform whose memory between launches is `temps` buffers of `temp` bytes, in the slots from 4 on: a launch may read one and write another. */
export interface GpuTransformData extends TransformData {
  readonly temps: number;
}

/** The caller's memory: a buffer, or a part of a buffer that begins at a multiple of 256 bytes. */
type GpuMemory = GPUBuffer | { readonly buffer: GPUBuffer; readonly offset?: number };
type GpuSide = GpuMemory | { readonly re: GpuMemory; readonly im: GpuMemory };
type GpuCall = (encoder: GPUCommandEncoder, from: GpuSide, to?: GpuSide) => void;

/** A transform of a built module for WebGPU, as the module's declarations have it. */
export interface BuiltGpuTransform {
  forward?: GpuCall;
  inverse?: GpuCall;
  destroy(): void;
}

function wholeWordBytes({ array }: TransformData, { length }: SideData): number {
  return Math.ceil((length * bytesPerElement(array)) / 4) * 4;
}

/** The one or two arrays of a side as bindings. */
function bindingsOf(side: GpuSide | undefined, planar: boolean, size: number, what: string): GPUBufferBinding[] {
  const given = side as { re: GpuMemory; im: GpuMemory };
  const memories = planar ? [given?.re, given?.im] : [side as GpuMemory];
  return memories.map((memory) => {
    const { buffer, offset = 0 } = memory && 'buffer' in memory ? memory : { buffer: memory as GPUBuffer | undefined };
    if (!buffer?.size)
      throw new TypeError(`The ${what} must be ${planar ? '{ re, im } of GPUBuffers' : 'a GPUBuffer'}.`);
    if (buffer.size - offset < size)
      throw new RangeError(`The ${what} takes ${size} bytes from byte ${offset} on; its buffer has ${buffer.size}.`);
    return { buffer, offset, size };
  });
}

/** A buffer that the module owns, with the usages COPY_DST and STORAGE of `GPUBufferUsage`. */
function ownBuffer(device: GPUDevice, size: number): GPUBuffer {
  return device.createBuffer({ size: Math.max(16, Math.ceil(size / 4) * 4), usage: 0x88 });
}

function tableBuffers(device: GPUDevice, { tables }: TransformData): GPUBuffer[] {
  return tables.map(({ array, length, runs, bytes }) => {
    const numbers = new { Float32Array, Float64Array, Uint16Array, Uint32Array }[array](Math.ceil(length / 2) * 2);
    if (runs) fillRoots(numbers, runs);
    if (bytes) new Uint8Array(numbers.buffer).set(decoded(bytes));
    const buffer = ownBuffer(device, numbers.byteLength);
    device.queue.writeBuffer(buffer, 0, numbers);
    return buffer;
  });
}

/** Compiles a kernel. The layout is given explicitly: a layout inferred from the text lacks bindings that the kernel does not use. */
async function pipelineOf(device: GPUDevice, { code, entry, written }: GpuKernelData): Promise<GPUComputePipeline> {
  const entries = written.map((isWritten, binding): GPUBindGroupLayoutEntry => {
    return { binding, visibility: 4, buffer: { type: isWritten ? 'storage' : 'read-only-storage' } };
  });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout({ entries })] });
  const module = device.createShaderModule({ code });
  return device.createComputePipelineAsync({ layout, compute: { module, entryPoint: entry } });
}

/**
 * Returns a function that makes transforms of one kind for the page's own device. Memory between launches is in several buffers, because a
 * launch may read one part and write another, which WebGPU does not allow in one buffer.
 * @param kernels the kernels of the file, by their names
 */
function gpuTransformOf(data: GpuTransformData, kernels: Readonly<Record<string, GpuKernelData>>) {
  const { input, output, temp, temps } = data;
  const [inputBytes, outputBytes] = [wholeWordBytes(data, input), wholeWordBytes(data, output ?? input)];
  const make = async (device: GPUDevice): Promise<BuiltGpuTransform> => {
    const most = device.limits.maxStorageBufferBindingSize;
    const needed = Math.max(inputBytes, outputBytes, temp);
    if (needed > most)
      throw new RangeError(
        `The transform binds ${needed} bytes at once; the device allows ${most}: ask for more as it is requested.`,
      );
    const steps = [data.forward, data.inverse].flatMap((direction) => direction?.steps ?? []);
    const names = [...new Set(steps.map(({ kernel }) => kernel))];
    const compiled = await Promise.all(names.map((name) => pipelineOf(device, kernels[name]!)));
    const tables = tableBuffers(device, data);
    const between = Array.from({ length: temps }, () => ownBuffer(device, temp));
    const bound = (sides: readonly GPUBufferBinding[][], slot: number, at: number): GPUBufferBinding => {
      const side = sides[slot >> 1];
      return side ? side[slot & 1]! : { buffer: between[slot - 4]!, offset: at };
    };
    const caller =
      (direction: NonNullable<TransformData['forward']>, reads: number): GpuCall =>
      (encoder, from, to) => {
        const read = bindingsOf(
          from,
          Boolean((reads ? (output ?? input) : input).planar),
          reads ? outputBytes : inputBytes,
          'input',
        );
        const written = output
          ? bindingsOf(to, Boolean((reads ? input : output).planar), reads ? inputBytes : outputBytes, 'output')
          : read;
        const sides = reads ? [written, read] : [read, written];
        const pass = encoder.beginComputePass();
        for (const { kernel, arrays, tables: own } of direction.steps) {
          const pipeline = compiled[names.indexOf(kernel)]!;
          const { groups, shows } = kernels[kernel]!;
          const resources = [
            ...shows.map((n) => bound(sides, ...arrays[n]!)),
            ...own.map((n) => ({ buffer: tables[n]! })),
          ];
          pass.setPipeline(pipeline);
          pass.setBindGroup(
            0,
            device.createBindGroup({
              layout: pipeline.getBindGroupLayout(0),
              entries: resources.map((resource, binding) => ({ binding, resource })),
            }),
          );
          pass.dispatchWorkgroups(...groups);
        }
        pass.end();
      };
    return {
      ...(data.forward && { forward: caller(data.forward, 0) }),
      ...(data.inverse && { inverse: caller(data.inverse, 1) }),
      destroy() {
        for (const buffer of [...tables, ...between]) buffer.destroy();
      },
    };
  };
  return Object.assign(make, { inputBytes, outputBytes });
}

/** The functions of a built module for WebGPU. The last one is called for each transform. */
export const GPU_RUNTIME = [
  bytesPerElement,
  decoded,
  fillRoots,
  wholeWordBytes,
  bindingsOf,
  ownBuffer,
  tableBuffers,
  pipelineOf,
  gpuTransformOf,
] as const;
