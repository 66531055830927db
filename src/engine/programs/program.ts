/**
 * A direction plan, compiled: kernels and tables taken from the device's cache, arguments as slots to bind at launch.
 */
import type { Argument, Backend, Binding, BoundProgram, CompiledKernel, ProgramStep } from '../../devices/device.ts';
import { bytesOf, type Table, verify } from '../../ir/index.ts';
import { buildKernel, sharesPasses } from '../../kernels/index.ts';
import type { BufferName } from '../../plan/buffers/index.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Leaf, SideFormat } from '../../plan/tree/leaf.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { typeOfStorage } from '../arguments/memory.ts';
import type { Built, KernelCache } from './cache.ts';
import { compileOptions } from './tuning.ts';

/** Memory that a run is bound to. A planar side has two parts, an interleaved one only `re`. */
export interface SideBinding {
  readonly re: Binding;
  readonly im?: Binding | undefined;
}

export interface ProgramBindings {
  readonly input: SideBinding;
  readonly output: SideBinding;
  readonly work?: Binding | undefined;
  readonly temp?: Binding | undefined;
  /** What launches read beside their sides, by name. */
  readonly operands?: ReadonlyMap<string, Binding> | undefined;
}

/** Parts of temp memory begin where any device can bind them. */
const ALIGNMENT = 256;

/** Operands come after these. */
const SLOTS = { inputRe: 0, inputIm: 1, outputRe: 2, outputIm: 3, work: 4, temp: 5, operands: 6 } as const;

export interface ProgramOptions {
  readonly plan: DirectionPlan;
  /** Gives the plan for the other direction, where that is about to be made a program, too. */
  readonly other?: (() => DirectionPlan) | undefined;
  readonly problem: Problem;
  readonly backend: Backend;
  readonly cache: KernelCache;
}

type Launching = ReturnType<typeof compileOptions>;

export class DirectionProgram {
  readonly plan: DirectionPlan;
  /** Bytes of each table, by its key. */
  readonly tables: ReadonlyMap<string, number>;
  readonly tempBytes: number;
  /** Names of what its launches read beside their sides, each once. */
  readonly operands: readonly string[];
  private readonly backend: Backend;
  private readonly cache: KernelCache;
  private readonly steps: ProgramStep[] = [];
  /** All steps as one kernel, where the plan has them interleaved. */
  private pipelined: CompiledKernel | undefined;
  private readonly taken: { key: string; tables: readonly Table[] }[] = [];

  constructor(options: ProgramOptions) {
    const { plan, problem, backend, cache } = options;
    this.plan = plan;
    this.backend = backend;
    this.cache = cache;
    const plane = plan.tempElements * realBytesOf(problem);
    const tempPlane = alignedBytes(plane);
    this.tempBytes = tempBytesOf(plan, problem);
    const argumentsOf = (name: BufferName, layout: SideFormat) =>
      bufferArguments(name, layout === 'planar', name === 'work' ? plane : tempPlane);
    this.operands = operandNames(plan);
    const operandArguments = ({ operands = [] }: Leaf) =>
      operands.map(({ name }): Argument => ({ slot: SLOTS.operands + this.operands.indexOf(name), byteOffset: 0 }));
    const seen = new Map<string, number>();
    const launching = compileOptions(problem);
    try {
      for (const { leaf, from, to } of plan.launches) {
        const { kernel, reverse, tables } = this.takeKernel(leaf, options, launching);
        for (const [n, { key }] of kernel.kernel.tables.entries()) seen.set(key, tables[n]!.buffer.bytes);
        const { input, output } = leaf;
        this.steps.push({
          kernel,
          reverse,
          arguments: [
            ...argumentsOf(from, input.format),
            ...argumentsOf(to, output.format),
            ...operandArguments(leaf),
            ...tables.map((fixed): Argument => ({ fixed })),
          ],
        });
      }
      const { chunks, interleaved } = plan;
      if (interleaved && !launching) {
        const key = JSON.stringify([chunks, interleaved, ...plan.launches.map(({ leaf }) => leaf)]);
        const kernels = this.steps.map(({ kernel }) => kernel);
        this.pipelined = cache.pipelined(key, kernels, { chunks, ...interleaved });
        if (this.pipelined) this.taken.push({ key, tables: [] });
      }
    } catch (error) {
      this.release();
      throw error;
    }
    this.tables = seen;
  }

  /** Of each step. */
  get kernels(): readonly CompiledKernel[] {
    return this.steps.map(({ kernel }) => kernel);
  }

  /** What a run launches. */
  get running(): readonly CompiledKernel[] {
    return this.pipelined ? [this.pipelined] : this.kernels;
  }

  /** @throws FftError `missing-buffer` where there is nothing for an operand, and what binding throws */
  bind({ input, output, work, temp, operands }: ProgramBindings): BoundProgram {
    this.cache.requireTables(this.tables.keys());
    const others = this.operands.map((name) => operands?.get(name));
    const slots = [input.re, input.im, output.re, output.im, work, temp, ...others];
    return this.backend.bind(this.steps, slots, this.plan.chunks, this.pipelined);
  }

  /** From the cache, to be given back there: the kernel of a leaf, and the tables that it reads. */
  private takeKernel(leaf: Leaf, { other, problem, backend, cache }: ProgramOptions, launching: Launching) {
    const keyOf = (own: Leaf) => JSON.stringify(launching ? [own, launching] : own);
    const build = (known: (key: string) => boolean): Built => {
      const opposite = backend.runsBothWays && oppositeOf(leaf, other);
      const reverse = opposite && keyOf(opposite);
      const alone = !reverse || known(reverse);
      const built = alone ? buildKernel(leaf) : buildKernel(leaf, opposite);
      const kernel = backend.computable(built);
      const broken = problem.debug ? [built, ...(kernel === built ? [] : [kernel])].flatMap(verify) : [];
      if (broken.length > 0) throw new FftError('internal-error', broken.join('; '));
      return alone ? { kernel } : { kernel, reverse };
    };
    const key = keyOf(leaf);
    const { kernel, reverse } = cache.kernel(key, build, launching);
    const taken = { key, tables: [] as Table[] };
    this.taken.push(taken);
    const tables = kernel.kernel.tables.map((table) => {
      const binding = cache.table(table);
      taken.tables.push(table);
      return binding;
    });
    return { kernel, reverse, tables };
  }

  /** Gives kernels and tables back to the cache, and drops all references to device memory, since callers may keep the program. */
  release(): void {
    this.steps.length = 0;
    this.pipelined = undefined;
    for (const { key, tables } of this.taken.splice(0)) this.cache.release(key, tables);
  }
}

/** The leaf of the other direction that differs in the direction alone, if one kernel had best do both. */
function oppositeOf(leaf: Leaf, other: ProgramOptions['other']): Leaf | undefined {
  if (!other || !sharesPasses(leaf)) return undefined;
  const { inverse, scale } = leaf;
  const key = JSON.stringify(leaf);
  // In place, several axes are transformed in the opposite order.
  return other()
    .launches.map((launch) => launch.leaf)
    .find((own) => JSON.stringify({ ...own, inverse, scale }) === key);
}

/** Names of the operands of all launches of a plan, each once. */
export function operandNames({ launches }: Pick<DirectionPlan, 'launches'>): string[] {
  return [...new Set(launches.flatMap(({ leaf: { operands = [] } }) => operands.map(({ name }) => name)))];
}

/** Bytes of a real number in work and temp memory. */
function realBytesOf({ storage }: Problem): number {
  return bytesOf(typeOfStorage(storage));
}

function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Temp memory that a plan needs. */
export function tempBytesOf(plan: DirectionPlan, problem: Problem): number {
  return plan.assignment.temps * 2 * alignedBytes(plan.tempElements * realBytesOf(problem));
}

/** Where a launch finds one of its sides: one array, or two planes. */
function bufferArguments(name: BufferName, planar: boolean, plane: number): Argument[] {
  const at = (slot: number, byteOffset = 0): Argument => ({ slot, byteOffset });
  switch (name) {
    case 'input':
      return planar ? [at(SLOTS.inputRe), at(SLOTS.inputIm)] : [at(SLOTS.inputRe)];
    case 'output':
      return planar ? [at(SLOTS.outputRe), at(SLOTS.outputIm)] : [at(SLOTS.outputRe)];
    case 'work':
      return planar ? [at(SLOTS.work), at(SLOTS.work, plane)] : [at(SLOTS.work)];
    default: {
      const start = name === 'temp' ? 0 : 2 * plane;
      return planar ? [at(SLOTS.temp, start), at(SLOTS.temp, start + plane)] : [at(SLOTS.temp, start)];
    }
  }
}
