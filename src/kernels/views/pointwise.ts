/**
 * Operations on single points, fused into the loads of the first pass along a dimension or the stores of its last pass: blocks of points
 * that are zeros, factors, and the sign of the inverse transform.
 */

import {
  type ArrayRef,
  add,
  blocked,
  type Complex,
  type ComplexView,
  type Expressions,
  type Format,
  type Guard,
  type IndexLike,
  index,
  interleaved,
  type Store,
  scale,
  simplified,
  stackedPlanes,
  storageBytes,
  type TableBuilder,
  type ViewMap,
} from '../../ir/index.ts';
import { cosTurn, neg, sinTurn } from '../../numeric/exact.ts';
import { chirp, chirpSpectrum, halfChirpSpectrum, type Rounding } from '../../numeric/large-primes/chirp.ts';
import { rootSpectrum } from '../../numeric/large-primes/powers.ts';
import { unorderedPosition } from '../../numeric/primes.ts';
import type { ChirpReach, Factors, KernelFactors, PassesStep, PointwiseStep } from '../../plan/tree/leaf.ts';
import { roundingOf } from './number-types.ts';
import { binProduct, kernelView } from './products.ts';
import { type Coordinates, termSum, type Views } from './views.ts';

/** The format of a table with one complex factor for each point, chosen so that lanes read whole vectors. */
export interface FactorFormat {
  readonly kind: 'blocked' | 'planes' | 'pairs';
  readonly lanes: number;
}

/** The operations at both ends of the passes along a dimension, as functions of views whose first coordinate is the point. */
export interface PassEnds {
  readonly read: (view: ComplexView) => ComplexView;
  /** @param memory the input and output of the leaf, at the same coordinates */
  readonly write: (view: ComplexView, memory: Views) => ComplexView;
}

/** The context of operations on points: tables, coordinates and the convolution kernel. */
export interface PassContext {
  readonly tables: TableBuilder;
  readonly format: FactorFormat;
  /** Maps a place to coordinates of the leaf. */
  readonly coordinates: Coordinates;
  /** The kernel of a convolution. */
  readonly kernel: ArrayRef | undefined;
}

export function passEnds(
  { read, write, inverse }: Pick<PassesStep, 'read' | 'write' | 'inverse'>,
  length: number,
  context: PassContext,
): PassEnds {
  const first = read && pointwise(read, length, context);
  const last = write && pointwise(write, length, context);
  if (!first && !last && !inverse) return { read: (view) => view, write: (view) => view };
  return {
    read: (view) => ({
      load: (x, at, guard) => {
        const value = hermitianBin(x, view.load(x, at, both(first?.guard(at[0]!), guard)), at[0]!, read);
        const weighted = first?.factor ? first.factor(x, value, at) : value;
        return inverse ? swappedParts(weighted) : weighted;
      },
      store: view.store,
    }),
    write: (view, memory) => ({
      load: view.load,
      store: (x, at, value, guard) => {
        const output = inverse ? swappedParts(value) : value;
        const product = last?.factor ? last.factor(x, output, at) : output;
        if (!write?.origin) return view.store(x, at, product, both(last?.guard(at[0]!), guard));
        const { kept, stores } = atOrigin(x, at, output, length, memory);
        const added = kept ? x.cadd(product, kept) : product;
        return [...view.store(x, at, added, guard), ...stores.map((store) => guardedStore(store, guard))];
      },
    }),
  };
}

/** The guard that holds where both guards hold. */
function both(one: Guard | undefined, other: Guard | undefined): Guard | undefined {
  return one && other ? [...one, ...other] : (one ?? other);
}

function guardedStore(store: Store, guard: Guard | undefined): Store {
  return guard ? { ...store, guard: [...(store.guard ?? []), ...guard] } : store;
}

/**
 * A bin of a Hermitian half, weighted so that it also represents its mirror image (`PointwiseStep.hermitian`); without that option, the
 * value unchanged.
 */
function hermitianBin(x: Expressions, value: Complex, n: IndexLike, { hermitian, count }: PointwiseStep = {}): Complex {
  if (!hermitian) return value;
  const others: Guard = [{ index: index(n), from: 1, to: count! }];
  return {
    re: x.where(others, x.add(value.re, value.re), value.re),
    im: x.where(others, x.add(value.im, value.im), x.constant(0)),
  };
}

/** A number with its parts exchanged. Done at both ends, this turns a forward transform into an inverse one. */
function swappedParts({ re, im }: Complex): Complex {
  return { re: im, im: re };
}

/** Handles the element at the origin, which Rader's order leaves out (`PointwiseStep.origin`). It follows all points of the dimension. */
function atOrigin(
  x: Expressions,
  [n, ...others]: readonly IndexLike[],
  value: Complex,
  length: number,
  { input, output }: Views,
): { kept?: Complex; stores: Store[] } {
  const guard = simplified([{ index: index(n!), from: 0, to: 1 }]);
  if (!guard) return { stores: [] };
  const element = [length, ...others];
  const kept = input.load(x, element, guard);
  return { kept, stores: output.store(x, element, x.cadd(value, kept), guard) };
}

function pointwise({ count, factors, kernel }: PointwiseStep, length: number, context: PassContext) {
  const { tables, format, coordinates } = context;
  const guard = (n: IndexLike): Guard | undefined =>
    count === undefined ? undefined : [{ index: index(n), from: 0, to: count }];
  if (kernel) return { guard, factor: kernelAt(kernel, context) };
  return { guard, factor: factors && factorAt(factors, length, tables, format, coordinates) };
}

/** The map that multiplies the bin at a place by its number of the kernel. */
function kernelAt(kernel: KernelFactors, context: PassContext): ViewMap {
  const numbers = kernelView(kernel, context.kernel!, context.coordinates);
  return (x, value, at) => binProduct(x, kernel, value, numbers(x, at, 0));
}

/** The map that multiplies the point at a place by its factor. */
export function factorAt(
  factors: Factors,
  length: number,
  tables: TableBuilder,
  format: FactorFormat,
  coordinates: Coordinates,
): ViewMap {
  const { terms } = factors;
  const factor = pointFactor(factors, factors.count ?? length, tables, format);
  return terms ? (x, value, at) => factor(x, value, [termSum(terms, coordinates(at))]) : factor;
}

/** The map that multiplies point n by its factor. */
function pointFactor(
  factors: Factors,
  length: number,
  tables: TableBuilder,
  { kind: as, lanes }: FactorFormat,
): ViewMap {
  const { kind, modulus, order, conjugated, reach } = factors;
  if (kind === 'roots') return rootFactors(factors, length, tables);
  if (kind === 'hartley') return (x, { re, im }) => ({ re: x.sub(re, im), im: x.add(re, im) });
  const plane = Math.ceil(length / lanes) * lanes;
  const format: Format =
    as === 'blocked'
      ? blocked(tables.ref, lanes)
      : as === 'planes'
        ? stackedPlanes(tables.ref, plane)
        : interleaved(tables.ref);
  const { type } = tables.ref;
  const precision = roundingOf(type);
  // Values come in doubles, of which a wider number has several.
  const words = Math.max(1, storageBytes(type) / Float64Array.BYTES_PER_ELEMENT);
  const cropped = reach ? `:${reach.read}-${reach.written}` : '';
  const name = `${kind}${modulus}${cropped}${kind === 'band' ? `:${factors.from}-${factors.to}` : ''}`;
  const start = tables.appendValues(`${name}:${length}:${as}${lanes}:${order?.join('x')}`, 2 * plane, () => {
    const values = kind === 'band' ? band(factors, length, words) : VALUES[kind](modulus, length, precision, reach);
    const block = as === 'blocked' ? lanes : as === 'planes' ? plane : 1;
    return (table, start) =>
      placeFactors(values, table, start, { count: length, words, block, order: order ?? [length] });
  });
  return (x, value, [n]) => {
    const [re, atRe] = format.re(index(n!));
    const [im, atIm] = format.im(index(n!));
    const [cos, sin] = [x.load(re, plusConstant(atRe, start)), x.load(im, plusConstant(atIm, start))];
    return x.cmul(value, { re: cos, im: conjugated ? x.neg(sin) : sin });
  };
}

/**
 * Writes complex numbers to a table in the order in which uploads leave bins, as blocks of `block` real parts followed by as many imaginary
 * parts.
 * @param values of all numbers, or of the first half if number n equals number count − n
 * @param words of a real part
 */
function placeFactors(
  values: Float64Array,
  table: { [element: number]: number },
  start: number,
  placing: Readonly<Record<'count' | 'words' | 'block', number>> & { readonly order: readonly number[] },
): void {
  const { count, words, block, order } = placing;
  const [first, last] = [order[0]!, order.length > 1 ? order.at(-1)! : 1];
  const middle = order.slice(1, -1);
  const step = count / first;
  // Bins n, n + 1, … lie `step` apart, and bins with equal middle digits lie in runs; written run by run, they stay in a cache.
  for (let digits = 0; digits < step / last; digits++) {
    const run = unorderedPosition(digits, middle) * last;
    for (let m = 0; m < last; m++) {
      let n = first * (digits + (m * step) / last);
      for (let place = run + m; place < count; place += step, n++) {
        const at = start + words * (place + block * Math.floor(place / block));
        let from = 2 * words * n;
        if (from >= values.length) from = 2 * words * (count - n);
        for (let word = 0; word < words; word++) {
          table[at + word] = values[from + word]!;
          table[at + words * block + word] = values[from + words + word]!;
        }
      }
    }
  }
}

/** 0 for the points of a block, 1 for all others. @param words of a number */
function band({ from, to }: Factors, length: number, words: number): Float64Array {
  const values = new Float64Array(2 * words * length);
  for (let n = 0; n < length; n++) values[2 * words * n] = n >= from! && n < to! ? 0 : 1;
  return values;
}

const VALUES = {
  chirp,
  'chirp-spectrum': (modulus, length, precision, reach) =>
    reach ? chirpSpectrum(modulus, length, precision, reach) : halfChirpSpectrum(modulus, length, precision),
  'root-spectrum': rootSpectrum,
} as const satisfies Record<
  Exclude<Factors['kind'], 'roots' | 'hartley' | 'band'>,
  (modulus: number, length: number, precision: Rounding, reach?: ChirpReach) => Float64Array
>;

/** The map that multiplies point n by e^{−2πi·(first + step·n)/modulus}. */
function rootFactors(
  { modulus, step = 1, first = 0, conjugated }: Factors,
  count: number,
  tables: TableBuilder,
): ViewMap {
  // The factor i exchanges the parts and needs no product.
  if (step === 0 && 4 * first === 3 * modulus) return (x, { re, im }) => ({ re: x.neg(im), im: re });
  const { ref } = tables;
  const start = () =>
    tables.append(`roots${modulus}:${step}+${first}:${count}`, 2 * count, (at, runs) => {
      runs.push({ q: modulus, p: first, step, count, re: at, im: at + 1, stride: 2, block: count, skip: 0 });
    });
  return (x, value, [n]) => {
    const place = index(n!);
    if (place.terms.length === 0) {
      const turns = first + step * place.constant;
      return x.cmul(value, {
        re: x.constant(cosTurn(turns, modulus)),
        im: x.constant(conjugated ? sinTurn(turns, modulus) : neg(sinTurn(turns, modulus))),
      });
    }
    const at = add(start(), scale(place, 2));
    const im = x.load(ref, add(at, 1));
    return x.cmul(value, { re: x.load(ref, at), im: conjugated ? x.neg(im) : im });
  };
}

function plusConstant(at: ReturnType<typeof index>, by: number) {
  return { ...at, constant: at.constant + by };
}
