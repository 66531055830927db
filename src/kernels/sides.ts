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
import * as exact from '../numeric/exact.ts';
import { powers } from '../numeric/powers.ts';
import type { Leaf, OutsideOf, PowerOrder, SideFactors, Stride, Way } from '../plan/leaf.ts';
import { factorOf } from './pointwise.ts';
import { storageTypeOf } from './steps.ts';

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
}

/** The memory that a leaf touches, and what it is for either way. */
export interface Sides {
  readonly globals: readonly ArrayRef[];
  readonly views: (way: Way) => Views;
  /**
   * The output while the passes of a transform work in it: [element, transform of the tile]. Where it is interleaved, in
   * the given format. For outputs whose elements lie side by side.
   */
  readonly inOutput: (format: (array: ArrayRef) => Format) => ComplexView;
}

export function sidesOf(leaf: Leaf, { first, outer }: Tiles, tables: TableBuilder): Sides {
  const globals: ArrayRef[] = [];
  const declare = (name: string, type: StorageType, plane?: true): ArrayRef => {
    const array: ArrayRef = { name, space: 'global', type, ...(plane ? { plane } : {}) };
    globals.push(array);
    return array;
  };
  const memory = (name: 'input' | 'output') => {
    const side = leaf[name];
    const type = storageTypeOf(side, leaf.precision);
    const walks = side.axes;
    const origin = add(side.offset, ...outer.map((at, d) => walk(at, side.batch[d + 1]!)));
    const begin = (c: IndexLike) => add(origin, walk(add(first, c), side.batch[0]!));
    const planes =
      side.layout === 'planar'
        ? planar(declare(`${name}.re`, type, true), declare(`${name}.im`, type, true))
        : undefined;
    const format = planes ?? interleaved(declare(name, type));
    const [array] = format.re(index(0));
    const view = mapped(format, (at) =>
      add(begin(at[walks.length]!), ...walks.map((stride, d) => walk(at[d]!, stride))),
    );
    const coordinates = (at: readonly IndexLike[]) => [...at.slice(0, -1), add(first, at.at(-1)!), ...outer];
    const there = side.absent ? guarded(view, side.absent, coordinates) : view;
    const whole = side.factors ? factored(there, side.factors, coordinates, tables) : there;
    return {
      view: side.order ? inOrder(whole, side.order, tables) : whole,
      runs: (format: (array: ArrayRef) => Format) =>
        planes ? runs(planes, begin) : runs(format(array), (c) => scale(begin(c), 2)),
    };
  };
  const { view: input } = memory('input');
  const { view: output, runs: inOutput } = memory('output');
  return {
    globals,
    views: ({ inverse, scale }) => ({
      input: mappedLoad(inverse ? swapped(input) : input, times(scale.input)),
      output: mappedStore(inverse ? swapped(output) : output, times(scale.output)),
    }),
    inOutput,
  };
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
  { terms, ...factors }: SideFactors,
  coordinates: (at: readonly IndexLike[]) => readonly IndexLike[],
  tables: TableBuilder,
): ComplexView {
  const factor = factorOf(factors, factors.count!, tables, { kind: 'pairs', lanes: 1 });
  const point = (at: readonly IndexLike[]) => {
    const all = coordinates(at);
    return [add(0, ...terms.map(({ dimension, step }) => scale(all[dimension]!, step)))];
  };
  return {
    load: (x, at, guard) => factor(x, view.load(x, at, guard), point(at)),
    store: (x, at, value, guard) => view.store(x, at, factor(x, value, point(at)), guard),
  };
}

/** A view of what is not all there. @param coordinates of a place: those of the tile, then those of the batch. */
function guarded(
  view: ComplexView,
  absent: readonly OutsideOf[],
  coordinates: (at: readonly IndexLike[]) => readonly IndexLike[],
): ComplexView {
  const within = (at: readonly IndexLike[], guard: Guard = []): Guard => {
    const all = coordinates(at);
    const outside = absent.map(({ from, to, terms }) => {
      const index = add(0, ...terms.map(({ dimension, step }) => scale(all[dimension]!, step)));
      return { index, from, to, outside: true as const };
    });
    return [...guard, ...outside];
  };
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
