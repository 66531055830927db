/** Kernels, memory and launches of non-uniform transforms on a device. */
import type {
  Argument,
  Binding,
  BoundProgram,
  CompiledKernel,
  DeviceBuffer,
  ProgramStep,
} from '../../devices/device.ts';
import { type ArrayRef, type Kernel, storageBytes, type Table } from '../../ir/index.ts';
import { kernelKey } from '../../kernels/programs/key.ts';
import type { Direction, ProblemInput } from '../../problem/index.ts';
import { checkedParts, sideExtents, sideFactsOf } from '../arguments/arguments.ts';
import type { DeviceMemory } from '../arguments/memory.ts';
import { hasHazard, type OrderedCall, quiet, runInOrder } from '../calls/call-hazards.ts';
import { fromDevice, resultArray, stagingArray, toDevice } from '../calls/result-staging.ts';
import type { Copy } from '../calls/staging.ts';
import type { ProgramHost } from '../compiling/host.ts';
import type { DirectionProgram } from '../programs/program.ts';

/** Memory for a launch: the plan's own, or the memory that a call binds to a slot. */
export type BufferOrSlot = DeviceBuffer | { readonly slot: number };

/** A launch of a kernel, with memory by the names of the kernel's arrays. */
export interface KernelLaunch {
  readonly kernel: Kernel;
  readonly memory: Readonly<Record<string, BufferOrSlot>>;
}

/** A transform over a grid, in place. */
export interface TransformLaunch {
  readonly transform: DirectionProgram;
  readonly grid: DeviceBuffer;
}

export type Launch = KernelLaunch | TransformLaunch;

type Segment = { readonly steps: ProgramStep[] } | TransformLaunch;

export class Workshop {
  readonly host: ProgramHost;
  readonly type: 'f32' | 'f64';
  /** Whether the device's memory holds doubles as pairs of singles. */
  private readonly pairs: boolean;

  constructor(host: ProgramHost, precision: 'single' | 'double') {
    const { precisions } = host.backend.profile;
    this.host = host;
    this.type = precision === 'single' ? 'f32' : 'f64';
    this.pairs = precision === 'double' && precisions?.includes('double') === false;
  }

  /** @throws FftError `out-of-memory`, `device-closed` */
  reals(count: number): DeviceBuffer {
    return this.host.backend.allocate(Math.max(1, count) * storageBytes(this.type));
  }

  integers(count: number): DeviceBuffer {
    return this.host.backend.allocate(4 * Math.max(1, count));
  }

  fill(buffer: DeviceBuffer, data: Float32Array | Float64Array | Uint32Array): Promise<void> {
    const device = { buffer, byteOffset: 0 };
    const pairs = this.pairs && data instanceof Float64Array;
    return this.host.backend.upload(device, toDevice({ host: data, device, view: undefined, pairs }));
  }

  /**
   * All numbers in memory of the device, once earlier work that writes it has ended.
   * @throws FftError (as a rejection) `foreign-buffer`, `destroyed`, `out-of-memory`, `device-closed`, `device-lost`
   */
  async read(memory: DeviceMemory): Promise<Float32Array | Float64Array> {
    const { host, type, pairs } = this;
    const { backend } = host;
    const length = Math.floor(memory.bytes / storageBytes(type));
    const precision = type === 'f32' ? 'single' : 'double';
    const facts = { layout: 'real', ...sideFactsOf(precision, length, backend.profile) } as const;
    const device = checkedParts([memory], facts, 'setPoints', backend)[0]!.device!;
    const copy: Copy = { host: resultArray(type, length), device, view: undefined, pairs };
    const staged = stagingArray(copy);
    const accesses = sideExtents(device, facts, 'setPoints').map((extent) => ({ ...extent, writes: false }));
    const call: OrderedCall = { device: backend, accesses };
    const download = () => backend.download(device, staged);
    await (!quiet() && hasHazard(call) ? runInOrder(call, download) : download());
    return fromDevice(copy, staged) as Float32Array | Float64Array;
  }

  /** @throws FftError (as a rejection) the errors of planning */
  transform(problem: ProblemInput, direction: Direction): Promise<DirectionProgram> {
    return this.host.transform(problem, direction);
  }
}

/** A list of launches with their kernels and plans, which can be bound to the memory of calls. */
export class LaunchList {
  private readonly host: ProgramHost;
  private readonly segments: Segment[] = [];
  private readonly taken: { readonly key: string; readonly tables: readonly Table[] }[] = [];
  private readonly temp: DeviceBuffer | undefined;

  /** @throws FftError `compile-failed`, `out-of-memory`, `device-limit` */
  constructor(host: ProgramHost, launches: readonly Launch[]) {
    this.host = host;
    try {
      for (const launch of launches) this.append(launch);
      const temp = Math.max(0, ...this.segments.map((each) => ('transform' in each ? each.transform.tempBytes : 0)));
      if (temp > 0) this.temp = host.backend.allocate(temp);
      host.cache.fillTables();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get kernels(): readonly CompiledKernel[] {
    const all = this.segments.flatMap((segment) =>
      'steps' in segment ? segment.steps.map(({ kernel }) => kernel) : segment.transform.running,
    );
    return [...new Set(all)];
  }

  /** @param places the memory for each slot */
  bind(places: readonly Binding[]): readonly BoundProgram[] {
    const { backend, cache } = this.host;
    cache.requireTables(this.taken.flatMap(({ tables }) => tables.map(({ key }) => key)));
    const temp = this.temp && { buffer: this.temp, byteOffset: 0 };
    return this.segments.map((segment) => {
      if ('steps' in segment) return backend.bind(segment.steps, places);
      const side = { re: { buffer: segment.grid, byteOffset: 0 } };
      return segment.transform.bind({ input: side, output: side, temp });
    });
  }

  release(): void {
    for (const { key, tables } of this.taken.splice(0)) this.host.cache.release(key, tables);
    this.temp?.free();
  }

  private append(launch: Launch): void {
    if ('transform' in launch) {
      this.segments.push(launch);
      return;
    }
    const { kernel, tables } = this.take(launch);
    const globals = launch.kernel.globals.map(({ name }) => argumentFor(launch.memory[name]!));
    const step: ProgramStep = { kernel, arguments: [...globals, ...tables] };
    const last = this.segments.at(-1);
    if (last && 'steps' in last) last.steps.push(step);
    else this.segments.push({ steps: [step] });
  }

  private take({ kernel, memory }: KernelLaunch): { kernel: CompiledKernel; tables: readonly Argument[] } {
    const { backend, cache } = this.host;
    const key = `non-uniform ${kernel.name} ${kernel.phases.map(({ exchange }) => exchange)} ${kernelKey(kernel)}`;
    const compiled = cache.kernel(key, () => ({
      kernel: backend.compile(backend.computable(kernel)),
      reverse: false,
    })).kernel;
    const own: Table[] = [];
    this.taken.push({ key, tables: own });
    const tables = compiled.kernel.tables.map((table): Argument => {
      const later = memory[(table as ArrayRef).name];
      if (later) return argumentFor(later);
      const fixed = cache.table(table);
      own.push(table);
      return { fixed };
    });
    return { kernel: compiled, tables };
  }
}

function argumentFor(place: BufferOrSlot): Argument {
  return 'slot' in place ? { slot: place.slot, byteOffset: 0 } : { fixed: { buffer: place, byteOffset: 0 } };
}
