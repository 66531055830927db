/**
 * The resources of a plan on its device: a program for each task, the temp memory that the programs share, and the runners of its
 * calls. `release` frees them all.
 */

import type { Backend, CompiledKernel, DeviceBuffer } from '../../devices/device.ts';
import { storageBytes } from '../../ir/index.ts';
import { type ConvolutionPlan, resultProblem } from '../../plan/convolution.ts';
import type { DirectionPlan, PlanTask } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { show } from '../../problem/errors.ts';
import { type Direction, directionsOf, FftError, type Problem, type Side, tensorShape } from '../../problem/index.ts';
import { type SideFacts, sideFacts } from '../arguments/arguments.ts';
import { DeviceMemory, typeOfStorage } from '../arguments/memory.ts';
import { directionOperands } from '../arguments/operands.ts';
import { type ConvolutionFacts, convolutionFacts, readKernel, readSpectrum } from '../arguments/prepared-kernels.ts';
import { Runner, type RunnerHost } from '../calls/runner.ts';
import type { CandidateList } from '../measuring/candidates.ts';
import { type DirectionProgram, tempBytesOf } from '../programs/program.ts';

/** Services of the device for its plans, so that plans do not depend on the `Device` class. */
export interface PlanHost {
  readonly backend: Backend;
  program(problem: Problem, direction: Direction, throughWork: boolean): DirectionProgram;
  /** Plans how a problem is convolved; `convolving` makes a program for one direction of that plan. */
  convolution(problem: Problem, throughWork: boolean): ConvolutionPlan;
  convolving(problem: Problem, plan: DirectionPlan): DirectionProgram;
  /** Bytes of temp memory that the program of `program` would need, without making it. */
  tempBytes(problem: Problem, direction: Direction, throughWork: boolean): number;
  /** The candidates of a problem. The one with the given splits is marked as the plan; without splits the list is empty. */
  candidates(problem: Problem, splits: Splits | undefined): CandidateList;
  /** Serializes a plan with its compiled code. @throws FftError `unsupported-feature`, `compile-failed` */
  binaries(problem: Problem, programs: readonly DirectionProgram[]): Uint8Array;
  forget(plan: { destroy(): void }): void;
  /** @throws FftError `device-closed` */
  check(): void;
}

/** A side of a problem, as one end of a plan. */
export interface PlanEnd {
  readonly problem: Problem;
  readonly side: Side;
}

/** The implementation of a plan's calls: programs for one problem, or a sequence of several. */
export interface PlanWork {
  readonly problem: Problem;
  /** The sides that `forward` reads and writes. */
  readonly ends: { readonly input: PlanEnd; readonly output: PlanEnd };
  /** The directions that calls can name. */
  readonly called: readonly Direction[];
  readonly all: readonly DirectionProgram[];
  /** Plans of single directions, which can be saved. @throws FftError `destroyed` */
  readonly directions: readonly DirectionPlan[];
  readonly compiledKernels: readonly CompiledKernel[];
  readonly bytes: { readonly tables: number; readonly temp: number; readonly work: number };
  readonly kernelKey: string | undefined;
  kernelMemory(): DeviceMemory;
  /** The name under which callers run a task of the problem. */
  nameOf(task: PlanTask): PlanTask;
  /** The task of the problem that a call runs; undefined if it runs several. */
  taskOf(name: PlanTask): PlanTask | undefined;
  runner(name: PlanTask, kind?: PlanTask | `${PlanTask}Sync`): Runner;
  hostOf(name: PlanTask): RunnerHost;
  check(): void;
  release(): boolean;
}

type ConvolvingTask = Exclude<PlanTask, Direction>;

const TASKS: readonly PlanTask[] = ['forward', 'inverse', 'prepareKernel', 'convolve'];

/**
 * The task that each call of a plan runs, by the name of the call. The `forward` of an adjoint may run the inverse of its problem, or a
 * convolution.
 */
export type CallTasks = { readonly [called in PlanTask]?: PlanTask };

/** The tasks of a plan that is no adjoint: every call runs the task of its own name. */
function ownTasks(problem: Problem): CallTasks {
  const tasks = TASKS.filter((task) =>
    isConvolving(task) ? problem.convolution !== null : directionsOf(problem).includes(task),
  );
  return Object.fromEntries(tasks.map((task) => [task, task]));
}

function isConvolving(task: PlanTask): task is ConvolvingTask {
  return task === 'prepareKernel' || task === 'convolve';
}

/** The extra state of a plan of a convolution. */
interface Convolving {
  readonly plan: ConvolutionPlan;
  readonly facts: ConvolutionFacts;
}

export class PlanPrograms implements PlanWork {
  readonly problem: Problem;
  private readonly host: PlanHost;
  private readonly facts: { readonly input: SideFacts; readonly output: SideFacts };
  /** Calls that wait and calls that cannot wait have separate staging memory, because one may come in the middle of the other. */
  private runners: { [name in PlanTask | `${PlanTask}Sync`]?: Runner } = {};
  private readonly tasks: CallTasks;
  private readonly convolving: Convolving | undefined;
  private readonly programs = new Map<string, DirectionProgram>();
  private temp: DeviceBuffer | undefined;
  private released = false;

  constructor(host: PlanHost, problem: Problem, tasks: CallTasks = ownTasks(problem)) {
    this.host = host;
    this.problem = problem;
    this.tasks = tasks;
    const { profile } = host.backend;
    this.facts = { input: sideFacts(problem, 'input', profile), output: sideFacts(problem, 'output', profile) };
    try {
      if (this.running.some(isConvolving)) {
        const plan = host.convolution(problem, false);
        this.convolving = { plan, facts: convolutionFacts(problem, plan, profile) };
      }
      for (const task of this.running) this.program(task, false);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** The tasks that calls run, each once. */
  private get running(): PlanTask[] {
    return TASKS.filter((task) => Object.values(this.tasks).includes(task));
  }

  private get directionTasks(): Direction[] {
    return this.running.filter((task): task is Direction => !isConvolving(task));
  }

  /** The directions that calls can name. */
  get called(): Direction[] {
    return (['forward', 'inverse'] as const).filter((direction) => this.tasks[direction]);
  }

  /** The programs of all directions, and of a convolution. @throws FftError `destroyed` */
  get all(): DirectionProgram[] {
    this.check();
    return this.running.map((task) => this.program(task, false));
  }

  get ends(): PlanWork['ends'] {
    const { problem } = this;
    const [input, output] = [{ problem, side: 'input' } as const, { problem, side: 'output' } as const];
    if (this.tasks.forward === 'inverse') return { input: output, output: input };
    return this.tasks.forward === 'convolve'
      ? { input, output: { problem: resultProblem(problem), side: 'input' } }
      : { input, output };
  }

  taskOf(name: PlanTask): PlanTask | undefined {
    return this.tasks[name];
  }

  nameOf(task: PlanTask): PlanTask {
    return TASKS.find((called) => this.tasks[called] === task) ?? task;
  }

  /** Plans of single directions, which can be saved. @throws FftError `destroyed` */
  get directions(): DirectionPlan[] {
    return this.directionTasks.map((direction) => this.program(direction, false).plan);
  }

  get compiledKernels(): CompiledKernel[] {
    return [...this.programs.values()].flatMap((program) => program.running);
  }

  /** The result of `Plan.bytes`. */
  get bytes(): { readonly tables: number; readonly temp: number; readonly work: number } {
    const tables = new Map([...this.programs.values()].flatMap((program) => [...program.tables]));
    // Calls with `work` memory have other programs, which may need more temp memory.
    const others = this.released ? [] : this.directionTasks;
    const convolving = this.convolving && !this.released ? [this.host.convolution(this.problem, true).convolve] : [];
    return {
      tables: [...tables.values()].reduce((sum, bytes) => sum + bytes, 0),
      temp: Math.max(
        this.madeTemp,
        ...others.map((direction) => this.host.tempBytes(this.problem, direction, true)),
        ...convolving.map((plan) => tempBytesOf(plan, this.problem)),
      ),
      work: this.workBytes,
    };
  }

  /**
   * The key by which kernels prepared by this plan are recognised; undefined if kernels are the user's own spectra.
   * @throws FftError `destroyed`, `direction-not-planned`
   */
  get kernelKey(): string | undefined {
    return this.requireConvolving('prepareKernel').plan.kernel.key;
  }

  /** Memory for a prepared kernel. @throws FftError `destroyed`, `direction-not-planned`, `out-of-memory` */
  kernelMemory(): DeviceMemory {
    const { length, bytes, type } = this.requireConvolving('prepareKernel').facts.kernel;
    return new DeviceMemory(this.host.backend.allocate(length * bytes), type);
  }

  /** The runner for calls of one name. @throws FftError `destroyed`, `direction-not-planned` */
  runner(task: PlanTask, name: PlanTask | `${PlanTask}Sync` = task): Runner {
    return (this.runners[name] ??= new Runner(this.hostOf(task)));
  }

  /** The host of a call, by which runners, `enqueue` and `measure` run it. @throws FftError `destroyed`, `direction-not-planned` */
  hostOf(name: PlanTask): RunnerHost {
    this.check();
    if (!TASKS.includes(name)) {
      throw new FftError('invalid-argument', `The direction is ${show(name)}; choose 'forward' or 'inverse'.`);
    }
    const task = Object.hasOwn(this.tasks, name) ? this.tasks[name] : undefined;
    if (task === undefined) throw this.notPlanned(name);
    return isConvolving(task) ? this.convolvingHost(task, name) : this.directionHost(task, name);
  }

  private notPlanned(name: PlanTask): FftError {
    const planned = this.called.map((direction) => `'${direction}'`);
    if (isConvolving(name)) {
      const message = `This plan has no ${name}: it was made without convolution; plan with convolution: {} to have it.`;
      return new FftError('direction-not-planned', message);
    }
    if (this.problem.convolution?.channels) {
      const message = `This plan is a spectral layer, which has no '${name}'; convolve does all of it.`;
      return new FftError('direction-not-planned', message);
    }
    const both = this.tasks.forward === 'forward' || this.tasks.inverse === 'inverse';
    const remedy = both ? `plan with directions 'both' to run '${name}'` : 'it is an adjoint';
    return new FftError('direction-not-planned', `This plan is for ${planned.join(' and ')} only; ${remedy}.`);
  }

  /** @throws FftError `destroyed` */
  check(): void {
    if (this.released)
      throw new FftError(
        'destroyed',
        'This plan has been destroyed, by itself or with its device; make a new one with the plan() of an open device.',
      );
  }

  /** Frees kernels, tables and temp memory. @returns false if they had been freed before. */
  release(): boolean {
    if (this.released) return false;
    this.released = true;
    for (const runner of Object.values(this.runners)) runner.release();
    this.runners = {};
    for (const program of this.programs.values()) program.release();
    this.programs.clear();
    this.temp?.free();
    return true;
  }

  private program(task: PlanTask, throughWork: boolean): DirectionProgram {
    this.check();
    const key = `${task}${throughWork}`;
    let program = this.programs.get(key);
    if (!program) this.programs.set(key, (program = this.newProgram(task, throughWork)));
    return program;
  }

  private newProgram(task: PlanTask, throughWork: boolean): DirectionProgram {
    if (!isConvolving(task)) return this.host.program(this.problem, task, throughWork);
    const { convolve, prepare } = this.host.convolution(this.problem, throughWork);
    return this.host.convolving(this.problem, task === 'convolve' ? convolve : prepare);
  }

  private requireConvolving(what: string): Convolving {
    this.check();
    if (this.convolving) return this.convolving;
    const message = `This plan has no ${what}: it was made without convolution; plan with convolution: {} to have it.`;
    throw new FftError('direction-not-planned', message);
  }

  private convolvingHost(task: ConvolvingTask, name: PlanTask): RunnerHost {
    const { facts, plan } = this.requireConvolving(task);
    const { given, kernel, result, operands } = facts;
    const own = this.hostWith(task, name);
    if (task === 'prepareKernel') return { ...own, read: given, written: kernel, inPlace: false, operands: [] };
    return {
      ...{ ...own, read: this.facts.input, written: result, operands },
      factor: 'kernel',
      factorAlone: name === 'convolve',
      readKernel: (value, what) => {
        const { key } = plan.kernel;
        return [key === undefined ? readSpectrum(value, what) : readKernel(value, key, what)];
      },
    };
  }

  private directionHost(direction: Direction, name: PlanTask): RunnerHost {
    return {
      ...this.hostWith(direction, name),
      read: direction === 'forward' ? this.facts.input : this.facts.output,
      written: direction === 'forward' ? this.facts.output : this.facts.input,
      operands: directionOperands(this.problem, direction, this.host.backend.profile),
    };
  }

  /** The parts of a runner's host that do not depend on the task's kind. */
  private hostWith(task: PlanTask, name: PlanTask) {
    return {
      backend: this.host.backend,
      problem: this.problem,
      direction: task,
      name,
      inPlace: this.problem.placement === 'in-place',
      workBytes: this.workBytes,
      program: (throughWork: boolean) => this.program(task, throughWork),
      temp: (bytes: number) => this.ownTemp(bytes),
      check: () => this.check(),
      resume: () => {
        // Closing a device destroys its plans; the caller should then hear of the device.
        this.host.check();
        this.check();
      },
    };
  }

  private get workBytes(): number {
    const elements = tensorShape(this.problem, 'output').reduce((product, count) => product * count, 1);
    return 2 * storageBytes(typeOfStorage(this.problem.storage)) * elements;
  }

  /** Temp memory of the programs made so far. */
  private get madeTemp(): number {
    return Math.max(0, ...[...this.programs.values()].map((program) => program.tempBytes));
  }

  private ownTemp(bytes: number): DeviceBuffer {
    if (!this.temp || this.temp.freed || this.temp.bytes < bytes) {
      // The memory is enough for every program made so far, because waiting calls stay bound to it.
      const grown = this.host.backend.allocate(Math.max(bytes, this.madeTemp));
      this.temp?.free();
      this.temp = grown;
    }
    return this.temp;
  }
}
