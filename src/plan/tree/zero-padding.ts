/**
 * Blocks of zeros (VkFFT guide 2.5.7): elements that count as zero when they are read and are not written. An axis has the block of the
 * side that a direction reads until it is transformed, and the block of the side that the direction writes from then on. Every launch
 * leaves out lines that lie in a block.
 */
import {
  type Block,
  blocksOf,
  type Direction,
  type Problem,
  splitAxisOf,
  storageOfSide,
  tensorShape,
} from '../../problem/index.ts';
import { type Dimension, type LeafNode, leavesOf, mapLeaves, type PlanNode } from './node.ts';

/** The blocks of a dimension of the tensor on both sides. */
interface DimensionBlocks {
  readonly dimension: number;
  readonly read: Block | null;
  readonly written: Block | null;
  /** The lengths of the dimension on the two sides of the problem that the blocks refer to. */
  readonly lengths: { readonly read: number; readonly written: number };
  /** The numbers of the first and the last launch that transform the dimension. */
  readonly first: number;
  readonly last: number;
}

/**
 * Whether a direction may write nothing but results to its output: some elements there have to keep their values, or the memory is another
 * device's.
 */
export function sparesOutput(problem: Problem, direction: Direction): boolean {
  const written = direction === 'forward' ? 'output' : 'input';
  const isOther = storageOfSide(problem, written) !== problem.edgeStorage;
  return (
    isOther || blocksOf(problem, written).some((block) => block !== null) || splitAxisOf(problem, written)?.far === true
  );
}

/** The tree with the blocks of zeros of a problem in its launches. */
export function withBlocks<N extends PlanNode>(tree: N, problem: Problem, direction: Direction): N {
  const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
  const leaves = leavesOf(tree);
  const blocks = problem.size.flatMap((_, axis): DimensionBlocks[] => {
    const own = { read: blocksOf(problem, read)[axis]!, written: blocksOf(problem, written)[axis]! };
    if (!own.read && !own.written) return [];
    const dimension = axis + 1;
    const launches = launchesTransforming(leaves, dimension);
    const lengths = {
      read: tensorShape(problem, read)[dimension]!,
      written: tensorShape(problem, written)[dimension]!,
    };
    return [{ dimension, ...own, lengths, first: launches[0]!, last: launches.at(-1)! }];
  });
  if (blocks.length === 0) return tree;
  return mapLeaves(tree, (leaf, number) => withZeroBlocks(leaf, number, blocks));
}

/**
 * `withBlocks` for a convolution, whose signal and result have the same blocks.
 * @param middle number of the launch that transforms forward and back
 * @param whole the result has no blocks
 */
export function withConvolutionBlocks<N extends PlanNode>(
  tree: N,
  problem: Problem,
  middle: number,
  whole: boolean,
): N {
  const leaves = leavesOf(tree);
  const blocks = blocksOf(problem, 'input').flatMap((block, axis): DimensionBlocks[] => {
    if (!block) return [];
    const dimension = axis + 1;
    const launches = launchesTransforming(leaves, dimension);
    const length = tensorShape(problem, 'input')[dimension]!;
    const lengths = { read: length, written: length };
    const [there, back] = [launches.filter((n) => n <= middle), launches.filter((n) => n >= middle)];
    const read: DimensionBlocks = {
      dimension,
      lengths,
      read: block,
      written: null,
      first: there[0]!,
      last: there.at(-1)!,
    };
    const written: DimensionBlocks = {
      dimension,
      lengths,
      read: null,
      written: block,
      first: back[0]!,
      last: back.at(-1)!,
    };
    return whole ? [read] : [read, written];
  });
  return blocks.length === 0 ? tree : mapLeaves(tree, (leaf, number) => withZeroBlocks(leaf, number, blocks));
}

/** The numbers of the launches that transform a dimension; if none does, of all launches: the first reads its block, the last writes it. */
function launchesTransforming(leaves: readonly LeafNode[], of: number): number[] {
  const own = leaves.flatMap((leaf, n) => (transformsDimension(leaf, of) ? [n] : []));
  return own.length > 0 ? own : [...leaves.keys()];
}

function transformsDimension({ axis, more }: LeafNode, of: number): boolean {
  return [axis, ...more].some(({ input }) => input.dimension === of);
}

function withZeroBlocks(leaf: LeafNode, n: number, blocks: readonly DimensionBlocks[]): LeafNode {
  const zeros = { input: [...leaf.zeros.input], output: [...leaf.zeros.output] };
  const gaps = new Map<number, Block>();
  for (const { dimension, read, written, lengths, first, last } of blocks) {
    const before = n <= first ? read : n > last ? written : null;
    const after = n < first ? read : n >= last ? written : null;
    // Between launches, two lines may be packed into one: a block that counts lines does not apply there.
    const isMeant = (tensor: readonly number[], block: Block) =>
      tensor[dimension] === (block === read ? lengths.read : lengths.written);
    // A whole dimension that is only stepped over has the same block on both sides: its lines are left out.
    if (before === after && leaf.batch.some((one) => coversDimension(one, dimension, leaf.length[dimension]!))) {
      if (before && isMeant(leaf.length, before)) gaps.set(dimension, before);
      continue;
    }
    if (before && isMeant(leaf.length, before)) zeros.input.push({ dimension, ...before });
    if (after && isMeant(leaf.outputLength, after)) zeros.output.push({ dimension, ...after });
  }
  const batch = leaf.batch.map((dimension): Dimension => {
    const gap =
      coversDimension(dimension, dimension.input.dimension, leaf.length[dimension.input.dimension]!) &&
      gaps.get(dimension.input.dimension);
    return gap ? { ...dimension, count: dimension.count - (gap.to - gap.from), gap } : dimension;
  });
  return { ...leaf, batch, zeros };
}

function coversDimension({ count, input, output }: Dimension, of: number, length: number): boolean {
  return count === length && [input, output].every((place) => place.dimension === of && place.stride === 1);
}
