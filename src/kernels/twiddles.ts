/**
 * Twiddle factors as views of tables: which roots a pass needs, and where they lie so that the lanes read whole vectors.
 */

import type { Complex, Expressions, Index, IndexLike, Real, TableBuilder, ViewMap } from '../ir/index.ts';
import {
  add,
  blocked,
  bytesOf,
  div,
  type Format,
  index,
  interleaved,
  mod,
  range,
  scale,
  split,
  sub,
} from '../ir/index.ts';
import { type Leaf, passesOf } from '../plan/leaf.ts';
import type { FactorFormat } from './pointwise.ts';
import { dimensionsOfAxis, type Tiles } from './sides.ts';
import type { VectorLeaf } from './vector-form.ts';

/** A complex constant table of `rows` × `columns`, the columns along the lanes, in the format that suits the lanes. */
class RootMatrix {
  private readonly format: Format;
  private readonly start: number;
  private readonly columns: number;

  /**
   * @param shape of the rows, those `cycle` apart hold one run of roots after the other; by default each holds its own.
   * @param exponents p in e^{−2πi·p/q} of a run: of its first root, and by how much it grows from root to root. Both are
   * integers below 2^53.
   * @param signs of the roots of each run.
   */
  constructor(
    tables: TableBuilder,
    key: string,
    shape: { rows: number; columns: number; cycle?: number },
    kind: 'blocked' | 'planes' | 'pairs',
    q: number,
    exponents: (run: number) => Exponents,
    lanes: number,
    signs?: Signs,
  ) {
    const { rows, columns, cycle = rows } = shape;
    this.columns = columns;
    const array = tables.ref;
    const plane = rows * columns;
    this.format =
      kind === 'blocked' ? blocked(array, lanes) : kind === 'planes' ? split(array, plane) : interleaved(array);
    const { format } = this;
    const stride = kind === 'pairs' ? 2 : 1;
    // Rows are whole blocks; where a run goes on in another row, they are one block each.
    const block = kind === 'blocked' ? lanes : columns;
    const between = cycle === rows ? 0 : (cycle - 1) * columns;
    const skip = kind === 'blocked' ? lanes + 2 * between : stride * between;
    this.start = tables.append(
      `${key}:${rows}x${columns}:${kind}${kind === 'blocked' ? lanes : ''}`,
      2 * plane,
      (start, runs) => {
        const common = { q, count: (rows / cycle) * columns, stride, block, skip };
        for (let run = 0; run < cycle; run++) {
          const [p, step] = exponents(run);
          const [re, im] = format.at(run * columns);
          runs.push({ ...common, p, step, re: start + re, im: start + im, ...(signs ? { signs: signs.pattern } : {}) });
        }
      },
    );
  }

  load(x: Expressions, row: IndexLike, column: IndexLike): Complex {
    const element = add(scale(row, this.columns), column);
    const [re, atRe] = this.format.re(element);
    const [im, atIm] = this.format.im(element);
    return { re: x.load(re, add(atRe, this.start)), im: x.load(im, add(atIm, this.start)) };
  }
}

/** Which of the elements of a block are negative. */
export interface Signs {
  /** Equal for equal ones. */
  readonly key: string;
  /** 1 where one is; blocks longer than this repeat it. */
  readonly pattern: Uint8Array;
}

type PassTwiddle = (x: Expressions, value: Complex, i: IndexLike, m: number) => Complex;

/** Exponents of i = 0, 1, …: the first one, and by how much it grows. */
export type Exponents = readonly [first: number, step: number];

/** Root number `run` for butterfly i of a pass. */
export type PassRoots = (x: Expressions, i: IndexLike, run: number) => Complex;

/** e^{−2πi·k/2N} for k up to half of N: what pairs bins of a transform of N complex numbers, made of twice as many reals. */
export function pairRoots(
  tables: TableBuilder,
  length: number,
  { kind, lanes }: FactorFormat,
): (x: Expressions, k: IndexLike) => Complex {
  const shape = { rows: 1, columns: Math.floor(length / 2) + 1 };
  const matrix = new RootMatrix(tables, `pairs${length}`, shape, kind, 2 * length, () => [0, 1], lanes);
  return (x, k) => matrix.load(x, 0, k);
}

/**
 * e^{−2πi·i·m/(r·s)} on input m of butterfly i: the twiddles between two Stockham passes.
 * @param signs of the elements that it finds, to be turned back.
 */
export function passTwiddles(
  tables: TableBuilder,
  leaf: VectorLeaf,
  radix: number,
  stride: number,
  aligned: boolean,
  signs?: Signs,
): PassTwiddle {
  if (stride === 1) return (_, value) => value;
  const runs = Array.from({ length: radix - 1 }, (_, n): Exponents => [0, n + 1]);
  const key = `pass${radix}x${stride}`;
  const root = passRoots(tables, leaf, { key, radix, stride, runs, ...(signs ? { signs } : {}) }, aligned);
  const sign = signs ? passSigns(tables, leaf, stride, signs, aligned) : undefined;
  return (x, value, i, m) => {
    if (m > 0) return x.cmul(value, root(x, i, m - 1));
    return sign ? x.cscale(value, sign(x, i)) : value;
  };
}

/** 1 or −1 for each butterfly; where vectors are aligned, all of their elements have the same. */
function passSigns(
  tables: TableBuilder,
  { lanes, lanesAlong }: VectorLeaf,
  stride: number,
  { key, pattern }: Signs,
  aligned: boolean,
): (x: Expressions, i: IndexLike) => Real {
  const each = aligned && lanesAlong.output === 'axis' ? lanes : 1;
  const shape = { rows: 1, columns: stride / each };
  const some = { key, pattern: pattern.filter((_, i) => i % each === 0) };
  const matrix = new RootMatrix(tables, `signs${key}/${each}`, shape, 'planes', 2, () => [0, 0], lanes, some);
  return (x, i) => matrix.load(x, 0, div(i, each)).re;
}

/** Roots that the butterflies of a pass need: runs of them, i = 0, 1, … counting the butterflies. */
export interface Roots {
  readonly key: string;
  readonly radix: number;
  readonly stride: number;
  readonly runs: readonly Exponents[];
  readonly signs?: Signs;
}

/** e^{−2πi·p/(r·s)} for the exponents p of every butterfly, side by side for the pass that reads them. */
export function passRoots(
  tables: TableBuilder,
  leaf: VectorLeaf,
  { key: name, radix, stride, runs, signs }: Roots,
  aligned: boolean,
): PassRoots {
  const order = radix * stride;
  const count = runs.length;
  const key = signs ? `${name}signs${signs.key}` : name;
  const exponents = (run: number) => runs[run]!;
  const along = leaf.lanesAlong.output;
  if (along === 'axis' && aligned) {
    // Sequential: for each vector of i, those of all runs one after another.
    const { lanes } = leaf;
    const shape = { rows: (stride / lanes) * count, columns: lanes, cycle: count };
    const matrix = new RootMatrix(tables, key, shape, 'blocked', order, exponents, lanes, signs);
    return (x, i, run) => matrix.load(x, add(scale(div(i, lanes), count), run), mod(i, lanes));
  }
  if (along === 'axis') {
    const shape = { rows: count, columns: stride };
    const matrix = new RootMatrix(tables, key, shape, 'planes', order, exponents, leaf.lanes, signs);
    return (x, i, run) => matrix.load(x, run, i);
  }
  // All lanes share the root.
  const shape = { rows: stride * count, columns: 1, cycle: count };
  const matrix = new RootMatrix(tables, key, shape, 'pairs', order, exponents, leaf.lanes, signs);
  return (x, i, run) => matrix.load(x, add(scale(i, count), run), 0);
}

/** Bytes from which on a table of all factors is too long for its share of the first-level cache. */
const LONG_TABLE = 4096;

export interface ThreadPassTable {
  /** Butterflies may be shifted: i counts on to r·s. */
  readonly shifted?: boolean;
  /** No factor stays in the first-level cache: the barriers of a cluster empty it. */
  readonly uncached?: boolean;
}

/**
 * The same for threads. Neighbouring butterflies read neighbouring roots, or the same one. Of a long table only the
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
  const powers = uncached || bytes >= LONG_TABLE;
  const read = Array.from({ length: radix - 1 }, (_, n) => n + 1).filter(
    (m) => !powers || Number.isInteger(Math.log2(m)),
  );
  const shape = { rows: read.length, columns: shifted ? radix * stride : stride };
  const key = `pass${radix}x${stride}${powers ? 'powers' : ''}${shifted ? 'shifted' : ''}`;
  const matrix = new RootMatrix(tables, key, shape, 'pairs', radix * stride, (row) => [0, read[row]!], 1);
  const factor = (x: Expressions, i: IndexLike, m: number): Complex => {
    const row = read.indexOf(m);
    if (row >= 0) return matrix.load(x, row, i);
    const power = 2 ** Math.floor(Math.log2(m));
    return x.cmul(factor(x, i, power), factor(x, i, m - power));
  };
  return (x, value, i, m) => x.cmul(value, factor(x, i, m));
}

/** Transforms that share one entry of the coarse table when a group holds only one of them. */
const FINE = 16;

/**
 * e^{−2πi·k·b/order} on output k of transform b: the twiddles of the four-step algorithm (VkFFT guide 2.5.2).
 *
 * With b = B·high + low the factor is a product of two, and the tables hold N/B + N_k·B roots instead of N: the coarse
 * one is read once, the fine one stays in cache.
 */
export function stepTwiddles(tables: TableBuilder, leaf: VectorLeaf, tile: Index): ViewMap {
  const { length, lanes, tile: size } = leaf;
  const { order, on } = leaf.twiddle!;
  const count = leaf.batch[0]!;
  if (leaf.lanesAlong[on] === 'batch') {
    const tiles = Math.ceil(count / size);
    const coarse = new RootMatrix(
      tables,
      `step${order}coarse${size}`,
      { rows: tiles, columns: length },
      'pairs',
      order,
      (row) => [0, row * size],
      lanes,
    );
    const fine = new RootMatrix(
      tables,
      `step${order}fine`,
      { rows: length, columns: size },
      size % lanes === 0 ? 'blocked' : 'planes',
      order,
      (k) => [0, k],
      lanes,
    );
    return (x, value, [k, c]) => x.cmul(value, x.cmul(coarse.load(x, tile, k!), fine.load(x, k!, c!)));
  }
  // A butterfly's points lie at known distances m·s from the first one, at k = i + m·s: one factor for i, which all of them
  // share, and one for m, which all lanes share.
  const radix = on === 'input' ? leaf.radices[0]! : leaf.radices.at(-1)!;
  const apart = length / radix;
  const low = size === 1 ? FINE : size;
  const roots = (key: string, rows: number, columns: number, kind: 'vectors' | 'pairs', step: number) =>
    new RootMatrix(
      tables,
      `step${order}${key}`,
      { rows, columns },
      kind === 'pairs' ? kind : apart % lanes === 0 ? 'blocked' : 'planes',
      order,
      (row) => [0, row * step],
      lanes,
    );
  const high = count > low ? roots(`rows${low}of${apart}`, Math.ceil(count / low), apart, 'vectors', low) : undefined;
  const fine = roots(`row${apart}`, Math.min(low, count), apart, 'vectors', 1);
  const fixed = roots(`apart${apart}`, count, radix, 'pairs', apart);
  return (x, value, [k, c]) => {
    const b = add(scale(tile, size), c!);
    const at = index(k!);
    const i = mod(at, apart);
    const m = div(at, apart);
    const one = fine.load(x, mod(b, low), i);
    const moving = high ? x.cmul(high.load(x, div(b, low), i), one) : one;
    const first = m.terms.length === 0 && m.constant === 0;
    return x.cmul(first ? value : x.cmul(value, fixed.load(x, b, m)), moving);
  };
}

/** Transforms from which on a table with a root for each of them is worth two shorter ones. */
const LONG_ROW = 2 ** 16;

/** Roots that a table of all of them may hold before it is worth two: it then stays in the first-level cache. */
const SMALL_TABLE = 4096;

/**
 * The factors of a leaf for threads, at [element, transform of the tile].
 * @param columns neighbouring threads take neighbouring transforms, where the factors are needed.
 */
export function leafStepTwiddles(tables: TableBuilder, leaf: Leaf, { first, outer }: Tiles, columns: boolean): ViewMap {
  const { order, along = 0 } = leaf.twiddle!;
  const count = leaf.batch[along]!;
  const butterfly = touching(leaf);
  if (along === 0) return threadStepTwiddles(tables, { count, tile: leaf.tile, columns, butterfly }, order, first);
  // The tile lies along another dimension: all its transforms have the same number in this one.
  const shape = { count, tile: 1, columns: false, butterfly };
  const factor = threadStepTwiddles(tables, shape, order, outer[along - 1]!);
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
 * The same for threads, which may each take any root. The points of a butterfly lie at known distances d from the first
 * one, k = i + d: the factor is one for i and b, computed once for all of them, times one for d and b, which neighbouring
 * threads read side by side. The first is a product over two digits of b, so that its tables stay short. Where those of
 * the second would be long, only the distances 1, 2, 4, 8 are read and multiplied, as between passes.
 * @param first number of the first transform of the group.
 */
function threadStepTwiddles(
  tables: TableBuilder,
  { count, tile, columns, butterfly: { points, apart } }: StepShape,
  order: number,
  first: Index,
): ViewMap {
  const rootsOf = (key: string, rows: number, cells: number, step: (row: number) => number) =>
    new RootMatrix(tables, `step${order}${key}`, { rows, columns: cells }, 'pairs', order, (row) => [0, step(row)], 1);
  const powers = (points - 1) * count * 2 * bytesOf(tables.ref.type) >= LONG_TABLE;
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
    const low = count * values <= SMALL_TABLE ? count : Math.min(count, tilesInLow * tile);
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
    if (count <= LONG_ROW) return roots('at', count, 1).load(x, 0, b);
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
