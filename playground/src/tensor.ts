/** A problem's arrays: signals are put where strides and layout say, and read back from there. */
import type { Plan } from '../../src/index.ts';
import { elementKind } from '../../src/problem/index.ts';
import type { Signal } from './signals.ts';

export type RealArray = Float32Array | Float64Array;
/** One array of reals or of re, im, or two planes: as the problem and the layout of a side say. */
export type Arrays = RealArray | { readonly re: RealArray; readonly im: RealArray };
export type Side = 'input' | 'output';

/** Whether a side holds reals. */
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

/** The elements of a side: where each is, and its coordinates [left, axis 0, …, axis D−1, coordinate, batch], the first one fastest. */
function* elements(plan: Plan, side: Side): Generator<readonly [index: number, at: readonly number[]]> {
  const { shape } = plan[side];
  const strides = plan.problem.strides[side];
  const total = shape.reduce((a, b) => a * b, 1);
  const at = shape.map(() => 0);
  let index = plan.problem.offsets[side];
  for (let n = 0; n < total; n++) {
    yield [index, at];
    for (let d = 0; d < at.length; d++) {
      at[d] = (at[d] ?? 0) + 1;
      index += strides[d] ?? 0;
      if ((at[d] ?? 0) < (shape[d] ?? 1)) break;
      index -= (strides[d] ?? 0) * (at[d] ?? 0);
      at[d] = 0;
    }
  }
}

/** Puts a real signal into every transform: batches follow one another in time. */
export function fill(plan: Plan, side: Side, arrays: Arrays, { samples, separable, window }: Signal): void {
  const { size } = plan.problem;
  const axes = size.length;
  const windows = size.map(window);
  const points = size.reduce((a, b) => a * b, 1);
  const step = isReal(plan, side) ? 1 : 2;
  for (const [index, at] of elements(plan, side)) {
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
  }
}

/** The numbers of all elements of a side, without what lies between them. */
export function gathered(plan: Plan, side: Side, arrays: Arrays): Float64Array {
  const numbers: number[] = [];
  const real = isReal(plan, side);
  for (const [index] of elements(plan, side)) {
    if ('re' in arrays) numbers.push(arrays.re[index] ?? 0, arrays.im[index] ?? 0);
    else if (real) numbers.push(arrays[index] ?? 0);
    else numbers.push(arrays[2 * index] ?? 0, arrays[2 * index + 1] ?? 0);
  }
  return Float64Array.from(numbers);
}

/**
 * The first two axes of the first transform, axis 0 along rows; one row where there is one axis.
 * @param what real parts, or magnitudes; bins of an unordered plan are put in order
 */
export function plane(plan: Plan, side: Side, arrays: Arrays, what: 'real' | 'magnitude') {
  const { size, strides, offsets } = plan.problem;
  const [, width = 1, second = 1] = plan[side].shape;
  const height = size.length > 1 ? second : 1;
  const real = isReal(plan, side);
  const placesAlong = (axis: number, length: number) =>
    Float64Array.from({ length }, (_, k) => {
      const place = side === 'output' && axis < size.length ? plan.output.order(k, axis) : k;
      return place * (strides[side][axis + 1] ?? 0);
    });
  const [columns, rows] = [placesAlong(0, width), placesAlong(1, height)];
  const values = new Float64Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const index = offsets[side] + (rows[y] ?? 0) + (columns[x] ?? 0);
      const re = ('re' in arrays ? arrays.re[index] : arrays[real ? index : 2 * index]) ?? 0;
      const im = real ? 0 : (('re' in arrays ? arrays.im[index] : arrays[2 * index + 1]) ?? 0);
      values[y * width + x] = what === 'real' ? re : Math.hypot(re, im);
    }
  }
  return { width, height, values };
}
