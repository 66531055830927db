/**
 * Products of bins with the kernel of a convolution (VkFFT guide 2.5.8). The kernel has a number for each bin, or a matrix over the
 * coordinates. Either factor may be conjugated, and a product may be divided by its magnitude (phase correlation), where a product of
 * magnitude 0 stays 0.
 */
import type { ArrayRef, Complex, ComplexView, Expressions, IndexLike, Store } from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import type { KernelFactors } from '../../plan/tree/leaf.ts';
import { LayoutView } from './layout-view.ts';
import { type Coordinates, conjugated } from './views.ts';

/** The numbers of a convolution kernel: entry `n` of the matrix that belongs to the bin at a place. */
export type KernelView = (x: Expressions, at: readonly IndexLike[], n: number) => Complex;

export function kernelView({ layout }: KernelFactors, array: ArrayRef, coordinates: Coordinates): KernelView {
  const numbers = new LayoutView({
    ...{ layout, arrays: new Map([[array.name, array]]), coordinates },
    // Lanes may walk along any of its dimensions.
    batch: layout.shape.length,
    table: () => {
      throw new RangeError('The numbers of a kernel come in no order that needs a table.');
    },
  });
  return (x, at, n) => numbers.ofLine(n).load(x, at);
}

/** The product of a bin and its number of the kernel. */
export function binProduct(x: Expressions, kernel: KernelFactors, bin: Complex, factor: Complex): Complex {
  return normalized(x, kernel, plainProduct(x, kernel, bin, factor));
}

function plainProduct(x: Expressions, { conjugate }: KernelFactors, bin: Complex, factor: Complex): Complex {
  return x.cmul(
    conjugate === 'signal' ? conjugated(x, bin) : bin,
    conjugate === 'kernel' ? conjugated(x, factor) : factor,
  );
}

/** A bin of the result, divided by its magnitude if the convolution asks for that. */
function normalized(x: Expressions, { crossPower }: KernelFactors, bin: Complex): Complex {
  return crossPower ? overMagnitude(x, bin) : bin;
}

/**
 * Multiplies the vector of bins of all coordinates at one frequency by the matrix of that frequency, and stores the result.
 * @param at the place of the bin, for each coordinate
 */
export function matrixStores(
  x: Expressions,
  kernel: KernelFactors,
  { from, to, numbers }: { readonly from: ComplexView; readonly to: ComplexView; readonly numbers: KernelView },
  at: (coordinate: number) => readonly IndexLike[],
): Store[] {
  const rows = Array.from({ length: kernel.matrix }, (_, n) => n);
  const bins = rows.map((row) => from.load(x, at(row)));
  const entry = (row: number, column: number) => numbers(x, at(0), entryOf(kernel, row, column));
  return rows.flatMap((row) => {
    const products = rows.map((column) => plainProduct(x, kernel, bins[column]!, entry(row, column)));
    const sum = products.reduce((total, product) => x.cadd(total, product));
    return to.store(x, at(row), normalized(x, kernel, sum));
  });
}

/** The index of a matrix entry in memory, which holds the matrix row by row, or row by row its upper triangle. */
function entryOf({ matrix, symmetric, transposed }: KernelFactors, row: number, column: number): number {
  if (!symmetric) return transposed ? column * matrix + row : row * matrix + column;
  const [first, second] = row < column ? [row, column] : [column, row];
  return first * matrix - (first * (first - 1)) / 2 + second - first;
}

/**
 * A number divided by its magnitude; 0 if its parts are below the smallest normal single. Both parts are divided by the larger one first, so
 * that no square overflows or underflows.
 */
function overMagnitude(x: Expressions, { re, im }: Complex): Complex {
  const [zero, one] = [x.constant(exact.ZERO), x.constant(exact.ONE)];
  const larger = x.max(x.abs(re), x.abs(im));
  const ifNonzero = (then: Complex['re'], otherwise: Complex['re']) =>
    x.select('less', smallestNormal(x), larger, then, otherwise);
  const divisor = ifNonzero(larger, one);
  const [a, b] = [x.div(ifNonzero(re, one), divisor), x.div(ifNonzero(im, zero), divisor)];
  const magnitude = x.sqrt(x.add(x.mul(a, a), x.mul(b, b)));
  return { re: ifNonzero(x.div(a, magnitude), zero), im: ifNonzero(x.div(b, magnitude), zero) };
}

/** The smallest normal single, whose reciprocal is finite. */
const smallestNormal = (x: Expressions) => x.constant(exact.exact(2 ** -126));
