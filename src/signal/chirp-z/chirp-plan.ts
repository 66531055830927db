/** A chirp z-transform that is kept: a plan for the circular convolution, memory for its tables, and working memory. */
import type { Device, Plan } from '../../engine/index.ts';
import { loadGroups } from '../../engine/lazy/lazy-modules.ts';
import {
  type ArrayInput,
  allocated,
  asArray,
  type ComplexArray,
  elementCount,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
} from '../../numpy/arrays/array.ts';
import { resolveAxis } from '../../numpy/calls/axes.ts';
import { FftError } from '../../problem/errors.ts';
import type { Callback, ProblemInput } from '../../problem/index.ts';
import { refuseDetached } from '../../problem/input/bytes.ts';
import type { Floats } from '../arguments/floats.ts';
import { placesFor, type WorkMemory, workOn } from '../calls/work.ts';
import { type ChirpProblem, checkSpiral, chirpTables, circleOf } from './chirp-tables.ts';

/** The lines of an array along one axis: they begin at outer·n·inner + i, and their elements lie `inner` apart. */
interface ChirpLines {
  readonly array: NumpyArray;
  readonly axis: number;
  readonly inner: number;
  readonly count: number;
}

/** The tables of a call, in memory of the device itself where possible. */
type ChirpMemory = Readonly<Record<'work' | 'before' | 'spectrum' | 'after', WorkMemory>>;

export class ChirpPlan {
  readonly problem: ChirpProblem;
  private readonly length: number;
  /** One convolution that multiplies by a table while it reads and by another while it writes. */
  private readonly circle: Plan;
  private readonly memory: ChirpMemory;
  private readonly arrays: { readonly arrays: { readonly [name: string]: WorkMemory['data'] } };
  private last: Promise<unknown> = Promise.resolve();
  /** Number of calls that have not ended. */
  private calls = 0;
  private destroyed = false;

  private constructor(problem: ChirpProblem, circle: Plan, memory: ChirpMemory) {
    this.problem = problem;
    this.length = circleOf(problem);
    this.circle = circle;
    this.memory = memory;
    this.arrays = { arrays: { before: memory.before.data, after: memory.after.data } };
  }

  /** @throws FftError (as a rejection) `invalid-argument` for too wide a spiral, `out-of-memory`, and the errors of `device.plan` */
  static async make(problem: ChirpProblem, device: Device): Promise<ChirpPlan> {
    checkSpiral(problem);
    const { batches, precision } = problem;
    const length = circleOf(problem);
    // The plan is made before the tables: the device refuses lengths that are too long before the tables take their time.
    const circle = (await device.plan(circleProblem(problem))) as Plan;
    try {
      // Sizes and points that the tables are computed from.
      await loadGroups(['pairs of numbers']);
      const tables = allocated(8 * length, () => chirpTables(problem));
      const lengths = { work: batches, before: 1, spectrum: 1, after: 1 };
      const memory = placesFor(lengths, (circles) => workOn(device, 2 * length * circles, precision));
      for (const name of ['before', 'spectrum', 'after'] as const) memory[name].array().set(tables[name]);
      return new ChirpPlan(problem, circle, memory);
    } catch (error) {
      circle.destroy();
      throw error;
    }
  }

  /**
   * Transforms all lines along an axis. Calls run one after another.
   * @throws FftError (as a rejection) `destroyed`, `invalid-argument`, `wrong-array-type`, `wrong-length`,
   *   `detached-array`, `out-of-memory`, and the errors of a device
   */
  async transform(x: ArrayInput, axis = -1): Promise<ComplexArray> {
    if (this.destroyed) throw new FftError('destroyed', 'This transform has been destroyed; plan another.');
    return this.transformLines(this.linesOf(x, axis));
  }

  /** Transforms lines whose lengths have been checked. */
  transformLines(lines: ChirpLines): Promise<ComplexArray> {
    const result = this.calls++ === 0 ? this.run(lines) : this.last.then(() => this.run(lines));
    this.last = result.then(this.ended, this.ended);
    return result;
  }

  private readonly ended = (): void => {
    this.calls--;
  };

  /** Frees memory and plan when the calls made so far have ended. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    void this.last.then(() => {
      for (const place of Object.values(this.memory)) place.free();
      this.circle.destroy();
    });
  }

  private linesOf(x: ArrayInput, given: number): ChirpLines {
    const { n, precision } = this.problem;
    const array = asArray(x);
    const { shape, dtype } = array;
    if (precision === 'single' && !isSingle(dtype)) {
      const message = `The array is ${dtype}; a transform that computes in single precision takes float32 and complex64.`;
      throw new FftError('wrong-array-type', message, { path: 'x' });
    }
    const axis = resolveAxis(given, shape.length, 'axis');
    if (shape[axis] !== n) {
      const hint = shape[axis] === 2 * n && shape.length === 1 ? ' (complex numbers need a shape and a dtype)' : '';
      const message = `Axis ${axis} has length ${shape[axis]}; this transform is of ${n} points${hint}.`;
      throw new FftError('wrong-length', message, { path: 'x' });
    }
    return { array, axis, inner: elementCount(shape.slice(axis + 1)), count: elementCount(shape) / n };
  }

  private async run(lines: ChirpLines): Promise<ComplexArray> {
    const { m, batches, precision } = this.problem;
    refuseDetached(lines.array.data, 'The array');
    const shape = lines.array.shape.map((length, axis) => (axis === lines.axis ? m : length));
    const data = floatZeros(2 * elementCount(shape), precision === 'single');
    const { work, spectrum } = this.memory;
    for (let first = 0; first < lines.count; first += batches) {
      const count = Math.min(batches, lines.count - first);
      this.load(lines, first, count);
      await this.circle.convolve(work.data as never, spectrum.data as never, work.data as never, this.arrays as never);
      this.store(data, lines, first, count);
    }
    return { data, shape, dtype: precision === 'single' ? 'complex64' : 'complex128' };
  }

  /** Copies lines into the batches, with zeros up to the last output point; batches beyond the lines are zeros. */
  private load({ array, inner }: ChirpLines, first: number, count: number): void {
    const { n, m, batches } = this.problem;
    const work = this.memory.work.array();
    const { data } = array;
    const complex = isComplex(array.dtype);
    for (let line = 0; line < count; line++) {
      let from = lineStart(first + line, inner, n);
      const start = 2 * line * this.length;
      if (complex && inner === 1) work.set(data.subarray(2 * from, 2 * (from + n)), start);
      else {
        for (let to = start; to < start + 2 * n; to += 2, from += inner) {
          work[to] = complex ? data[2 * from]! : data[from]!;
          work[to + 1] = complex ? data[2 * from + 1]! : 0;
        }
      }
      if (m > n) work.fill(0, start + 2 * n, start + 2 * m);
    }
    if (count < batches) work.fill(0, 2 * count * this.length);
  }

  private store(data: Floats, { inner }: ChirpLines, first: number, count: number): void {
    const { m } = this.problem;
    const work = this.memory.work.array();
    for (let line = 0; line < count; line++) {
      let from = 2 * line * this.length;
      let to = 2 * lineStart(first + line, inner, m);
      if (inner === 1) data.set(work.subarray(from, from + 2 * m), to);
      else {
        for (let k = 0; k < m; k++, from += 2, to += 2 * inner) {
          data[to] = work[from]!;
          data[to + 1] = work[from + 1]!;
        }
      }
    }
  }
}

/**
 * A circular convolution with a chirp whose spectrum is given; input and output points are multiplied by tables on the way. Points beyond either
 * range are not read or written.
 */
function circleProblem({ n, m, precision, batches }: ChirpProblem): ProblemInput {
  const length = circleOf({ n, m });
  const used = Math.max(n, m);
  const array = { type: precision === 'single' ? 'f32' : 'f64', length: 2 * length } as const;
  const times =
    (table: string): Callback =>
    (x, { re, im }, at) => {
      const place = x.index.mul(at.axis[0]!, 2);
      const [a, b] = [x.load(table, place), x.load(table, x.index.add(place, 1))];
      return { re: x.sub(x.mul(re, a), x.mul(im, b)), im: x.add(x.mul(re, b), x.mul(im, a)) };
    };
  return {
    ...{ size: [length], batches, precision, placement: 'in-place', convolution: { kernelSpectrum: 'user' } },
    ...(used < length ? { zeroPadding: { space: [{ from: used, to: length }] } } : {}),
    callbacks: {
      arrays: { before: array, after: array },
      forward: { load: times('before') },
      inverse: { store: times('after') },
    },
  };
}

/** The first number of a line, if lines have `length` elements. */
function lineStart(line: number, inner: number, length: number): number {
  return Math.floor(line / inner) * inner * length + (line % inner);
}
