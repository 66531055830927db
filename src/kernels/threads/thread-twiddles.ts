/** Twiddle factors for threads. The counterpart for vectors is twiddles.ts. */

import type { Complex, Expressions, Index, IndexLike, TableBuilder, ViewMap } from '../../ir/index.ts';
import { add, div, index, mod, range, scale, storageBytes, sub } from '../../ir/index.ts';
import { type Leaf, passesOf, type StepTwiddle } from '../../plan/tree/leaf.ts';
import { RootMatrix } from '../passes/root-matrix.ts';
import type { PassTwiddle } from '../passes/twiddles.ts';
import { dimensionsOfAxis, type Tiles } from '../views/sides.ts';

/** Bytes from which on a table of all factors does not fit into its share of the first-level cache. */
const LONG_TABLE_BYTES = 4096;

export interface ThreadPassTable {
  /** Outputs of butterflies may be rotated (`Stage.firstOutput`): i goes up to r·s. */
  readonly shifted?: boolean;
  /** The first-level cache is of no use, because the barriers of a cluster invalidate it. */
  readonly uncached?: boolean;
}

/**
 * The twiddles between passes, for threads. Neighbouring butterflies read neighbouring roots, or the same root. If the table would be long,
 * only the factors for m = 1, 2, 4, 8 are read, each correctly rounded; the others are products of two to four factors.
 */
export function threadPassTwiddles(
  tables: TableBuilder,
  radix: number,
  stride: number,
  { shifted = false, uncached = false }: ThreadPassTable = {},
): PassTwiddle {
  if (stride === 1) return (_, value) => value;
  const bytes = (radix - 1) * stride * 2 * storageBytes(tables.ref.type);
  const powers = uncached || bytes >= LONG_TABLE_BYTES;
  const read = Array.from({ length: radix - 1 }, (_, n) => n + 1).filter(
    (m) => !powers || Number.isInteger(Math.log2(m)),
  );
  const shape = { rows: read.length, columns: shifted ? radix * stride : stride };
  const key = `pass${radix}x${stride}${powers ? 'powers' : ''}${shifted ? 'shifted' : ''}`;
  const matrix = new RootMatrix(tables, key, shape, 'pairs', radix * stride, (row) => read[row]!, 1);
  const factor = (x: Expressions, i: IndexLike, m: number): Complex => {
    const row = read.indexOf(m);
    if (row >= 0) return matrix.load(x, row, i);
    const power = 2 ** Math.floor(Math.log2(m));
    return x.cmul(factor(x, i, power), factor(x, i, m - power));
  };
  return (x, value, i, m) => x.cmul(value, factor(x, i, m));
}

/**
 * The twiddles of a four-step decomposition for threads, as a map over places of a tile.
 * @param on the side that they are applied to
 */
export function threadStepTwiddles(
  tables: TableBuilder,
  leaf: Leaf,
  twiddle: StepTwiddle,
  tiles: Tiles,
  on: 'input' | 'output',
): ViewMap {
  const columns = leaf.tile > 1 && passesOf(leaf).some(({ lanesAlong }) => Object.values(lanesAlong).includes('batch'));
  const factor = leafStepTwiddles(tables, leaf, twiddle, tiles, { columns, on });
  return (x, value, at) => factor(x, value, [twiddledElement(leaf, twiddle, at, on), at.at(-1)!]);
}

/** The coordinate of an element along the axis that the four-step twiddles count. */
function twiddledElement(
  leaf: Leaf,
  { axis = 0, on: sides }: StepTwiddle,
  at: readonly IndexLike[],
  on: 'input' | 'output',
): IndexLike {
  const [dimension, ...digits] = dimensionsOfAxis(leaf, axis) as [number, ...number[]];
  if (digits.length === 0) return at[dimension]!;
  const [a, b] = leaf.lengths as [number, number];
  // After a transform forward and back, elements are written in the order in which they were read.
  return on === 'input' || sides === 'both' ? add(scale(at[0]!, b), at[1]!) : add(at[0]!, scale(at[1]!, a));
}

/** The most transforms for which one table has a root for each; for more, two shorter tables are multiplied. */
const LONG_ROW_ROOTS = 2 ** 16;

/** The most roots of a single table that stays in the first-level cache; more roots are products from two tables. */
const SMALL_TABLE_ROOTS = 4096;

/**
 * The map that multiplies by the factors of a leaf, at [element, transform of the tile].
 * @param columns whether neighbouring threads take neighbouring transforms where the factors are applied
 */
function leafStepTwiddles(
  tables: TableBuilder,
  leaf: Leaf,
  twiddle: StepTwiddle,
  { first, outer }: Tiles,
  { columns, on }: { readonly columns: boolean; readonly on: 'input' | 'output' },
): ViewMap {
  const { order, along = 0, first: begin = 0 } = twiddle;
  const count = leaf.batch[along]!;
  const butterfly = butterflyAtTwiddles(leaf, twiddle, on);
  if (along === 0) return placedTwiddles(tables, { count, tile: leaf.tile, columns, butterfly, begin }, order, first);
  // The tile lies along another batch dimension: all its transforms have the same coordinate in this one.
  const shape = { count, tile: 1, columns: false, butterfly, begin };
  const factor = placedTwiddles(tables, shape, order, outer[along - 1]!);
  return (x, value, [k]) => factor(x, value, [k!, 0]);
}

/** The butterflies that load or store the twiddled elements: the number of their points, and the distance of these along the twiddled axis. */
function butterflyAtTwiddles(leaf: Leaf, { axis = 0 }: StepTwiddle, on: 'input' | 'output'): StepShape['butterfly'] {
  const side = on === 'input' ? 0 : -1;
  const { dimension, radices } = passesOf(leaf).at(side)!;
  const counted = dimensionsOfAxis(leaf, axis);
  const length = counted.reduce((product, d) => product * leaf.lengths[d]!, 1);
  // All points of a butterfly along another axis have the same coordinate along this one.
  if (!counted.includes(dimension)) return { points: 1, apart: length };
  const points = radices.at(side)!;
  return { points, apart: length / points };
}

/** The properties of a leaf for threads that four-step twiddles depend on. */
export interface StepShape {
  /** Number of transforms b, the second index of the factors. */
  readonly count: number;
  /** The number of the first transform. */
  readonly begin: number;
  /** The number of transforms in a group. */
  readonly tile: number;
  /** Whether neighbouring threads take neighbouring transforms where the factors are applied. */
  readonly columns: boolean;
  /** The butterflies that load or store the twiddled elements: the number of their points, and the distance between these. */
  readonly butterfly: { readonly points: number; readonly apart: number };
}

/**
 * The map that multiplies element k of transform b by e^{−2πi·k·b/order}. The points of a butterfly are k = i + d with known distances d.
 * The factor is a product of two: one for i and b, which all points of the butterfly share, and one for d and b, which neighbouring threads
 * read from neighbouring places. The factor for i and b is itself a product over two digits of b, which keeps its tables short. If the table
 * of factors for d and b would be long, only d = 1, 2, 4, 8 times the distance of neighbouring points are read, and the others are products.
 * @param first number of the first transform of the group
 */
function placedTwiddles(
  tables: TableBuilder,
  { count: transforms, begin, tile, columns, butterfly: { points, apart } }: StepShape,
  order: number,
  first: Index,
): ViewMap {
  const count = transforms + begin;
  const rootsOf = (key: string, rows: number, cells: number, step: (row: number) => number) =>
    new RootMatrix(tables, `step${order}${key}`, { rows, columns: cells }, 'pairs', order, step, 1, true);
  const powers = (points - 1) * count * 2 * storageBytes(tables.ref.type) >= LONG_TABLE_BYTES;
  const matrices = new Map<string, RootMatrix>();
  const once = (key: string, make: () => RootMatrix): RootMatrix => {
    let matrix = matrices.get(key);
    if (!matrix) matrices.set(key, (matrix = make()));
    return matrix;
  };
  /** e^{−2πi·i·b/order} for i below a bound. */
  const moving = (x: Expressions, i: Index, b: Index): Complex => {
    const values = range(i)[1] + 1;
    // The low digit counts a whole number of tiles, so that the high digit is the same for all transforms of a group.
    const tilesInLow = Math.max(1, Math.round(Math.sqrt(count) / tile));
    const low = count * values <= SMALL_TABLE_ROOTS ? count : Math.min(count, tilesInLow * tile);
    const fine = once(`low${low}${columns ? 'c' : 'r'}${values}`, () => {
      const [rows, cells] = columns ? [values, low] : [low, values];
      return rootsOf(`low${low}${columns ? 'columns' : 'rows'}`, rows, cells, (row) => row);
    });
    const digit = mod(b, low);
    const lowRoot = columns ? fine.load(x, i, digit) : fine.load(x, digit, i);
    if (low >= count) return lowRoot;
    const coarse = once(`high${low},${values}`, () =>
      rootsOf(`high${low}`, Math.ceil(count / low), values, (row) => row * low),
    );
    return x.cmul(coarse.load(x, div(b, low), i), lowRoot);
  };
  /** e^{−2πi·d·b/order} for a known d. */
  const fixed = (x: Expressions, distance: number, b: Index): Complex => {
    const m = distance / apart;
    if (powers && Number.isInteger(m) && !Number.isInteger(Math.log2(m))) {
      const power = 2 ** Math.floor(Math.log2(m));
      return x.cmul(fixed(x, power * apart, b), fixed(x, (m - power) * apart, b));
    }
    const roots = (name: string, cells: number, step: number) =>
      once(`${name}${distance}`, () => rootsOf(`${name}${distance}`, 1, cells, () => distance * step));
    if (count <= LONG_ROW_ROOTS) return roots('at', count, 1).load(x, 0, b);
    const low = Math.ceil(Math.sqrt(count));
    const high = roots(`by${low}at`, Math.ceil(count / low), low).load(x, 0, div(b, low));
    return x.cmul(high, roots(`below${low}at`, low, 1).load(x, 0, mod(b, low)));
  };
  return (x, value, [k, c]) => {
    const at = index(k!);
    // Transforms beyond the end of the batch have no roots in the tables.
    const b = add(mod(add(first, c!), transforms), begin);
    const { constant: distance } = at;
    const factors: Complex[] = [];
    if (at.terms.length > 0) factors.push(moving(x, sub(at, distance), b));
    if (distance > 0) factors.push(fixed(x, distance, b));
    const [shared, second] = factors;
    if (!shared) return value;
    return x.cmul(value, second ? x.cmul(shared, second) : shared);
  };
}
