/**
 * A plan: one problem, ready to run on one device. This is what users hold.
 */

import type { CompiledKernel } from '../devices/device.ts';
import { show } from '../problem/errors.ts';
import { type Direction, FftError } from '../problem/index.ts';
import { type DeviceFunction, type DeviceFunctionOptions, deviceFunctionOf } from './ahead/device-function.ts';
import type { ComplexData, Data } from './arguments/arguments.ts';
import { type DeviceMemory, dispose } from './arguments/memory.ts';
import type { CallOptions } from './arguments/operands.ts';
import { readOptions } from './arguments/options.ts';
import { noteKernel } from './arguments/prepared-kernels.ts';
import { type EnqueueOptions, enqueue } from './calls/enqueue.ts';
import { explainPlan, planToJson } from './explaining/explain.ts';
import { loadGroups } from './lazy/lazy-modules.ts';
import { type MeasureOptions, measure } from './measuring/measure.ts';
import { type AdjointOptions, type AdjointRequest, adjointRequest } from './plans/adjoint-programs.ts';
import { type PlanEnd, type PlanHost, PlanPrograms, type PlanWork } from './plans/plan-programs.ts';
import { type PlanSide, planSide } from './plans/plan-side.ts';
import type { ConvolutionAdjoint, DirectionAdjoint, PlanKernel, PlanTypes } from './plans/plan-types.ts';
import type { DirectionProgram } from './programs/program.ts';
import { serializePlan } from './saved/saved.ts';

/** The function of a device that `plan.adjoint` calls: it plans the adjoint of a transform. */
interface AdjointHost {
  adjoint(request: AdjointRequest): Promise<Plan>;
}

/**
 * A transform that is ready to run, on the device that made it. Calls may overlap: they run in the order in which they
 * were made.
 *
 * `T` holds the types of its calls' arguments and results, which follow from the problem (`PlanTypesFor`).
 */
export class Plan<out T extends PlanTypes = PlanTypes> {
  /** The normalized problem, with every field present. */
  declare readonly problem: T['problem'];
  /** Shape and memory of the side that the forward transform reads and the inverse writes. */
  declare readonly input: PlanSide;
  /** Shape and memory of the side that the forward transform writes and the inverse reads. */
  declare readonly output: PlanSide;
  private readonly host: PlanHost & AdjointHost;
  private readonly programs: PlanWork;

  /** @internal Called by `device.plan`, and for adjoints with the work that runs their calls. */
  constructor(
    host: PlanHost & AdjointHost,
    problem: T['problem'],
    programs: PlanWork = new PlanPrograms(host, problem),
  ) {
    this.host = host;
    fix(this, 'problem', problem);
    this.programs = programs;
    const sideOf = (end: PlanEnd) => planSide(end, () => programs.directions[0]!.tree);
    fix(this, 'input', sideOf(programs.ends.input));
    fix(this, 'output', sideOf(programs.ends.output));
  }

  /** The directions that the plan was made for. */
  get directions(): T['directions'][] {
    return [...this.programs.called] as T['directions'][];
  }

  /** @internal The programs of all directions. */
  get directionPrograms(): readonly DirectionProgram[] {
    return this.programs.all;
  }

  /** @internal The kernels to warm up. */
  get compiledKernels(): readonly CompiledKernel[] {
    return this.programs.compiledKernels;
  }

  /**
   * Bytes of device memory: `tables` (shared with other plans), `temp`, the most that any call may need, and `work`, the
   * least size of `work` memory that is given to `enqueue`.
   */
  get bytes(): { readonly tables: number; readonly temp: number; readonly work: number } {
    return this.programs.bytes;
  }

  /**
   * The kernels of every direction, in the order in which they run.
   * @throws FftError `destroyed`
   */
  get kernels(): PlanKernel[] {
    return this.programs.all.flatMap(({ plan, running }) => {
      const direction = this.programs.nameOf(plan.direction);
      const titles = plan.launches.map(({ node }) => node.title);
      return running.map(({ kernel, language, source }, n) => {
        const title = running.length === titles.length ? titles[n]! : titles.join(' and ');
        // A caller gets a copy of bytes, because the device may still make programs of its own.
        const copy = typeof source === 'string' ? source : source.slice();
        return { direction, name: kernel.name, title, language, source: copy };
      });
    });
  }

  /**
   * Transforms `input`. Calls on the same host arrays keep their order, awaited or not, also across plans and devices: a call
   * that shares an array with an earlier call waits for that call, unless both only read it. The arrays belong to the call until
   * its promise settles: it is not defined whether the call sees data that is written into `input` meanwhile, so a caller who
   * refills one array for each call has to await each call first.
   *
   * @param input `plan.input.length` elements: interleaved complex numbers, two planes of their parts, or reals, as the problem
   * says; a host array or device memory.
   * @param output the array or memory to write; a new array when left out. In place it is the input.
   * @param options `arrays`: the arrays that the callbacks of this direction load from, by name.
   * @returns the array or memory that holds the result.
   * @throws FftError (as a rejection) with a code of docs/errors.md; nothing has been written then, except to device
   * memory if the call failed while it ran (`launch-failed`, `device-lost`).
   */
  forward<O extends T['forward']['writes']>(input: T['forward']['reads'], output: O, options?: CallOptions): Promise<O>;
  forward<I extends T['forward']['reads']>(input: I): Promise<T['forward']['makes'] | (I & T['returned'])>;
  forward<I extends T['forward']['reads']>(
    input: I,
    output: undefined,
    options: CallOptions,
  ): Promise<T['forward']['makes'] | (I & T['returned'])>;
  forward<I extends T['forward']['reads'], O extends T['forward']['writes']>(
    input: I,
    output: O | undefined,
    options?: CallOptions,
  ): Promise<T['forward']['makes'] | (I & T['returned']) | O>;
  forward(input: ComplexData, output?: ComplexData, options?: CallOptions): Promise<ComplexData> {
    return this.run('forward', input, output, options);
  }

  /**
   * Like `forward`, with the exponent sign +1: reads `output`-shaped data and writes `input`-shaped data. For cosine and sine
   * transforms it is the transform that undoes the forward one, up to a factor.
   * @throws FftError (as a rejection) as `forward`.
   */
  inverse<O extends T['inverse']['writes']>(input: T['inverse']['reads'], output: O, options?: CallOptions): Promise<O>;
  inverse<I extends T['inverse']['reads']>(input: I): Promise<T['inverse']['makes'] | (I & T['returned'])>;
  inverse<I extends T['inverse']['reads']>(
    input: I,
    output: undefined,
    options: CallOptions,
  ): Promise<T['inverse']['makes'] | (I & T['returned'])>;
  inverse<I extends T['inverse']['reads'], O extends T['inverse']['writes']>(
    input: I,
    output: O | undefined,
    options?: CallOptions,
  ): Promise<T['inverse']['makes'] | (I & T['returned']) | O>;
  inverse(input: ComplexData, output?: ComplexData, options?: CallOptions): Promise<ComplexData> {
    return this.run('inverse', input, output, options);
  }

  /**
   * `forward` on the calling thread, for audio callbacks and other places that cannot wait: the CPU computes there, a GPU
   * is waited for. Calls that are still running end first.
   * @param output a new array when left out, as in `forward`.
   * @throws FftError at once, as `forward`; `unsupported-feature` where a device cannot be waited for (WebGPU),
   * `aliased-buffers` if it would read memory that an earlier call has yet to write, or write memory that an earlier call
   * has yet to read.
   */
  forwardSync<O extends T['forward']['writes']>(input: T['forward']['reads'], output: O, options?: CallOptions): O;
  forwardSync<I extends T['forward']['reads']>(input: I): T['forward']['makes'] | (I & T['returned']);
  forwardSync<I extends T['forward']['reads']>(
    input: I,
    output: undefined,
    options: CallOptions,
  ): T['forward']['makes'] | (I & T['returned']);
  forwardSync<I extends T['forward']['reads'], O extends T['forward']['writes']>(
    input: I,
    output: O | undefined,
    options?: CallOptions,
  ): T['forward']['makes'] | (I & T['returned']) | O;
  forwardSync(input: ComplexData, output?: ComplexData, options?: CallOptions): ComplexData {
    return this.programs.runner('forward', 'forwardSync').sync(input, output, options);
  }

  /**
   * `inverse` on the calling thread.
   * @throws FftError as `forwardSync`.
   */
  inverseSync<O extends T['inverse']['writes']>(input: T['inverse']['reads'], output: O, options?: CallOptions): O;
  inverseSync<I extends T['inverse']['reads']>(input: I): T['inverse']['makes'] | (I & T['returned']);
  inverseSync<I extends T['inverse']['reads']>(
    input: I,
    output: undefined,
    options: CallOptions,
  ): T['inverse']['makes'] | (I & T['returned']);
  inverseSync<I extends T['inverse']['reads'], O extends T['inverse']['writes']>(
    input: I,
    output: O | undefined,
    options?: CallOptions,
  ): T['inverse']['makes'] | (I & T['returned']) | O;
  inverseSync(input: ComplexData, output?: ComplexData, options?: CallOptions): ComplexData {
    return this.programs.runner('inverse', 'inverseSync').sync(input, output, options);
  }

  /**
   * Prepares a kernel for `convolve`: computes its spectrum, divided by the number of points, with the bins in the order that this
   * plan uses for a signal.
   * @param h `size` elements, packed, in the layout of the input side; for each entry of its matrices (1; or m², row by row; or, if they are
   * symmetric, m(m + 1)/2, the upper triangle row by row; or one for each coordinate); and, slowest, for each of the `kernels` (or
   * each batch, if batches have their own kernels).
   * @returns memory of the device, to be freed when it is no longer needed. Plans for the same problem take it, too. If the problem
   * says `convolution.kernelSpectrum: 'user'`, it holds the plain spectrum: the forward transform of `h`.
   * @throws FftError (as a rejection) as `forward`; `direction-not-planned` where the plan has no `convolution`; `out-of-memory`
   */
  prepareKernel(h: T['convolve']['kernels']): Promise<DeviceMemory>;
  prepareKernel(h: ComplexData): Promise<DeviceMemory> {
    return this.prepareKernelIn(undefined, h);
  }

  /**
   * @internal `prepareKernel`, which reuses the memory of an earlier kernel of this plan if it is given.
   * @throws FftError (as a rejection) as `prepareKernel`; the memory has been freed then.
   */
  async prepareKernelIn(earlier: DeviceMemory | undefined, h: ComplexData): Promise<DeviceMemory> {
    const memory = earlier ?? this.programs.kernelMemory();
    try {
      await this.programs.runner('prepareKernel').async(h, memory, undefined);
      return noteKernel(memory, this.programs.kernelKey);
    } catch (error) {
      memory.free();
      throw error;
    }
  }

  /**
   * `prepareKernel` on the calling thread.
   * @throws FftError as `forwardSync`, `prepareKernel`
   */
  prepareKernelSync(h: T['convolve']['kernels']): DeviceMemory;
  prepareKernelSync(h: ComplexData): DeviceMemory {
    const memory = this.programs.kernelMemory();
    try {
      this.programs.runner('prepareKernel', 'prepareKernelSync').sync(h, memory, undefined);
      return noteKernel(memory, this.programs.kernelKey);
    } catch (error) {
      memory.free();
      throw error;
    }
  }

  /**
   * The circular convolution of a signal with a kernel, or their correlation, times `scale.forward`.
   * @param input the signal, as the forward transform reads it.
   * @param kernel the result of `prepareKernel` of this plan, or of a plan for the same problem. If the problem says
   * `convolution.kernelSpectrum: 'user'`, any memory of the device, or a host array, with the spectrum of `h`: interleaved complex numbers of
   * `edgeStorage`, packed, each axis in its natural order, with the entries and kernels that `prepareKernel` takes. A real kernel has the
   * first ⌊N/2⌋ + 1 bins along the first axis.
   * @param output the array or memory to write; a new array when left out. It holds batches × kernels systems, the kernels slowest, in the
   * layout of the plan's output side, or, for reals, in that of the signal. In place it is the input. For a spectral layer it is the output
   * side of the plan.
   * @param options `arrays`: the arrays that the callbacks of the problem load from, by name (`callbacks.forward.load` is called for elements
   * of the signal, `callbacks.inverse.store` for elements of the result).
   * @returns the array or memory that holds the result.
   * @throws FftError (as a rejection) as `forward`; `wrong-kernel`, `missing-buffer`, and `direction-not-planned` where the plan has
   * no `convolution`
   */
  convolve<O extends T['convolve']['writes']>(
    input: T['convolve']['reads'],
    kernel: T['convolve']['spectra'],
    output: O,
    options?: CallOptions,
  ): Promise<O>;
  convolve<I extends T['convolve']['reads']>(
    input: I,
    kernel: T['convolve']['spectra'],
    output?: undefined,
    options?: CallOptions,
  ): Promise<T['convolve']['makes'] | (I & T['returned'])>;
  convolve(input: ComplexData, kernel: Data, output?: ComplexData, options?: CallOptions): Promise<ComplexData> {
    try {
      return this.programs.runner('convolve').async(input, output, { kernel, options });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * `convolve` on the calling thread.
   * @throws FftError as `forwardSync`, `convolve`
   */
  convolveSync<O extends T['convolve']['writes']>(
    input: T['convolve']['reads'],
    kernel: T['convolve']['spectra'],
    output: O,
    options?: CallOptions,
  ): O;
  convolveSync<I extends T['convolve']['reads']>(
    input: I,
    kernel: T['convolve']['spectra'],
    output?: undefined,
    options?: CallOptions,
  ): T['convolve']['makes'] | (I & T['returned']);
  convolveSync(input: ComplexData, kernel: Data, output?: ComplexData, options?: CallOptions): ComplexData {
    return this.programs.runner('convolve', 'convolveSync').sync(input, output, { kernel, options });
  }

  /**
   * Appends the transform to the device's work, or to the caller's own, and returns at once. It runs after all calls made
   * before it, those that wait for host arrays too.
   * @returns a promise of its completion, for those who want to wait here; `device.finish()` waits for everything. Where
   * the work was appended to the caller's `encoder`, `stream` or `queue`, the promise only says that it was accepted.
   * @throws FftError at once, before anything is appended: `unknown-field` for options that do not exist and
   * `unsupported-feature` for options that this device does not have, the errors of a call with such data, and `aliased-buffers`
   * if work for the caller's own encoder, stream or queue would overtake a waiting call that uses the same memory.
   */
  enqueue<D extends T['directions'] | T['tasks']>(
    direction: D,
    options: EnqueueOptions<T[D]['reads'], T[D]['writes']>,
  ): Promise<void>;
  enqueue(direction: Direction | 'convolve', options: EnqueueOptions): Promise<void> {
    return enqueue(this.programs.hostOf(direction), options);
  }

  /**
   * Times one transform on the device, without copies to and from the host, as the mean of many in a row (on the CPU the
   * median of five such means).
   * @param options memory as for `enqueue`; sides that are left out get memory of their own. `repeats`: runs, 10 by default, more if
   * the clock is too coarse for them, as a page's may be. `peer`: another
   * library to time instead.
   * @returns milliseconds, by the device's own clock where it has one.
   * @throws FftError (as a rejection) as `enqueue`; for a `peer` also `device-unavailable`
   */
  measure<D extends T['directions'] | T['tasks']>(
    direction: D,
    options?: MeasureOptions<T[D]['reads'], T[D]['writes']>,
  ): Promise<number>;
  async measure(direction: Direction | 'convolve', options: MeasureOptions = {}): Promise<number> {
    const loading = loadGroups(['saved and measured plans']);
    if (loading) await loading;
    return measure(this.programs.hostOf(direction), options);
  }

  /**
   * A plan whose `forward` is the exact adjoint of one of this plan's calls, under the real inner product ⟨x, y⟩ = Σ x·y over all real
   * numbers, a complex number being two of them. It takes the cotangent of a result to the cotangent of the input (a vector–Jacobian product).
   * `forward` of the adjoint reads what the call writes, and writes what it reads: each side keeps its shape, strides, offset, layout, blocks
   * of zeros and storage. It runs a problem derived from this plan's, `adjoint.problem`, and is as fast as this plan.
   *
   * - The half of a spectrum counts each bin once: imaginary parts that a transform to reals takes for zero get zero.
   * - Elements that a call takes for zero (`zeroPadding`), or does not read, its adjoint does not write; elements that the call does not
   *   write, its adjoint takes for zero. Elements that the adjoint does not write are zero in new arrays, and unchanged in the caller's.
   * - Callbacks that are linear in their value are transposed and change sides; their arrays are given to `forward` as for this plan.
   * - The adjoint of `convolve` with respect to the signal (`of: 'signal'`) is `forward(cotangent, output, { kernel })`, with kernels of
   *   this plan's `prepareKernel`; with respect to the kernel (`of: 'kernel'`) it is `forward(cotangent, output, { signal })`, whose output
   *   has the shape of `prepareKernel`'s input. `convolve(cotangent, kernel or signal, output)` of the adjoint does the same.
   *
   * Free it with `destroy`: it outlives this plan.
   * @param direction the call: 'forward', 'inverse', or 'convolve' with `of`.
   * @param options `of`: the factor; `from`: the result of `serialize()` of the same adjoint of a transform.
   * @throws FftError (as a rejection) `unsupported-feature` for steps that are not linear or have no adjoint yet (callbacks, `crossPower`; with
   *   respect to the kernel, but for spectral layers: symmetric matrices, the user's spectra, halves), `overlapping-strides` where this plan reads
   *   elements more than once, `direction-not-planned`, `invalid-argument`, `destroyed`, and as `device.plan`
   */
  adjoint(
    direction: T['directions'] & 'forward',
    options?: Pick<AdjointOptions, 'from'>,
  ): Promise<Plan<DirectionAdjoint<T['adjoints']['forward'], T['forward'], T['returned']>>>;
  adjoint(
    direction: T['directions'] & 'inverse',
    options?: Pick<AdjointOptions, 'from'>,
  ): Promise<Plan<DirectionAdjoint<T['adjoints']['inverse'], T['inverse'], T['returned']>>>;
  adjoint(
    direction: T['tasks'],
    options: { readonly of: 'signal' },
  ): Promise<
    Plan<ConvolutionAdjoint<T['adjoints']['signal'], T['convolve']['kernels'], T['convolve']['spectra'], T['returned']>>
  >;
  adjoint(
    direction: T['tasks'],
    options: { readonly of: 'kernel' },
  ): Promise<Plan<ConvolutionAdjoint<T['adjoints']['kernel'], never, T['convolve']['reads'], never>>>;
  adjoint(direction: T['directions'], options?: Pick<AdjointOptions, 'from'>): Promise<Plan>;
  async adjoint(direction: Direction | 'convolve', options: AdjointOptions = {}): Promise<Plan> {
    this.programs.check();
    const loading = loadGroups([
      'gradients',
      'callbacks',
      'layouts',
      ...(this.problem.convolution ? (['convolutions'] as const) : []),
    ]);
    if (loading) await loading;
    return this.host.adjoint(adjointRequest(this.programs, direction, options));
  }

  /**
   * The plan as text for people: tree, buffers, kernels, bytes moved.
   * @throws FftError `destroyed`
   */
  explain(): string {
    return explainPlan(this.toJSON());
  }

  /**
   * The contents of `explain()` as plain data.
   * @throws FftError `destroyed`
   */
  toJSON(): ReturnType<typeof planToJson> {
    const { all, directions } = this.programs;
    const told = planToJson(this.problem, this.host.backend, all, {
      tables: this.bytes.tables,
      candidates: this.host.candidates(this.problem, directions[0]?.splits),
    });
    return {
      ...told,
      directions: told.directions.map((one) => ({ ...one, direction: this.programs.nameOf(one.direction) })),
    };
  }

  /**
   * The plan with its compiled code, for `device.plan(problem, { from })` by the same version of the library on a device with the
   * same profile and driver, which needs no compiler then. Whoever loads it runs the code in it.
   * @throws FftError `destroyed`; `unsupported-feature` on devices that give no code (WebGPU) and for problems with callbacks or
   * convolutions; `compile-failed`; `not-loaded` in a page that has not opened the device with `cache`
   */
  serialize(options: { readonly binaries: true }): Uint8Array;
  /**
   * The planner's decisions, which are the splits of axes into launches, for `device.plan(problem, { from })` by the same version
   * of the library on a device with the same profile: model, limits and, on the CPU, threads.
   * @throws FftError `destroyed`
   */
  serialize(options?: { readonly binaries?: false }): string;
  serialize(options: { readonly binaries?: boolean } = {}): string | Uint8Array {
    const { binaries = false } = readOptions(options, { works: ['binaries'] }, 'serialize');
    if (typeof binaries !== 'boolean')
      throw new FftError('invalid-argument', `binaries is ${show(binaries)}; it must be true or false.`);
    if (binaries) return this.host.binaries(this.problem, this.programs.all);
    const { directions } = this.programs;
    // A spectral layer has no directions, so its problem alone is saved.
    if (directions.length > 0 || this.problem.convolution?.channels)
      return serializePlan(this.problem, this.host.backend, directions);
    throw new FftError('unsupported-feature', 'Adjoints of convolutions are not saved; plan it anew.');
  }

  /**
   * The transform of one line as the source of a function, for kernels of the caller's own: all threads of a line call it together, each
   * with its elements of the line in registers, and have its elements of the result there afterwards. The plan's `scale` and `normalize` apply;
   * its strides, batches and storage do not, because the caller moves the data. docs/device-functions.md has examples.
   * @param options `language`: cuda, hip, opencl or wgsl; `direction`; `name`; in WGSL `lines`, `shared` and `binding`.
   * @throws FftError `unsupported-feature` for lines that take several launches, several axes, cosine and sine transforms, callbacks,
   * convolutions, blocks of zeros, numbers that the language does not compute in, and devices without threads; `invalid-argument`,
   * `unknown-field`, `direction-not-planned`, `destroyed`; `not-loaded` in a page that has not called `openProfile`
   */
  deviceFunction(options: DeviceFunctionOptions): DeviceFunction {
    this.programs.check();
    return deviceFunctionOf(this.programs, this.host.backend.profile, options);
  }

  /** Frees kernels, tables and temp. Later calls throw `destroyed`. */
  destroy(): void {
    if (this.programs.release()) this.host.forget(this);
  }

  /** `destroy`, for `using`. */
  [dispose](): void {
    this.destroy();
  }

  /**
   * @internal `forward` or `inverse` of memory as in the call before, if that can end at once.
   * @returns whether it has ended; otherwise nothing has been done
   */
  now(direction: Direction, input: ComplexData, output: ComplexData, options: CallOptions | undefined): boolean {
    return this.programs.runner(direction).now(input, output, options);
  }

  private run(
    direction: Direction,
    input: ComplexData,
    output: ComplexData | undefined,
    options: CallOptions | undefined,
  ): Promise<ComplexData> {
    try {
      return this.programs.runner(direction).async(input, output, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** Defines a field that cannot be assigned, for callers in JavaScript, where `readonly` has no effect. */
function fix<K extends 'problem' | 'input' | 'output'>(plan: Pick<Plan, K>, name: K, value: Plan[K]): void {
  Object.defineProperty(plan, name, { value, enumerable: true });
}
