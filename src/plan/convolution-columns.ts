/**
 * A long convolution of reals in three launches, by the four-step algorithm with N = n₁·n₂:
 *
 * 1. Real transforms of the columns, n₁ reals each. Only ⌊n₁/2⌋ + 1 bins of a column are computed, the others being conjugates.
 * 2. For each of these bins k₁ one row of n₂ points: twiddles, transform (which gives bins k₁ + n₁·k₂ of the signal), product with the
 *    spectrum of the kernel, inverse transform, conjugate twiddles.
 * 3. Inverse real transforms of the columns.
 */
import { hermitianLength, type Problem, tensorShape } from '../problem/index.ts';
import type { MiddleQuestion } from './kernel-memory.ts';
import { withKernelProduct } from './kernel-product.ts';
import { columnsShape, hermitianColumns, otherDimensions } from './schemes/real-columns.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode, leavesOf } from './tree/node.ts';

type Uploads = readonly [columns: number, rows: number];

export function columnsThrough({ problem, returning, kernel }: MiddleQuestion, uploads: Uploads): BranchNode {
  const [length, outputLength] = [problem, returning].map((one) => tensorShape(one, 'input')) as [number[], number[]];
  const [before, after] = [problem, returning].map((one) => columnsShape(one, uploads)) as [number[], number[]];
  const [there] = leavesOf(hermitianColumns(problem, 'input', uploads, { length, outputLength: before }));
  const back = leavesOf(hermitianColumns(returning, 'output', uploads, { length: after, outputLength })).at(-1)!;
  const rows = { ...rowLaunch(problem, uploads), outputLength: after };
  const middle = withKernelProduct(rows, problem.convolution!, kernel, before);
  const named = (leaf: LeafNode, way: string): LeafNode => ({ ...leaf, title: `${leaf.title}, ${way}` });
  return {
    ...{ scheme: 'convolution', title: 'axis 0', axisOf: 0, length, outputLength },
    children: [named(there!, 'there'), named(middle, 'there and back'), named(back, 'back')],
  };
}

/** The launches of a kernel's transform, whose bins stay in rows. */
export function kernelColumns(given: Problem, uploads: Uploads): BranchNode {
  const length = tensorShape(given, 'input');
  const bins = columnsShape(given, uploads);
  const node = hermitianColumns(given, 'input', uploads, { length, outputLength: bins });
  const [columns] = leavesOf(node);
  const { twiddle, ...rows } = rowLaunch(given, uploads);
  return { ...node, children: [columns!, { ...rows, twiddle: { ...twiddle!, on: 'input' } }] };
}

/** The launch of the rows, in place. */
function rowLaunch(problem: Problem, [n1, n2]: Uploads): LeafNode {
  const along = (count: number, step: number): Dimension => {
    return { count, input: { dimension: 1, stride: step }, output: { dimension: 1, stride: step } };
  };
  return {
    ...leafNode({
      ...{ title: 'axis 0, upload 2 of 2', axisOf: 0, axis: along(n2, 1), tensor: columnsShape(problem, [n1, n2]) },
      batch: [along(hermitianLength(n1), n2), ...otherDimensions(problem, 0)],
    }),
    twiddle: { order: n1 * n2, on: 'both' },
  };
}
