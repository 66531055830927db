/**
 * A long axis of reals in several uploads, by the four-step algorithm with N = n₁·n₂. The first upload transforms columns of n₁ reals, a pair of
 * columns at a time as the real and imaginary part of one complex column; each column keeps its bins 0 to ⌊n₁/2⌋. The other uploads transform
 * rows of these bins, n₂ long, in one upload or by the same algorithm again. The last one computes all N bins and writes each bin above N/2 as
 * the conjugate of its mirror image.
 */
import { concat, type Layout, mask, negate, numbers, reverse, slice, within } from '../../layout/index.ts';
import { hermitianLength, type Problem, type Side, tensorShape } from '../../problem/index.ts';
import type { StepTwiddle } from '../tree/leaf.ts';
import {
  type BranchNode,
  type Dimension,
  type DimensionStride,
  type LeafNode,
  type LineView,
  leafNode,
  leavesOf,
  mapLeaves,
} from '../tree/node.ts';
import { sameDimensions } from './axis.ts';

/** The shape of the tensor between uploads of reals in columns, which holds the bins up to the half of each column. */
export function columnsShape(problem: Problem, uploads: readonly number[]): number[] {
  return tensorShape(problem, 'input').map((count, of) => (of === 1 ? pointsOfRows(uploads) : count));
}

/** The number of bins between the uploads of an axis of reals in columns. */
export function pointsOfRows([n1, ...rows]: readonly number[]): number {
  return rows.reduce((a, b) => a * b, hermitianLength(n1!));
}

/** The uploads of reals in columns. @param shape lengths of the tensor before the first and after the last upload */
export function hermitianColumns(
  problem: Problem,
  side: Side,
  lengths: readonly number[],
  shape: Pick<BranchNode, 'length' | 'outputLength'>,
): BranchNode {
  const tensor = columnsShape(problem, lengths);
  return inColumns({ dimension: 1, others: otherDimensions(problem, 0), tensor, ...shape }, lengths, side);
}

/** All uploads of an axis of reals in columns, bins in their natural order. @param side the side of the reals */
export function realColumns(problem: Problem, side: Side, lengths: readonly number[]): BranchNode {
  const node = hermitianColumns(problem, side, lengths, shapesOf(problem, side));
  const [N, columns] = [problem.size[0]!, lengths[0]!];
  const read = side === 'output';
  const bins: LineView = read ? binsRead(N) : { dimension: 1, line: binsWritten(N, columns) };
  const lines = read ? { input: [bins], output: [] } : { input: [], output: [bins] };
  const ending = binsLeaf(node, side);
  return mapLeaves(node, (leaf) => (leaf === ending ? { ...leaf, lines } : leaf));
}

/** The launch that writes the bins of an axis in columns, or reads them. @param side the side of the reals */
export function binsLeaf(node: BranchNode, side: Side): LeafNode {
  return leavesOf(node).at(side === 'input' ? -1 : 0)!;
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
 * The places of bins that are written in rows: row k holds the bins k, k + columns, k + 2·columns, …, for k up to columns / 2. Bins above N/2 go
 * to the place of their mirror image, conjugated; a row that is its own mirror image leaves them out, because its bins below N/2 are the same.
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

/** The place of an axis that is transformed in columns, and the lengths of the tensor before, between and after all launches. */
export interface ColumnsPlace extends Pick<BranchNode, 'length' | 'outputLength'> {
  /** Dimension of the tensor. */
  readonly dimension: number;
  readonly others: readonly Dimension[];
  readonly tensor: readonly number[];
}

/** The uploads of N = n₁·n₂ reals: columns of n₁ in pairs, then rows of their bins; in the opposite order where the reals are the output. */
export function inColumns(place: ColumnsPlace, uploads: readonly number[], real: Side): BranchNode {
  const { dimension, others, tensor, length: before, outputLength: after } = place;
  const n1 = uploads[0]!;
  const n2 = pointsOfRows(uploads) / hermitianLength(n1);
  const title = `axis ${dimension - 1}`;
  const forward = real === 'input';
  const both = (step: number) => ({ input: { dimension, stride: step }, output: { dimension, stride: step } });
  const columns: LeafNode = {
    ...leafNode({
      ...{ title, axisOf: dimension - 1, axis: { count: n1, ...both(n2) }, tensor },
      batch: [{ count: n2 / 2, ...both(2) }, ...others],
    }),
    exponents: 'forward',
    real: { side: real, by: 'lines', pairs: { along: dimension, on: 'both' } },
  };
  const there = [columns, ...rowsOfBins(place, uploads).map((row) => (forward ? row : fromBinsToReals(row)))];
  const children = forward ? there : there.toReversed();
  const last = uploads.length - 1;
  const named = children.map((leaf, n) => ({
    ...leaf,
    title: `${title}, upload ${n + 1} of ${uploads.length}`,
    ...(n === 0 ? { length: before } : {}),
    ...(n === last ? { outputLength: after } : {}),
  }));
  const outer = { length: before, outputLength: after };
  return { scheme: 'four-step', title, axisOf: dimension - 1, parts: uploads, ...outer, children: named };
}

/**
 * The uploads of the rows, n₂ = m₁·m₂·… long, from reals to bins. Each leaves its bins where it found its points, and the last one writes bin
 * k₁ + n₁·(k₂ + m₁·k₃ …). Row k₁ is multiplied by e^{−2πi·k₁·i/N} at element i, which is a product over the digits of i: each upload multiplies
 * by the factors of its own digit, as it reads.
 */
function rowsOfBins({ dimension, others, tensor }: ColumnsPlace, [n1, ...lengths]: readonly number[]): LeafNode[] {
  const at = (step: number): DimensionStride => ({ dimension, stride: step });
  const n2 = lengths.reduce((a, b) => a * b, 1);
  const rows = { count: hermitianLength(n1!), input: at(n2) };
  const upload = (axis: Dimension, batch: readonly Dimension[]) =>
    leafNode({ title: '', axisOf: dimension - 1, axis, batch: [...batch, ...others], tensor });
  const bins: Dimension[] = [];
  const children: LeafNode[] = [];
  let [rest, produced] = [n2, n1!];
  for (const n of lengths.slice(0, -1)) {
    const points = rest;
    rest /= n;
    const kept = bins.map((bin) => ({ ...bin, output: bin.input }));
    const along = { count: n, input: at(rest), output: at(rest) };
    children.push({
      ...upload(along, [{ count: rest, input: at(1), output: at(1) }, { ...rows, output: rows.input }, ...kept]),
      twiddle: { order: points, on: 'output' },
      outerTwiddle: { order: (n1! * n2) / rest, on: 'input', along: 1 },
    });
    bins.unshift({ count: n, input: at(rest), output: at(produced) });
    produced *= n;
  }
  const last = { count: rest, input: at(1), output: at(produced) };
  children.push({
    ...upload(last, [{ ...rows, output: at(1) }, ...bins]),
    twiddle: { order: n1! * n2, on: 'input' },
  });
  return children;
}

/** The reverse launch, from bins to reals, for a launch from reals to bins. */
function fromBinsToReals({ axis, batch, twiddle, outerTwiddle, ...leaf }: LeafNode): LeafNode {
  const turned = ({ input, output, ...others }: Dimension): Dimension => ({ ...others, input: output, output: input });
  const other = <T extends StepTwiddle>(own: T): T => ({ ...own, on: own.on === 'input' ? 'output' : 'input' });
  return {
    ...{ ...leaf, axis: turned(axis), batch: batch.map(turned) },
    ...(twiddle ? { twiddle: other(twiddle) } : {}),
    ...(outerTwiddle ? { outerTwiddle: other(outerTwiddle) } : {}),
  };
}

/** Lengths of the tensor on both sides of a launch from reals to bins, or from bins to reals. */
export function shapesOf(problem: Problem, real: 'input' | 'output') {
  const [reals, bins] = [tensorShape(problem, 'input'), tensorShape(problem, 'output')];
  return real === 'input' ? { length: reals, outputLength: bins } : { length: bins, outputLength: reals };
}

/** Every dimension, except the axis, that has more than one element. */
export function otherDimensions(problem: Problem, axis: number): Dimension[] {
  return sameDimensions(problem).filter(({ count }, of) => of !== axis + 1 && count > 1);
}
