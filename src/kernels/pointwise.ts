/**
 * Steps on single points, fused into what the first pass along a dimension reads or the last one writes: points that are not
 * there, factors, and the other sign of the exponents.
 */
import {
  add,
  blocked,
  type Complex,
  type ComplexView,
  type Expressions,
  type Format,
  type Guard,
  type Index,
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
import { chirp, chirpSpectrum } from '../numeric/chirp.ts';
import { unorderedPlace } from '../numeric/digits.ts';
import { rootSpectrum } from '../numeric/powers.ts';
import type { Factors, OutsideOf, PassesStep, PointwiseStep } from '../plan/leaf.ts';
import type { Views } from './sides.ts';

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

/** Coordinates of a leaf, of a place in its tile: those along the dimensions of the tile, then those of the batch. */
export type Coordinates = (at: readonly IndexLike[]) => readonly IndexLike[];

/** @param coordinates of the places at both ends. */
export function passEnds(
  { read, write, inverse }: Pick<PassesStep, 'read' | 'write' | 'inverse'>,
  length: number,
  tables: TableBuilder,
  format: FactorFormat,
  coordinates: Coordinates,
): PassEnds {
  const first = read && pointwise(read, length, tables, format, coordinates);
  const last = write && pointwise(write, length, tables, format, coordinates);
  if (!first && !last && !inverse) return { read: (view) => view, write: (view) => view };
  return {
    read: (view) => ({
      load: (x, at) => {
        const value = view.load(x, at, first?.guard(at[0]!));
        const turned = first?.factor ? first.factor(x, value, at) : value;
        return inverse ? { re: turned.im, im: turned.re } : turned;
      },
      store: view.store,
    }),
    write: (view, memory) => ({
      load: view.load,
      store: (x, at, value) => {
        const turned = inverse ? { re: value.im, im: value.re } : value;
        const product = last?.factor ? last.factor(x, turned, at) : turned;
        if (!write?.origin) return view.store(x, at, product, last?.guard(at[0]!));
        const { kept, stores } = atOrigin(x, at, turned, length, memory);
        return [...view.store(x, at, kept ? x.cadd(product, kept) : product), ...stores];
      },
    }),
  };
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

function pointwise(
  { count, factors }: PointwiseStep,
  length: number,
  tables: TableBuilder,
  format: FactorFormat,
  coordinates: Coordinates,
) {
  const guard = (n: IndexLike): Guard | undefined =>
    count === undefined ? undefined : [{ index: index(n), from: 0, to: count }];
  return { guard, factor: factors && factorAt(factors, length, tables, format, coordinates) };
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
  return terms ? (x, value, at) => factor(x, value, [placeOf(terms, coordinates(at))]) : factor;
}

/** Σ step · coordinate. */
export function placeOf(terms: OutsideOf['terms'], coordinates: readonly IndexLike[]): Index {
  return add(0, ...terms.map(({ dimension, step }) => scale(coordinates[dimension]!, step)));
}

/** Multiplies point n by its factor. */
function factorOf(factors: Factors, length: number, tables: TableBuilder, { kind: as, lanes }: FactorFormat): ViewMap {
  const { kind, of, order, conjugated } = factors;
  if (kind === 'roots') return rootFactors(factors, length, tables);
  const plane = Math.ceil(length / lanes) * lanes;
  const format: Format =
    as === 'blocked'
      ? blocked(tables.ref, lanes)
      : as === 'planes'
        ? split(tables.ref, plane)
        : interleaved(tables.ref);
  const precision = tables.ref.type === 'f32' ? 'single' : 'double';
  const start = tables.appendValues(`${kind}${of}:${length}:${as}${lanes}:${order?.join('x')}`, 2 * plane, () => {
    const values = VALUES[kind](of, length, precision);
    const placed = new Float64Array(2 * plane);
    for (let n = 0; n < length; n++) {
      const [re, im] = format.at(order ? unorderedPlace(n, order) : n);
      placed[re] = values[2 * n]!;
      placed[im] = values[2 * n + 1]!;
    }
    return placed;
  });
  return (x, value, [n]) => {
    const [re, atRe] = format.re(index(n!));
    const [im, atIm] = format.im(index(n!));
    const [cos, sin] = [x.load(re, shifted(atRe, start)), x.load(im, shifted(atIm, start))];
    return x.cmul(value, { re: cos, im: conjugated ? x.neg(sin) : sin });
  };
}

const VALUES = {
  chirp,
  'chirp-spectrum': chirpSpectrum,
  'root-spectrum': rootSpectrum,
} as const satisfies Record<Exclude<Factors['kind'], 'roots'>, (of: number, length: number) => Float64Array>;

/** Multiplies point n by e^{−2πi·(first + step·n)/of}. */
function rootFactors({ of, step = 1, first = 0, conjugated }: Factors, count: number, tables: TableBuilder): ViewMap {
  // i itself: the parts change places.
  if (step === 0 && 4 * first === 3 * of) return (x, { re, im }) => ({ re: x.neg(im), im: re });
  const start = tables.append(`roots${of}:${step}+${first}:${count}`, 2 * count, (at, runs) => {
    runs.push({ q: of, p: first, step, count, re: at, im: at + 1, stride: 2, block: count, skip: 0 });
  });
  const { ref } = tables;
  return (x, value, [n]) => {
    const at = add(start, scale(n!, 2));
    const im = x.load(ref, add(at, 1));
    return x.cmul(value, { re: x.load(ref, at), im: conjugated ? x.neg(im) : im });
  };
}

function shifted(at: ReturnType<typeof index>, by: number) {
  return { ...at, constant: at.constant + by };
}
