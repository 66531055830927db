/**
 * Bins times the kernel of a convolution (VkFFT guide 2.5.8): numbers, or matrices over the coordinates; either conjugated; and
 * divided by their magnitude, where what has none becomes 0.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  type Expressions,
  type IndexLike,
  interleaved,
  mapped,
  type Store,
} from '../ir/index.ts';
import * as exact from '../numeric/exact.ts';
import type { KernelFactors } from '../plan/tree/leaf.ts';
import { type Coordinates, sumOf } from './views.ts';

/** The numbers of a kernel: entry `n` of what belongs to the bin at a place. */
export type KernelView = (x: Expressions, at: readonly IndexLike[], n: number) => Complex;

export function kernelView({ terms, entry }: KernelFactors, array: ArrayRef, coordinates: Coordinates): KernelView {
  const view = mapped(interleaved(array), ([place]) => add(place!, 0));
  return (x, at, n) => view.load(x, [add(sumOf(terms, coordinates(at)), n * entry)]);
}

/** The product of a bin and its number. */
export function multiplied(x: Expressions, kernel: KernelFactors, bin: Complex, factor: Complex): Complex {
  return normalized(x, kernel, productOf(x, kernel, bin, factor));
}

function productOf(x: Expressions, { conjugate }: KernelFactors, bin: Complex, factor: Complex): Complex {
  return x.cmul(
    conjugate === 'signal' ? conjugated(x, bin) : bin,
    conjugate === 'kernel' ? conjugated(x, factor) : factor,
  );
}

/** A bin of the result, over its magnitude where that is asked for. */
function normalized(x: Expressions, { crossPower }: KernelFactors, bin: Complex): Complex {
  return crossPower ? ofMagnitudeOne(x, bin) : bin;
}

/**
 * Stores for the bins of all coordinates at a place their products with its matrix.
 * @param at the place, for each coordinate.
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
    const products = rows.map((column) => productOf(x, kernel, bins[column]!, entry(row, column)));
    const sum = products.reduce((all, one) => x.cadd(all, one));
    return to.store(x, at(row), normalized(x, kernel, sum));
  });
}

/** Which number of a matrix is in a row and a column: rows first, or the rows of the upper triangle. */
function entryOf({ matrix, symmetric }: KernelFactors, row: number, column: number): number {
  if (!symmetric) return row * matrix + column;
  const [first, second] = row < column ? [row, column] : [column, row];
  return first * matrix - (first * (first - 1)) / 2 + second - first;
}

function conjugated(x: Expressions, { re, im }: Complex): Complex {
  return { re, im: x.neg(im) };
}

/** Divided by the larger part first, so that no square is too large or too small. Less than a normal single counts as nothing. */
function ofMagnitudeOne(x: Expressions, { re, im }: Complex): Complex {
  const [zero, one] = [x.constant(exact.ZERO), x.constant(exact.ONE)];
  const larger = x.max(x.abs(re), x.abs(im));
  const isThere = (then: Complex['re'], otherwise: Complex['re']) =>
    x.select('less', smallestNormal(x), larger, then, otherwise);
  const divisor = isThere(larger, one);
  const [a, b] = [x.div(isThere(re, one), divisor), x.div(isThere(im, zero), divisor)];
  const magnitude = x.sqrt(x.add(x.mul(a, a), x.mul(b, b)));
  return { re: isThere(x.div(a, magnitude), zero), im: isThere(x.div(b, magnitude), zero) };
}

/** Of singles: one divided by it is no infinity yet. */
const smallestNormal = (x: Expressions) => x.constant(exact.exact(2 ** -126));
