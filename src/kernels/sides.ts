/** The two sides of a leaf in memory: which tile a group takes, and views of what it reads and writes. */
import {
  type ArrayRef,
  add,
  type ComplexView,
  coordinates,
  div,
  type Expressions,
  type Format,
  type Guard,
  type Index,
  type IndexLike,
  index,
  interleaved,
  lookup,
  mapped,
  mappedLoad,
  mappedStore,
  mod,
  planar,
  type Real,
  runs,
  type StorageType,
  type Store,
  scale,
  simplified,
  sub,
  swapped,
  type TableBuilder,
  type Var,
  type ViewMap,
  variable,
} from '../ir/index.ts';
import * as exact from '../numeric/exact.ts';
import { powers } from '../numeric/powers.ts';
import type {
  Beside,
  ExtendedSide,
  Leaf,
  LeafSide,
  Mirrored,
  OutsideOf,
  PowerOrder,
  SideFactors,
  Stride,
  Way,
} from '../plan/leaf.ts';
import { type Coordinates, factorAt, placeOf } from './pointwise.ts';
import { storageTypeOf, typeOf } from './steps.ts';

/** The groups of a launch, and the tile of the batch that each one takes. */
export interface Tiles {
  readonly group: Var;
  /** Number of the tile along the first batch dimension. */
  readonly number: Index;
  /** The first transform of the tile. */
  readonly first: Index;
  /** Coordinates in the other batch dimensions. */
  readonly outer: readonly Index[];
  /** Transforms in a tile that is not full; missing where all are. */
  readonly limit: Index | undefined;
}

export function tilesOf({ batch, tile }: Leaf): Tiles {
  const counts = [Math.ceil(batch[0]! / tile), ...batch.slice(1)];
  const group = variable(
    'group',
    counts.reduce((a, b) => a * b, 1),
  );
  const [number, ...outer] = coordinates(group, counts);
  const first = scale(number!, tile);
  return { group, number: number!, first, outer, limit: batch[0]! % tile === 0 ? undefined : sub(batch[0]!, first) };
}

/** Both sides of a leaf, seen at coordinates of a tile: [along …, transform of the tile]. */
export interface Views {
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** The bins of the second of two lines, on the side where there are bins; missing where there is no second one. */
  readonly beside?: ComplexView;
}

/** The memory that a leaf touches, and what it is for either way. */
export interface Sides {
  /** Those of both sides, then the operands. */
  readonly globals: readonly ArrayRef[];
  readonly views: (way: Way) => Views;
  /** The coordinates of a place in a tile: those along the dimensions of the tile, then those of the batch. */
  readonly coordinates: Coordinates;
  /**
   * The output while the passes of a transform work in it: [element, transform of the tile]. Where it is interleaved, in
   * the given format. For outputs whose elements lie side by side.
   */
  readonly inOutput: (format: (array: ArrayRef) => Format) => ComplexView;
}

interface SideViews {
  readonly view: ComplexView;
  readonly beside?: ComplexView;
  readonly runs?: (format: (array: ArrayRef) => Format) => ComplexView;
}

/** The arrays that a leaf reads beside its sides, by their names. */
function operandsOf({ operands = [] }: Leaf): ReadonlyMap<string, ArrayRef> {
  return new Map(
    operands.map(({ name, storage, reals }) => {
      const type: StorageType = storage === 'half' ? 'f16' : typeOf(storage);
      return [name, { name, space: 'global', type, operand: true, ...(reals ? { plane: true } : {}) }];
    }),
  );
}

export function sidesOf(leaf: Leaf, { first, outer }: Tiles, tables: TableBuilder): Sides {
  const operands = operandsOf(leaf);
  const globals: ArrayRef[] = [];
  const declare = (name: string, type: StorageType, plane?: true): ArrayRef => {
    const array: ArrayRef = { name, space: 'global', type, ...(plane ? { plane } : {}) };
    globals.push(array);
    return array;
  };
  const coordinates: Coordinates = (at) => [...at.slice(0, -1), add(first, at.at(-1)!), ...outer];
  const memory = (name: 'input' | 'output'): SideViews => {
    const side = leaf[name];
    const type = storageTypeOf(side, leaf.precision);
    const walks = side.axes;
    const origin = add(side.offset, ...outer.map((at, d) => walk(at, side.batch[d + 1]!)));
    const begin = (c: IndexLike) => add(origin, walk(add(first, c), side.batch[0]!));
    const element = (at: readonly IndexLike[]) =>
      add(begin(at[walks.length]!), ...walks.map((stride, d) => walk(at[d]!, stride)));
    const multiplied = (view: ComplexView) =>
      (side.factors ?? []).reduce((inner, factors) => factored(inner, factors, coordinates, tables), view);
    if (side.layout === 'real') {
      const array = declare(name, type, sharesWords(side) || undefined);
      return { view: multiplied(realsView(array, side, element, coordinates)) };
    }
    const planes =
      side.layout === 'planar'
        ? planar(declare(`${name}.re`, type, true), declare(`${name}.im`, type, true))
        : undefined;
    const format = planes ?? interleaved(declare(name, type));
    const [array] = format.re(index(0));
    const view = mapped(format, element);
    const there = side.absent ? guarded(view, side.absent, coordinates) : view;
    const whole = side.mirrored ? mirroredView(there, format, side.mirrored, element, coordinates) : there;
    return {
      view: side.order ? inOrder(multiplied(whole), side.order, tables) : multiplied(whole),
      ...(side.beside ? { beside: besideView(format, side.beside, element, coordinates) } : {}),
      runs: (format: (array: ArrayRef) => Format) =>
        planes ? runs(planes, begin) : runs(format(array), (c) => scale(begin(c), 2)),
    };
  };
  const input = memory('input');
  const output = memory('output');
  return {
    globals: [...globals, ...operands.values()],
    coordinates,
    views: ({ inverse, scale }) => {
      const loaded = (view: ComplexView) => mappedLoad(inverse ? swapped(view) : view, times(scale.input));
      const stored = (view: ComplexView) => mappedStore(inverse ? swapped(view) : view, times(scale.output));
      const beside = input.beside ? loaded(input.beside) : output.beside && stored(output.beside);
      return { input: loaded(input.view), output: stored(output.view), ...(beside ? { beside } : {}) };
    },
    inOutput: (format) => {
      if (!output.runs) throw new RangeError('Passes do not work in an output of reals.');
      return output.runs(format);
    },
  };
}

type Elements = (at: readonly IndexLike[]) => Index;

/** Whether reals share words of memory with others that other items write: all but pairs of neighbours do. */
function sharesWords({ beside, axes, batch, offset }: LeafSide): boolean {
  const even = [...axes, ...batch].every((stride) => typeof stride === 'number' && stride % 2 === 0);
  return beside?.apart !== 1 || !even || offset % 2 !== 0;
}

/** Reals as the parts of complex numbers: the imaginary ones beside the others, or zero. */
function realsView(
  array: ArrayRef,
  { absent = [], beside, extended, cropped }: LeafSide,
  element: Elements,
  coordinates: Coordinates,
): ComplexView {
  const there = (absent: readonly OutsideOf[], at: readonly IndexLike[], guard: Guard = []) =>
    outside(absent, coordinates(at), guard);
  const second = (at: readonly IndexLike[]) => add(element(at), beside!.apart);
  const load = extended ? continuedLoad(array, extended, coordinates) : plainLoad(array);
  return {
    load: (x, at, guard) => ({
      re: load(x, at, element(at), there(absent, at, guard)),
      im: beside ? load(x, at, second(at), there(beside.absent ?? [], at, guard)) : x.constant(0),
    }),
    store: (x, at, { re, im }, guard = []) => {
      const within: Guard = cropped
        ? [...guard, { index: placeOf(cropped.terms, coordinates(at)), from: cropped.from, to: cropped.to }]
        : guard;
      const put = extended ? continuedStore(array, extended, coordinates) : plainStore(array);
      return [
        ...put(x, at, element(at), re, there(absent, at, within)),
        ...(beside ? put(x, at, second(at), im, there(beside.absent ?? [], at, within)) : []),
      ];
    },
  };
}

/** Loads a real of a point. @param place where point `at` would be, were all of them in memory. */
type PointLoad = (x: Expressions, at: readonly IndexLike[], place: Index, guard: Guard) => Real;

function plainLoad(array: ArrayRef): PointLoad {
  return (x, _, place, guard) => x.load(array, place, guard);
}

type PointStore = (x: Expressions, at: readonly IndexLike[], place: Index, value: Real, guard: Guard) => Store[];

function plainStore(array: ArrayRef): PointStore {
  return (_, __, place, value, guard) => storeOf(array, place, value, guard);
}

/** Where the real of a point is, if it is in the first half, or in the second one. */
function continuedPlaces(
  { count, shift, mirror, stride, terms, absent = [] }: ExtendedSide,
  coordinates: Coordinates,
): (at: readonly IndexLike[], place: Index, guard: Guard) => Record<'own' | 'other', readonly [Index, Guard]> {
  /** Where a real of that number is there. */
  const within = (real: Index): Guard => [
    { index: real, from: 0, to: count },
    ...absent.map(({ from, to }) => ({ index: real, from, to, outside: true as const })),
  ];
  return (at, place, guard) => {
    const point = placeOf(terms, coordinates(at));
    const direct = add(point, -shift);
    const second: Guard = [{ index: direct, from: count, to: mirror + 1 }];
    return {
      own: [add(place, -shift * stride), [...guard, ...within(direct)]],
      other: [
        add(place, mirror * stride, scale(point, -2 * stride)),
        [...guard, ...within(sub(mirror, point)), ...second],
      ],
    };
  };
}

/** Points that continue the reals of a dimension. */
function continuedLoad(array: ArrayRef, side: ExtendedSide, coordinates: Coordinates): PointLoad {
  const places = continuedPlaces(side, coordinates);
  return (x, at, place, guard) => {
    const { own, other } = places(at, place, guard);
    const [first, second] = [x.load(array, ...own), x.load(array, ...other)];
    // What is not read is 0.
    return side.sign > 0 ? x.add(first, second) : x.sub(first, second);
  };
}

/** The way back, where every point is a real. */
function continuedStore(array: ArrayRef, side: ExtendedSide, coordinates: Coordinates): PointStore {
  const places = continuedPlaces(side, coordinates);
  return (x, at, place, value, guard) => {
    const { own, other } = places(at, place, guard);
    const signed = side.sign > 0 ? value : x.neg(value);
    return [...storeOf(array, own[0], value, own[1]), ...storeOf(array, other[0], signed, other[1])];
  };
}

function storeOf(array: ArrayRef, at: Index, value: Real, guard: Guard): Store[] {
  const needed = simplified(guard);
  if (!needed) return [];
  return [{ array, index: at, value, ...(needed.length > 0 ? { guard: needed } : {}) }];
}

/** The second of two lines of complex numbers. */
function besideView(
  format: Format,
  { apart, absent }: Beside,
  element: Elements,
  coordinates: Coordinates,
): ComplexView {
  const view = mapped(format, (at) => add(element(at), apart));
  return absent ? guarded(view, absent, coordinates) : view;
}

/** All bins of memory that has those up to the half: the others are conjugates. */
function mirroredView(
  view: ComplexView,
  format: Format,
  { of, stride, terms, twice }: Mirrored,
  element: Elements,
  coordinates: Coordinates,
): ComplexView {
  const bins = Math.floor(of / 2) + 1;
  const place = (at: readonly IndexLike[]) => placeOf(terms, coordinates(at));
  const mirror = mapped(format, (at) => add(element(at), of * stride, scale(place(at), -2 * stride)));
  const below = (at: readonly IndexLike[], guard: Guard): Guard => [...guard, { index: place(at), from: 0, to: bins }];
  const above = (at: readonly IndexLike[], guard: Guard): Guard => [...guard, { index: place(at), from: bins, to: of }];
  return {
    load: (x, at, guard = []) => {
      const own = view.load(x, at, below(at, guard));
      const other = mirror.load(x, at, above(at, guard));
      // What is not read is 0. Bins that are their own conjugates are real, whatever memory holds.
      const proper: Guard = [{ index: place(at), from: 1, to: Math.ceil(of / 2) }];
      const im = x.where(proper, own.im, x.constant(0));
      return { re: x.add(own.re, other.re), im: x.sub(im, other.im) };
    },
    store: (x, at, value, guard = []) => {
      const { from, to } = twice!;
      const once: Guard = [...above(at, guard), { index: placeOf(twice!.terms, coordinates(at)), from, to }];
      return [
        ...view.store(x, at, value, below(at, guard)),
        ...mirror.store(x, at, { re: value.re, im: x.neg(value.im) }, once),
      ];
    },
  };
}

/** A guard that also keeps out of blocks. */
function outside(absent: readonly OutsideOf[], coordinates: readonly IndexLike[], guard: Guard = []): Guard {
  return [
    ...guard,
    ...absent.map(({ from, to, terms }) => ({ index: placeOf(terms, coordinates), from, to, outside: true as const })),
  ];
}

function times(scale: number): ViewMap {
  const factors = factorsOf(scale).map((factor) => exact.exact(factor));
  return (x, value) => factors.reduce((product, by) => x.cscale(product, x.constant(by)), value);
}

/** Constants end at 2^−256, and singles at 2^128: numbers that would lose digits or overflow there are products. */
function factorsOf(scale: number): number[] {
  const size = Math.abs(scale);
  if (size >= 2 ** 127) return [...factorsOf(scale * 2 ** -64), 2 ** 64];
  if (size >= 2 ** -128 || size === 0) return [scale];
  return [...factorsOf(scale * 2 ** 64), 2 ** -64];
}

/** A view of elements at powers of a primitive root. The point after them all is element 0, which is none. */
function inOrder(view: ComplexView, { of, inverse }: PowerOrder, tables: TableBuilder): ComplexView {
  const table = tables.integers(`powers${of}${inverse ? 'inverse' : ''}`, () => [...powers(of, inverse), 0]);
  const placed = ([n, ...others]: readonly IndexLike[]) => [lookup(table, n!), ...others];
  return {
    load: (x, at, guard) => view.load(x, placed(at), guard),
    store: (x, at, value, guard) => view.store(x, placed(at), value, guard),
  };
}

/** A view of numbers that are multiplied by factors. */
function factored(
  view: ComplexView,
  factors: SideFactors,
  coordinates: Coordinates,
  tables: TableBuilder,
): ComplexView {
  const factor = factorAt(factors, 0, tables, { kind: 'pairs', lanes: 1 }, coordinates);
  return {
    load: (x, at, guard) => factor(x, view.load(x, at, guard), at),
    store: (x, at, value, guard) => view.store(x, at, factor(x, value, at), guard),
  };
}

/** A view of what is not all there. @param coordinates of a place: those of the tile, then those of the batch. */
function guarded(view: ComplexView, absent: readonly OutsideOf[], coordinates: Coordinates): ComplexView {
  const within = (at: readonly IndexLike[], guard?: Guard) => outside(absent, coordinates(at), guard);
  return {
    load: (x, at, guard) => view.load(x, at, within(at, guard)),
    store: (x, at, value, guard) => view.store(x, at, value, within(at, guard)),
  };
}

/** Where an index has walked to. */
function walk(at: IndexLike, stride: Stride): Index {
  if (typeof stride === 'number') return scale(at, stride);
  if ('step' in stride) {
    const { step, count, before, skip } = stride;
    // Whether it has come to `before`, as a quotient that is 0 or 1.
    const most = 2 ** Math.ceil(Math.log2(Math.max(before, count - before)));
    return scale(add(at, scale(div(add(at, most - before), most), skip)), step);
  }
  return add(mod(at, stride.run), scale(div(at, stride.run), stride.next));
}

/** Which dimensions of a tile are an axis: one, or the two digits of the slowest one. @param axis counted from the fastest one. */
export function dimensionsOfAxis({ lengths, coupled }: Leaf, axis: number): readonly number[] {
  const dimension = lengths.length - 1 - axis;
  return coupled && dimension <= 1 ? [0, 1] : [dimension];
}
