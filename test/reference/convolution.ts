/** Convolutions by direct sums, in twice the precision of doubles, over packed complex data. */
import { referenceTransform } from './transform.ts';

export interface ConvolutionShape {
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly omit?: readonly boolean[];
  readonly leftBatches?: number;
  readonly coordinates?: number;
  readonly batches?: number;
  readonly kernels?: number;
  readonly matrix?: number;
  readonly symmetric?: boolean;
  /** Of the spectra: a conjugated one is that of the conjugated sequence, mirrored. */
  readonly conjugate?: 'none' | 'signal' | 'kernel';
}

/**
 * The circular convolution of signals with kernels.
 * @param x left × size × coordinates × batches complex numbers; `h`: size × entries × kernels of them.
 * @returns left × size × coordinates × batches × kernels.
 */
export function directConvolution(
  shape: ConvolutionShape,
  x: Float64Array,
  h: Float64Array,
): { readonly hi: Float64Array; readonly lo: Float64Array } {
  const { size, leftBatches = 1, coordinates = 1, batches = 1, kernels = 1 } = shape;
  const { matrix = 1, symmetric = false, conjugate = 'none', omit = size.map(() => false) } = shape;
  const points = size.reduce((a, b) => a * b, 1);
  const entries = symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
  const reals = 2 * leftBatches * points * coordinates * batches * kernels;
  const [hi, lo] = [new Float64Array(reals), new Float64Array(reals)];
  const places = Array.from({ length: points }, (_, n) => coordinatesOf(n, size));
  /** The element of the kernel that takes signal point n to result point k. */
  const between = (k: readonly number[], n: readonly number[]): number => {
    let at = 0;
    let stride = 1;
    size.forEach((length, d) => {
      const apart = conjugate === 'none' ? k[d]! - n[d]! : conjugate === 'signal' ? k[d]! + n[d]! : n[d]! - k[d]!;
      if (omit[d] && k[d] !== n[d]) at = Number.NaN;
      at += stride * (omit[d] ? k[d]! : ((apart % length) + length) % length);
      stride *= length;
    });
    return at;
  };
  const entry = (row: number, column: number): number => {
    if (!symmetric) return row * matrix + column;
    const [i, j] = [Math.min(row, column), Math.max(row, column)];
    return Array.from({ length: i }, (_, n) => matrix - n).reduce((a, b) => a + b, 0) + j - i;
  };
  const sum = (k: number, left: number, row: number, batch: number, kernel: number): readonly [Sum, Sum] => {
    const [re, im] = [new Sum(), new Sum()];
    for (let n = 0; n < points; n++) {
      const from = between(places[k]!, places[n]!);
      if (Number.isNaN(from)) continue;
      for (let column = matrix > 1 ? 0 : row; column < (matrix > 1 ? matrix : row + 1); column++) {
        const s = 2 * (left + leftBatches * (n + points * (column + coordinates * batch)));
        const f = 2 * (from + points * ((matrix > 1 ? entry(row, column) : 0) + entries * kernel));
        const [a, b] = [x[s]!, conjugate === 'signal' ? -x[s + 1]! : x[s + 1]!];
        const [c, d] = [h[f]!, conjugate === 'kernel' ? -h[f + 1]! : h[f + 1]!];
        re.add(a, c);
        re.add(-b, d);
        im.add(a, d);
        im.add(b, c);
      }
    }
    return [re, im];
  };
  for (let kernel = 0; kernel < kernels; kernel++)
    for (let batch = 0; batch < batches; batch++)
      for (let row = 0; row < coordinates; row++)
        for (let k = 0; k < points; k++)
          for (let left = 0; left < leftBatches; left++) {
            const at = 2 * (left + leftBatches * (k + points * (row + coordinates * (batch + batches * kernel))));
            sum(k, left, row, batch, kernel).forEach((part, n) => {
              hi[at + n] = part.hi;
              lo[at + n] = part.lo;
            });
          }
  return { hi, lo };
}

/** A sum of products as hi + lo (Dekker 1971; Ogita, Rump and Oishi 2005). */
class Sum {
  hi = 0;
  lo = 0;

  add(a: number, b: number): void {
    const product = a * b;
    const [ah, al] = halvesOf(a);
    const [bh, bl] = halvesOf(b);
    const rest = ah * bh - product + ah * bl + al * bh + al * bl;
    const sum = this.hi + product;
    const back = sum - this.hi;
    this.lo += this.hi - (sum - back) + (product - back) + rest;
    this.hi = sum;
  }
}

function halvesOf(x: number): readonly [number, number] {
  const big = 134217729 * x;
  const high = big - (big - x);
  return [high, x - high];
}

function coordinatesOf(n: number, size: readonly number[]): number[] {
  let rest = n;
  return size.map((length) => {
    const at = rest % length;
    rest = (rest - at) / length;
    return at;
  });
}

/** Of the spectrum of a shape: what multiplies it, for a point of it. */
export type Weight = (at: readonly number[]) => number;

/**
 * A kernel whose spectrum is weighted: in doubles, each rounded once.
 * @param h `size` × kernels complex numbers.
 */
export function weightedKernel({ size, omit, kernels = 1 }: ConvolutionShape, h: Float64Array, weight: Weight) {
  const shape = { size, ...(omit ? { omit } : {}), batches: kernels };
  const points = size.reduce((a, b) => a * b, 1);
  const { hi, lo } = referenceTransform(shape, h);
  for (let n = 0; n < hi.length; n++) {
    const factor = weight(coordinatesOf(Math.floor(n / 2) % points, size));
    hi[n]! *= factor;
    lo[n]! *= factor;
  }
  const transformed = size.reduce((all, n, axis) => (omit?.[axis] ? all : all * n), 1);
  return referenceTransform({ ...shape, direction: 'inverse', scale: 1 / transformed }, hi, lo).hi;
}

/**
 * The normalised cross-power spectrum of two signals, transformed back, over the number of points.
 * @returns it, and by how much errors of the spectra grow where products are small.
 */
export function crossPower({ size, conjugate }: ConvolutionShape, x: Float64Array, h: Float64Array) {
  const [a, b] = [x, h].map((data) => referenceTransform({ size }, data).hi) as [Float64Array, Float64Array];
  const points = a.length / 2;
  const unit = new Float64Array(a.length);
  let [sum, inverse] = [0, 0];
  for (let k = 0; k < points; k++) {
    const [ar, ai, br, bi] = [a[2 * k]!, a[2 * k + 1]!, b[2 * k]!, b[2 * k + 1]!];
    const [s, t] = [conjugate === 'signal' ? -ai : ai, conjugate === 'kernel' ? -bi : bi];
    const [re, im] = [ar * br - s * t, ar * t + s * br];
    const magnitude = Math.hypot(re, im);
    unit[2 * k] = magnitude === 0 ? 0 : re / magnitude;
    unit[2 * k + 1] = magnitude === 0 ? 0 : im / magnitude;
    const [first, second] = [Math.hypot(ar, ai), Math.hypot(br, bi)];
    sum += first ** 2 + second ** 2;
    if (magnitude > 0) inverse += 1 / first ** 2 + 1 / second ** 2;
  }
  const growth = Math.sqrt((sum / points / 2) * (inverse / points / 2));
  return { result: referenceTransform({ size, direction: 'inverse', scale: 1 / points }, unit).hi, growth };
}
