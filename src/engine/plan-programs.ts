/**
 * What a plan has on its device: a program for each task, the temp memory that they share, and the runners of its calls. All of
 * it ends with `release`.
 */

import type { Backend, CompiledKernel, DeviceBuffer } from '../devices/device.ts';
import { bytesOf } from '../ir/index.ts';
import type { ConvolutionPlan } from '../plan/convolution.ts';
import type { DirectionPlan, PlanTask } from '../plan/planner.ts';
import type { Splits } from '../plan/schemes/splits.ts';
import { show } from '../problem/errors.ts';
import { type Direction, directionsOf, FftError, type Problem, tensorShape } from '../problem/index.ts';
import { factsOf, type SideFacts } from './arguments/arguments.ts';
import { DeviceMemory, typeOfStorage } from './arguments/memory.ts';
import { directionOperands } from './arguments/operands.ts';
import { type ConvolutionFacts, convolutionFacts, readKernel, readSpectrum } from './arguments/prepared-kernels.ts';
import { Runner, type RunnerHost } from './calls/runner.ts';
import type { CandidateList } from './measuring/candidates.ts';
import { type DirectionProgram, tempBytesOf } from './programs/program.ts';

/** Services of the device for its plans, so that plans do not depend on the `Device` class. */
export interface PlanHost {
  readonly backend: Backend;
  program(problem: Problem, direction: Direction, throughWork: boolean): DirectionProgram;
  /** How a problem is convolved, and a program for a part of that. */
  convolution(problem: Problem, throughWork: boolean): ConvolutionPlan;
  convolving(problem: Problem, plan: DirectionPlan): DirectionProgram;
  /** What such a program needs, without making it. */
  tempBytes(problem: Problem, direction: Direction, throughWork: boolean): number;
  /** The candidates of a problem, of which a plan with these splits is one, or none. */
  candidates(problem: Problem, splits: Splits | undefined): CandidateList;
  /** A plan with its compiled code. @throws FftError `unsupported-feature`, `compile-failed` */
  binaries(problem: Problem, programs: readonly DirectionProgram[]): Uint8Array;
  forget(plan: { destroy(): void }): void;
  /** @throws FftError `device-closed` */
  check(): void;
}

type ConvolvingTask = Exclude<PlanTask, Direction>;

const CONVOLVING: readonly ConvolvingTask[] = ['prepareKernel', 'convolve'];

/** The extra state of a plan of a convolution. */
interface Convolving {
  readonly plan: ConvolutionPlan;
  readonly facts: ConvolutionFacts;
}

export class PlanPrograms {
  readonly problem: Problem;
  private readonly host: PlanHost;
  private readonly facts: { readonly input: SideFacts; readonly output: SideFacts };
  /** Calls that wait and calls that cannot have staging memory of their own: one may come in the middle of another. */
  private runners: { [name in PlanTask | `${PlanTask}Sync`]?: Runner } = {};
  private readonly convolving: Convolving | undefined;
  private readonly programs = new Map<string, DirectionProgram>();
  private temp: DeviceBuffer | undefined;
  private released = false;

  constructor(host: PlanHost, problem: Problem) {
    this.host = host;
    this.problem = problem;
    const { profile } = host.backend;
    this.facts = { input: factsOf(problem, 'input', profile), output: factsOf(problem, 'output', profile) };
    try {
      for (const direction of directionsOf(problem)) this.program(direction, false);
      if (problem.convolution) {
        const plan = host.convolution(problem, false);
        this.convolving = { plan, facts: convolutionFacts(problem, plan, profile) };
        for (const task of CONVOLVING) this.program(task, false);
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Of every direction, and of a convolution. @throws FftError `destroyed` */
  get all(): DirectionProgram[] {
    this.check();
    const tasks: PlanTask[] = [...directionsOf(this.problem), ...(this.convolving ? CONVOLVING : [])];
    return tasks.map((task) => this.program(task, false));
  }

  /** Those of a direction, which can be saved. @throws FftError `destroyed` */
  get directions(): DirectionPlan[] {
    return directionsOf(this.problem).map((direction) => this.program(direction, false).plan);
  }

  get compiledKernels(): CompiledKernel[] {
    return [...this.programs.values()].flatMap((program) => program.running);
  }

  /** As `Plan.bytes`. */
  get bytes(): { readonly tables: number; readonly temp: number; readonly work: number } {
    const tables = new Map([...this.programs.values()].flatMap((program) => [...program.tables]));
    // Calls that are given `work` have plans of their own, which may need more.
    const others = this.released ? [] : directionsOf(this.problem);
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

  /** What prepared kernels of this plan are known by; undefined where kernels are spectra of the user's. @throws FftError `destroyed`, `direction-not-planned` */
  get kernelKey(): string | undefined {
    return this.requireConvolving('prepareKernel').plan.kernel.key;
  }

  /** Memory for a kernel. @throws FftError `destroyed`, `direction-not-planned`, `out-of-memory` */
  kernelMemory(): DeviceMemory {
    const { length, bytes, type } = this.requireConvolving('prepareKernel').facts.kernel;
    return new DeviceMemory(this.host.backend.allocate(length * bytes), type);
  }

  /** Of calls of one name. @throws FftError `destroyed`, `direction-not-planned` */
  runner(task: PlanTask, name: PlanTask | `${PlanTask}Sync` = task): Runner {
    return (this.runners[name] ??= new Runner(this.hostOf(task)));
  }

  /** What `enqueue` and `measure` run. @throws FftError `destroyed`, `direction-not-planned` */
  hostOf(task: PlanTask): RunnerHost {
    this.check();
    return task === 'prepareKernel' || task === 'convolve' ? this.convolvingHost(task) : this.directionHost(task);
  }

  /** @throws FftError `destroyed` */
  check(): void {
    if (this.released)
      throw new FftError(
        'destroyed',
        'This plan has been destroyed, by itself or with its device; make a new one with the plan() of an open device.',
      );
  }

  /** Frees kernels, tables and temp. @returns whether there was something to be freed. */
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
    if (task !== 'prepareKernel' && task !== 'convolve') return this.host.program(this.problem, task, throughWork);
    const { convolve, prepare } = this.host.convolution(this.problem, throughWork);
    return this.host.convolving(this.problem, task === 'convolve' ? convolve : prepare);
  }

  private requireConvolving(what: string): Convolving {
    this.check();
    if (this.convolving) return this.convolving;
    const message = `This plan has no ${what}: it was made without convolution; plan with convolution: {} to have it.`;
    throw new FftError('direction-not-planned', message);
  }

  private convolvingHost(task: ConvolvingTask): RunnerHost {
    const { facts, plan } = this.requireConvolving(task);
    const { given, kernel, result, operands } = facts;
    const own = this.hostWith(task);
    if (task === 'prepareKernel') return { ...own, read: given, written: kernel, inPlace: false, operands: [] };
    return {
      ...{ ...own, read: this.facts.input, written: result, operands },
      readKernel: (value, what) => {
        const { key } = plan.kernel;
        return key === undefined ? readSpectrum(value, what) : readKernel(value, key, what);
      },
    };
  }

  private directionHost(direction: Direction): RunnerHost {
    if (direction !== 'forward' && direction !== 'inverse') {
      throw new FftError('invalid-argument', `The direction is ${show(direction)}; choose 'forward' or 'inverse'.`);
    }
    if (!directionsOf(this.problem).includes(direction)) {
      if (this.problem.convolution?.channels) {
        const message = `This plan is a spectral layer, which has no '${direction}'; convolve does all of it.`;
        throw new FftError('direction-not-planned', message);
      }
      throw new FftError(
        'direction-not-planned',
        `This plan is for '${this.problem.directions}' only; plan with directions 'both' to run '${direction}'.`,
      );
    }
    return {
      ...this.hostWith(direction),
      read: direction === 'forward' ? this.facts.input : this.facts.output,
      written: direction === 'forward' ? this.facts.output : this.facts.input,
      operands: directionOperands(this.problem, direction, this.host.backend.profile),
    };
  }

  /** What all runners have of this plan. */
  private hostWith(task: PlanTask) {
    return {
      backend: this.host.backend,
      problem: this.problem,
      direction: task,
      inPlace: this.problem.placement === 'in-place',
      workBytes: this.workBytes,
      program: (throughWork: boolean) => this.program(task, throughWork),
      temp: (bytes: number) => this.ownTemp(bytes),
      check: () => this.check(),
      resume: () => {
        // Closing a device destroys its plans, but that is not what the caller did.
        this.host.check();
        this.check();
      },
    };
  }

  private get workBytes(): number {
    const elements = tensorShape(this.problem, 'output').reduce((product, count) => product * count, 1);
    return 2 * bytesOf(typeOfStorage(this.problem.storage)) * elements;
  }

  /** Temp memory of the programs made so far. */
  private get madeTemp(): number {
    return Math.max(0, ...[...this.programs.values()].map((program) => program.tempBytes));
  }

  private ownTemp(bytes: number): DeviceBuffer {
    if (!this.temp || this.temp.freed || this.temp.bytes < bytes) {
      // Enough for every direction at once: calls that wait are bound to this memory.
      const grown = this.host.backend.allocate(Math.max(bytes, this.madeTemp));
      this.temp?.free();
      this.temp = grown;
    }
    return this.temp;
  }
}
