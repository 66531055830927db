/** Convolutions in twice the precision of doubles, over packed complex data: by direct sums, and by transforms. */
import { ddAdd, ddDiv, ddMul, ddMulComplex, ddSqrt } from '../../src/numeric/double-double/doubledouble.ts';
import { rational, toDoubleDouble } from '../../src/numeric/exact.ts';
import { addComplexDd } from './complex-dd.ts';
import { type ReferenceResult, referenceTransform } from './transform.ts';

export interface ConvolutionShape {
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly omit?: readonly boolean[];
  readonly leftBatches?: number;
  readonly coordinates?: number;
  readonly batches?: number;
  /** How many each signal meets, or what has one of its own. */
  readonly kernels?: number | 'per-coordinate' | 'per-batch' | 'per-both';
  readonly matrix?: number;
  readonly symmetric?: boolean;
  /** Of the spectra: a conjugated one is that of the conjugated sequence, mirrored. */
  readonly conjugate?: 'none' | 'signal' | 'kernel';
  /** Products are divided by their magnitude. */
  readonly crossPower?: boolean;
}

/** Which kernel of `h` a coordinate of a batch meets, and how many results there are. */
function kernelsOf({ kernels = 1, coordinates = 1 }: ConvolutionShape): {
  readonly count: number;
  readonly of: (kernel: number, coordinate: number, batch: number) => number;
} {
  if (typeof kernels === 'number') return { count: kernels, of: (kernel) => kernel };
  const of = {
    'per-coordinate': (_: number, coordinate: number) => coordinate,
    'per-batch': (_: number, __: number, batch: number) => batch,
    'per-both': (_: number, coordinate: number, batch: number) => coordinate + coordinates * batch,
  }[kernels];
  return { count: 1, of };
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
  const { size, leftBatches = 1, coordinates = 1, batches = 1 } = shape;
  const { matrix = 1, symmetric = false, conjugate = 'none', omit = size.map(() => false) } = shape;
  const { count: kernels, of: kernelOf } = kernelsOf(shape);
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
  const sum = (k: number, left: number, row: number, batch: number, kernel: number): readonly [Sum, Sum] => {
    const [re, im] = [new Sum(), new Sum()];
    for (let n = 0; n < points; n++) {
      const from = between(places[k]!, places[n]!);
      if (Number.isNaN(from)) continue;
      for (let column = matrix > 1 ? 0 : row; column < (matrix > 1 ? matrix : row + 1); column++) {
        const s = 2 * (left + leftBatches * (n + points * (column + coordinates * batch)));
        const f =
          2 *
          (from + points * ((matrix > 1 ? entryOf(shape, row, column) : 0) + entries * kernelOf(kernel, row, batch)));
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

/** Which of the elements that a kernel has at each point is in a row and a column of its matrix. */
function entryOf({ matrix = 1, symmetric = false }: ConvolutionShape, row: number, column: number): number {
  if (!symmetric) return row * matrix + column;
  const [i, j] = [Math.min(row, column), Math.max(row, column)];
  return Array.from({ length: i }, (_, n) => matrix - n).reduce((a, b) => a + b, 0) + j - i;
}

/**
 * The same for many points: forward, products, and back. Kernels of one element per point or of matrices, conjugated or divided
 * by their magnitude as the shape says.
 * @param x left × size × coordinates × batches complex numbers; `h`: size × entries × kernels of them.
 * @param weight multiplies a bin of the product.
 * @returns left × size × coordinates × batches × kernels; and by how much errors of the spectra grow where products are small.
 */
export function spectralConvolution(
  shape: ConvolutionShape,
  x: Float64Array,
  h: Float64Array,
  weight?: (bin: readonly number[]) => number,
): ReferenceResult & { readonly growth: number } {
  const { size, leftBatches = 1, coordinates = 1, batches = 1, matrix = 1, symmetric = false } = shape;
  const { count: kernels, of: kernelOf } = kernelsOf(shape);
  const { conjugate = 'none', crossPower = false, omit = size.map(() => false) } = shape;
  const points = size.reduce((a, b) => a * b, 1);
  const entries = symmetric ? (matrix * (matrix + 1)) / 2 : matrix * matrix;
  const signal = referenceTransform({ size, omit, leftBatches, coordinates, batches }, x);
  const kernel = referenceTransform({ size, omit, batches: h.length / (2 * points) }, h);
  const numbers = 2 * leftBatches * points * coordinates * batches * kernels;
  const product = { hi: new Float64Array(numbers), lo: new Float64Array(numbers) };
  const [a, b, term, sum] = [1, 2, 3, 4].map(() => new Float64Array(4)) as [Float64Array, ...Float64Array[]];
  const columns = Array.from({ length: matrix }, (_, n) => n);
  for (let n = 0; n < numbers / 2; n++) {
    // left, point, row, batch, kernel
    const left = n % leftBatches;
    const point = Math.floor(n / leftBatches) % points;
    const row = Math.floor(n / leftBatches / points) % coordinates;
    const batch = Math.floor(n / leftBatches / points / coordinates) % batches;
    const system = Math.floor(n / leftBatches / points / coordinates / batches);
    sum!.fill(0);
    for (const column of matrix > 1 ? columns : [row]) {
      const entry = matrix > 1 ? entryOf(shape, row, column) : 0;
      complexDdAt(
        a,
        signal,
        left + leftBatches * (point + points * (column + coordinates * batch)),
        conjugate === 'signal',
      );
      complexDdAt(
        b!,
        kernel,
        point + points * (entry + entries * kernelOf(system, row, batch)),
        conjugate === 'kernel',
      );
      ddMulComplex(term!, 0, a, 0, b!, 0);
      addComplexDd(sum!, 0, sum!, 0, term!, 0);
    }
    if (crossPower) divideByMagnitude(sum!);
    const factor = weight?.(coordinatesOf(point, size)) ?? 1;
    for (const part of [0, 1]) {
      product.hi[2 * n + part] = factor * sum![2 * part]!;
      product.lo[2 * n + part] = factor * sum![2 * part + 1]!;
    }
  }
  const transformed = size.reduce((all, n, axis) => (omit[axis] ? all : all * n), 1);
  const scale = toDoubleDouble(rational(1n, BigInt(transformed)));
  const back = {
    size,
    omit,
    leftBatches,
    coordinates,
    batches: batches * kernels,
    direction: 'inverse',
    scale,
  } as const;
  const growth = crossPower ? Math.hypot(spreadOf(signal), spreadOf(kernel)) : 1;
  return { ...referenceTransform(back, product.hi, product.lo), growth };
}

function complexDdAt(complexDd: Float64Array, { hi, lo }: ReferenceResult, n: number, conjugated: boolean): void {
  const sign = conjugated ? -1 : 1;
  complexDd.set([hi[2 * n]!, lo[2 * n]!, sign * hi[2 * n + 1]!, sign * lo[2 * n + 1]!]);
}

/** Zero stays zero. */
function divideByMagnitude(z: Float64Array): void {
  const work = new Float64Array(4);
  const [reHi, reLo, imHi, imLo] = z as unknown as [number, number, number, number];
  if (reHi === 0 && imHi === 0) return;
  ddMul(work, 0, reHi, reLo, reHi, reLo);
  ddMul(work, 2, imHi, imLo, imHi, imLo);
  ddAdd(work, 0, work[0]!, work[1]!, work[2]!, work[3]!);
  ddSqrt(work, 0, work[0]!, work[1]!);
  ddDiv(z, 0, reHi, reLo, work[0]!, work[1]!);
  ddDiv(z, 2, imHi, imLo, work[0]!, work[1]!);
}

/** The root mean square of magnitudes, times that of their inverses: 1 where all are equal. Errors of bins grow by that when all get one magnitude. */
export function spreadOf({ hi }: Pick<ReferenceResult, 'hi'>): number {
  let [squares, inverses] = [0, 0];
  for (let n = 0; n < hi.length; n += 2) {
    const square = hi[n]! ** 2 + hi[n + 1]! ** 2;
    squares += square;
    if (square > 0) inverses += 1 / square;
  }
  return Math.sqrt(squares * inverses) / (hi.length / 2);
}
