/** The two sides of a leaf in memory: which tile a group takes, and views of what it reads and writes. */

import {
  type ArrayRef,
  add,
  type ComplexView,
  coordinates,
  div,
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
  realParts,
  runs,
  type StorageType,
  scale,
  sub,
  swapped,
  type TableBuilder,
  type Var,
  type ViewMap,
  variable,
} from '../ir/index.ts';
import { powers } from '../numeric/powers.ts';
import { constantsOf, type ScaleFactor } from '../numeric/scale-factor.ts';
import {
  KERNEL,
  type Leaf,
  type LeafSide,
  type Mirrored,
  type OutsideOf,
  type PowerOrder,
  type SideFactors,
  type Stride,
} from '../plan/tree/leaf.ts';
import { calledView, callOf, reached } from './callbacks.ts';
import { storageTypeOf, storedType } from './number-types.ts';
import { type Coordinates, type Elements, type Move, outside, placeOf, placesOf } from './places.ts';
import { factorAt } from './pointwise.ts';
import { facingView, realsView, sharesWords } from './reals.ts';
import type { LeafMemory } from './views.ts';

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

interface SideViews {
  readonly view: ComplexView;
  readonly beside?: ComplexView;
  readonly runs?: (format: (array: ArrayRef) => Format) => ComplexView;
}

/** The arrays that a leaf reads beside its sides, by their names. */
function operandsOf({ operands = [] }: Leaf): ReadonlyMap<string, ArrayRef> {
  return new Map(
    operands.map(({ name, storage, reals }) => {
      const type = storedType(storage);
      return [name, { name, space: 'global', type, operand: true, ...(reals ? { plane: true } : {}) }];
    }),
  );
}

/** What the memory of a side is seen through. */
interface Surroundings {
  /** Of the tensor, at coordinates of the tile. */
  readonly coordinates: Coordinates;
  readonly tiles: Tiles;
  readonly tables: TableBuilder;
  readonly operands: ReadonlyMap<string, ArrayRef>;
  readonly declare: (name: string, type: StorageType, plane?: true) => ArrayRef;
}

export function sidesOf(leaf: Leaf, tiles: Tiles, tables: TableBuilder): LeafMemory {
  const { first, outer } = tiles;
  const operands = operandsOf(leaf);
  const globals: ArrayRef[] = [];
  const declare = (name: string, type: StorageType, plane?: true): ArrayRef => {
    const array: ArrayRef = { name, space: 'global', type, ...(plane ? { plane } : {}) };
    globals.push(array);
    return array;
  };
  const coordinates: Coordinates = (at) => [...at.slice(0, -1), add(first, at.at(-1)!), ...outer];
  const around = { coordinates, tiles, tables, operands, declare };
  const input = sideViews('input', leaf, around);
  const output = sideViews('output', leaf, around);
  return {
    globals: [...globals, ...operands.values()],
    coordinates,
    kernel: operands.get(KERNEL),
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

/** The memory of a side as the numbers that the transform sees there. */
function sideViews(name: 'input' | 'output', leaf: Leaf, around: Surroundings): SideViews {
  const { coordinates, tiles, tables, operands, declare } = around;
  const { first, outer } = tiles;
  const side = leaf[name];
  const type = storageTypeOf(side, leaf.precision);
  const walks = side.axes;
  const origin = add(side.offset, ...outer.map((at, d) => walk(at, side.batch[d + 1]!)));
  const begin = (c: IndexLike) => add(origin, walk(add(first, c), side.batch[0]!));
  const element = (at: readonly IndexLike[]) =>
    add(begin(at[walks.length]!), ...walks.map((stride, d) => walk(at[d]!, stride)));
  const multiplied = (view: ComplexView) =>
    (side.factors ?? []).reduce((inner, factors) => factored(inner, factors, coordinates, tables), view);
  const called = side.callback && callOf(side.callback, operands);
  if (side.layout === 'real' && !side.alone) {
    const array = declare(name, type, sharesWords(side) || undefined);
    if (side.facing) {
      const numbers = facingView(array, side, element, coordinates, called);
      return { view: multiplied(numbers.view), ...(numbers.beside ? { beside: multiplied(numbers.beside) } : {}) };
    }
    const reals = (by: number) => realsView(array, side, (at) => add(element(at), by), coordinates, called);
    return { view: multiplied(goingRound(reals, side, coordinates)) };
  }
  const numbers = memoryOf(name, side, type, declare);
  /** What is that far from the elements of the tile, in memory and in the tensor. */
  const seen = (moved: Moved): ComplexView => {
    const view = numbers.view((at) => add(element(at), moved.by(at)));
    return called ? calledView(view, called, (at) => placesOf(side, coordinates(at), moved.in?.(at))) : view;
  };
  const view = goingRound((by) => seen({ by: () => index(by) }), side, coordinates);
  const there = side.absent ? guarded(view, side.absent, coordinates) : view;
  const whole = side.mirrored ? mirroredView(there, seen, side.mirrored, side.absent ?? [], coordinates) : there;
  return {
    view: side.order ? inOrder(multiplied(whole), side.order, tables) : multiplied(whole),
    ...(side.beside ? { beside: besideView(seen, side, coordinates) } : {}),
    ...(numbers.runs ? { runs: (own: (array: ArrayRef) => Format) => numbers.runs!(begin, own) } : {}),
  };
}

/** A view of points of which some are there once more. @param view of what is so many elements away. */
function goingRound(view: (by: number) => ComplexView, { wrapped }: LeafSide, coordinates: Coordinates): ComplexView {
  const own = view(0);
  if (!wrapped) return own;
  const { count, from, to, back, terms } = wrapped;
  const again = view(-back);
  const within = (at: readonly IndexLike[], from: number, to: number, guard: Guard = []): Guard => [
    ...guard,
    { index: placeOf(terms, coordinates(at)), from, to },
  ];
  return {
    // What is not read is 0.
    load: (x, at, guard) =>
      x.cadd(own.load(x, at, within(at, 0, count, guard)), again.load(x, at, within(at, from, to, guard))),
    store: own.store,
  };
}

/** How the numbers of a side that is complex to the transform lie in memory, and those that passes may work in. */
function memoryOf(
  name: 'input' | 'output',
  { layout, alone }: LeafSide,
  type: StorageType,
  declare: Surroundings['declare'],
): {
  view: (element: Elements) => ComplexView;
  runs?: (begin: Begin, own: (array: ArrayRef) => Format) => ComplexView;
} {
  if (layout === 'planar') {
    const format = planar(declare(`${name}.re`, type, true), declare(`${name}.im`, type, true));
    return { view: (element) => mapped(format, element), runs: (begin) => runs(format, begin) };
  }
  const array = declare(name, type, alone);
  if (alone) return { view: (element) => realParts(array, element) };
  const format = interleaved(array);
  return {
    view: (element) => mapped(format, element),
    runs: (begin, own) => runs(own(array), (c) => scale(begin(c), 2)),
  };
}

/** Where the elements of a transform of the tile begin. */
type Begin = (c: IndexLike) => Index;

/** From an element of a tile to another one, in memory and, where it is not the same one there, in the tensor. */
interface Moved {
  readonly by: (at: readonly IndexLike[]) => Index;
  readonly in?: (at: readonly IndexLike[]) => Move;
}

/** The second of two lines of complex numbers. */
function besideView(seen: (moved: Moved) => ComplexView, side: LeafSide, coordinates: Coordinates): ComplexView {
  const { apart, absent } = side.beside!;
  const second = side.callback?.beside;
  const view = seen({
    by: () => index(apart),
    ...(second ? { in: () => ({ of: second.of, by: second.step }) } : {}),
  });
  return absent ? guarded(view, absent, coordinates) : view;
}

/** The dimension of the tensor that has the bins of reals. */
const FIRST_AXIS = 1;

/** All bins of memory that has those up to the half: the others are conjugates. */
function mirroredView(
  view: ComplexView,
  seen: (moved: Moved) => ComplexView,
  { of, stride, terms, twice }: Mirrored,
  absent: readonly OutsideOf[],
  coordinates: Coordinates,
): ComplexView {
  const bins = Math.floor(of / 2) + 1;
  const place = (at: readonly IndexLike[]) => placeOf(terms, coordinates(at));
  const mirror = seen({
    by: (at) => add(of * stride, scale(place(at), -2 * stride)),
    in: (at) => ({ of: FIRST_AXIS, to: sub(of, place(at)) }),
  });
  const below = (at: readonly IndexLike[], guard: Guard): Guard => [...guard, { index: place(at), from: 0, to: bins }];
  const alike = (one: OutsideOf['terms']) =>
    one.length === terms.length &&
    one.every(({ dimension, step }, n) => dimension === terms[n]!.dimension && step === terms[n]!.step);
  // A block of bins leaves out what mirrors them, too.
  const above = (at: readonly IndexLike[], guard: Guard): Guard => [
    ...guard,
    { index: place(at), from: bins, to: of },
    ...absent.map(({ from, to, terms: own }) => ({
      index: alike(own) ? sub(of, place(at)) : placeOf(own, coordinates(at)),
      ...{ from, to, outside: true as const },
    })),
  ];
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

function times(by: ScaleFactor): ViewMap {
  const constants = constantsOf(by);
  return (x, value) => constants.reduce((product, constant) => x.cscale(product, x.constant(constant)), value);
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
    return scale(add(at, scale(reached(at, before, count), skip)), step);
  }
  return add(mod(at, stride.run), scale(div(at, stride.run), stride.next));
}

/** Which dimensions of a tile are an axis: one, or the two digits of the slowest one. @param axis counted from the fastest one. */
export function dimensionsOfAxis({ lengths, coupled }: Leaf, axis: number): readonly number[] {
  const dimension = lengths.length - 1 - axis;
  return coupled && dimension <= 1 ? [0, 1] : [dimension];
}
