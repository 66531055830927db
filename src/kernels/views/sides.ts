/** The two sides of a leaf, its input and its output: the tile that a group transforms, and views of its memory. */

import {
  type ArrayRef,
  add,
  type ComplexView,
  coordinates,
  type Format,
  type Index,
  type IntegerTable,
  lookup,
  mappedLoad,
  mappedStore,
  planar,
  runsView,
  scale,
  sub,
  swapped,
  type TableBuilder,
  type Var,
  type ViewMap,
  variable,
} from '../../ir/index.ts';
import { boxes, type Layout, type Order, orderIndices } from '../../layout/index.ts';
import { constantsOf, type ScaleFactor } from '../../numeric/scale-factor.ts';
import { KERNEL, type Leaf, type LeafSide, type SideFactors } from '../../plan/tree/leaf.ts';
import { callbackMapOf } from './callbacks.ts';
import { LayoutView } from './layout-view.ts';
import { storageTypeOf, storedType } from './number-types.ts';
import { factorAt } from './pointwise.ts';
import type { Coordinates, LeafMemory } from './views.ts';

/** The groups of a launch, and the tile of the batch that each group transforms. */
export interface Tiles {
  readonly group: Var;
  /** Number of the tile along the first batch dimension. */
  readonly number: Index;
  /** The first transform of the tile. */
  readonly first: Index;
  /** Coordinates in the other batch dimensions. */
  readonly outer: readonly Index[];
  /** The transforms that remain for a tile, if the last tile may be partial; missing if all tiles are full. */
  readonly limit: Index | undefined;
}

export function leafTiles({ batch, tile }: Leaf): Tiles {
  const counts = [Math.ceil(batch[0]! / tile), ...batch.slice(1)];
  const group = variable(
    'group',
    counts.reduce((a, b) => a * b, 1),
  );
  const [number, ...outer] = coordinates(group, counts);
  const first = scale(number!, tile);
  return { group, number: number!, first, outer, limit: batch[0]! % tile === 0 ? undefined : sub(batch[0]!, first) };
}

/** The arrays that a leaf reads beside its input, by name. */
export function operandArrays({ operands = [] }: Leaf): ReadonlyMap<string, ArrayRef> {
  return new Map(
    operands.map(({ name, storage, reals }) => {
      const type = storedType(storage);
      return [name, { name, space: 'global', type, operand: true, ...(reals ? { plane: true } : {}) }];
    }),
  );
}

/** The arrays of a leaf that is one of several in a launch. */
export interface CommonArrays {
  readonly operands: ReadonlyMap<string, ArrayRef>;
  /** The arrays of a side in shared memory, by their names in its layout. */
  readonly shared: { readonly [side in 'input' | 'output']?: ReadonlyMap<string, ArrayRef> };
}

export function leafMemory(
  leaf: Leaf,
  tiles: Pick<Tiles, 'first' | 'outer'>,
  tables: TableBuilder,
  { operands, shared }: CommonArrays = { operands: operandArrays(leaf), shared: {} },
): LeafMemory {
  const { first, outer } = tiles;
  const coordinates: Coordinates = (at) => [...at.slice(0, -1), add(first, at.at(-1)!), ...outer];
  const context = { coordinates, tables, operands, shared };
  const input = sideMemory('input', leaf, context);
  const output = sideMemory('output', leaf, context);
  return {
    globals: [...input.globals, ...output.globals, ...operands.values()],
    coordinates,
    kernel: operands.get(KERNEL),
    views: ({ inverse, scale }) => {
      const loaded = (view: ComplexView) => mappedLoad(inverse ? swapped(view) : view, times(scale.input));
      const stored = (view: ComplexView) => mappedStore(inverse ? swapped(view) : view, times(scale.output));
      const secondLine = input.secondLine ? loaded(input.secondLine) : output.secondLine && stored(output.secondLine);
      const views = { input: loaded(input.view), output: stored(output.view) };
      return secondLine ? { ...views, secondLine } : views;
    },
    inOutput: (format) => inSide(leaf.output.format, output, leaf.lengths.length, format),
  };
}

/** The coordinates, tables and operands that both sides use. */
interface SideContext {
  readonly coordinates: Coordinates;
  readonly tables: TableBuilder;
  readonly operands: ReadonlyMap<string, ArrayRef>;
  readonly shared: CommonArrays['shared'];
}

interface SideMemory {
  readonly arrays: readonly ArrayRef[];
  /** The same arrays, unless they are shared memory. */
  readonly globals: readonly ArrayRef[];
  /** The numbers of the layout without factors. */
  readonly plain: LayoutView;
  /** The numbers of the layout times the factors, as the transform sees them. */
  readonly view: ComplexView;
  /** `view` for the second line, if there are two. */
  readonly secondLine?: ComplexView;
}

function sideMemory(name: 'input' | 'output', leaf: Leaf, context: SideContext): SideMemory {
  const { coordinates, tables, operands, shared } = context;
  const side = leaf[name];
  const globals = shared[name] ? [] : sideArrays(name, side, leaf);
  const named = shared[name] ?? new Map(globals.map((array) => [array.name, array]));
  const arrays = [...named.values()];
  const loops = leaf.lengths.length + leaf.batch.length;
  const plain = new LayoutView({
    layout: side.layout,
    arrays: named,
    coordinates,
    batch: leaf.lengths.length,
    table: (order) => orderTable(order, tables),
    ...(side.callback ? { call: callbackMapOf(side.callback, operands, tables.ref.type) } : {}),
  });
  const multiplied = (view: ComplexView) =>
    (side.factors ?? []).reduce((inner, factors) => factored(inner, factors, coordinates, tables), view);
  if (side.layout.shape.length < loops + 2) return { arrays, globals, plain, view: multiplied(plain) };
  return { arrays, globals, plain, view: multiplied(plain.ofLine(0)), secondLine: multiplied(plain.ofLine(1)) };
}

function sideArrays(name: 'input' | 'output', side: LeafSide, { precision, lengths, batch }: Leaf): ArrayRef[] {
  const loops = lengths.length + batch.length;
  const array = (own: string, plane: boolean): ArrayRef => ({
    ...{ name: own, space: 'global', type: storageTypeOf(side, precision) },
    ...(plane ? { plane } : {}),
  });
  if (side.format === 'planar') return [array(`${name}.re`, true), array(`${name}.im`, true)];
  return [array(name, side.format === 'real' && sharesWords(side.layout, loops))];
}

/** Whether two items may write reals that share a 32-bit word: true unless reals lie in aligned pairs that one item writes. */
function sharesWords(layout: Layout, loops: number): boolean {
  return boxes(layout).some(({ offset, terms }) => {
    const odd = terms.filter(({ stride, count }) => count > 1 && stride % 2 !== 0);
    const isPair = odd.length === 1 && odd[0]!.stride === 1 && odd[0]!.count === 2 && (odd[0]!.dimension ?? 0) >= loops;
    return !isPair || offset % 2 !== 0;
  });
}

/** The table of integers of an order. A table of powers has one more entry at its end: 0, the index that is no power. */
function orderTable(order: Order, tables: TableBuilder): IntegerTable {
  if ('entries' in order) return tables.integers(`entries${order.entries.join()}`, () => [...order.entries]);
  const name = `powers${order.powersOf}${order.inverse ? 'inverse' : ''}`;
  return tables.integers(name, () => [...orderIndices(order), 0]);
}

/**
 * A view of a side for passes that use it as their working array, at coordinates [element, transform of the tile].
 * @param interleavedFormat the format of elements between passes, if the side is one array
 */
function inSide(
  kind: LeafSide['format'],
  { arrays, plain }: SideMemory,
  dimensions: number,
  interleavedFormat: (array: ArrayRef) => Format,
): ComplexView {
  if (kind === 'real') throw new RangeError('Passes do not work in an output of reals.');
  const format = kind === 'planar' ? planar(arrays[0]!, arrays[1]!) : interleavedFormat(arrays[0]!);
  return runsView(format, (c) => plain.beginning([...new Array<number>(dimensions).fill(0), c]));
}

function times(by: ScaleFactor): ViewMap {
  const constants = constantsOf(by);
  return (x, value) => constants.reduce((product, constant) => x.cscale(product, x.constant(constant)), value);
}

/** A view whose numbers are multiplied by factors when they are loaded or stored. */
function factored(
  view: ComplexView,
  factors: SideFactors,
  coordinates: Coordinates,
  tables: TableBuilder,
): ComplexView {
  const { points } = factors;
  const numbered: Coordinates = points
    ? ([n, ...others]) => coordinates([lookup(orderTable(points, tables), n!), ...others])
    : coordinates;
  const factor = factorAt(factors, 0, tables, { kind: 'pairs', lanes: 1 }, numbered);
  return {
    load: (x, at, guard) => factor(x, view.load(x, at, guard), at),
    store: (x, at, value, guard) => view.store(x, at, factor(x, value, at), guard),
  };
}

/** The dimensions of a tile that an axis consists of: one, or both digits of the slowest axis. @param axis counted from the fastest one */
export function dimensionsOfAxis({ lengths, coupled, steps }: Leaf, axis: number): readonly number[] {
  // The last dimension may be the coordinates that matrices multiply.
  const axes = steps.some((step) => step.do === 'multiply') ? lengths.length - 1 : lengths.length;
  const dimension = axes - 1 - axis;
  return coupled && dimension <= 1 ? [0, 1] : [dimension];
}
