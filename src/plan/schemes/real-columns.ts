/**
 * A long axis of reals in two uploads, the four-step algorithm with N = n₁·n₂: columns of n₁ reals, two of which at a time are the parts of
 * a complex one, and rows of their bins, of which only the first ⌊n₁/2⌋ + 1 of each column are computed. What rows make of them are all
 * bins: those over the half are conjugates of others.
 */
import { concat, type Layout, mask, negate, numbers, reverse, slice, within } from '../../layout/index.ts';
import { hermitianLength, type Problem, type Side, tensorShape } from '../../problem/index.ts';
import {
  type BranchNode,
  type Dimension,
  type LeafNode,
  type LineView,
  leafNode,
  mapLeaves,
  type Place,
} from '../tree/node.ts';
import { dimensionsOf } from './axis.ts';

/** The tensor between two uploads of reals in columns: the bins up to the half of each column. */
export function columnsShape(problem: Problem, [n1, n2]: readonly [number, number]): number[] {
  return tensorShape(problem, 'input').map((count, of) => (of === 1 ? hermitianLength(n1) * n2 : count));
}

/** Two uploads of reals in columns. @param shape lengths of the tensor before and after both */
export function hermitianColumns(
  problem: Problem,
  side: Side,
  lengths: readonly [number, number],
  shape: Pick<BranchNode, 'length' | 'outputLength'>,
): BranchNode {
  const tensor = columnsShape(problem, lengths);
  return inColumns({ dimension: 1, others: otherDimensions(problem, 0), tensor, ...shape }, lengths, side);
}

/** Both uploads, bins in their natural order. @param side where the reals are */
export function realColumns(problem: Problem, side: Side, lengths: readonly [number, number]): BranchNode {
  const node = hermitianColumns(problem, side, lengths, shapesOf(problem, side));
  const [N, columns] = [problem.size[0]!, lengths[0]];
  const read = side === 'output';
  const bins: LineView = read ? binsRead(N) : { dimension: 1, line: binsWritten(N, columns) };
  const lines = read ? { input: [bins], output: [] } : { input: [], output: [bins] };
  return mapLeaves(node, (leaf) => (leaf.real ? leaf : { ...leaf, lines }));
}

/**
 * All N bins where memory has the first ⌊N/2⌋ + 1: bin N − k is the conjugate of bin k. Bins that are their own conjugates are real,
 * whatever memory holds.
 */
export function binsRead(N: number): LineView {
  const half = numbers(hermitianLength(N));
  const mirrored = Math.ceil(N / 2) - 1;
  const [re, im] = [slice(half, 1, 0, 1), within(slice(half, 1, 1, 1), 0, 1, mirrored + 1)];
  const whole = (part: Layout, mirror: Layout) => concat(0, part, reverse(slice(mirror, 0, 1, mirrored), 0));
  return {
    dimension: 1,
    line: concat(1, whole(re, re), whole(im, negate(im))),
    title: `mirror ${hermitianLength(N)} bins`,
  };
}

/**
 * The same where bins are written in rows, which begin at each of the first half of so many columns. A row whose mirror image is another
 * row writes its bins over the half in their conjugates' places; of a row that is its own mirror image the bins below them have done so.
 */
export function binsWritten(N: number, columns: number): Layout {
  const half = numbers(hermitianLength(N));
  const mirror = slice(half, 0, 1, Math.ceil(N / 2) - 1);
  const conjugate = concat(1, slice(mirror, 1, 0, 1), negate(slice(mirror, 1, 1, 1)));
  return onceInRows(concat(0, half, reverse(conjugate, 0)), hermitianLength(N), columns);
}

/**
 * Keeps elements from an index on from being written twice: only rows write them whose mirror image is another row.
 * @param columns the number of rows: row r is elements r, r + columns, r + 2·columns, …, and its mirror image is row columns − r
 */
export function onceInRows(of: Layout, from: number, columns: number): Layout {
  const once = mask(of, 0, columns, 1, Math.max(1, Math.ceil(columns / 2)));
  return concat(0, slice(of, 0, 0, from), slice(once, 0, from, of.shape[0]! - from));
}

/** Where an axis lies that is transformed in columns, and how long the tensor is before, between and after both launches. */
export interface ColumnsPlace extends Pick<BranchNode, 'length' | 'outputLength'> {
  /** Dimension of the tensor. */
  readonly dimension: number;
  readonly others: readonly Dimension[];
  readonly tensor: readonly number[];
}

/**
 * Two uploads of N = n₁·n₂ reals. One is of columns of n₁, two of which are the parts of a complex one, of whose bins there are
 * ⌊n₁/2⌋ + 1 in each; the other one is of rows of these, n₂ long, and knows bins over the half as conjugates of those below.
 */
export function inColumns(
  { dimension, others, tensor, length: before, outputLength: after }: ColumnsPlace,
  uploads: readonly [number, number],
  real: 'input' | 'output',
): BranchNode {
  const [n1, n2] = uploads;
  const kept = hermitianLength(n1);
  const title = `axis ${dimension - 1}`;
  const at = (step: number): Place => ({ dimension, stride: step });
  const both = (step: number) => ({ input: at(step), output: at(step) });
  const forward = real === 'input';
  const directed = (dimension: Dimension): Dimension =>
    forward ? dimension : { ...dimension, input: dimension.output, output: dimension.input };
  const upload = (number: 1 | 2, axis: Dimension, batch: Dimension): LeafNode => ({
    ...leafNode({
      title: `${title}, upload ${number} of 2`,
      axisOf: dimension - 1,
      axis,
      batch: [batch, ...others],
      tensor,
    }),
    ...(number === 1 ? { length: before } : { outputLength: after }),
  });
  const columns: LeafNode = {
    ...upload(forward ? 1 : 2, { count: n1, ...both(n2) }, { count: n2 / 2, ...both(2) }),
    exponents: 'forward',
    real: { side: real, by: 'lines', pairs: { along: dimension, on: 'both' } },
  };
  const row = directed({ count: n2, input: at(1), output: at(n1) });
  const rows: LeafNode = {
    ...upload(forward ? 2 : 1, row, directed({ count: kept, input: at(n2), output: at(1) })),
    twiddle: { order: n1 * n2, on: real },
  };
  const children = forward ? [columns, rows] : [rows, columns];
  const outer = { length: before, outputLength: after };
  return { scheme: 'four-step', title, axisOf: dimension - 1, parts: [n1, n2], ...outer, children };
}

/** Lengths of the tensor on both sides of a launch that makes bins of reals, or reals of bins. */
export function shapesOf(problem: Problem, real: 'input' | 'output') {
  const [reals, bins] = [tensorShape(problem, 'input'), tensorShape(problem, 'output')];
  return real === 'input' ? { length: reals, outputLength: bins } : { length: bins, outputLength: reals };
}

/** Every dimension but an axis that has more than one element. */
export function otherDimensions(problem: Problem, axis: number): Dimension[] {
  return dimensionsOf(problem).filter(({ count }, of) => of !== axis + 1 && count > 1);
}
