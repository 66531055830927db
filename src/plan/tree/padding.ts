/**
 * Padding of temp buffers (rocFFT buffer assignment, "Padding"). Strides that are large powers of two are slow on some devices, because all
 * accesses fall into few sets of a cache or few memory channels. The problem determines the layout of the user's buffers; temp buffers are
 * free to be padded.
 *
 * All temp buffers of a tree share one padding: a temp buffer holds the packed tensor with a few extra elements after every so many.
 * Launches that cut the same dimension differently stay compatible if none of them steps over a padded place; a batch dimension that would
 * step over one is cut in two there.
 */

import type { Target } from '../device/target.ts';
import { type Dimension, type DimensionStride, type LeafNode, leavesOf, mapLeaves, type PlanNode } from './node.ts';

/** Padding: `by` extra elements after every `every` elements of the packed tensor. */
export interface Pad {
  readonly every: number;
  readonly by: number;
}

/** The distance in padded memory of a step through the packed tensor. */
export function paddedStep(step: number, pads: readonly Pad[]): number {
  return pads.reduce((sum, { every, by }) => sum + (step % every === 0 ? (step / every) * by : 0), step);
}

/** Elements of padded memory that a number of packed elements spans. */
export function paddedElements(elements: number, pads: readonly Pad[]): number {
  return pads.reduce((sum, { every, by }) => sum + Math.floor((elements - 1) / every) * by, elements);
}

/** A leaf, and its sides that may be in a temp buffer. */
interface PaddedLeaf {
  readonly leaf: LeafNode;
  readonly sides: readonly ('input' | 'output')[];
}

/**
 * Chooses the padding of a tree's temp buffers, and cuts dimensions of the tree accordingly.
 * @param packed strides of the packed tensor
 */
export function paddedTree<N extends PlanNode>(
  tree: N,
  packed: readonly number[],
  complexBytes: number,
  { multiple, count, by }: NonNullable<Target['padding']>,
): { readonly tree: N; readonly pads: readonly Pad[] } {
  const leaves = leavesOf(tree);
  let all = leaves.map((leaf, n): PaddedLeaf => {
    const sides = (['input', 'output'] as const).filter((side) => n !== (side === 'input' ? 0 : leaves.length - 1));
    return { leaf, sides };
  });
  const pads: Pad[] = [];
  const isSlow = (step: number) => (step * complexBytes) % multiple === 0;
  const longSteps = all.flatMap(({ leaf, sides }) =>
    [leaf.axis, ...leaf.more, ...leaf.batch].flatMap((dimension) =>
      dimension.count < count ? [] : sides.map((side) => packedStep(dimension[side], packed)).filter(isSlow),
    ),
  );
  for (const every of [...new Set(longSteps)].sort((a, b) => a - b)) {
    // Padding after shorter steps has lengthened this step, too.
    if (!isSlow(paddedStep(every, pads))) continue;
    const cut = all.map((between) => cutAt(between, every, packed));
    if (cut.some((between) => !between)) continue;
    all = cut as PaddedLeaf[];
    // A number may be wider than `by` bytes.
    pads.push({ every, by: Math.ceil(by / complexBytes) });
  }
  return { tree: mapLeaves(tree, (_, number) => all[number]!.leaf), pads };
}

function packedStep({ dimension, stride: step }: DimensionStride, packed: readonly number[]): number {
  return packed[dimension]! * step;
}

/** The leaf with its batch cut so that no dimension steps over a multiple of `every`; undefined if a dimension that cannot be cut would. */
function cutAt({ leaf, sides }: PaddedLeaf, every: number, packed: readonly number[]): PaddedLeaf | undefined {
  const batch = [...leaf.batch];
  const dimensions = [leaf.axis, ...leaf.more];
  // The number of steps up to the next multiple of `every`; undefined if a dimension does not step over one.
  const partOf = ({ count, gap, ...places }: Dimension) =>
    sides
      .map((side) => ({ step: packedStep(places[side], packed), whole: count + (gap ? gap.to - gap.from : 0) }))
      .filter(({ step, whole }) => whole > 1 && step % every !== 0 && every % (step * whole) !== 0)
      .map(({ step }) => every / step)[0];
  if (dimensions.some((dimension) => partOf(dimension) !== undefined)) return undefined;
  for (let d = 0; d < batch.length; d++) {
    const dimension = batch[d]!;
    const part = partOf(dimension);
    if (part === undefined) continue;
    const counted = (leaf.twiddle && d === 0) || leaf.outerTwiddle?.along === d;
    if (counted || dimension.gap || !Number.isInteger(part) || dimension.count % part !== 0) return undefined;
    const far = ({ dimension, stride: step }: DimensionStride): DimensionStride => ({ dimension, stride: step * part });
    const outer = { count: dimension.count / part, input: far(dimension.input), output: far(dimension.output) };
    batch.splice(d, 1, { ...dimension, count: part }, outer);
    // The other side may need another cut.
    d--;
  }
  return { leaf: { ...leaf, batch }, sides };
}
