/** The compiled code of a program of patterns: kernels from the device's cache, plans, and memory for the arrays between launches. */
import type {
  Argument,
  Binding,
  BoundProgram,
  CompiledKernel,
  DeviceBuffer,
  ProgramStep,
} from '../../devices/device.ts';
import type { Kernel, Table } from '../../ir/index.ts';
import {
  kernelKey,
  type Launch,
  OUTPUT,
  type ProgramPieces,
  type TransformLaunch,
} from '../../kernels/programs/index.ts';
import type { DirectionProgram } from '../programs/program.ts';
import type { ProgramHost } from './host.ts';
import { operandBindings, problemOfTransform } from './transforms.ts';

/** Launches that are bound together: kernels one after another, or a plan. */
type Segment =
  | { readonly key: string; readonly steps: ProgramStep[] }
  | {
      readonly key: string;
      readonly plan: DirectionProgram;
      readonly from: number;
      readonly to: number;
      /** Memory that the plan reads beside its input, by name: slots, or tables. */
      readonly operands: ReadonlyMap<string, number | Binding>;
    };

/** Launches of a program, whose slots are its inputs, its output and the memory between them. */
export interface ProgramLaunches {
  readonly steps: readonly ProgramStep[];
  /** Bytes of each memory between launches. */
  readonly between: readonly number[];
}

export interface CodeOptions {
  readonly host: ProgramHost;
  readonly pieces: ProgramPieces;
  readonly precision: 'single' | 'double';
  /** Names of the inputs. */
  readonly inputs: readonly string[];
  /** Bytes of a real number. */
  readonly bytes: number;
}

export class ProgramCode {
  private readonly host: ProgramHost;
  private readonly precision: 'single' | 'double';
  private readonly slots: ReadonlyMap<string, number>;
  private readonly segments: Segment[] = [];
  private readonly between: DeviceBuffer[] = [];
  /** The lengths, in reals, of spectra that are prepared for convolutions, by the names of their buffers. */
  private readonly prepared = new Map<string, number>();
  private temp: DeviceBuffer | undefined;
  private readonly plans = new Map<string, DirectionProgram>();
  private readonly known = new Map<Kernel, { readonly kernel: CompiledKernel; readonly tables: readonly Argument[] }>();
  private readonly ids = new Map<Launch, number>();
  private readonly taken: { readonly key: string; readonly tables: readonly Table[] }[] = [];

  /** @throws FftError (as a rejection) `compile-failed`, `out-of-memory`, `device-limit`, and the errors of planning */
  static async of({ host, pieces, precision, inputs, bytes }: CodeOptions): Promise<ProgramCode> {
    const names = [...inputs.map((name) => `input ${name}`), OUTPUT, ...pieces.buffers.keys()];
    const code = new ProgramCode(host, precision, new Map(names.map((name, slot) => [name, slot])));
    try {
      for (const launch of pieces.launches) {
        if ('transform' in launch) await code.plan(launch);
      }
      for (const launch of pieces.launches) code.append(launch);
      for (const [name, reals] of pieces.buffers) {
        const needed = Math.max(reals, code.prepared.get(name) ?? 0);
        code.between.push(host.backend.allocate(needed * bytes));
      }
      const temp = Math.max(0, ...[...code.plans.values()].map(({ tempBytes }) => tempBytes));
      if (temp > 0) code.temp = host.backend.allocate(temp);
      return code;
    } catch (error) {
      code.release();
      throw error;
    }
  }

  private constructor(host: ProgramHost, precision: 'single' | 'double', slots: ReadonlyMap<string, number>) {
    this.host = host;
    this.precision = precision;
    this.slots = slots;
  }

  /** The kernels, each once, in the order in which they first run. */
  get kernels(): readonly CompiledKernel[] {
    const all = this.segments.flatMap((segment) =>
      'plan' in segment ? segment.plan.running : segment.steps.map(({ kernel }) => kernel),
    );
    return [...new Set(all)];
  }

  /** The launches of a program without plans. */
  get launches(): ProgramLaunches | undefined {
    const steps: ProgramStep[] = [];
    for (const segment of this.segments) {
      if ('plan' in segment) return undefined;
      steps.push(...segment.steps);
    }
    return { steps, between: this.between.map(({ bytes }) => bytes) };
  }

  /**
   * Binds the code to memory.
   * @param places the memory of the inputs, then of the output
   * @returns programs to run one after another; the same one may come several times
   */
  bind(places: readonly Binding[]): readonly BoundProgram[] {
    const { backend, cache } = this.host;
    cache.requireTables(this.taken.flatMap(({ tables }) => tables.map(({ key }) => key)));
    const slots = [...places, ...this.between.map((buffer): Binding => ({ buffer, byteOffset: 0 }))];
    const made = new Map<string, BoundProgram>();
    return this.segments.map((segment) => {
      let bound = made.get(segment.key);
      if (!bound) {
        bound = 'plan' in segment ? this.boundPlan(segment, slots) : backend.bind(segment.steps, slots);
        made.set(segment.key, bound);
      }
      return bound;
    });
  }

  private boundPlan(segment: Extract<Segment, { plan: unknown }>, slots: readonly Binding[]): BoundProgram {
    const { plan, from, to } = segment;
    const temp = this.temp && { buffer: this.temp, byteOffset: 0 };
    const operands = new Map(
      [...segment.operands].map(([name, at]) => [name, typeof at === 'number' ? slots[at]! : at] as const),
    );
    return plan.bind({ input: { re: slots[from]! }, output: { re: slots[to]! }, temp, operands });
  }

  release(): void {
    for (const { key, tables } of this.taken.splice(0)) this.host.cache.release(key, tables);
    for (const plan of this.plans.values()) plan.release();
    for (const buffer of this.between) buffer.free();
    this.temp?.free();
  }

  private async plan({ transform, writes }: TransformLaunch): Promise<void> {
    const key = JSON.stringify(transform);
    const { problem, task } = problemOfTransform(transform, this.precision);
    if (!this.plans.has(key)) this.plans.set(key, await this.host.transform(problem, task));
    if (task === 'prepare') this.prepared.set(writes, 2 * this.host.preparedLength(problem));
  }

  private append(launch: Launch): void {
    let id = this.ids.get(launch);
    if (id === undefined) this.ids.set(launch, (id = this.ids.size));
    const slot = (name: string) => this.slots.get(name)!;
    if ('transform' in launch) {
      const plan = this.plans.get(JSON.stringify(launch.transform))!;
      const [from, to] = [slot(launch.reads[0]!), slot(launch.writes)];
      const operands = operandBindings(launch, slot, (kernel) => this.tableOf(kernel));
      this.segments.push({ key: `${id}`, plan, from, to, operands });
      return;
    }
    const { kernel, tables } = this.take(launch.kernel);
    const buffers = [...launch.reads, launch.writes].map((name): Argument => ({ slot: slot(name), byteOffset: 0 }));
    const step: ProgramStep = { kernel, arguments: [...buffers, ...tables] };
    const last = this.segments.at(-1);
    // In a program with plans each kernel is a segment of its own, so that a launch that occurs several times is bound once.
    if (last && 'steps' in last && this.plans.size === 0) last.steps.push(step);
    else this.segments.push({ key: `${id}`, steps: [step] });
  }

  /** The memory of a kernel's only table, a list of reals. The kernel itself is not launched: the plan reads the table. */
  private tableOf(kernel: Kernel): Binding {
    const { backend, cache } = this.host;
    const [table] = backend.computable(kernel).tables as [Table];
    this.taken.push({ key: '', tables: [table] });
    return cache.table(table);
  }

  private take(kernel: Kernel): { kernel: CompiledKernel; tables: readonly Argument[] } {
    const known = this.known.get(kernel);
    if (known) return known;
    const { backend, cache } = this.host;
    const key = `program ${kernelKey(kernel)}`;
    const compiled = cache.kernel(key, () => ({
      kernel: backend.compile(backend.computable(kernel)),
      reverse: false,
    })).kernel;
    const taken = { key, tables: [] as Table[] };
    this.taken.push(taken);
    const tables = compiled.kernel.tables.map((table): Argument => {
      const fixed = cache.table(table);
      taken.tables.push(table);
      return { fixed };
    });
    const made = { kernel: compiled, tables };
    this.known.set(kernel, made);
    return made;
  }
}
