/** A chirp z-transform that is kept: its tables, a plan of the device for the circle, and memory to work in. */
import type { Device, Plan } from '../../engine/index.ts';
import { loadGroups } from '../../engine/lazy/lazy-modules.ts';
import {
  type ArrayInput,
  asArray,
  type ComplexArray,
  elementCount,
  fitting,
  floatZeros,
  isComplex,
  isSingle,
  type NumpyArray,
} from '../../numpy/array.ts';
import { resolveAxis } from '../../numpy/axes.ts';
import { refuseDetached } from '../../problem/bytes.ts';
import { FftError } from '../../problem/errors.ts';
import type { Floats } from '../arguments/floats.ts';
import { type WorkMemory, workOn } from '../calls/work.ts';
import { type ChirpProblem, type ChirpTables, checkSpiral, chirpTables, circleOf } from './chirp-tables.ts';

type CirclePlan = Plan<{ precision: 'single' | 'double'; placement: 'in-place' }>;

/** The lines of an array along one axis: they begin at outer·n·inner + i, and their elements lie `inner` apart. */
interface ChirpLines {
  readonly array: NumpyArray;
  readonly axis: number;
  readonly inner: number;
  readonly count: number;
}

export class ChirpPlan {
  readonly problem: ChirpProblem;
  private readonly length: number;
  private readonly tables: ChirpTables;
  private readonly circle: CirclePlan;
  /** The circles of all batches. */
  private readonly work: WorkMemory;
  private last: Promise<unknown> = Promise.resolve();
  private destroyed = false;

  private constructor(problem: ChirpProblem, tables: ChirpTables, circle: CirclePlan, work: WorkMemory) {
    this.problem = problem;
    this.length = circleOf(problem);
    this.tables = tables;
    this.circle = circle;
    this.work = work;
  }

  /** @throws FftError (as a rejection) `invalid-argument` for too wide a spiral, `out-of-memory`, those of `device.plan` */
  static async make(problem: ChirpProblem, device: Device): Promise<ChirpPlan> {
    checkSpiral(problem);
    const { batches, precision } = problem;
    const length = circleOf(problem);
    // The device goes first: it knows what is too long, before the tables take their time.
    const circle = await device.plan({ size: [length], batches, precision, placement: 'in-place' });
    try {
      // What the tables are computed with.
      await loadGroups(['pairs of numbers']);
      const tables = fitting(8 * length, () => chirpTables(problem));
      return new ChirpPlan(problem, tables, circle, workOn(device, 2 * length * batches, precision));
    } catch (error) {
      circle.destroy();
      throw error;
    }
  }

  /**
   * Transforms all lines along an axis. Calls run one after another.
   * @throws FftError (as a rejection) `destroyed`, `invalid-argument`, `wrong-array-type`, `wrong-length`,
   *   `detached-array`, `out-of-memory`, and those of a device
   */
  async transform(x: ArrayInput, axis = -1): Promise<ComplexArray> {
    if (this.destroyed) throw new FftError('destroyed', 'This transform has been destroyed; plan another.');
    const lines = this.linesOf(x, axis);
    const result = this.last.then(() => this.run(lines));
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Gives memory and plan back when the calls made so far have ended. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    void this.last.then(() => {
      this.work.free();
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
    for (let first = 0; first < lines.count; first += batches) {
      const count = Math.min(batches, lines.count - first);
      this.load(lines, first, count);
      await this.circle.forward(this.work.array() as never);
      this.multiply(count);
      await this.circle.inverse(this.work.array() as never);
      this.store(data, lines, first, count);
    }
    return { data, shape, dtype: precision === 'single' ? 'complex64' : 'complex128' };
  }

  /** Lines, times what comes before the transform, and zeros: what lies in between, and batches that are not there. */
  private load({ array, inner }: ChirpLines, first: number, count: number): void {
    const { n } = this.problem;
    const { before } = this.tables;
    const work = this.work.array();
    const { data } = array;
    const complex = isComplex(array.dtype);
    work.fill(0);
    for (let line = 0; line < count; line++) {
      let from = lineStart(first + line, inner, n);
      let to = 2 * line * this.length;
      for (let j = 0; j < 2 * n; j += 2, to += 2, from += inner) {
        const re = complex ? data[2 * from]! : data[from]!;
        const im = complex ? data[2 * from + 1]! : 0;
        work[to] = re * before[j]! - im * before[j + 1]!;
        work[to + 1] = re * before[j + 1]! + im * before[j]!;
      }
    }
  }

  private multiply(count: number): void {
    const { spectrum } = this.tables;
    const work = this.work.array();
    for (let line = 0; line < count; line++) {
      let at = 2 * line * this.length;
      for (let k = 0; k < spectrum.length; k += 2, at += 2) {
        const [re, im] = [work[at]!, work[at + 1]!];
        work[at] = re * spectrum[k]! - im * spectrum[k + 1]!;
        work[at + 1] = re * spectrum[k + 1]! + im * spectrum[k]!;
      }
    }
  }

  private store(data: Floats, { inner }: ChirpLines, first: number, count: number): void {
    const { m } = this.problem;
    const { after } = this.tables;
    const work = this.work.array();
    for (let line = 0; line < count; line++) {
      let from = 2 * line * this.length;
      let to = 2 * lineStart(first + line, inner, m);
      for (let k = 0; k < 2 * m; k += 2, from += 2, to += 2 * inner) {
        const [re, im] = [work[from]!, work[from + 1]!];
        data[to] = re * after[k]! - im * after[k + 1]!;
        data[to + 1] = re * after[k + 1]! + im * after[k]!;
      }
    }
  }
}

/** Where a line begins, if lines are of so many elements. */
function lineStart(line: number, inner: number, length: number): number {
  return Math.floor(line / inner) * inner * length + (line % inner);
}
