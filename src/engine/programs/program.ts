/**
 * A direction plan, compiled: kernels and tables taken from the device's cache, arguments as slots to bind at launch.
 */
import type { Argument, Backend, Binding, BoundProgram, CompiledKernel, ProgramStep } from '../../devices/device.ts';
import { type Kernel, storageBytes, type Table, verify } from '../../ir/index.ts';
import { buildKernel, sharesPasses } from '../../kernels/index.ts';
import type { BufferName } from '../../plan/buffers/index.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Leaf, SideFormat } from '../../plan/tree/leaf.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { typeOfStorage } from '../arguments/memory.ts';
import type { KernelCache, Made } from './cache.ts';
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
  /** Memory of the operands, which launches read beside their sides, by name. */
  readonly operands?: ReadonlyMap<string, Binding> | undefined;
}

/** The alignment of parts of temp memory in bytes, which is enough to bind them on any device. */
const ALIGNMENT = 256;

/** Numbers of the slots that arguments refer to. Slots from `operands` on hold operands, in the order of their names. */
const SLOTS = { inputRe: 0, inputIm: 1, outputRe: 2, outputIm: 3, work: 4, temp: 5, operands: 6 } as const;

/** The launches of a program, as plain data. */
export interface ProgramOutline {
  readonly steps: readonly StepOutline[];
  readonly tempBytes: number;
  /** Names of the operands that its launches read beside their sides, each once. */
  readonly operands: readonly string[];
  /** The number of chunks that the groups of every step are divided into. */
  readonly chunks: number;
  /** The key of the one kernel that interleaves all steps, if the plan has it. */
  readonly pipelined?: string;
}

export interface StepOutline {
  /** The key of its kernel in the cache. */
  readonly key: string;
  /** The arguments before the kernel's tables. */
  readonly arguments: readonly SlotArgument[];
}

type SlotArgument = Extract<Argument, { readonly slot: number }>;

/** The source of a program's parts: a plan, or a plan from the cache of code. */
export interface ProgramMaker {
  readonly outline: ProgramOutline;
  /** Makes the kernel of a step, which the cache does not have; `known` tells which ones it has. */
  make(step: number, known: (key: string) => boolean): Made;
  /** Fuses the kernels of all steps into one that interleaves them; undefined if the device cannot. */
  pipeline?(kernels: readonly CompiledKernel[]): CompiledKernel | undefined;
  /** The plan that the program carries out. */
  plan(): DirectionPlan;
}

/** The work of a call: a program, or several one after another. */
export interface Runnable {
  readonly tempBytes: number;
  /** @throws FftError `missing-buffer` if an operand has no memory, and the errors of binding */
  bind(places: ProgramBindings): BoundProgram;
}

export class DirectionProgram implements Runnable {
  /** Bytes of each table, by its key. */
  readonly tables: ReadonlyMap<string, number>;
  readonly outline: ProgramOutline;
  private readonly maker: ProgramMaker;
  private readonly backend: Backend;
  private readonly cache: KernelCache;
  private readonly made: ProgramStep[] = [];
  /** The one kernel that interleaves all steps, if the plan has it. */
  private pipelined: CompiledKernel | undefined;
  private readonly taken: { key: string; tables: readonly Table[] }[] = [];

  constructor(maker: ProgramMaker, backend: Backend, cache: KernelCache) {
    const { outline } = maker;
    this.maker = maker;
    this.outline = outline;
    this.backend = backend;
    this.cache = cache;
    const seen = new Map<string, number>();
    try {
      for (const [n, step] of outline.steps.entries()) {
        const { kernel, reverse, tables } = this.takeKernel(n, step.key);
        for (const [n, { key }] of kernel.kernel.tables.entries()) seen.set(key, tables[n]!.buffer.bytes);
        const fixed = tables.map((table): Argument => ({ fixed: table }));
        this.made.push({ kernel, reverse, arguments: [...step.arguments, ...fixed] });
      }
      const { pipelined: key } = outline;
      if (key !== undefined) {
        this.pipelined = cache.pipelined(key, () => maker.pipeline?.(this.kernels));
        if (this.pipelined) this.taken.push({ key, tables: [] });
      }
    } catch (error) {
      this.release();
      throw error;
    }
    this.tables = seen;
  }

  /** The plan that the program carries out. A program from the cache of code is planned only now. */
  get plan(): DirectionPlan {
    return this.maker.plan();
  }

  get tempBytes(): number {
    return this.outline.tempBytes;
  }

  get steps(): readonly ProgramStep[] {
    return this.made;
  }

  /** The kernel of each step. */
  get kernels(): readonly CompiledKernel[] {
    return this.made.map(({ kernel }) => kernel);
  }

  /** The kernels that a run launches. */
  get running(): readonly CompiledKernel[] {
    return this.pipelined ? [this.pipelined] : this.kernels;
  }

  /** @throws FftError `missing-buffer` if an operand has no memory, and the errors of binding */
  bind({ input, output, work, temp, operands }: ProgramBindings): BoundProgram {
    this.cache.requireTables(this.tables.keys());
    const others = this.outline.operands.map((name) => operands?.get(name));
    const slots = [input.re, input.im, output.re, output.im, work, temp, ...others];
    return this.backend.bind(this.made, slots, this.outline.chunks, this.pipelined);
  }

  /** Takes the kernel of a step, and the tables that it reads, from the cache; `release` gives them back. */
  private takeKernel(step: number, key: string) {
    const { cache, maker } = this;
    const { kernel, reverse } = cache.kernel(key, (known) => maker.make(step, known));
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
    this.made.length = 0;
    this.pipelined = undefined;
    for (const { key, tables } of this.taken.splice(0)) this.cache.release(key, tables);
  }
}

/** The arguments of `compilePlan`. */
export interface PlannedProgram {
  readonly plan: DirectionPlan;
  /** Gives the plan for the other direction, if that is about to be compiled, too. */
  readonly other?: (() => DirectionPlan) | undefined;
  readonly problem: Problem;
  readonly backend: Backend;
  readonly cache: KernelCache;
}

/** Compiles a plan to a program. */
export function compilePlan(planned: PlannedProgram): DirectionProgram {
  const { plan, problem, backend, cache } = planned;
  const launching = compileOptions(problem);
  const { chunks, interleaved } = plan;
  const maker: ProgramMaker = {
    outline: outlineOf(planned, launching),
    make(step, known) {
      const { kernel, reverse } = buildLeaf(plan.launches[step]!.leaf, planned, launching, known);
      const compiled = backend.compile(kernel, launching);
      return { kernel: compiled, reverse: false, ...(reverse === undefined ? {} : { other: reverse }) };
    },
    pipeline: (kernels) => interleaved && backend.pipeline?.(kernels, { chunks, ...interleaved }),
    plan: () => plan,
  };
  return new DirectionProgram(maker, backend, cache);
}

type Launching = ReturnType<typeof compileOptions>;

/** The key of a leaf's kernel. */
export function kernelKeyOf(leaf: Leaf, launching: Launching): string {
  return JSON.stringify(launching ? [leaf, launching] : leaf);
}

function outlineOf({ plan, problem }: PlannedProgram, launching: Launching): ProgramOutline {
  const plane = plan.tempElements * realBytesOf(problem);
  const tempPlane = alignedBytes(plane);
  const argumentsOf = (name: BufferName, layout: SideFormat) =>
    bufferArguments(name, layout === 'planar', name === 'work' ? plane : tempPlane);
  const names = operandNames(plan);
  const operandArguments = ({ operands = [] }: Leaf) =>
    operands.map(({ name }): SlotArgument => ({ slot: SLOTS.operands + names.indexOf(name), byteOffset: 0 }));
  const { chunks, interleaved, launches } = plan;
  const pipelined =
    interleaved && !launching ? JSON.stringify([chunks, interleaved, ...launches.map(({ leaf }) => leaf)]) : undefined;
  return {
    steps: launches.map(({ leaf, from, to }) => ({
      key: kernelKeyOf(leaf, launching),
      arguments: [
        ...argumentsOf(from, leaf.input.format),
        ...argumentsOf(to, leaf.output.format),
        ...operandArguments(leaf),
      ],
    })),
    tempBytes: tempBytesOf(plan, problem),
    operands: names,
    chunks,
    ...(pipelined === undefined ? {} : { pipelined }),
  };
}

/** The kernel of a leaf, which runs both directions if the opposite leaf differs in the direction alone. */
function buildLeaf(
  leaf: Leaf,
  { other, problem, backend }: PlannedProgram,
  launching: Launching,
  known: (key: string) => boolean,
): Built {
  const opposite = backend.runsBothWays && oppositeOf(leaf, other);
  const reverse = opposite && kernelKeyOf(opposite, launching);
  const alone = !reverse || known(reverse);
  const built = alone ? buildKernel(leaf) : buildKernel(leaf, opposite);
  const kernel = backend.computable(built);
  const broken = problem.debug ? [built, ...(kernel === built ? [] : [kernel])].flatMap(verify) : [];
  if (broken.length > 0) throw new FftError('internal-error', broken.join('; '));
  return alone ? { kernel } : { kernel, reverse };
}

/** A kernel to compile. */
interface Built {
  readonly kernel: Kernel;
  /** The key of the opposite direction, if the kernel runs both ways. */
  readonly reverse?: string;
}

/** The leaf of the other direction that differs in the direction alone; undefined if there is none. */
function oppositeOf(leaf: Leaf, other: PlannedProgram['other']): Leaf | undefined {
  if (!other || !sharesPasses(leaf)) return undefined;
  const { inverse, scale } = leaf;
  const key = JSON.stringify(leaf);
  // In place, the inverse transforms several axes in the opposite order.
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
  return storageBytes(typeOfStorage(storage));
}

function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Temp memory that a plan needs. */
export function tempBytesOf(plan: DirectionPlan, problem: Problem): number {
  return plan.assignment.temps * 2 * alignedBytes(plan.tempElements * realBytesOf(problem));
}

/** The arguments for one side of a launch: one array, or two planes. */
function bufferArguments(name: BufferName, planar: boolean, plane: number): SlotArgument[] {
  const at = (slot: number, byteOffset = 0): SlotArgument => ({ slot, byteOffset });
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
