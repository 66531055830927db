/**
 * Packed tensors in and out of strided host arrays, from a problem's normal form.
 *
 * Packed means `[left, axis 0, …, axis D−1, coordinate, batch]` without gaps, the left batch fastest, complex numbers
 * interleaved: the order of `referenceTransform`. Every offset, stride and gap of the problem is in the host arrays.
 */
import { poison } from './poison.ts';

/** The fields of a normal-form complex problem that say where data lies. */
export interface LayoutProblem {
  readonly size: readonly number[];
  readonly leftBatches: number;
  readonly coordinates: number;
  readonly batches: number;
  readonly layout: { readonly input: 'interleaved' | 'planar'; readonly output: 'interleaved' | 'planar' };
  /** D + 3 entries a side, in complex numbers. */
  readonly strides: { readonly input: readonly number[]; readonly output: readonly number[] };
  readonly offsets: { readonly input: number; readonly output: number };
}

export type Side = 'input' | 'output';
export type HostPrecision = 'single' | 'double';
export type RealArray = Float32Array | Float64Array;
/** Complex data of the user: interleaved in one array, or planar. */
export type HostData = RealArray | { readonly re: RealArray; readonly im: RealArray };

/** Elements along each of the D + 3 dimensions. */
export function countsOf(problem: LayoutProblem): number[] {
  return [problem.leftBatches, ...problem.size, problem.coordinates, problem.batches];
}

/** For every element in packed order, its index in the host buffer, in complex numbers. */
export function elementIndices(problem: LayoutProblem, side: Side): Float64Array {
  const strides = problem.strides[side];
  const counts = countsOf(problem);
  if (strides.length !== counts.length) {
    throw new RangeError(`a problem of ${counts.length} dimensions has ${strides.length} strides`);
  }
  let indices = Float64Array.of(problem.offsets[side]);
  counts.forEach((count, dimension) => {
    const outer = new Float64Array(indices.length * count);
    for (let i = 0; i < count; i++) {
      const shift = i * (strides[dimension] as number);
      for (let j = 0; j < indices.length; j++) outer[i * indices.length + j] = (indices[j] as number) + shift;
    }
    indices = outer;
  });
  return indices;
}

/** Complex numbers that a host buffer needs: one more than the largest index. */
export function spanOf(problem: LayoutProblem, side: Side): number {
  const strides = problem.strides[side];
  const last = countsOf(problem).reduce((sum, count, i) => sum + Math.max(0, (count - 1) * (strides[i] as number)), 0);
  return problem.offsets[side] + last + 1;
}

/** Poisoned host data for one side, with room for `guard` more complex numbers behind the last. */
export function hostData(problem: LayoutProblem, side: Side, precision: HostPrecision, guard = 0): HostData {
  const make = (length: number): RealArray =>
    poison(precision === 'single' ? new Float32Array(length) : new Float64Array(length));
  const span = spanOf(problem, side) + guard;
  return problem.layout[side] === 'planar' ? { re: make(span), im: make(span) } : make(2 * span);
}

/** The arrays that host data consists of. */
export function arraysOf(data: HostData): RealArray[] {
  return 're' in data ? [data.re, data.im] : [data];
}

/** The arrays of the real and of the imaginary parts, the numbers from one to the next, and the first of each. */
function partsOf(data: HostData): { re: RealArray; im: RealArray; step: number; first: number } {
  return 're' in data ? { ...data, step: 1, first: 0 } : { re: data, im: data, step: 2, first: 1 };
}

/** Writes a packed complex tensor into host data; everything between the elements is left as it is. */
export function scatter(problem: LayoutProblem, side: Side, packed: ArrayLike<number>, into: HostData): void {
  const { re, im, step, first } = partsOf(into);
  const indices = elementIndices(problem, side);
  for (let i = 0; i < indices.length; i++) {
    const at = step * (indices[i] as number);
    re[at] = packed[2 * i] as number;
    im[at + first] = packed[2 * i + 1] as number;
  }
}

/** Reads host data back into a packed complex tensor. */
export function gather(problem: LayoutProblem, side: Side, from: HostData): Float64Array {
  const { re, im, step, first } = partsOf(from);
  const indices = elementIndices(problem, side);
  const packed = new Float64Array(2 * indices.length);
  for (let i = 0; i < indices.length; i++) {
    const at = step * (indices[i] as number);
    packed[2 * i] = re[at] as number;
    packed[2 * i + 1] = im[at + first] as number;
  }
  return packed;
}

/** For {@link HostData} of one side: whether an index into each of its arrays belongs to an element of the tensor. */
export function ownedIndices(problem: LayoutProblem, side: Side): (index: number) => boolean {
  const owned = new Uint8Array(spanOf(problem, side));
  const indices = elementIndices(problem, side);
  for (let i = 0; i < indices.length; i++) owned[indices[i] as number] = 1;
  const step = problem.layout[side] === 'planar' ? 1 : 2;
  return (i) => owned[Math.floor(i / step)] === 1;
}
