/** Plans of non-uniform transforms for given points: the launches from the input of a call to its result. */
import type { DeviceBuffer } from '../../devices/device.ts';
import {
  clearKernel,
  type FineGrid,
  type ModeArray,
  marginKernel,
  modesKernel,
  type NonuniformShape,
  type NonuniformTarget,
  packedModes,
} from '../../kernels/nonuniform/index.ts';
import { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import { FftError, type ProblemInput } from '../../problem/index.ts';
import { sideFactsOf } from '../arguments/arguments.ts';
import { DeviceMemory } from '../arguments/memory.ts';
import { CompiledProgram } from '../compiling/compiled-program.ts';
import type { ProgramHost } from '../compiling/host.ts';
import { DevicePoints, type PointSide } from './points.ts';
import { fineLength, gridFor, type NonuniformProblem, type ScaledAxis, scaledAxis, targetFor } from './problem.ts';
import { pointCapacity } from './sort.ts';
import { type Launch, LaunchList, Workshop } from './workshop.ts';

/** The slots of the memory that calls are given. */
const INPUT = { slot: 0 } as const;
const OUTPUT = { slot: 1 } as const;

/** Points by axis: `x` for all types, and the frequencies `s` for type 3. */
export interface PointSets {
  readonly x: readonly ArrayLike<number>[];
  readonly s: readonly ArrayLike<number>[];
}

export class NonuniformPlanner {
  readonly problem: NonuniformProblem;
  private readonly workshop: Workshop;
  private readonly spreading: SemicircleKernel;
  private readonly target: NonuniformTarget;

  /** @throws FftError (as a rejection) `unsupported-precision` */
  static async of(host: ProgramHost, problem: NonuniformProblem): Promise<NonuniformPlanner> {
    await host.requirePrecision(problem.precision);
    return new NonuniformPlanner(host, problem);
  }

  private constructor(host: ProgramHost, problem: NonuniformProblem) {
    this.problem = problem;
    this.workshop = new Workshop(host, problem.precision);
    this.spreading = new SemicircleKernel(problem.tolerance, problem.upsampling);
    this.target = targetFor(host.backend.profile, this.workshop.type);
  }

  /** Grid points along an axis that the spreading kernel reaches from a point. */
  get width(): number {
    return this.spreading.width;
  }

  /** Points of the fine grid along each axis. A grid of type 3 depends on the extent of the points, and is not known before they are set. */
  get finePoints(): readonly number[] {
    return this.problem.modes.map((modes) => fineLength(modes, this.spreading));
  }

  /**
   * Coordinates in memory of the device, read back; a copy of others.
   * @throws FftError (as a rejection) `foreign-buffer`, `destroyed`, `device-closed`, `device-lost`
   */
  async coordinates<T>(given: T): Promise<T | Float32Array | Float64Array> {
    if (given instanceof DeviceMemory) return this.workshop.read(given);
    return (Array.isArray(given) || ArrayBuffer.isView(given) ? (given as unknown as number[]).slice() : given) as T;
  }

  /**
   * The transform for points.
   * @throws FftError (as a rejection) `device-limit`, `out-of-memory`, `compile-failed`, `device-closed`
   */
  async at(sets: PointSets): Promise<CompiledProgram> {
    const { host } = this.workshop;
    const parts = new Parts();
    try {
      const launches = this.problem.type === 3 ? await this.type3(sets, parts) : await this.types1and2(sets, parts);
      parts.list = new LaunchList(host, launches);
      host.check();
      await Promise.all([host.backend.warmUp(parts.list.kernels), host.cache.filled()]);
      host.check();
      const { type, modes, transforms, precision } = this.problem;
      const facts = (count: number) =>
        ({ layout: 'real', ...sideFactsOf(precision, 2 * transforms * count, host.backend.profile) }) as const;
      const points = sets.x[0]!.length;
      const grid = modes.reduce((product, count) => product * count, 1);
      const [from, to] = type === 1 ? [points, grid] : type === 2 ? [grid, points] : [points, sets.s[0]!.length];
      const name = type === 2 ? 'f' : 'c';
      return new CompiledProgram(host, {
        inputs: [{ name, isNumber: false, facts: facts(from) }],
        output: facts(to),
        code: parts,
      });
    } catch (error) {
      parts.release();
      throw error;
    }
  }

  private shape(grid: FineGrid, points: number, hasFactors: boolean): NonuniformShape {
    const { target, spreading, problem, workshop } = this;
    const capacity = pointCapacity(points);
    this.refuseTooLarge(grid, capacity);
    return {
      target,
      type: workshop.type,
      grid,
      width: spreading.width,
      transforms: problem.transforms,
      capacity,
      hasFactors,
    };
  }

  private refuseTooLarge({ size }: FineGrid, capacity: number): void {
    const { name, maxBytes = Number.POSITIVE_INFINITY } = this.workshop.host.backend.profile;
    const { transforms, precision, dimensions } = this.problem;
    const real = precision === 'single' ? 4 : 8;
    const bytes = 2 * real * size * transforms + capacity * (8 + real * (2 * this.width + 4) * dimensions);
    // Tables hold grid addresses as 32-bit integers, and kernels count in reals.
    if (bytes <= maxBytes && 2 * size < 2 ** 31) return;
    const message =
      `This transform needs a fine grid of ${size} complex numbers for each of ${transforms} transforms, ${bytes} bytes with its points; ` +
      `${name} can address ${Math.min(maxBytes, 2 ** 31 * real)}.`;
    throw new FftError('device-limit', message, { path: this.problem.type === 3 ? 'setPoints' : 'nModes' });
  }

  private async types1and2({ x }: PointSets, parts: Parts): Promise<Launch[]> {
    const { spreading, target, problem } = this;
    const grid = gridFor(this.finePoints, spreading, target);
    const side: PointSide = { shape: this.shape(grid, x[0]!.length, false), spreading };
    const points = parts.keepPoints(await DevicePoints.of(this.workshop, side, x));
    const fine = this.gridMemory(grid, parts);
    const modes = packedModes(problem.modes, problem.order);
    const transform = parts.keep(await this.transform(grid, problem.modes, problem.type === 1 ? 'output' : 'input'));
    if (problem.type === 1) {
      return [
        ...spreading1(side.shape, points, fine),
        { transform, grid: fine },
        ...modesLaunches(side, modes, 'from grid', { modes: OUTPUT, grid: fine }),
      ];
    }
    return [
      ...modesLaunches(side, modes, 'into grid', { modes: INPUT, grid: fine }),
      { transform, grid: fine },
      ...interpolation2(side.shape, points, fine),
    ];
  }

  private async type3({ x, s }: PointSets, parts: Parts): Promise<Launch[]> {
    const { spreading, target, workshop } = this;
    const axes = x.map((along, axis) => scaledAxis(along, s[axis]!, spreading));
    const coarse = gridFor(
      axes.map(({ points }) => points),
      spreading,
      target,
    );
    const fine = gridFor(
      coarse.points.map((points) => fineLength(points, spreading)),
      spreading,
      target,
    );
    const source: PointSide = {
      shape: this.shape(coarse, x[0]!.length, true),
      spreading,
      factors: this.factorsBefore(x, axes),
    };
    const goal: PointSide = {
      shape: this.shape(fine, s[0]!.length, true),
      spreading,
      factors: this.factorsAfter(s, axes),
    };
    const scaledX = x.map((along, axis) =>
      mappedValues(along, (value) => (value - axes[axis]!.center) / axes[axis]!.gamma),
    );
    const scaledS = s.map((along, axis) => mappedValues(along, (value) => scaledFrequency(value, axes[axis]!)));
    const from = parts.keepPoints(await DevicePoints.of(workshop, source, scaledX));
    const to = parts.keepPoints(await DevicePoints.of(workshop, goal, scaledS));
    const first = this.gridMemory(coarse, parts);
    const second = this.gridMemory(fine, parts);
    const modes: ModeArray = { counts: coarse.points, strides: coarse.strides, size: coarse.size, order: 'transform' };
    const transform = parts.keep(await this.transform(fine, coarse.points, 'input'));
    return [
      ...spreading1(source.shape, from, first),
      ...modesLaunches(goal, modes, 'into grid', { modes: first, grid: second }),
      { transform, grid: second },
      ...interpolation2(goal.shape, to, second),
    ];
  }

  /** The factors e^{±i D·x}, which centre the frequencies at 0. */
  private factorsBefore(x: PointSets['x'], axes: readonly ScaledAxis[]): Float64Array {
    return this.rotations(x[0]!.length, (n) =>
      axes.reduce((sum, { frequencyCenter }, axis) => sum + frequencyCenter * x[axis]![n]!, 0),
    );
  }

  /** The factors e^{±i (s − D)·C}, divided by the transform of the spreading kernel. */
  private factorsAfter(s: PointSets['s'], axes: readonly ScaledAxis[]): Float64Array {
    const { spreading } = this;
    const factors = this.rotations(s[0]!.length, (n) =>
      axes.reduce((sum, { center, frequencyCenter }, axis) => sum + center * (s[axis]![n]! - frequencyCenter), 0),
    );
    for (let n = 0; n < s[0]!.length; n++) {
      let product = 1;
      axes.forEach((own, axis) => {
        product *= spreading.transformAt(Math.abs(scaledFrequency(s[axis]![n]!, own)));
      });
      factors[2 * n]! /= product;
      factors[2 * n + 1]! /= product;
    }
    return factors;
  }

  private rotations(count: number, angle: (n: number) => number): Float64Array {
    const rotations = new Float64Array(2 * count);
    for (let n = 0; n < count; n++) {
      const own = this.problem.sign * angle(n);
      rotations[2 * n] = Math.cos(own);
      rotations[2 * n + 1] = Math.sin(own);
    }
    return rotations;
  }

  private gridMemory({ size }: FineGrid, parts: Parts): DeviceBuffer {
    const buffer = this.workshop.reals(2 * size * this.problem.transforms);
    parts.buffers.push(buffer);
    return buffer;
  }

  /** The transform over a fine grid, in place. It does not read, or not write, the block of the grid that has no modes. */
  private transform(grid: FineGrid, modes: readonly number[], side: 'input' | 'output') {
    const { sign, transforms, precision } = this.problem;
    const direction = sign > 0 ? 'inverse' : 'forward';
    const strides = [1, ...grid.strides, grid.size];
    const blocks = grid.points.map((points, axis) => {
      const below = Math.floor(modes[axis]! / 2);
      return { from: modes[axis]! - below, to: points - below };
    });
    // Zero padding belongs to the side of the problem, space or spectrum, that this direction reads or writes.
    const isSpace = (direction === 'forward') === (side === 'input');
    const problem: ProblemInput = {
      size: [...grid.points],
      batches: transforms,
      precision,
      placement: 'in-place',
      strides: { input: strides, output: strides },
      directions: direction,
      zeroPadding: isSpace ? { space: blocks } : { frequency: blocks },
    };
    return this.workshop.transform(problem, direction);
  }
}

/** The device resources of a transform for points. */
class Parts {
  readonly buffers: DeviceBuffer[] = [];
  private readonly points: DevicePoints[] = [];
  private readonly transforms: { release(): void }[] = [];
  list: LaunchList | undefined;

  keep<T extends { release(): void }>(transform: T): T {
    this.transforms.push(transform);
    return transform;
  }

  keepPoints(points: DevicePoints): DevicePoints {
    this.points.push(points);
    return points;
  }

  get kernels() {
    return this.list!.kernels;
  }

  bind(...places: Parameters<LaunchList['bind']>) {
    return this.list!.bind(...places);
  }

  release(): void {
    this.list?.release();
    for (const points of this.points.splice(0)) points.free();
    for (const transform of this.transforms.splice(0)) transform.release();
    for (const buffer of this.buffers.splice(0)) buffer.free();
  }
}

function spreading1(shape: NonuniformShape, points: DevicePoints, grid: DeviceBuffer): Launch[] {
  const margins = shape.grid.points.map((_, axis) => ({ kernel: marginKernel(shape, axis, 'add'), memory: { grid } }));
  return [{ kernel: clearKernel(shape), memory: { grid } }, ...points.spread(INPUT, grid), ...margins];
}

function interpolation2(shape: NonuniformShape, points: DevicePoints, grid: DeviceBuffer): Launch[] {
  const margins = shape.grid.points.map((_, axis) => ({ kernel: marginKernel(shape, axis, 'copy'), memory: { grid } }));
  return [...margins, points.interpolate(grid, OUTPUT)];
}

function modesLaunches(
  { shape, spreading }: PointSide,
  modes: ModeArray,
  way: 'from grid' | 'into grid',
  memory: { readonly modes: DeviceBuffer | { readonly slot: number }; readonly grid: DeviceBuffer },
): Launch[] {
  return (['positive', 'negative'] as const).flatMap((sign) => {
    const kernel = modesKernel(shape, modes, spreading, way, sign);
    return kernel ? [{ kernel, memory }] : [];
  });
}

function scaledFrequency(frequency: number, { frequencyCenter, gamma, points }: ScaledAxis): number {
  return ((2 * Math.PI) / points) * gamma * (frequency - frequencyCenter);
}

function mappedValues(values: ArrayLike<number>, f: (value: number) => number): Float64Array {
  return Float64Array.from({ length: values.length }, (_, n) => f(values[n]!));
}
