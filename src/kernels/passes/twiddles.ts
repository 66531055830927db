/**
 * Twiddle factors for vectors: the roots that a pass needs, in tables laid out so that the lanes read whole vectors.
 */

import type { Complex, Expressions, IndexLike, TableBuilder, ViewMap } from '../../ir/index.ts';
import { add, div, index, mod, scale } from '../../ir/index.ts';
import type { StepTwiddle } from '../../plan/tree/leaf.ts';
import type { FactorFormat } from '../views/pointwise.ts';
import type { Tiles } from '../views/sides.ts';
import { RootMatrix } from './root-matrix.ts';
import type { KernelStep } from './steps.ts';
import type { VectorLeaf } from './vector-form.ts';

export type PassTwiddle = (x: Expressions, value: Complex, i: IndexLike, m: number) => Complex;

/**
 * The numbers of the steps with Hermitian splits last. The roots of passes then come first in the tables whether a split precedes or
 * follows the passes, so both directions of real transforms share a table.
 */
export function splitsLast(steps: readonly KernelStep[]): number[] {
  const isSplit = (n: number) => Number(steps[n]!.kind === 'hermitian-split');
  return [...steps.keys()].sort((a, b) => isSplit(a) - isSplit(b));
}

/** The twiddles e^{−2πi·k/2N}, k = 0 … N/2, of the Hermitian split of a transform of N complex numbers. */
export function pairRoots(
  tables: TableBuilder,
  length: number,
  { kind, lanes }: FactorFormat,
): (x: Expressions, k: IndexLike) => Complex {
  const shape = { rows: 1, columns: Math.floor(length / 2) + 1 };
  const matrix = new RootMatrix(tables, `pairs${length}`, shape, kind, 2 * length, () => 1, lanes);
  return (x, k) => matrix.load(x, 0, k);
}

/** e^{−2πi·i·m/(r·s)} on input m of butterfly i: the twiddles between two Stockham passes. */
export function passTwiddles(
  tables: TableBuilder,
  leaf: VectorLeaf,
  radix: number,
  stride: number,
  aligned: boolean,
): PassTwiddle {
  if (stride === 1) return (_, value) => value;
  const root = passRoots(tables, leaf, radix, stride, aligned);
  return (x, value, i, m) => (m > 0 ? x.cmul(value, root(x, i, m)) : value);
}

/** The roots for m = 1, 2, … of every butterfly, in the order in which the pass reads them. */
function passRoots(
  tables: TableBuilder,
  { lanes, lanesAlong }: VectorLeaf,
  radix: number,
  stride: number,
  aligned: boolean,
): (x: Expressions, i: IndexLike, m: number) => Complex {
  const count = radix - 1;
  const matrix = (
    shape: { readonly rows: number; readonly columns: number; readonly cycle?: number },
    kind: 'blocked' | 'planes' | 'pairs',
  ) => new RootMatrix(tables, `pass${radix}x${stride}`, shape, kind, radix * stride, (run) => run + 1, lanes);
  if (lanesAlong.output === 'axis' && aligned) {
    // In sequential order: for each vector of neighbouring i, the roots of all m one after another.
    const roots = matrix({ rows: (stride / lanes) * count, columns: lanes, cycle: count }, 'blocked');
    return (x, i, m) => roots.load(x, add(scale(div(i, lanes), count), m - 1), mod(i, lanes));
  }
  if (lanesAlong.output === 'axis') {
    const roots = matrix({ rows: count, columns: stride }, 'planes');
    return (x, i, m) => roots.load(x, m - 1, i);
  }
  return sharedRoots(tables, radix, stride, lanes);
}

/** The roots of a pass if all lanes share the root. */
export function sharedRoots(
  tables: TableBuilder,
  radix: number,
  stride: number,
  lanes: number,
): (x: Expressions, i: IndexLike, m: number) => Complex {
  const count = radix - 1;
  const shape = { rows: stride * count, columns: 1, cycle: count };
  const roots = new RootMatrix(
    tables,
    `pass${radix}x${stride}`,
    shape,
    'pairs',
    radix * stride,
    (run) => run + 1,
    lanes,
  );
  return (x, i, m) => roots.load(x, add(scale(i, count), m - 1), 0);
}

/** Transforms that share one entry of the coarse table when a group holds only one of them. */
const FINE_TRANSFORMS = 16;

/**
 * e^{−2πi·k·b/order} on output k of transform b: the twiddles of the four-step algorithm (VkFFT guide 2.5.2).
 *
 * With b = B·high + low, the factor is a product of two, and the tables hold N/B + N_k·B roots instead of N. The coarse table is read once;
 * the fine table stays in the cache. The coarse table begins with the first value of b.
 * @param on the side that they are applied to
 */
export function stepTwiddles(
  tables: TableBuilder,
  leaf: VectorLeaf,
  { order, first: begin = 0, along = 0 }: StepTwiddle,
  { number: tile, outer }: Pick<Tiles, 'number' | 'outer'>,
  on: 'input' | 'output',
): ViewMap {
  const { length, lanes, tile: size } = leaf;
  const count = leaf.batch[along]!;
  const from = begin > 0 ? `from${begin}` : '';
  if (along > 0) {
    // All lanes are of one b.
    const kind = leaf.lanesAlong[on] === 'batch' ? 'pairs' : 'planes';
    const shape = { rows: count, columns: length };
    const roots = new RootMatrix(tables, `step${order}outer${from}`, shape, kind, order, (b) => b + begin, lanes, true);
    return (x, value, [k]) => x.cmul(value, roots.load(x, outer[along - 1]!, k!));
  }
  if (leaf.lanesAlong[on] === 'batch') {
    const tiles = Math.ceil(count / size);
    const coarse = new RootMatrix(
      tables,
      `step${order}coarse${size}${from}`,
      { rows: tiles, columns: length },
      'pairs',
      order,
      (row) => row * size + begin,
      lanes,
      true,
    );
    const fine = new RootMatrix(
      tables,
      `step${order}fine`,
      { rows: length, columns: size },
      size % lanes === 0 ? 'blocked' : 'planes',
      order,
      (k) => k,
      lanes,
      true,
    );
    return (x, value, [k, c]) => x.cmul(value, x.cmul(coarse.load(x, tile, k!), fine.load(x, k!, c!)));
  }
  // The points of a butterfly are k = i + m·s with known m: one factor for i, which all points share, and one for m, which all lanes
  // share.
  const radix = on === 'input' ? leaf.radices[0]! : leaf.radices.at(-1)!;
  const apart = length / radix;
  const low = size === 1 ? FINE_TRANSFORMS : size;
  const roots = (key: string, rows: number, columns: number, kind: 'vectors' | 'pairs', step: number, start = 0) =>
    new RootMatrix(
      tables,
      `step${order}${key}${start > 0 ? from : ''}`,
      { rows, columns },
      kind === 'pairs' ? kind : apart % lanes === 0 ? 'blocked' : 'planes',
      order,
      (row) => (row * (kind === 'vectors' ? step : 1) + start) * (kind === 'pairs' ? step : 1),
      lanes,
      true,
    );
  const high =
    count > low ? roots(`rows${low}of${apart}`, Math.ceil(count / low), apart, 'vectors', low, begin) : undefined;
  const fine = roots(`row${apart}`, Math.min(low, count), apart, 'vectors', 1, high ? 0 : begin);
  const fixed = roots(`apart${apart}`, count, radix, 'pairs', apart, begin);
  return (x, value, [k, c]) => {
    const b = add(scale(tile, size), c!);
    const at = index(k!);
    const i = mod(at, apart);
    const m = div(at, apart);
    const lowRoot = fine.load(x, mod(b, low), i);
    const moving = high ? x.cmul(high.load(x, div(b, low), i), lowRoot) : lowRoot;
    const first = m.terms.length === 0 && m.constant === 0;
    return x.cmul(first ? value : x.cmul(value, fixed.load(x, b, m)), moving);
  };
}
