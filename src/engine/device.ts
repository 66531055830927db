/**
 * A device as users hold it: plans and memory.
 */

import type { Backend, DeviceKind } from '../devices/device.ts';
import type { ConvolutionPlan } from '../plan/convolution.ts';
import { isInPairs } from '../plan/device/capacity.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import type { DirectionPlan } from '../plan/planner.ts';
import type { Splits } from '../plan/schemes/splits.ts';
import { show, throwIfAny } from '../problem/errors.ts';
import {
  type Checked,
  type Direction,
  FftError,
  kernelsOfEach,
  normalizeProblem,
  type PlannedProblem,
  type Problem,
  type ProblemInput,
  type Storage,
} from '../problem/index.ts';
import { asyncDispose, checkAllocation, DeviceMemory, dispose, typeOfArrays } from './arguments/memory.ts';
import { noteDevice, readOptions } from './arguments/options.ts';
import { convolutionFacts } from './arguments/prepared-kernels.ts';
import { pendingCallsOf } from './calls/call-hazards.ts';
import type { CompiledProgram } from './compiling/compiled-program.ts';
import {
  type CompileProgramOptions,
  compilerOf,
  type Inputs,
  type Program,
  type ProgramHost,
} from './compiling/registry.ts';
import { deepCopy } from './explaining/explain.ts';
import { asSaved, loadBinaries, serializeBinaries } from './kept/binaries.ts';
import { fetchKept, findMeasured, findPlan, keepMeasured, keepPlan } from './kept/keeping.ts';
import { type KeptPlan, restoreProgram } from './kept/kept-plan.ts';
import { plainText } from './kept/plain-text.ts';
import { lazyGroupsOf, loadGroups } from './lazy/lazy-modules.ts';
import { candidateFacts, type MeasuredCandidates } from './measuring/candidates.ts';
import { measureCandidates } from './measuring/trials.ts';
import { Plan } from './plan.ts';
import type { AdjointRequest } from './plans/adjoint-programs.ts';
import {
  isKept,
  mustProbe,
  precisionProblems,
  readingGroupsOf,
  refuseBrokenPairs,
  refuseTooLarge,
} from './plans/feasible.ts';
import { type PlanHost, PlanPrograms } from './plans/plan-programs.ts';
import { isBinary, type PlanOptions, type PlanRequest, type PlanTypes, type PlanTypesFor } from './plans/plan-types.ts';
import { KernelCache, Recent } from './programs/cache.ts';
import { compilePlan, type DirectionProgram, tempBytesOf } from './programs/program.ts';
import { RememberedPlans } from './programs/remembered-plans.ts';
import { knobProblems } from './programs/tuning.ts';
import { loadPlans, type PlanOf } from './saved/load-saved.ts';

/** Direction plans that a device remembers: pure data, a few kilobytes each. */
const PLANS_KEPT = 256;

/** A processor or GPU that runs transforms, with its memory and the kernels and tables that its plans share. */
export class Device {
  private readonly backend: Backend;
  private readonly cache: KernelCache;
  private readonly plans = new Set<Pick<Plan, 'destroy'>>();
  private readonly remembered: RememberedPlans;
  /** Timed candidates of problems with `strategy: 'measure'`. */
  private readonly measured = new Recent<MeasuredCandidates>(PLANS_KEPT);
  /** Precision of the last plan, the default of `alloc`. */
  private precision: Storage = 'single';
  private closed = false;

  /** @internal Made by `openDevice`. */
  constructor(backend: Backend) {
    this.backend = backend;
    this.cache = new KernelCache(backend);
    this.remembered = new RememberedPlans(backend, PLANS_KEPT);
    noteDevice(this, backend);
  }

  /** `cpu`, `webgpu`, `cuda`, `hip`, `opencl`, `vulkan` or `level-zero`. */
  get kind(): DeviceKind {
    return this.backend.kind;
  }

  /** The name of the device, for people to read. */
  get name(): string {
    return this.backend.name;
  }

  /** A copy of the planner's knowledge about the device. */
  get profile(): DeviceProfile {
    return deepCopy(this.backend.profile);
  }

  /**
   * Plans a transform: chooses its decomposition, writes and compiles its kernels, and warms them up.
   *
   * @param problem the problem, or a bbfft descriptor such as `scfo1024*16`.
   * @param options `from`: the result of `plan.serialize()`, which is loaded instead of planning anew.
   * @throws FftError (as a rejection): faults of the problem (`invalid-size`, `invalid-strides`, `unsupported-length` and the
   *   others of docs/errors.md, *What was asked for*), `unsupported-precision`,
   *   `device-limit`, `invalid-saved-plan`, `unknown-field` for other options, `out-of-memory`, `compile-failed`,
   *   `device-closed`, `device-lost`.
   */
  async plan<const P extends ProblemInput | string>(
    problem: P & Checked<P>,
    options: PlanOptions = {},
  ): Promise<Plan<PlanTypesFor<P>>> {
    const known = this.known<PlanTypesFor<P>>(problem, options);
    if (known) return this.ready(known, false);
    // Callbacks are called while a problem is read.
    const reading = loadGroups(readingGroupsOf(problem));
    if (reading) await reading;
    const requested = this.requested(problem, options);
    await this.prepare(requested);
    if (this.backend.store?.fetch && requested.keptBy !== undefined) {
      await fetchKept(requested.keptBy, requested.problem, this.backend);
      this.check();
    }
    const restored = isBinary(requested)
      ? this.loaded<PlanTypesFor<P>>(requested)
      : this.restored<PlanTypesFor<P>>(requested.keptBy);
    if (restored) return this.ready(restored, false);
    if (this.mustMeasure(requested)) await this.measure(requested.problem);
    const plan = await this.made<PlanTypesFor<P>>(requested.problem, () => this.planOf(requested));
    this.keep(plan, requested);
    return plan;
  }

  /**
   * @internal Plans a problem that is in normal form already: axes of its sides may lie in blocks (`withSplitAxes`). A transform that several
   * ranks share plans its passes so. Sides in blocks take device memory only, no host arrays.
   */
  async planPass(problem: PlannedProblem): Promise<Plan> {
    this.check();
    throwIfAny([...precisionProblems(problem, this.backend), ...knobProblems(problem, this.backend)]);
    const request: PlanRequest = { problem, from: undefined, keptBy: undefined };
    await this.prepare(request);
    return this.made<PlanTypes>(problem, () => this.planOf(request));
  }

  /** Plans the adjoint of a plan. */
  private async adjoint(adjoint: AdjointRequest): Promise<Plan> {
    this.check();
    const { problem, problems, from } = adjoint;
    throwIfAny([...precisionProblems(problem, this.backend), ...knobProblems(problem, this.backend)]);
    const request: PlanRequest = { problem, from, keptBy: undefined, adjoint };
    for (const one of problems) await this.prepare({ ...request, problem: one });
    if (isBinary(request)) return this.ready(this.loaded<PlanTypes>(request), false);
    if (!adjoint.splits && !adjoint.work && this.mustMeasure(request)) await this.measure(problem);
    return this.made<PlanTypes>(problem, () => this.planOf(request), adjoint);
  }

  /** Loads the modules that planning needs, and probes the device's arithmetic if the precision depends on it. */
  private async prepare(requested: PlanRequest): Promise<void> {
    const loading = loadGroups([
      ...lazyGroupsOf(requested.problem, this.backend.profile),
      ...(requested.from === undefined ? [] : (['saved and measured plans'] as const)),
      ...(this.backend.store || isBinary(requested) ? (['kept plans'] as const) : []),
    ]);
    if (loading) {
      await loading;
      this.check();
    }
    if (mustProbe(requested.problem, this.backend)) await this.backend.probePairs!();
    refuseBrokenPairs(requested.problem, this.backend);
  }

  private made<T extends PlanTypes>(
    problem: PlannedProblem,
    planOf: () => PlanOf,
    adjoint?: AdjointRequest,
  ): Promise<Plan<T>> {
    return this.ready(this.newPlan<T>(problem, planOf(), undefined, adjoint), true);
  }

  /** @param watched whether to wait until the kernels run at full speed; if not, they may still be warming up. */
  private async ready<T extends PlanTypes>(plan: Plan<T>, watched: boolean): Promise<Plan<T>> {
    try {
      await Promise.all([this.backend.warmUp(plan.compiledKernels, watched), this.cache.filled()]);
      this.check();
    } catch (error) {
      plan.destroy();
      throw error;
    }
    return plan;
  }

  /**
   * Like `plan`, for callers that cannot wait: kernels begin to warm up, so the first transforms may be slower.
   * @throws FftError as `plan` does, but at once; `unsupported-feature` for `strategy: 'measure'`, unless `plan` has measured
   * the problem before or a saved plan is given.
   */
  planSync<const P extends ProblemInput | string>(
    problem: P & Checked<P>,
    options: PlanOptions = {},
  ): Plan<PlanTypesFor<P>> {
    const known = this.known<PlanTypesFor<P>>(problem, options);
    if (known) {
      this.backend.warmUp(known.compiledKernels, false).catch(() => undefined);
      return known;
    }
    const requested = this.requested(problem, options);
    if (mustProbe(requested.problem, this.backend)) {
      const message = `Whether ${this.name} keeps to the rounding that pairs of singles rest on has yet to be tried; plan() does, once.`;
      throw new FftError('unsupported-feature', message, { path: 'precision' });
    }
    refuseBrokenPairs(requested.problem, this.backend);
    const restored = isBinary(requested)
      ? this.loaded<PlanTypesFor<P>>(requested)
      : this.restored<PlanTypesFor<P>>(requested.keptBy);
    if (!restored && this.mustMeasure(requested)) {
      const message = "strategy 'measure' takes its time, which planSync does not wait for; use plan(), or 'fast'.";
      throw new FftError('unsupported-feature', message, { path: 'strategy' });
    }
    const plan = restored ?? this.newPlan<PlanTypesFor<P>>(requested.problem, this.planOf(requested));
    // If the device is closed in the meantime, no kernel is left to warm up.
    this.backend.warmUp(plan.compiledKernels, false).catch(() => undefined);
    if (!restored) this.keep(plan, requested);
    return plan;
  }

  /** The plan that an earlier process has kept; undefined if there is none, or if its code no longer compiles here. */
  private restored<T extends PlanTypes>(keptBy: string | undefined): Plan<T> | undefined {
    const kept = keptBy === undefined ? undefined : findPlan(keptBy, this.backend);
    if (!kept) return undefined;
    try {
      return this.newPlan<T>(kept.problem, this.planOfKept(kept), kept);
    } catch (error) {
      if (error instanceof FftError && error.code === 'compile-failed') return undefined;
      throw error;
    }
  }

  /** The plan from saved binaries. @throws FftError `invalid-saved-plan`, `compile-failed` */
  private loaded<T extends PlanTypes>({ from, problem, adjoint }: PlanRequest): Plan<T> {
    const kept = loadBinaries(from, problem, this.backend);
    return asSaved(() => this.newPlan<T>(problem, this.planOfKept(kept), kept, adjoint));
  }

  private planOfKept(kept: KeptPlan & { readonly profile?: DeviceProfile }): PlanOf {
    return (direction, throughWork) => this.remembered.kept(kept, direction, throughWork);
  }

  /** Keeps a plan for later processes. */
  private keep(plan: Plan, { problem, keptBy }: PlanRequest): void {
    if (keptBy !== undefined) keepPlan(keptBy, problem, plan.directionPrograms, this.backend, this.cache);
    this.cache.forgetContents();
  }

  /** Reads and validates the arguments of `plan`. */
  private requested(problem: ProblemInput | string, options: PlanOptions): PlanRequest {
    this.check();
    const { from } = readOptions(options, { works: ['from'] }, 'plan');
    const normal = normalizeProblem(problem);
    throwIfAny([...precisionProblems(normal, this.backend), ...knobProblems(normal, this.backend)]);
    const keptBy =
      from === undefined && isKept(normal, this.backend) ? (plainText(problem) ?? JSON.stringify(normal)) : undefined;
    return { problem: normal, from, keptBy };
  }

  /** A kept plan for plain data that an earlier process has checked to be a problem; undefined where the slower way is needed. */
  private known<T extends PlanTypes>(problem: unknown, options: PlanOptions): Plan<T> | undefined {
    this.check();
    const { probePairs, store, unpack } = this.backend;
    if (!store || store.fetch || !unpack || probePairs || plainText(options) !== '{}') return undefined;
    return this.restored(plainText(problem));
  }

  private planOf({ problem, from, adjoint }: PlanRequest): PlanOf {
    if (from !== undefined) return loadPlans(from as string, problem, this.backend);
    const splits = adjoint?.splits ?? this.measuredOf(problem)?.splits;
    return (direction, throughWork) => this.remembered.direction(problem, direction, throughWork, splits);
  }

  private measuredOf(problem: Problem): MeasuredCandidates | undefined {
    if (problem.strategy !== 'measure') return undefined;
    const key = JSON.stringify(problem);
    let measured = this.measured.get(key);
    if (!measured && isKept(problem, this.backend)) {
      measured = findMeasured(problem, this.backend);
      if (measured) this.measured.set(key, measured);
    }
    return measured;
  }

  private mustMeasure({ problem, from }: PlanRequest): boolean {
    // A spectral layer has no directions whose candidates could be timed.
    const timed = problem.strategy === 'measure' && !problem.convolution?.channels;
    return timed && from === undefined && !this.measuredOf(problem);
  }

  private async measure(problem: PlannedProblem): Promise<void> {
    refuseTooLarge(problem, 0, this.backend.profile);
    const planOf = (splits: Splits): PlanOf => {
      return (direction, throughWork) => this.remembered.direction(problem, direction, throughWork, splits);
    };
    const make = (splits: Splits) => this.made(problem, () => planOf(splits));
    const measured = await measureCandidates(problem, this.backend, make);
    this.check();
    this.measured.set(JSON.stringify(problem), measured);
    if (isKept(problem, this.backend)) keepMeasured(problem, measured, this.backend);
  }

  /** @param kept the programs of both directions, made before. @param adjoint the request, if this is the adjoint of another plan. */
  private newPlan<T extends PlanTypes>(
    normal: PlannedProblem,
    planOf: PlanOf,
    kept?: KeptPlan,
    adjoint?: AdjointRequest,
  ): Plan<T> {
    // An adjoint of several problems plans each problem by itself.
    const planOfOwn = (of: Problem): PlanOf =>
      of === normal ? planOf : (direction, throughWork) => this.remembered.direction(of, direction, throughWork);
    const host: PlanHost & { adjoint(request: AdjointRequest): Promise<Plan> } = {
      backend: this.backend,
      adjoint: (request) => this.adjoint(request),
      candidates: (of, splits) => candidateFacts(of, this.backend, splits, this.measuredOf(of)),
      program: (of, direction, throughWork) => this.program(of, direction, throughWork, planOfOwn(of), kept),
      convolution: (of, throughWork) => this.convolution(of, throughWork),
      convolving: (of, plan) => this.convolving(of, plan),
      tempBytes: (of, direction, throughWork) => tempBytesOf(planOf(direction, throughWork), of),
      binaries: (of, programs) => serializeBinaries(of as PlannedProblem, programs, this.backend, this.cache),
      forget: (plan) => this.plans.delete(plan),
      check: () => this.check(),
    };
    const work = adjoint && (adjoint.work?.(host) ?? new PlanPrograms(host, normal, adjoint.tasks));
    const plan = new Plan<T>(host, normal as T['problem'], work);
    this.plans.add(plan);
    try {
      this.cache.fillTables();
    } catch (error) {
      plan.destroy();
      throw error;
    }
    this.precision = normal.edgeStorage;
    return plan;
  }

  /**
   * Compiles a program of `omnifft/lift`.
   *
   * @param program made by `program`, or by `rewrite` of one.
   * @param options `sizes`: numbers for the lengths that have names; `precision`: 'single' (default) or 'double'.
   * @throws FftError (as a rejection): `invalid-argument`, `unknown-field`, `invalid-size` for sizes that are missing or do not divide,
   *   `unsupported-feature` for patterns that cannot be compiled yet and for kernels of too many operations, `unsupported-precision`,
   *   `device-limit`, `out-of-memory`, `compile-failed`, `device-closed`, `device-lost`.
   */
  async compile<I extends Inputs>(
    program: Program<I>,
    options: CompileProgramOptions = {},
  ): Promise<CompiledProgram<I>> {
    this.check();
    const compiler = compilerOf(program);
    if (!compiler) {
      const message = `compile takes a program, from program() of omnifft/lift; it was given ${show(program)}.`;
      throw new FftError('invalid-argument', message);
    }
    return compiler(this.programHost(), program as never, options) as Promise<CompiledProgram<I>>;
  }

  /** @internal Services of this device for compiled programs: programs of patterns (`compile`) and non-uniform transforms (`omnifft/nufft`). */
  programHost(): ProgramHost {
    this.check();
    const { backend, cache } = this;
    return {
      ...{ backend, cache },
      check: () => this.check(),
      requirePrecision: (precision) => this.requirePrecision(precision),
      transform: async (input, task) => {
        await loadGroups(readingGroupsOf(input));
        const problem = normalizeProblem(input);
        await loadGroups(lazyGroupsOf(problem, backend.profile));
        this.check();
        if (task === 'convolve' || task === 'prepare')
          return this.convolving(problem, this.convolution(problem, false)[task]);
        return this.program(problem, task, false, (...requested) => this.remembered.direction(problem, ...requested));
      },
      preparedLength: (input) => this.convolution(normalizeProblem(input), false).kernel.elements,
      keep: (made) => this.plans.add(made),
      letGo: (made) => this.plans.delete(made),
    };
  }

  private async requirePrecision(precision: 'single' | 'double'): Promise<void> {
    const { backend } = this;
    throwIfAny(precisionProblems({ precision }, backend));
    if (isInPairs(precision, backend.profile)) {
      await loadGroups(['pairs of numbers']);
      if (backend.pairsBroken === undefined) await backend.probePairs?.();
    }
    this.check();
    refuseBrokenPairs({ precision }, backend);
  }

  /**
   * Allocates device memory.
   * @param bytes the least size; `plan.input.bytes` and `plan.output.bytes` say what a plan needs.
   * @param precision of the numbers that `memory.array` shows, where the host can see the memory; default: that of the
   * plan made last on this device, `single` before there was one.
   * @throws FftError `invalid-argument`, `out-of-memory`, `device-closed`
   */
  alloc(bytes: number): DeviceMemory;
  alloc(bytes: number, precision: 'half'): DeviceMemory<Uint16Array>;
  alloc(bytes: number, precision: 'single'): DeviceMemory<Float32Array>;
  alloc(bytes: number, precision: 'double' | 'double-double'): DeviceMemory<Float64Array>;
  alloc(bytes: number, precision?: Storage): DeviceMemory;
  alloc(bytes: number, precision: Storage = this.precision): DeviceMemory {
    this.check();
    checkAllocation(bytes, precision);
    return new DeviceMemory(this.backend.allocate(bytes), typeOfArrays(precision));
  }

  /**
   * Resolves when all calls made before it have ended. Their own promises say whether they succeeded, and may
   * settle a moment later.
   * @throws FftError (as a rejection) `device-closed`
   */
  async finish(): Promise<void> {
    this.check();
    const calls = pendingCallsOf(this.backend);
    if (calls) {
      await calls;
      this.check();
    }
    await this.backend.finish();
  }

  /** Destroys all plans and memory of the device. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const plan of [...this.plans]) plan.destroy();
    this.cache.clear();
    this.remembered.clear();
    this.measured.clear();
    this.backend.close();
  }

  /** `close`, for `using`. */
  [dispose](): void {
    this.close();
  }

  /** `close` when all calls made so far have ended, for `await using`. */
  async [asyncDispose](): Promise<void> {
    if (!this.closed) await this.finish().catch(() => undefined);
    this.close();
  }

  private check(): void {
    if (this.closed)
      throw new FftError('device-closed', 'This device has been closed; open another with openDevice().');
  }

  private program(
    problem: Problem,
    direction: Direction,
    throughWork: boolean,
    planOf: PlanOf,
    kept?: KeptPlan,
  ): DirectionProgram {
    this.check();
    const { backend, cache } = this;
    const { profile } = backend;
    // The sides are checked before planning, since planning a far too large problem takes long; temp memory is known only afterwards.
    refuseTooLarge(problem, 0, profile);
    if (kept && !throughWork) {
      const own = (direction: Direction) => planOf(direction, false);
      return restoreProgram({ kept, direction, problem, backend, cache, planOf: own });
    }
    const plan = planOf(direction, throughWork);
    refuseTooLarge(problem, tempBytesOf(plan, problem), profile);
    // Plans that go through `work` are made when they are first used, since often only one direction is.
    const both = problem.directions === 'both' && !throughWork;
    const other = both ? () => planOf(direction === 'forward' ? 'inverse' : 'forward', false) : undefined;
    return compilePlan({ plan, other, problem, backend, cache });
  }

  private convolution(problem: Problem, throughWork: boolean): ConvolutionPlan {
    const { profile } = this.backend;
    const plan = this.remembered.convolution(problem, throughWork);
    const { kernel, result } = convolutionFacts(problem, plan, profile);
    const more = (1 - 1 / kernelsOfEach(problem.convolution!)) * result.length * result.bytes;
    refuseTooLarge(problem, kernel.length * kernel.bytes + more + tempBytesOf(plan.convolve, problem), profile);
    return plan;
  }

  private convolving(problem: Problem, plan: DirectionPlan): DirectionProgram {
    this.check();
    refuseTooLarge(problem, tempBytesOf(plan, problem), this.backend.profile);
    return compilePlan({ plan, problem, backend: this.backend, cache: this.cache });
  }
}
