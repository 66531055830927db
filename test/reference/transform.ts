/** The reference transform of a whole tensor: any axes, batches and direction, over packed data. */

import { mulReal, swapParts } from './complex-dd.ts';
import { referenceFft } from './ddfft.ts';

/** What is asked for; field names and meanings are those of a problem in normal form. */
export interface ReferenceProblem {
  /** Axes, fastest first. */
  readonly size: readonly number[];
  /** Axes that are not transformed; none by default. */
  readonly omit?: readonly boolean[];
  readonly leftBatches?: number;
  readonly coordinates?: number;
  readonly batches?: number;
  readonly direction?: 'forward' | 'inverse';
  /** A factor on the result: a double, or a double-double where the factor itself should have no rounding error. */
  readonly scale?: number | readonly [hi: number, lo: number];
}

/** A complex tensor in double-double: value = hi + lo, each re, im interleaved, packed in the order of the input. */
export interface ReferenceResult {
  readonly hi: Float64Array;
  readonly lo: Float64Array;
}

/** Numbers in the tensor `leftBatches × size × coordinates × batches`. */
export function elementsOf(problem: Omit<ReferenceProblem, 'direction' | 'scale'>): number {
  const { size, leftBatches = 1, coordinates = 1, batches = 1 } = problem;
  return size.reduce((product, length) => product * length, leftBatches * coordinates * batches);
}

/**
 * Transforms a packed tensor, `[left, axis 0, …, axis D−1, coordinate, batch]` with the left batch fastest.
 * Inverse is exponent sign +1 and unnormalised.
 * @param input complex numbers, re, im interleaved
 * @param low low-order words of a double-double input, if it has any
 */
export function referenceTransform(
  problem: ReferenceProblem,
  input: Float64Array | Float32Array,
  low?: Float64Array,
): ReferenceResult {
  const { size, omit = [], leftBatches = 1, direction = 'forward', scale = 1 } = problem;
  const elements = elementsOf(problem);
  if (input.length !== 2 * elements || (low !== undefined && low.length !== 2 * elements)) {
    throw new RangeError(`the tensor has ${elements} complex numbers, but ${input.length / 2} were given`);
  }
  const data = new Float64Array(4 * elements);
  for (let i = 0; i < 2 * elements; i++) {
    data[2 * i] = input[i] as number;
    if (low !== undefined) data[2 * i + 1] = low[i] as number;
  }
  // The inverse transform is the forward one between two exchanges of re and im.
  if (direction === 'inverse') swapParts(data);
  let stride = leftBatches;
  size.forEach((length, axis) => {
    if (!omit[axis]) transformAxis(data, length, stride);
    stride *= length;
  });
  if (direction === 'inverse') swapParts(data);

  if (scale !== 1) {
    const [scaleHi, scaleLo] = typeof scale === 'number' ? [scale, 0] : scale;
    for (let i = 0; i < data.length; i += 4) mulReal(data, i, data, i, scaleHi, scaleLo);
  }
  const hi = new Float64Array(2 * elements);
  const lo = new Float64Array(2 * elements);
  for (let i = 0; i < 2 * elements; i++) {
    hi[i] = data[2 * i] as number;
    lo[i] = data[2 * i + 1] as number;
  }
  return { hi, lo };
}

/** Transforms every line along an axis of the given length and stride (in complex numbers). */
function transformAxis(data: Float64Array, length: number, stride: number): void {
  if (length === 1) return;
  const fft = referenceFft(length);
  if (stride === 1) {
    for (let from = 0; from < data.length; from += 4 * length) fft.forward(data.subarray(from, from + 4 * length));
    return;
  }
  const line = new Float64Array(4 * length);
  for (let block = 0; block < data.length; block += 4 * stride * length) {
    for (let column = 0; column < stride; column++) {
      const from = block + 4 * column;
      for (let j = 0; j < length; j++) copyComplexDd(line, 4 * j, data, from + 4 * stride * j);
      fft.forward(line);
      for (let j = 0; j < length; j++) copyComplexDd(data, from + 4 * stride * j, line, 4 * j);
    }
  }
}

function copyComplexDd(y: Float64Array, t: number, x: Float64Array, a: number): void {
  y[t] = x[a] as number;
  y[t + 1] = x[a + 1] as number;
  y[t + 2] = x[a + 2] as number;
  y[t + 3] = x[a + 3] as number;
}
