/**
 * Plans with bands: a transform of one axis, and weighted sums over its bins. In the general case the sums are a launch behind those of the
 * transform, which reads the bins from memory. Where one launch transforms whole lines, it computes the sums of its lines as well, so that the
 * bins are nowhere in memory.
 */
import { type BuiltCallback, type Problem, tensorShape, withoutCallbacks } from '../problem/index.ts';
import { checkSplits, rankSplits } from './candidates.ts';
import { type Target, withThreads } from './device/target.ts';
import { holdsBands } from './launch/bands.ts';
import { type DirectionPlan, planLaunches } from './planner.ts';
import type { Splits } from './schemes/splits.ts';
import { type BandSums, type BranchNode, type Dimension, type LeafNode, leafNode, leavesOf } from './tree/node.ts';
import { withBlocks } from './tree/zero-padding.ts';
import { planTree } from './tree.ts';

/** The power of a bin, which bands weigh where the user has no callback for bins. */
const POWER: BuiltCallback = {
  ...{ takes: 'complex', gives: 'real' },
  nodes: [{ op: 're' }, { op: 'mul', a: 0, b: 0 }, { op: 'im' }, { op: 'mul', a: 2, b: 2 }, { op: 'add', a: 1, b: 3 }],
  result: [4],
};

/**
 * The number of cheapest transforms among which one in a single launch is looked for. A transform alone may be cheaper in several launches, which have
 * more groups; with bands, writing and reading all bins and one more launch cost more than these groups gain.
 */
const WAYS_IN_ONE_LAUNCH = 64;

/**
 * The plan of the forward direction of a problem with bands.
 * @param splits known splits of the axis: they are checked, and nothing is searched
 * @throws RangeError where nothing fits the profile, or a plan cannot have these splits
 */
export function planBands(problem: Problem, device: Target, splits?: Splits): DirectionPlan {
  const transform = withoutCallbacks(problem);
  const target = splits?.threads === undefined ? device : withThreads(device, splits.threads);
  if (splits) checkSplits(transform, target, splits);
  const { chosen, tree } = chosenTree(problem, transform, target, splits);
  const plan = planLaunches({
    name: 'forward',
    problem: { ...transform, strides: { input: transform.strides.input, output: problem.strides.output } },
    tree,
    ...{ target, throughWork: false, callbacks: problem.callbacks },
    written: { layout: 'real', offset: problem.offsets.output, shape: tensorShape(problem, 'output') },
    scratch: 'temps',
  });
  return { ...plan, splits: chosen };
}

/** The cheapest tree of one launch, or of several where there is none. */
function chosenTree(problem: Problem, transform: Problem, target: Target, splits: Splits | undefined) {
  // A real line is half as many complex numbers.
  const mayFit = transform.size[0]! / 2 <= target.capacity.room;
  const ways = splits
    ? [splits]
    : rankSplits(transform, target, mayFit ? WAYS_IN_ONE_LAUNCH : 1).map(({ value }) => value);
  for (const chosen of ways) {
    const tree = bandsTree(problem, transform, target, chosen);
    if (leavesOf(tree).length === 1) return { chosen, tree };
  }
  return { chosen: ways[0]!, tree: bandsTree(problem, transform, target, ways[0]!) };
}

function bandsTree(problem: Problem, transform: Problem, target: Target, splits: Splits): BranchNode {
  const tree = withBlocks(planTree(transform, 'forward', target, splits), transform, 'forward');
  const sums: BandSums = { bands: problem.bands!, bin: problem.callbacks?.forward.bin ?? POWER };
  const outputLength = tensorShape(problem, 'output');
  const [only, ...others] = leavesOf(tree);
  const one = others.length === 0 ? inOneLaunch(only!, sums, outputLength, target) : undefined;
  const children = one ? [one] : [...tree.children, sumsNode(transform, sums, outputLength)];
  return { ...tree, outputLength, children };
}

/** The launch that transforms lines, if it can also compute the sums of its lines. */
function inOneLaunch(
  there: LeafNode,
  sums: BandSums,
  outputLength: readonly number[],
  target: Target,
): LeafNode | undefined {
  // Lines of which two are packed into one, or some are left out, are no plain loop over lines.
  const isPlain = !there.real?.pairs || there.real.pairs.along === there.axis.input.dimension;
  if (there.more.length > 0 || !isPlain || there.batch.some(({ gap }) => gap)) return undefined;
  if (!holdsBands(there, target)) return undefined;
  return { ...there, title: 'axis 0, bands', outputLength, bands: { ...sums, there } };
}

/** The launch that only computes sums. */
function sumsNode(transform: Problem, sums: BandSums, outputLength: readonly number[]): LeafNode {
  const tensor = tensorShape(transform, 'output');
  const along = (count: number, dimension: number): Dimension => {
    const place = { dimension, stride: 1 };
    return { count, input: place, output: place };
  };
  const leaf = leafNode({
    title: 'bands',
    axis: along(sums.bands.length, 1),
    batch: tensor.flatMap((count, d) => (d !== 1 && count > 1 ? [along(count, d)] : [])),
    tensor,
  });
  return { ...leaf, outputLength, bands: sums };
}
