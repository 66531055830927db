/** A problem's arrays: signals are put where strides and layout say, and read back from there. */
import type { Plan } from 'omnifft';
import { elementKind } from '../../src/problem/index.ts';
import type { Signal } from './signals.ts';

export type RealArray = Float32Array | Float64Array;
/** One array of re, im, or two planes: as the layout of a side says. */
export type Arrays = RealArray | { readonly re: RealArray; readonly im: RealArray };
export type Side = 'input' | 'output';

/** Whether a side has real numbers: what a real transform starts from, and both sides of cosines and sines. */
export function isReal({ problem }: Plan, side: Side): boolean {
  return elementKind(problem, side) === 'real';
}

/** Zeros for one side of a plan. */
export function arraysFor(plan: Plan, side: Side, precision: 'single' | 'double'): Arrays {
  const make = (length: number) => (precision === 'single' ? new Float32Array(length) : new Float64Array(length));
  const { length } = plan[side];
  if (isReal(plan, side)) return make(length);
  return plan.problem.layout[side] === 'planar' ? { re: make(length), im: make(length) } : make(2 * length);
}

/** The same numbers in double precision. */
export function doubled(arrays: Arrays): Arrays {
  if ('re' in arrays) return { re: Float64Array.from(arrays.re), im: Float64Array.from(arrays.im) };
  return Float64Array.from(arrays);
}

/** The arrays as a list: planes one after the other. */
export function listOf(arrays: Arrays): RealArray[] {
  return 're' in arrays ? [arrays.re, arrays.im] : [arrays];
}

/** Puts a real signal into every transform: batches follow one another in time. */
export function fill(plan: Plan, side: Side, arrays: Arrays, { samples, separable, window }: Signal): void {
  const { problem } = plan;
  const { size } = problem;
  const axes = size.length;
  const { shape } = plan[side];
  const strides = problem.strides[side];
  const windows = size.map(window);
  const step = isReal(plan, side) ? 1 : 2;
  const points = size.reduce((a, b) => a * b, 1);
  const total = shape.reduce((a, b) => a * b, 1);
  // Coordinates are [left, axis 0, …, axis D−1, coordinate, batch], the first one fastest.
  const at = shape.map(() => 0);
  let index = problem.offsets[side];
  for (let n = 0; n < total; n++) {
    const batch = at[axes + 2] ?? 0;
    let value = 1;
    let flat = 0;
    for (let axis = axes - 1; axis >= 0; axis--) {
      const length = size[axis] ?? 1;
      const k = at[axis + 1] ?? 0;
      flat = flat * length + k;
      value *= windows[axis]?.[k] ?? 1;
      if (separable) value *= samples(k + batch * length, length);
    }
    if (!separable) value *= samples(flat + batch * points, points);
    if ('re' in arrays) arrays.re[index] = value;
    else arrays[step * index] = value;
    for (let d = 0; d < at.length; d++) {
      at[d] = (at[d] ?? 0) + 1;
      index += strides[d] ?? 0;
      if ((at[d] ?? 0) < (shape[d] ?? 1)) break;
      index -= (strides[d] ?? 0) * (at[d] ?? 0);
      at[d] = 0;
    }
  }
}

/**
 * The first two axes of the first transform, axis 0 along rows; one row where there is one axis.
 * @param what real parts, or magnitudes; bins of an unordered plan are put in order, and those that a real transform leaves
 * out, being the mirror images of others, are put in
 */
export function plane(plan: Plan, side: Side, arrays: Arrays, what: 'real' | 'magnitude') {
  const { size, strides, offsets } = plan.problem;
  const [width = 1, height = 1] = size;
  const real = isReal(plan, side);
  const half = plan.problem.transform[0] === 'r2c' && side === 'output';
  const columnsThere = half ? (width >> 1) + 1 : width;
  const placesAlong = (axis: number, length: number) =>
    Float64Array.from({ length }, (_, k) => {
      const place = side === 'output' && axis < size.length ? plan.output.order(k, axis) : k;
      return place * (strides[side][axis + 1] ?? 0);
    });
  const [columns, rows] = [placesAlong(0, columnsThere), placesAlong(1, height)];
  const partsAt = (index: number): readonly [number, number] => {
    if ('re' in arrays) return [arrays.re[index] ?? 0, arrays.im[index] ?? 0];
    return real ? [arrays[index] ?? 0, 0] : [arrays[2 * index] ?? 0, arrays[2 * index + 1] ?? 0];
  };
  // A mirror image lies opposite along all axes; it is not along those that are stepped over.
  const mirrored = (k: number, axis: number, length: number) => (plan.problem.omit[axis] ? k : (length - k) % length);
  const values = new Float64Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isThere = x < columnsThere;
      const [column, row] = isThere ? [x, y] : [mirrored(x, 0, width), mirrored(y, 1, height)];
      const [re, im] = partsAt(offsets[side] + (rows[row] ?? 0) + (columns[column] ?? 0));
      values[y * width + x] = what === 'real' ? re : Math.hypot(re, im);
    }
  }
  return { width, height, values };
}
