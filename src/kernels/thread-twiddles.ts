/** Twiddle factors for threads: the counterpart of twiddles.ts, which has those for vectors. */

import type { Complex, Expressions, Index, IndexLike, TableBuilder, ViewMap } from '../ir/index.ts';
import { add, bytesOf, div, index, mod, range, scale, sub } from '../ir/index.ts';
import { type Leaf, passesOf } from '../plan/tree/leaf.ts';
import { RootMatrix } from './root-matrix.ts';
import { dimensionsOfAxis, type Tiles } from './sides.ts';
import type { PassTwiddle } from './twiddles.ts';

/** Bytes from which on a table of all factors is too long for its share of the first-level cache. */
const LONG_TABLE_BYTES = 4096;

export interface ThreadPassTable {
  /** Butterflies may be shifted: i counts on to r·s. */
  readonly shifted?: boolean;
  /** No factor stays in the first-level cache: the barriers of a cluster empty it. */
  readonly uncached?: boolean;
}

/**
 * The twiddles between passes, for threads. Neighbouring butterflies read neighbouring roots, or the same one. Of a long table only the
 * factors for m = 1, 2, 4, 8 are read, each exact to the last place; the others are products of two to four of them.
 */
export function threadPassTwiddles(
  tables: TableBuilder,
  radix: number,
  stride: number,
  { shifted = false, uncached = false }: ThreadPassTable = {},
): PassTwiddle {
  if (stride === 1) return (_, value) => value;
  const bytes = (radix - 1) * stride * 2 * bytesOf(tables.ref.type);
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
 * The twiddles of a four-step decomposition for threads, at places of a tile: what is loaded or stored there is multiplied by them.
 */
export function threadStepTwiddles(tables: TableBuilder, leaf: Leaf, tiles: Tiles): ViewMap {
  const columns = leaf.tile > 1 && passesOf(leaf).some(({ lanesAlong }) => Object.values(lanesAlong).includes('batch'));
  const factor = leafStepTwiddles(tables, leaf, tiles, columns);
  const own: ViewMap = (x, value, at) => factor(x, value, [twiddledElement(leaf, at), at.at(-1)!]);
  return leaf.twiddle!.conjugated ? withConjugates(own) : own;
}

/** A product with the conjugates of the factors. */
function withConjugates(map: ViewMap): ViewMap {
  const swap = ({ re, im }: Complex): Complex => ({ re: im, im: re });
  return (x, value, at) => swap(map(x, swap(value), at));
}

/** The number of an element along the axis that the twiddles of a four-step decomposition count. */
function twiddledElement(leaf: Leaf, at: readonly IndexLike[]): IndexLike {
  const { on, of = 0 } = leaf.twiddle!;
  const [dimension, ...digits] = dimensionsOfAxis(leaf, of) as [number, ...number[]];
  if (digits.length === 0) return at[dimension]!;
  const [a, b] = leaf.lengths as [number, number];
  return on === 'input' ? add(scale(at[0]!, b), at[1]!) : add(at[0]!, scale(at[1]!, a));
}

/** Transforms from which on a table with a root for each of them is worth two shorter ones. */
const LONG_ROW_ROOTS = 2 ** 16;

/** Roots that a table of all of them may hold before it is worth two: it then stays in the first-level cache. */
const SMALL_TABLE_ROOTS = 4096;

/**
 * The factors of a leaf for threads, at [element, transform of the tile].
 * @param columns neighbouring threads take neighbouring transforms, where the factors are needed.
 */
function leafStepTwiddles(tables: TableBuilder, leaf: Leaf, { first, outer }: Tiles, columns: boolean): ViewMap {
  const { order, along = 0 } = leaf.twiddle!;
  const count = leaf.batch[along]!;
  const butterfly = touching(leaf);
  if (along === 0) return placedTwiddles(tables, { count, tile: leaf.tile, columns, butterfly }, order, first);
  // The tile lies along another dimension: all its transforms have the same number in this one.
  const shape = { count, tile: 1, columns: false, butterfly };
  const factor = placedTwiddles(tables, shape, order, outer[along - 1]!);
  return (x, value, [k]) => factor(x, value, [k!, 0]);
}

/** The butterflies that touch memory where the twiddles are needed, seen along what those count. */
function touching(leaf: Leaf): StepShape['butterfly'] {
  const side = leaf.twiddle!.on === 'input' ? 0 : -1;
  const { of, radices } = passesOf(leaf).at(side)!;
  const counted = dimensionsOfAxis(leaf, leaf.twiddle!.of ?? 0);
  const length = counted.reduce((product, d) => product * leaf.lengths[d]!, 1);
  // All points of a butterfly along another axis have the same place in this one.
  if (!counted.includes(of)) return { points: 1, apart: length };
  const points = radices.at(side)!;
  return { points, apart: length / points };
}

/** What the twiddles of a four-step decomposition have to know of a leaf whose lanes are threads. */
export interface StepShape {
  /** Transforms that the factors count along. */
  readonly count: number;
  /** Transforms that share a group. */
  readonly tile: number;
  /** Neighbouring threads take neighbouring transforms, where the factors are needed. */
  readonly columns: boolean;
  /** The butterflies that touch memory: how many points each has, and how far apart they lie. */
  readonly butterfly: { readonly points: number; readonly apart: number };
}

/**
 * For threads, which may each take any root. The points of a butterfly lie at known distances d from the first
 * one, k = i + d: the factor is one for i and b, computed once for all of them, times one for d and b, which neighbouring
 * threads read side by side. The first is a product over two digits of b, so that its tables stay short. Where those of
 * the second would be long, only the distances 1, 2, 4, 8 are read and multiplied, as between passes.
 * @param first number of the first transform of the group.
 */
function placedTwiddles(
  tables: TableBuilder,
  { count, tile, columns, butterfly: { points, apart } }: StepShape,
  order: number,
  first: Index,
): ViewMap {
  const rootsOf = (key: string, rows: number, cells: number, step: (row: number) => number) =>
    new RootMatrix(tables, `step${order}${key}`, { rows, columns: cells }, 'pairs', order, step, 1);
  const powers = (points - 1) * count * 2 * bytesOf(tables.ref.type) >= LONG_TABLE_BYTES;
  const known = new Map<string, RootMatrix>();
  const once = (key: string, make: () => RootMatrix): RootMatrix => {
    let matrix = known.get(key);
    if (!matrix) known.set(key, (matrix = make()));
    return matrix;
  };
  /** e^{−2πi·i·b/order} for i below a bound. */
  const moving = (x: Expressions, i: Index, b: Index): Complex => {
    const values = range(i)[1] + 1;
    // The low digit is a whole number of tiles, so that the high one is the same for all of a group.
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
    // Transforms that are left out of the last tile have no roots of their own.
    const b = mod(add(first, c!), count);
    const { constant: distance } = at;
    const factors: Complex[] = [];
    if (at.terms.length > 0) factors.push(moving(x, sub(at, distance), b));
    if (distance > 0) factors.push(fixed(x, distance, b));
    const [one, other] = factors;
    if (!one) return value;
    return x.cmul(value, other ? x.cmul(one, other) : one);
  };
}
