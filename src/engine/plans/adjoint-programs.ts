/**
 * The adjoint of a plan: one problem that is derived from the plan's problem, or a sequence of several problems that run one after another in
 * one call.
 */
import type { Binding, BoundProgram, DeviceBuffer } from '../../devices/device.ts';
import { storageBytes } from '../../ir/index.ts';
import { kernelProblem, resultProblem } from '../../plan/convolution.ts';
import type { DirectionPlan, PlanTask } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { KERNEL } from '../../plan/tree/leaf.ts';
import { adjointToKernel, adjointToSignal } from '../../problem/adjoint/adjoint-convolution.ts';
import { adjointProblem } from '../../problem/adjoint/adjoint-problem.ts';
import type { AdjointStep, AdjointSteps, StepPlace } from '../../problem/adjoint/adjoint-steps.ts';
import { show } from '../../problem/errors.ts';
import { FftError, type PlannedProblem, type Problem, tensorShape } from '../../problem/index.ts';
import { type SideFacts, sideFacts, sideFactsOf } from '../arguments/arguments.ts';
import { type DeviceMemory, typeOfStorage } from '../arguments/memory.ts';
import type { DirectionOperand } from '../arguments/operands.ts';
import { readOptions } from '../arguments/options.ts';
import { convolutionFacts, readKernel, readSpectrum } from '../arguments/prepared-kernels.ts';
import { readData } from '../arguments/read-data.ts';
import { Runner, type RunnerHost } from '../calls/runner.ts';
import type { DirectionProgram, ProgramBindings, SideBinding } from '../programs/program.ts';
import type { CallTasks, PlanHost, PlanWork } from './plan-programs.ts';

/** The factor of a convolution that an adjoint is taken with respect to. */
export type AdjointOf = 'signal' | 'kernel';

export interface AdjointOptions {
  /** The factor that the adjoint of a convolution is taken with respect to. */
  readonly of?: AdjointOf;
  /** The result of `serialize()` of the same adjoint, which is loaded instead of planning anew. */
  readonly from?: string | Uint8Array;
}

/** A request to plan an adjoint. */
export interface AdjointRequest {
  readonly problem: PlannedProblem;
  /** All problems that the adjoint runs. */
  readonly problems: readonly PlannedProblem[];
  readonly tasks: CallTasks;
  /** The splits of another plan, if the order of bins has to be the same as there. */
  readonly splits: Splits | undefined;
  readonly from: string | Uint8Array | undefined;
  /** Makes the sequence to run, if the adjoint runs several problems. */
  work?(host: PlanHost): PlanWork;
}

/**
 * @param name the call whose adjoint is wanted.
 * @throws FftError `invalid-argument`, `unknown-field`, `direction-not-planned`, `unsupported-feature`, `overlapping-strides`
 */
export function adjointRequest(plan: PlanWork, name: PlanTask, options: AdjointOptions): AdjointRequest {
  const { of, from } = readOptions(options, { works: ['of', 'from'] }, 'adjoint');
  if (name !== 'forward' && name !== 'inverse' && name !== 'convolve') {
    const message = `adjoint was asked for ${show(name)}; choose 'forward', 'inverse' or 'convolve'.`;
    throw new FftError('invalid-argument', message);
  }
  // `hostOf` throws for calls that the plan does not have: these have no adjoint either.
  plan.hostOf(name);
  const task = plan.taskOf(name);
  if (name === 'convolve') return convolutionRequest(plan, of, from);
  if (of !== undefined) {
    throw new FftError(
      'invalid-argument',
      `adjoint was given of: ${show(of)}, which only 'convolve' takes; leave it out.`,
    );
  }
  if (task !== 'forward' && task !== 'inverse') {
    const message =
      'The adjoint of the adjoint of a convolution is the convolution itself: use the plan that it was made of.';
    throw new FftError('unsupported-feature', message);
  }
  const { problem, direction } = adjointProblem(plan.problem, task);
  const splits = problem.unordered ? plan.directions[0]!.splits : undefined;
  return { problem, problems: [problem], tasks: { forward: direction }, splits, from };
}

function convolutionRequest(plan: PlanWork, of: unknown, from: AdjointRequest['from']): AdjointRequest {
  if (of !== 'signal' && of !== 'kernel') {
    const message = `adjoint of 'convolve' was given of: ${show(of)}; choose of: 'signal' or of: 'kernel'.`;
    throw new FftError('invalid-argument', message);
  }
  if (plan.taskOf('forward') === 'convolve' || plan.taskOf('convolve') === undefined) {
    const message = 'The adjoint of the adjoint of a convolution is not there; use the plan that it was made of.';
    throw new FftError('unsupported-feature', message);
  }
  if (from !== undefined) {
    throw new FftError('unsupported-feature', 'The adjoint of a convolution is not saved; plan it without from.');
  }
  const { problem } = plan;
  const made = of === 'signal' ? adjointToSignal(problem) : adjointToKernel(problem);
  const problems = made.steps.map((step) => step.problem);
  const [first] = problems as [PlannedProblem];
  const rest = { problems: [...problems, problem as PlannedProblem], splits: undefined, from };
  if (problems.length === 1) {
    const tasks = { forward: 'convolve', convolve: 'convolve', prepareKernel: 'prepareKernel' } as const;
    return { ...rest, problem: first, tasks };
  }
  const work = (host: PlanHost) => new AdjointSequence(host, problem, of, made);
  return { ...rest, problem: problem as PlannedProblem, tasks: {}, work };
}

/** Names of the bindings for the planes of a signal. */
const SIGNAL = ['signal', 'signal.im'] as const;

/** The problems of an adjoint as one program, with memory of its own between them. */
class AdjointSequence implements PlanWork {
  readonly problem: Problem;
  readonly called = ['forward'] as const;
  readonly ends: PlanWork['ends'];
  private readonly host: PlanHost;
  private readonly of: AdjointOf;
  private readonly made: AdjointSteps;
  private readonly programs: DirectionProgram[] = [];
  private readonly facts: { readonly read: SideFacts; readonly written: SideFacts };
  private readonly operands: readonly DirectionOperand[];
  private readonly kernel: string | undefined;
  private between: DeviceBuffer[] = [];
  private temp: DeviceBuffer | undefined;
  private runners: { [name: string]: Runner } = {};
  private released = false;

  constructor(host: PlanHost, problem: Problem, of: AdjointOf, made: AdjointSteps) {
    const { profile } = host.backend;
    this.host = host;
    this.problem = problem;
    this.of = of;
    this.made = made;
    const plan = host.convolution(problem, false);
    this.kernel = plan.kernel.key;
    const { operands } = convolutionFacts(problem, plan, profile);
    const ends = { input: resultProblem(problem), output: of === 'signal' ? problem : kernelProblem(problem) };
    this.ends = { input: { problem: ends.input, side: 'input' }, output: { problem: ends.output, side: 'input' } };
    this.facts = { read: sideFacts(ends.input, 'input', profile), written: sideFacts(ends.output, 'input', profile) };
    this.operands = of === 'kernel' ? signalOperands(sideFacts(problem, 'input', profile)) : operands;
    try {
      for (const step of made.steps) this.programs.push(this.programOf(step));
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get all(): DirectionProgram[] {
    this.check();
    return this.programs;
  }

  get directions(): DirectionPlan[] {
    return [];
  }

  get compiledKernels() {
    return this.programs.flatMap((program) => program.running);
  }

  get bytes() {
    const tables = new Map(this.programs.flatMap((program) => [...program.tables]));
    const sum = [...tables.values()].reduce((total, bytes) => total + bytes, 0);
    return { tables: sum, temp: this.tempBytes, work: this.workBytes };
  }

  get kernelKey(): string | undefined {
    return this.kernel;
  }

  /** @throws FftError `direction-not-planned` */
  kernelMemory(): DeviceMemory {
    const message = 'This adjoint prepares no kernels; it takes those of the plan that it was made of.';
    throw new FftError('direction-not-planned', message);
  }

  nameOf(): PlanTask {
    return 'forward';
  }

  taskOf(): PlanTask | undefined {
    return undefined;
  }

  runner(name: PlanTask, kind: string = name): Runner {
    return (this.runners[kind] ??= new Runner(this.hostOf(name)));
  }

  hostOf(name: PlanTask): RunnerHost {
    this.check();
    if (name !== 'forward' && name !== 'convolve') {
      const message = `This plan is an adjoint, which has 'forward' only; it was asked for ${show(name)}.`;
      throw new FftError('direction-not-planned', message);
    }
    return {
      ...{ backend: this.host.backend, problem: this.problem, direction: 'convolve', name },
      ...{ read: this.facts.read, written: this.facts.written, inPlace: false, operands: this.operands },
      ...{
        factor: this.of === 'signal' ? 'kernel' : 'signal',
        factorAlone: name === 'convolve',
        workBytes: this.workBytes,
      },
      readKernel: (value, what) => this.factor(value, what),
      program: () => ({ tempBytes: this.tempBytes, bind: (places) => this.bind(places) }),
      temp: (bytes) => (this.temp ??= this.host.backend.allocate(bytes)),
      check: () => this.check(),
      resume: () => {
        this.host.check();
        this.check();
      },
    };
  }

  check(): void {
    if (!this.released) return;
    throw new FftError(
      'destroyed',
      'This plan has been destroyed, by itself or with its device; make a new one with adjoint() of a plan.',
    );
  }

  release(): boolean {
    if (this.released) return false;
    this.released = true;
    for (const runner of Object.values(this.runners)) runner.release();
    this.runners = {};
    for (const program of this.programs.splice(0)) program.release();
    for (const buffer of this.between.splice(0)) buffer.free();
    this.temp?.free();
    return true;
  }

  private factor(value: unknown, what: string): readonly unknown[] {
    if (this.of === 'kernel') {
      if (value !== undefined) return readData(value, 'signal');
      throw new FftError('missing-buffer', `${what} needs a signal: what convolve was given as its input.`);
    }
    return [this.kernel === undefined ? readSpectrum(value, what) : readKernel(value, this.kernel, what)];
  }

  private programOf({ problem, task }: AdjointStep): DirectionProgram {
    if (task === 'forward') return this.host.program(problem, 'forward', false);
    return this.host.convolving(problem, this.host.convolution(problem, false).convolve);
  }

  private bind(places: ProgramBindings): BoundProgram {
    const bound: BoundProgram[] = [];
    try {
      for (const [n, { reads, writes, kernel }] of this.made.steps.entries()) {
        const factor = kernel && this.sideOf(kernel, places).re;
        const operands = factor && new Map([[KERNEL, factor]]);
        const sides = { input: this.sideOf(reads, places), output: this.sideOf(writes, places) };
        bound.push(this.programs[n]!.bind({ ...sides, temp: places.temp, operands }));
      }
    } catch (error) {
      for (const one of bound) one.release();
      throw error;
    }
    return oneAfterAnother(bound);
  }

  private sideOf(place: StepPlace, { input, output, operands }: ProgramBindings): SideBinding {
    if (place === 'input') return input;
    if (place === 'output') return output;
    if (place !== 'factor') return { re: { buffer: this.buffer(place.between), byteOffset: 0 } };
    const [re, im] = this.operands.map(({ bound }) => operands!.get(bound)) as [Binding, Binding | undefined];
    return { re, im };
  }

  private buffer(n: number): DeviceBuffer {
    const { elements, complex, storage = this.problem.edgeStorage } = this.made.between[n]!;
    const { backend } = this.host;
    const { length, bytes } = sideFactsOf(storage, complex ? 2 * elements : elements, backend.profile);
    return (this.between[n] ??= backend.allocate(length * bytes));
  }

  private get tempBytes(): number {
    return Math.max(0, ...this.programs.map((program) => program.tempBytes));
  }

  private get workBytes(): number {
    const elements = tensorShape(this.problem, 'output').reduce((product, count) => product * count, 1);
    return 2 * storageBytes(typeOfStorage(this.problem.storage)) * elements;
  }
}

/** The planes of a signal as operands: memory that a program reads beside its sides. */
function signalOperands(facts: SideFacts): DirectionOperand[] {
  if (facts.layout !== 'planar') return [{ name: SIGNAL[0], what: SIGNAL[0], bound: SIGNAL[0], facts }];
  const plane: SideFacts = { ...facts, layout: 'real' };
  return SIGNAL.map((bound, n) => ({ name: bound, what: n === 0 ? 'signal.re' : 'signal.im', bound, facts: plane }));
}

/** Joins programs so that they run one after another: a device keeps the order in which work is submitted. */
function oneAfterAnother(all: readonly BoundProgram[]): BoundProgram {
  const canWait = all.every(({ runSync }) => runSync);
  return {
    run: async () => {
      await Promise.all(all.map((one) => one.run()));
    },
    ...(canWait ? { runSync: () => all.forEach((one) => one.runSync!()) } : {}),
    ...(all.every(({ encode }) => encode)
      ? {
          encode: (target: unknown) => {
            const accepted = all.map((one) => one.encode!(target));
            return accepted.some((one) => one) ? Promise.all(accepted).then(() => undefined) : undefined;
          },
        }
      : {}),
    release: () => {
      for (const one of all) one.release();
    },
  };
}
