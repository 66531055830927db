/**
 * Padding of temp buffers (rocFFT buffer assignment, "Padding"): walking memory in long steps that are powers of two is slow
 * on some devices, since all that is touched falls into few sets of a cache or few channels of memory. Buffers of the user
 * are laid out as they say, those of our own are not.
 *
 * Padding belongs to the whole tree: what goes from one launch to the next lies in a temp buffer as in a packed tensor, with
 * a few elements more after every so many. Launches that cut the same dimension differently follow, as long as none of them
 * steps over a place where elements were put in; a dimension of the batch that would is cut in two there.
 */

import type { Target } from '../device/target.ts';
import { type Dimension, type LeafNode, leavesOf, mapLeaves, type Place, type PlanNode } from './node.ts';

/** After every `every` elements of the packed tensor there are `by` more. */
export interface Pad {
  readonly every: number;
  readonly by: number;
}

/** A step through the packed tensor, in memory. */
export function paddedStep(step: number, pads: readonly Pad[]): number {
  return pads.reduce((sum, { every, by }) => sum + (step % every === 0 ? (step / every) * by : 0), step);
}

/** Elements of memory from the first to the last of so many. */
export function paddedElements(elements: number, pads: readonly Pad[]): number {
  return pads.reduce((sum, { every, by }) => sum + Math.floor((elements - 1) / every) * by, elements);
}

/** A leaf, and those of its sides that a temp buffer may hold. */
interface Between {
  readonly leaf: LeafNode;
  readonly sides: readonly ('input' | 'output')[];
}

/**
 * How the temp buffers of a tree are padded, and the tree with its dimensions cut accordingly.
 * @param packed strides of the tensor.
 */
export function padded<N extends PlanNode>(
  tree: N,
  packed: readonly number[],
  complexBytes: number,
  { multiple, count, by }: NonNullable<Target['padding']>,
): { readonly tree: N; readonly pads: readonly Pad[] } {
  const leaves = leavesOf(tree);
  let all = leaves.map((leaf, n): Between => {
    const sides = (['input', 'output'] as const).filter((side) => n !== (side === 'input' ? 0 : leaves.length - 1));
    return { leaf, sides };
  });
  const pads: Pad[] = [];
  const isSlow = (step: number) => (step * complexBytes) % multiple === 0;
  const longSteps = all.flatMap(({ leaf, sides }) =>
    [leaf.axis, ...(leaf.more ?? []), ...leaf.batch].flatMap((dimension) =>
      dimension.count < count ? [] : sides.map((side) => stepOf(dimension[side], packed)).filter(isSlow),
    ),
  );
  for (const every of [...new Set(longSteps)].sort((a, b) => a - b)) {
    // Where shorter steps were padded, this one has become longer, too.
    if (!isSlow(paddedStep(every, pads))) continue;
    const cut = all.map((between) => cutAt(between, every, packed));
    if (cut.some((between) => !between)) continue;
    all = cut as Between[];
    // Numbers may be wider than what is put in between.
    pads.push({ every, by: Math.ceil(by / complexBytes) });
  }
  return { tree: mapLeaves(tree, (_, number) => all[number]!.leaf), pads };
}

function stepOf({ dimension, stride: step }: Place, packed: readonly number[]): number {
  return packed[dimension]! * step;
}

/** The leaf with its batch cut so that no dimension steps over a multiple of `every`; undefined where one has to. */
function cutAt({ leaf, sides }: Between, every: number, packed: readonly number[]): Between | undefined {
  const batch = [...leaf.batch];
  const dimensions = [leaf.axis, ...(leaf.more ?? [])];
  // How many of its steps lead up to the next multiple, where it has more.
  const partOf = ({ count, gap, ...places }: Dimension) =>
    sides
      .map((side) => ({ step: stepOf(places[side], packed), whole: count + (gap ? gap.to - gap.from : 0) }))
      .filter(({ step, whole }) => whole > 1 && step % every !== 0 && every % (step * whole) !== 0)
      .map(({ step }) => every / step)[0];
  if (dimensions.some((dimension) => partOf(dimension) !== undefined)) return undefined;
  for (let d = 0; d < batch.length; d++) {
    const dimension = batch[d]!;
    const part = partOf(dimension);
    if (part === undefined) continue;
    const counted = leaf.twiddle && d === 0;
    if (counted || dimension.gap || !Number.isInteger(part) || dimension.count % part !== 0) return undefined;
    const far = ({ dimension, stride: step }: Place): Place => ({ dimension, stride: step * part });
    const outer = { count: dimension.count / part, input: far(dimension.input), output: far(dimension.output) };
    batch.splice(d, 1, { ...dimension, count: part }, outer);
    // The other side may ask for another cut.
    d--;
  }
  return { leaf: { ...leaf, batch }, sides };
}
