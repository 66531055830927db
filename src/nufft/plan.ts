/** Plans of nonuniform transforms: points are set once, and strengths or modes are transformed many times. */
import { DeviceMemory, dispose } from '../engine/arguments/memory.ts';
import { readOptions } from '../engine/arguments/options.ts';
import type { CompiledProgram, EnqueueProgramOptions } from '../engine/compiling/compiled-program.ts';
import type { Data, Device } from '../engine/index.ts';
import { NonuniformPlanner } from '../engine/nonuniform/plan.ts';
import type { NonuniformProblem, TransformType } from '../engine/nonuniform/problem.ts';
import { sharedDevice } from '../numpy/calls/choice.ts';
import { FftError } from '../problem/errors.ts';
import { arrayClass, arrayLength } from '../problem/input/bytes.ts';
import type { FloatPrecision } from '../signal/arguments/floats.ts';
import { checkPlan, type NufftPlanOptions } from './options.ts';
import { type Coordinates, type GivenAxes, type PointSet, readPoints } from './points.ts';

export type ComplexFloats<P extends FloatPrecision> = P extends 'single' ? Float32Array : Float64Array;

/** Memory for `enqueue`, and the encoder, stream or queue to append to. */
export interface NufftEnqueueOptions extends Omit<EnqueueProgramOptions, 'inputs' | 'output'> {
  readonly input: Data;
  readonly output: Data;
}

const ENQUEUED = ['input', 'output', 'encoder', 'stream', 'queue'] as const;

function noPoints(): FftError {
  return new FftError('missing-buffer', 'There are no points yet; call setPoints first.', { path: 'x' });
}

/** A plan with its present points, compiled. */
class PlannedPoints {
  readonly x: PointSet;
  readonly s: PointSet;
  private readonly program: Promise<CompiledProgram | undefined>;
  private compiled: CompiledProgram | undefined;
  private isReady = false;
  private calls = 0;
  private isRetired = false;

  /** @param program the compiled transform; resolves to undefined where there are no points */
  constructor(x: PointSet, s: PointSet, program: Promise<CompiledProgram | undefined>) {
    this.x = x;
    this.s = s;
    this.program = program;
  }

  async ready(): Promise<void> {
    this.compiled = await this.program;
    this.isReady = true;
  }

  /** Appends the transform to the work of the device, or to the caller's own, which cannot wait. */
  enqueue(options: Parameters<CompiledProgram['enqueue']>[0]): Promise<void> {
    const { compiled } = this;
    if (!compiled) {
      const message = this.isReady
        ? 'There are no points, so there is nothing to append.'
        : 'The points are not ready yet; wait for setPoints before enqueue.';
      throw new FftError('missing-buffer', message, { path: 'x' });
    }
    const done = compiled.enqueue(options);
    this.run(() => done).catch(() => undefined);
    return done;
  }

  async run<T>(use: (program: CompiledProgram | undefined) => Promise<T>): Promise<T> {
    this.calls++;
    try {
      return await use(await this.program);
    } finally {
      this.calls--;
      this.settle();
    }
  }

  /** Frees its memory when the calls made so far have ended. */
  retire(): void {
    this.isRetired = true;
    this.settle();
  }

  private settle(): void {
    if (!this.isRetired || this.calls > 0) return;
    this.program.then((program) => program?.destroy()).catch(() => undefined);
  }
}

/**
 * A nonuniform transform to be carried out many times, made by `plan`.
 *
 * Complex numbers are interleaved, re then im; `nTrans` transforms follow one another. With M points, N modes in all (modes along x run fastest) and
 * K frequencies, type 1 takes M strengths and gives N modes, type 2 takes N modes and gives M values, type 3 takes M strengths and gives K values.
 */
export class NufftPlan<P extends FloatPrecision = FloatPrecision> {
  readonly type: TransformType;
  readonly nModes: readonly number[];
  readonly nTrans: number;
  readonly eps: number;
  readonly isign: 1 | -1;
  readonly precision: P;
  readonly modeOrd: 0 | 1;
  readonly upsampfac: number;
  /** Width of the spreading kernel: the number of fine grid points, along an axis, that each nonuniform point is spread over. */
  readonly width: number;
  /** Points of the fine grid along each axis; empty for type 3, whose grids follow from the points. */
  readonly fineGrid: readonly number[];
  private readonly device: Device;
  private readonly planner: NonuniformPlanner;
  private current: PlannedPoints | undefined;
  private adjoint: Promise<NufftPlan<P>> | undefined;
  private destroyed = false;
  /** How often points have been set. */
  private turn = 0;

  /** @internal */
  constructor(device: Device, planner: NonuniformPlanner) {
    const { type, modes, transforms, tolerance, sign, precision, order, upsampling } = planner.problem;
    this.device = device;
    this.planner = planner;
    this.type = type;
    this.nModes = Object.freeze([...modes]);
    this.nTrans = transforms;
    this.eps = tolerance;
    this.isign = sign;
    this.precision = precision as P;
    this.modeOrd = order === 'centred' ? 0 : 1;
    this.upsampfac = upsampling;
    this.width = planner.width;
    this.fineGrid = Object.freeze([...planner.finePoints]);
  }

  /**
   * Sets the points, in place of earlier ones. Arrays are read at once; calls of `execute` wait until the plan is ready for the points. Memory of
   * the device holds numbers of the plan's precision, as many as there are points; it is read back once earlier work on the device has ended, because
   * points are sorted on the host.
   *
   * @param x coordinates along x in radians, M of them, of any size: they have a period of 2π, but not for type 3
   * @param y coordinates along y, needed in two and three dimensions
   * @param z coordinates along z, needed in three
   * @param s frequencies of type 3 along x, K of them
   * @param t frequencies along y
   * @param u frequencies along z
   * @throws FftError (as a rejection) `missing-buffer`, `wrong-array-type`, `wrong-length`, `invalid-argument` for coordinates that are not finite,
   *   `detached-array`, `foreign-buffer`, `device-limit`, `out-of-memory`, `compile-failed`, `destroyed`, `device-closed`
   */
  async setPoints(
    x: Coordinates | DeviceMemory,
    y?: Coordinates | DeviceMemory | null,
    z?: Coordinates | DeviceMemory | null,
    s?: Coordinates | DeviceMemory | null,
    t?: Coordinates | DeviceMemory | null,
    u?: Coordinates | DeviceMemory | null,
  ): Promise<void> {
    this.check();
    const turn = ++this.turn;
    const given = [x, y, z, s, t, u];
    const isInMemory = given.some((axis) => axis instanceof DeviceMemory);
    const axes = isInMemory ? await Promise.all(given.map((axis) => this.planner.coordinates(axis))) : given;
    this.check();
    // Later points may have come before these were read.
    if (turn !== this.turn) return;
    const { dimensions } = this.planner.problem;
    const points = readPoints(axes.slice(0, 3) as GivenAxes, ['x', 'y', 'z'], dimensions);
    const frequencies = readPoints(axes.slice(3) as GivenAxes, ['s', 't', 'u'], this.type === 3 ? dimensions : 0);
    await this.place(points, frequencies);
  }

  /**
   * Carries out the transform at the present points.
   *
   * @param input strengths (types 1 and 3) or modes (type 2), interleaved complex: a `Float32Array`, in double precision a `Float64Array`, or memory
   *   of the device
   * @param output array or memory for the result; default: a new array
   * @returns the output, once the result is in it
   * @throws FftError (as a rejection) `missing-buffer` where no points are set, `wrong-length`, `wrong-array-type`, `buffer-too-small`,
   *   `aliased-buffers`, `foreign-buffer`, `detached-array`, `destroyed`, `device-closed`; nothing is written then
   */
  execute(input: Data): Promise<ComplexFloats<P>>;
  execute<O extends Data>(input: Data, output: O): Promise<O>;
  async execute(input: Data, output?: Data): Promise<Data> {
    this.check();
    const { current } = this;
    if (!current) throw noPoints();
    return current.run(async (program) => {
      this.check();
      if (!program) return this.executeNothing(current, input, output);
      return program.run({ [this.inputName]: input }, output) as Promise<Data>;
    });
  }

  /**
   * Appends the transform at the present points, which have to be ready, to the work of the device; or to an encoder, a stream or a queue of the
   * caller, as `plan.enqueue` of uniform transforms does. All calls of a plan use the same fine grid, so work in several streams has to wait for
   * one another, and the points have to stay until it has run.
   *
   * @param options `input` and `output`: memory of the device, or the caller's own, with what `execute` takes and gives
   * @returns a promise of completion; where the caller's own takes the work, it only says that it was accepted
   * @throws FftError at once, before anything is appended: `missing-buffer` where there are no points or they are not ready, and the errors of
   *   `plan.enqueue`
   */
  enqueue(options: NufftEnqueueOptions): Promise<void> {
    this.check();
    const { input, output, ...target } = readOptions(options, { works: ENQUEUED }, 'enqueue');
    if (!this.current) throw noPoints();
    return this.current.enqueue({ inputs: { [this.inputName]: input }, output, ...target });
  }

  /**
   * The adjoint of the transform: it maps the output of `execute` back to its input's shape, with the opposite sign of the exponent. It is planned at
   * the first call for the present points.
   * @throws FftError (as a rejection) as `execute`, and as `setPoints`
   */
  executeAdjoint(input: Data): Promise<ComplexFloats<P>>;
  executeAdjoint<O extends Data>(input: Data, output: O): Promise<O>;
  async executeAdjoint(input: Data, output?: Data): Promise<Data> {
    this.check();
    if (!this.current) throw noPoints();
    this.adjoint ??= this.planAdjoint(this.current);
    const adjoint = await this.adjoint;
    this.check();
    return output === undefined ? adjoint.execute(input) : adjoint.execute(input, output);
  }

  /** Frees the plan's memory when the calls made so far have ended. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.current?.retire();
    this.forgetAdjoint();
  }

  /** `destroy`, for `using`. */
  [dispose](): void {
    this.destroy();
  }

  private get inputName(): string {
    return this.type === 2 ? 'f' : 'c';
  }

  private check(): void {
    if (this.destroyed) throw new FftError('destroyed', 'This plan has been destroyed; make another one.');
  }

  private async place(x: PointSet, s: PointSet): Promise<void> {
    const isEmpty = x[0]!.length === 0 || s[0]?.length === 0;
    const program = isEmpty ? Promise.resolve(undefined) : this.planner.at({ x, s });
    const placed = new PlannedPoints(x, s, program);
    this.current?.retire();
    this.forgetAdjoint();
    this.current = placed;
    try {
      await placed.ready();
    } catch (error) {
      if (this.current === placed) this.current = undefined;
      throw error;
    }
  }

  private async planAdjoint({ x, s }: PlannedPoints): Promise<NufftPlan<P>> {
    const { problem } = this.planner;
    const opposite: NonuniformProblem = {
      ...problem,
      type: problem.type === 1 ? 2 : problem.type === 2 ? 1 : 3,
      sign: problem.sign > 0 ? -1 : 1,
    };
    const plan = await planOfGrid<P>(this.device, opposite);
    try {
      if (problem.type === 3) await plan.place(s, x);
      else await plan.place(x, s);
      return plan;
    } catch (error) {
      this.adjoint = undefined;
      plan.destroy();
      throw error;
    }
  }

  private forgetAdjoint(): void {
    this.adjoint?.then((plan) => plan.destroy()).catch(() => undefined);
    this.adjoint = undefined;
  }

  /** The result without points (zeros), or without frequencies (empty). */
  private executeNothing({ x, s }: PlannedPoints, input: unknown, output: Data | undefined): Data {
    const modes = this.nModes.reduce((product, count) => product * count, 1);
    const [points, others] = [x[0]!.length, this.type === 3 ? s[0]!.length : modes];
    const [taken, given] = this.type === 2 ? [others, points] : [points, others];
    const wanted = this.precision === 'single' ? Float32Array : Float64Array;
    const result = output ?? new wanted(2 * given * this.nTrans);
    for (const [array, count, name] of [
      [input, taken, 'input'],
      [result, given, 'output'],
    ] as const) {
      if (arrayClass(array) !== wanted.name) {
        throw new FftError('wrong-array-type', `${name} takes a ${wanted.name} where there are no points.`, {
          path: name,
        });
      }
      if (arrayLength(array) !== 2 * count * this.nTrans) {
        const message = `${name} has ${arrayLength(array)} numbers; it takes ${2 * count * this.nTrans}.`;
        throw new FftError('wrong-length', message, { path: name });
      }
    }
    (result as Float32Array).fill(0);
    return result;
  }
}

/**
 * Plans a nonuniform transform.
 *
 * Type 1, from points to modes: f_k = Σ_j c_j e^{±i k·x_j}. Type 2, from modes to points: c_j = Σ_k f_k e^{±i k·x_j}. Type 3, from points to
 * frequencies: f_k = Σ_j c_j e^{±i s_k·x_j}. No type is scaled.
 *
 * @param type 1, 2 or 3
 * @param nModes modes along x, y and z: one to three positive integers, or a number for one dimension. For type 3 the number of dimensions.
 * @throws FftError (as a rejection) `invalid-argument`, `invalid-size`, `unknown-field`, `unsupported-precision`, and the errors of opening the
 *   shared device
 */
export async function plan<P extends FloatPrecision = 'single'>(
  type: TransformType,
  nModes: number | readonly number[],
  options: NufftPlanOptions<P> = {},
): Promise<NufftPlan<P>> {
  const { problem, device } = checkPlan(type, nModes, options);
  return planOfGrid<P>(device ?? (await sharedDevice()), problem);
}

async function planOfGrid<P extends FloatPrecision>(device: Device, problem: NonuniformProblem): Promise<NufftPlan<P>> {
  return new NufftPlan<P>(device, await NonuniformPlanner.of(device.programHost(), problem));
}
