/**
 * Steps on single points, fused into what the first pass along a dimension reads or the last one writes: points that are not
 * there, factors, and the other sign of the exponents.
 */

import {
  type ArrayRef,
  add,
  blocked,
  bytesOf,
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
  split,
  type TableBuilder,
  type ViewMap,
} from '../ir/index.ts';
import { chirp, chirpSpectrum, halfChirpSpectrum, type Rounding } from '../numeric/chirp.ts';
import { cosTurn, neg, sinTurn } from '../numeric/exact.ts';
import { rootSpectrum } from '../numeric/powers.ts';
import { unorderedPlace } from '../numeric/primes.ts';
import type { ChirpReach, Factors, KernelFactors, PassesStep, PointwiseStep } from '../plan/tree/leaf.ts';
import { roundingOf } from './number-types.ts';
import { kernelView, multiplied } from './products.ts';
import { type Coordinates, sumOf, type Views } from './views.ts';

/** How a table of one complex factor for each point lies: as the lanes read it. */
export interface FactorFormat {
  readonly kind: 'blocked' | 'planes' | 'pairs';
  readonly lanes: number;
}

/** Both ends of the passes along a dimension of some length, at coordinates that begin with the point. */
export interface PassEnds {
  readonly read: (view: ComplexView) => ComplexView;
  /** @param memory that the leaf reads and writes, at the same coordinates. */
  readonly write: (view: ComplexView, memory: Views) => ComplexView;
}

/** Where passes are, and what they are given. */
export interface PassContext {
  readonly tables: TableBuilder;
  readonly format: FactorFormat;
  /** Of the places at both ends. */
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
      load: (x, at) => {
        const value = hermitianBin(x, view.load(x, at, first?.guard(at[0]!)), at[0]!, read);
        const weighted = first?.factor ? first.factor(x, value, at) : value;
        return inverse ? exchanged(weighted) : weighted;
      },
      store: view.store,
    }),
    write: (view, memory) => ({
      load: view.load,
      store: (x, at, value) => {
        const own = inverse ? exchanged(value) : value;
        const product = last?.factor ? last.factor(x, own, at) : own;
        if (!write?.origin) return view.store(x, at, product, last?.guard(at[0]!));
        const { kept, stores } = atOrigin(x, at, own, length, memory);
        return [...view.store(x, at, kept ? x.cadd(product, kept) : product), ...stores];
      },
    }),
  };
}

/** A bin that stands for its mirror image, too (`PointwiseStep.hermitian`), or just a number. */
function hermitianBin(x: Expressions, value: Complex, n: IndexLike, { hermitian, count }: PointwiseStep = {}): Complex {
  if (!hermitian) return value;
  const others: Guard = [{ index: index(n), from: 1, to: count! }];
  return {
    re: x.where(others, x.add(value.re, value.re), value.re),
    im: x.where(others, x.add(value.im, value.im), x.constant(0)),
  };
}

/** With its parts exchanged, which the other sign of the exponents comes to. */
function exchanged({ re, im }: Complex): Complex {
  return { re: im, im: re };
}

/** See `PointwiseStep.origin`. The element follows all points of the dimension. */
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

/** Multiplies the bin at a place by its number of the kernel. */
function kernelAt(kernel: KernelFactors, context: PassContext): ViewMap {
  const numbers = kernelView(kernel, context.kernel!, context.coordinates);
  return (x, value, at) => multiplied(x, kernel, value, numbers(x, at, 0));
}

/** Multiplies the point at a place by its factor. */
export function factorAt(
  factors: Factors,
  length: number,
  tables: TableBuilder,
  format: FactorFormat,
  coordinates: Coordinates,
): ViewMap {
  const { terms } = factors;
  const factor = factorOf(factors, factors.count ?? length, tables, format);
  return terms ? (x, value, at) => factor(x, value, [sumOf(terms, coordinates(at))]) : factor;
}

/** Multiplies point n by its factor. */
function factorOf(factors: Factors, length: number, tables: TableBuilder, { kind: as, lanes }: FactorFormat): ViewMap {
  const { kind, of, order, conjugated, reach } = factors;
  if (kind === 'roots') return rootFactors(factors, length, tables);
  if (kind === 'hartley') return (x, { re, im }) => ({ re: x.sub(re, im), im: x.add(re, im) });
  const plane = Math.ceil(length / lanes) * lanes;
  const format: Format =
    as === 'blocked'
      ? blocked(tables.ref, lanes)
      : as === 'planes'
        ? split(tables.ref, plane)
        : interleaved(tables.ref);
  const { type } = tables.ref;
  const precision = roundingOf(type);
  // Values come in doubles, of which a wider number has several.
  const words = Math.max(1, bytesOf(type) / Float64Array.BYTES_PER_ELEMENT);
  const cropped = reach ? `:${reach.read}-${reach.written}` : '';
  const name = `${kind}${of}${cropped}${kind === 'band' ? `:${factors.from}-${factors.to}` : ''}`;
  const start = tables.appendValues(`${name}:${length}:${as}${lanes}:${order?.join('x')}`, 2 * plane, () => {
    const values = kind === 'band' ? band(factors, length, words) : VALUES[kind](of, length, precision, reach);
    const block = as === 'blocked' ? lanes : as === 'planes' ? plane : 1;
    return (table, start) =>
      placeFactors(values, table, start, { count: length, words, block, order: order ?? [length] });
  });
  return (x, value, [n]) => {
    const [re, atRe] = format.re(index(n!));
    const [im, atIm] = format.im(index(n!));
    const [cos, sin] = [x.load(re, shifted(atRe, start)), x.load(im, shifted(atIm, start))];
    return x.cmul(value, { re: cos, im: conjugated ? x.neg(sin) : sin });
  };
}

/**
 * Writes complex numbers to a table: in the order in which uploads leave bins, `block` real parts before as many imaginary ones.
 * @param values of all, or of the first half of numbers n that are the same as those at count − n.
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
  // Bins n, n + 1, … lie `step` apart, bins with the same middle digits in runs: these together stay in a cache.
  for (let digits = 0; digits < step / last; digits++) {
    const run = unorderedPlace(digits, middle) * last;
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
  'chirp-spectrum': (of, length, precision, reach) =>
    reach ? chirpSpectrum(of, length, precision, reach) : halfChirpSpectrum(of, length, precision),
  'root-spectrum': rootSpectrum,
} as const satisfies Record<
  Exclude<Factors['kind'], 'roots' | 'hartley' | 'band'>,
  (of: number, length: number, precision: Rounding, reach?: ChirpReach) => Float64Array
>;

/** Multiplies point n by e^{−2πi·(first + step·n)/of}. */
function rootFactors({ of, step = 1, first = 0, conjugated }: Factors, count: number, tables: TableBuilder): ViewMap {
  // i itself: the parts change places.
  if (step === 0 && 4 * first === 3 * of) return (x, { re, im }) => ({ re: x.neg(im), im: re });
  const { ref } = tables;
  const start = () =>
    tables.append(`roots${of}:${step}+${first}:${count}`, 2 * count, (at, runs) => {
      runs.push({ q: of, p: first, step, count, re: at, im: at + 1, stride: 2, block: count, skip: 0 });
    });
  return (x, value, [n]) => {
    const place = index(n!);
    if (place.terms.length === 0) {
      const turns = first + step * place.constant;
      return x.cmul(value, {
        re: x.constant(cosTurn(turns, of)),
        im: x.constant(conjugated ? sinTurn(turns, of) : neg(sinTurn(turns, of))),
      });
    }
    const at = add(start(), scale(place, 2));
    const im = x.load(ref, add(at, 1));
    return x.cmul(value, { re: x.load(ref, at), im: conjugated ? x.neg(im) : im });
  };
}

function shifted(at: ReturnType<typeof index>, by: number) {
  return { ...at, constant: at.constant + by };
}
