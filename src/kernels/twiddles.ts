/**
 * Twiddle factors as views of tables: which roots a pass needs, and where they lie so that the lanes read whole vectors.
 */

import type { Complex, Expressions, Index, IndexLike, Real, TableBuilder, ViewMap } from '../ir/index.ts';
import { add, div, index, mod, scale } from '../ir/index.ts';
import type { FactorFormat } from './pointwise.ts';
import { type Exponents, RootMatrix, type Signs } from './root-matrix.ts';
import type { VectorLeaf } from './vector-leaf.ts';

export type PassTwiddle = (x: Expressions, value: Complex, i: IndexLike, m: number) => Complex;

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
 * @param signs of the elements that it finds, to be undone.
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

/** Transforms that share one entry of the coarse table when a group holds only one of them. */
const FINE_TRANSFORMS = 16;

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
  const low = size === 1 ? FINE_TRANSFORMS : size;
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
