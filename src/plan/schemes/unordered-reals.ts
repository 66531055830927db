/**
 * A long axis of reals in two uploads whose bins stay in the rows that the second upload takes (`unordered`), with N = n₁·n₂, both even.
 *
 * Bin k₁ + n₁·k₂ is in row k₁, at place k₁·n₂ + k₂, for k₁ = 1 … n₁/2 − 1; if the bin is over the half, bin N − (k₁ + n₁·k₂) is there instead.
 * Rows 0 and n₁/2 each hold the bins of their second half in the first one. They share the places of row 0: bin (n₁/2)·j is at place j, and
 * bin N/2 at place N/2. So N/2 + 1 places hold all bins and nothing else.
 *
 * In place, all launches work in that memory. The columns leave row n₁/2 merged with row 0: reals c with c(i) = (a(i) + b(i))/2 and c(i + n₂) =
 * (a(i) − b(i))/2, where a and b are bins 0 and n₁/2 of column i, which are reals. A real transform of these 2·n₂ reals makes row 0, in a short
 * launch of its own.
 */
import {
  concat,
  join,
  type Layout,
  negate,
  numbers,
  pad,
  permute,
  reverse,
  slice,
  split,
  stack,
  stride,
  wholeLine,
} from '../../layout/index.ts';
import { type Direction, hermitianLength, type Problem, type Side, splitAxisOf } from '../../problem/index.ts';
import type { AvailableBuffers } from '../buffers/index.ts';
import type { Target } from '../device/target.ts';
import {
  type BranchNode,
  type Dimension,
  type LeafNode,
  type LineView,
  leafNode,
  mapLeaves,
  type PlanNode,
} from '../tree/node.ts';
import { otherDimensions, realColumns, shapesOf } from './real-columns.ts';

type Uploads = readonly [columns: number, rows: number];

/** The memory of rows: the user's, or a copy. Undefined: launches go from one memory to another, and rows n₁/2 and 0 are apart in between. */
export type RowsMemory = 'in place' | 'copied' | undefined;

/** Whether the bins of an axis of reals stay in rows. (Convolutions have an order of their own.) */
export function leavesBins(problem: Problem, uploads: readonly number[]): uploads is Uploads {
  const { unordered, convolution } = problem;
  const [n1, n2, ...more] = uploads;
  const even = n1! % 2 === 0 && n2! % 2 === 0 && more.length === 0;
  return unordered && !convolution && even && !splitAxisOf(problem, 'output');
}

/**
 * The launches of an axis whose bins stay in rows.
 * @param side the side of the reals
 * @param inPlace whether every launch may work in the memory of the bins
 */
export function unorderedColumns(problem: Problem, side: Side, uploads: Uploads, inPlace: boolean): BranchNode {
  const node = realColumns(problem, side, uploads);
  const left = { left: 'hermitian' } as const;
  if (inPlace) return { ...node, ...left, children: inRows(problem, side, uploads) };
  const read = side === 'output';
  const bins: LineView = { dimension: 1, line: binsOfRows(problem.size[0]!, uploads, read), title: 'rows of bins' };
  const lines = read ? { input: [bins], output: [] } : { input: [], output: [bins] };
  return { ...mapLeaves(node, (leaf) => (leaf.real ? leaf : { ...leaf, lines })), ...left };
}

/** The place of bin k, for an axis of N reals whose bins have stayed in rows. */
export function positionInRows(k: number, parts: readonly number[]): number {
  const [n1, n2] = parts as Uploads;
  const [N, row] = [n1 * n2, k % n1];
  // Bins that are multiples of n₁/2 share the first row.
  if (row % (n1 / 2) === 0) return k === N / 2 ? k : (2 * k) / n1;
  return row < n1 / 2 ? row * n2 + Math.floor(k / n1) : positionInRows(N - k, parts);
}

/** All N bins in their natural order, found in rows. @param read whether bins over the half are also wanted, as conjugates of the stored ones */
function binsOfRows(N: number, [n1, n2]: Uploads, read: boolean): Layout {
  const bins = numbers(hermitianLength(N));
  const rows = split(slice(bins, 0, 0, N / 2), 0, n2);
  const shared = slice(bins, 0, 0, n2);
  const first = concat(0, stride(shared, 0, 2), slice(bins, 0, N / 2, 1));
  const middle = stride(shared, 0, 2, 1);
  const inner = slice(rows, 0, 1, n1 / 2 - 1);
  const half = n2 / 2;
  const whole = (row: Layout, from: number) =>
    read ? concat(0, row, reverse(conjugateLayout(slice(row, 0, from, half - from)), 0)) : pad(row, 0, 0, half - from);
  const all = concat(
    0,
    stack(0, whole(first, 1)),
    concat(1, slice(inner, 1, 0, half), conjugateLayout(slice(inner, 1, half, half))),
    stack(0, whole(middle, 0)),
  );
  return join(permute(pad(all, 0, 0, n1 / 2 - 1), [1, 0, 2]), 0);
}

/** The conjugates of numbers; their parts are the last dimension. */
function conjugateLayout(of: Layout): Layout {
  const parts = of.shape.length - 1;
  return concat(parts, slice(of, parts, 0, 1), negate(slice(of, parts, 1, 1)));
}

/** The launches in the memory of the bins: the columns, all rows but the first, and the first row. */
function inRows(problem: Problem, side: Side, [n1, n2]: Uploads): PlanNode[] {
  const N = problem.size[0]!;
  const forward = side === 'input';
  const { length: reals, outputLength: bins } = shapesOf(problem, 'input');
  const others = otherDimensions(problem, 0);
  const at = (count: number, step: number): Dimension => {
    const place = { dimension: 1, stride: step };
    return { count, input: place, output: place };
  };
  const upload = (title: string, axis: Dimension, batch: readonly Dimension[]) =>
    leafNode({ title: `axis 0, ${title}`, axisOf: 0, axis, batch, tensor: bins });
  const sides = (columns: Layout, rows: Layout): LeafNode['lines'] => {
    const [ofColumns, ofRows] = [columns, rows].map((own): LineView[] => [{ dimension: 1, line: own }]) as [
      LineView[],
      LineView[],
    ];
    return forward ? { input: ofColumns, output: ofRows } : { input: ofRows, output: ofColumns };
  };
  const columns: LeafNode = {
    ...upload('columns', at(n1, n2), [at(n2 / 2, 2), ...others]),
    ...(forward ? { length: reals } : { outputLength: reals }),
    exponents: 'forward',
    real: { side, by: 'lines', pairs: { along: 1, on: 'both' }, rows: n2 },
  };
  const slots = slice(numbers(hermitianLength(N)), 0, n2, N / 2 - n2);
  const halves = split(split(slots, 0, n2), 1, n2 / 2);
  const rows: LeafNode = {
    ...upload('rows', at(n2, 1), [at(n1 / 2 - 1, n2), ...others]),
    twiddle: { order: N, on: side, first: 1 },
    lines: sides(
      join(join(permute(halves, [0, 2, 1, 3]), 1), 0),
      join(join(concat(1, slice(halves, 1, 0, 1), conjugateLayout(slice(halves, 1, 1, 1))), 1), 0),
    ),
    stays: true,
  };
  const whole = wholeLine(hermitianLength(N));
  const row: LeafNode = {
    ...upload('the first row', at(n2, 1), others),
    exponents: 'forward',
    real: { side, by: 'halves' },
    lines: sides(slice(whole, 0, 0, n2), concat(0, slice(whole, 0, 0, n2), slice(whole, 0, N / 2, 1))),
    stays: true,
  };
  const children = n1 > 2 ? [columns, rows, row] : [columns, row];
  return forward ? children : children.reverse();
}

/**
 * The elements of each row of `row` elements, reordered: element i of its first half, then element i of its second half, and so on. An incomplete
 * last row is left out.
 */
export function halvesOfRows(count: number, row: number): Layout {
  const rows = split(slice(wholeLine(count), 0, 0, count - (count % row)), 0, row);
  return join(permute(split(rows, 1, row / 2), [0, 2, 1]), 0);
}

/**
 * The memory in which the launches of a long axis of reals should work. In place it is the memory of the bins, where the reals fit, too. Out of
 * place that memory serves on vectors only: there a short launch more costs nothing, and less memory spares the caches.
 */
export function memoryOfRows(
  { callbacks }: Problem,
  direction: Direction,
  { same, sameRows, input, output, work }: AvailableBuffers,
  { lockstep }: Target,
): RowsMemory {
  if (callbacks) return undefined;
  if (same) return sameRows && !output.spared ? 'in place' : undefined;
  if (lockstep !== 'vector') return undefined;
  const isFree = direction === 'forward' ? !output.spared : input.writable;
  return isFree && !work ? 'in place' : 'copied';
}
