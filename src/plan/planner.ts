/**
 * Problem + profile → a plan for one direction: its tree, its buffers, and the launches that follow from both (launches.ts).
 */
import type { ScaleFactor } from '../numeric/scale-factor.ts';
import {
  type BuiltCallbacks,
  type Direction,
  elementKind,
  keepsReals,
  type Problem,
  realBytes,
  type Side,
  type Sides,
  type SplitAxis,
  splitAxisOf,
  tensorShape,
  withoutCallbacks,
} from '../problem/index.ts';
import {
  type Assignment,
  type AvailableBuffers,
  assignBuffers,
  type BufferName,
  type Criteria,
  decidingCriterion,
} from './buffers/index.ts';
import { checkSplits, rankSplits } from './candidates.ts';
import { type Target, withThreads } from './device/target.ts';
import { type Chunking, chunksOf } from './launch/chunks.ts';
import {
  batchBytesOf,
  bufferLayoutOf,
  type Launch,
  launchesOf,
  packedOf,
  sideOfDirection,
  tensorElements,
} from './launch/launches.ts';
import { isR2r, isReal, sharesRows } from './schemes/complex-part.ts';
import type { Splits } from './schemes/splits.ts';
import { memoryOfRows } from './schemes/unordered-reals.ts';
import type { SideFormat, Stored } from './tree/leaf.ts';
import { type BranchNode, leavesOf } from './tree/node.ts';
import { type Pad, paddedElements, paddedStep, paddedTree } from './tree/padding.ts';
import { sparesOutput, withBlocks } from './tree/zero-padding.ts';
import { planTree, type TreeWishes } from './tree.ts';

/** The task of a plan: a transform in one direction, a convolution, or the preparation of kernels for convolutions. */
export type PlanTask = Direction | 'convolve' | 'prepareKernel';

export interface DirectionPlan extends Chunking {
  readonly direction: PlanTask;
  readonly tree: BranchNode;
  /** The splits of its axes; missing where launches were not arranged by splits. */
  readonly splits?: Splits;
  readonly assignment: Assignment;
  /** The number of valid assignments; the first of them was taken. */
  readonly candidates: number;
  /** The criterion by which the assignment is better than the second one; `order`: found first. Missing where there is only one. */
  readonly decidedBy?: keyof Criteria | 'order';
  readonly launches: readonly Launch[];
  /** Complex numbers in each temp buffer. */
  readonly tempElements: number;
}

/**
 * The plan of the best assignment of buffers.
 * @param throughWork the caller brings `work`, VkFFT's main buffer, for the data between launches
 * @param splits known splits of the axes: they are checked, and nothing is searched
 * @throws RangeError where nothing fits the profile, or a plan cannot have these splits
 */
export function planDirection(
  problem: Problem,
  direction: Direction,
  target: Target,
  throughWork: boolean,
  splits?: Splits,
): DirectionPlan {
  // The search throws where no assignment exists, so there is a first one.
  return plansOf(problem, direction, target, throughWork, splits).next().value!;
}

/** A plan for every valid assignment of buffers to the tree, best first. */
export function* plansOf(
  problem: Problem,
  direction: Direction,
  device: Target,
  throughWork: boolean,
  splits?: Splits,
): Generator<DirectionPlan> {
  const target = splits?.threads === undefined ? device : withThreads(device, splits.threads);
  const seen = withoutCallbacks(problem);
  const available = availableBuffersOf(problem, direction, throughWork);
  if (splits) checkSplits(seen, target, splits);
  const { chosen, tree, pads, assignments } = sparing(splits ? [splits] : rankedSplits(seen, target), (chosen) => ({
    chosen,
    ...assigned(
      seen,
      direction,
      target,
      {
        available,
        rows: problem.unordered && isReal(problem) ? memoryOfRows(problem, direction, available, target) : undefined,
      },
      chosen,
    ),
  }));
  const most = Math.max(...leavesOf(tree).map(({ outputLength }) => outputLength.reduce((a, b) => a * b, 1)));
  const tempElements = paddedElements(Math.max(most, tensorElements(seen)), pads);
  // Chunks need the same batches in all launches, so tensors of other sizes exclude them.
  const alike = most === tensorElements(seen);
  for (const assignment of assignments) {
    const launches = launchesOf({ problem, seen, direction, target, tree, assignment, pads });
    const batchStride = (name: BufferName, ofUser: boolean) => {
      const { strides, pads: own } = bufferLayoutOf(name, ofUser ? problem : seen, direction, pads);
      return paddedStep(strides.at(-1)!, own);
    };
    const chunking =
      !alike || launches.length === 1
        ? { chunks: 1 }
        : chunksOf(
            launches.map(({ leaf, from, to }, n) => ({
              ...{ leaf, from, to },
              batchStrides: { input: batchStride(from, n === 0), output: batchStride(to, n === launches.length - 1) },
            })),
            problem.batches,
            batchBytesOf(problem, target),
            target,
          );
    yield {
      direction,
      tree,
      splits: chosen,
      assignment,
      ...contest(assignments),
      launches,
      tempElements,
      ...chunking,
    };
  }
}

/** The number of splits among which one without a temp buffer is looked for, if the strategy asks for that. */
export const WAYS_WITHOUT_TEMP = 64;

/** The fastest splits; several where the strategy asks for little memory. */
function rankedSplits(problem: Problem, target: Target): Splits[] {
  const most = problem.strategy === 'least-memory' ? WAYS_WITHOUT_TEMP : 1;
  return rankSplits(problem, target, most).map(({ value }) => value);
}

/** The fastest of the splits with the fewest temp buffers. */
function sparing<T extends Pick<AssignedTree, 'assignments'>>(ways: readonly Splits[], treeOf: (way: Splits) => T): T {
  const [first, ...others] = ways as [Splits, ...Splits[]];
  let best = treeOf(first);
  for (const way of others) {
    if (best.assignments[0].temps === 0) break;
    const tree = treeOf(way);
    if (tree.assignments[0].temps < best.assignments[0].temps) best = tree;
  }
  return best;
}

/** The number of assignments, and the criterion by which the first one won. */
function contest([first, second, ...others]: readonly Assignment[]): Pick<DirectionPlan, 'candidates' | 'decidedBy'> {
  if (!second) return { candidates: 1 };
  return { candidates: 2 + others.length, decidedBy: decidingCriterion(first!, second) ?? 'order' };
}

/** Launches that have been arranged already, and the memory at both ends. */
export interface ArrangedPlan {
  readonly name: PlanTask;
  /** The problem whose input side is read, and whose output side has the strides of what is written. */
  readonly problem: Problem;
  readonly tree: BranchNode;
  readonly target: Target;
  readonly throughWork: boolean;
  readonly written: {
    readonly layout: SideFormat;
    readonly offset: number;
    readonly shape: readonly number[];
    /** The format of the written numbers, where it differs from the problem's. */
    readonly storage?: Stored;
  };
  /** The factor of everything that is written; the problem's own factors if missing. */
  readonly scale?: ScaleFactor;
  /** Callbacks, which the problem itself has not: the first launch loads through one of the `forward` pair, the last one stores through the other. */
  readonly callbacks?: BuiltCallbacks | null;
  /** `temps`: data between launches only goes through the plan's own memory, packed. */
  readonly scratch?: 'temps';
  /** The dimensions of the tensor in temps, fastest first, if not as they are numbered. */
  readonly order?: readonly number[] | undefined;
}

/** The plan of the best assignment of buffers to arranged launches. */
export function planLaunches(arranged: ArrangedPlan): DirectionPlan {
  const { name, problem: given, tree, target, throughWork, written, scale, scratch } = arranged;
  const problem: Problem = { ...given, offsets: { input: given.offsets.input, output: written.offset } };
  const inPlace = problem.placement === 'in-place';
  const read: SideFormat = elementKind(problem, 'input') === 'real' ? 'real' : problem.layout.input;
  const elementsIn = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
  const [shape, work] = [tensorShape(problem, 'input'), tensorShape(problem, 'output')];
  const available: AvailableBuffers = {
    input: { type: read, elements: elementsIn(shape), shape, writable: !problem.preserveInput && !scratch },
    output: {
      ...{ type: written.layout, elements: elementsIn(written.shape), shape: written.shape },
      spared: scratch === 'temps' || name === 'prepareKernel' || sparesOutput(problem, 'inverse'),
    },
    same: inPlace,
    sameLayout: inPlace,
    ...(throughWork ? { work: { type: 'interleaved', elements: elementsIn(work) } } : {}),
  };
  const assignments = assignBuffers(tree, available);
  const [assignment] = assignments;
  const storage: Sides<Stored> = {
    input: problem.edgeStorage as Stored,
    output: written.storage ?? (problem.edgeStorage as Stored),
  };
  const called = { ...problem, callbacks: arranged.callbacks ?? null };
  const question = {
    problem: called,
    seen: problem,
    direction: 'forward',
    target,
    tree,
    assignment,
    pads: [],
    order: arranged.order,
  } as const;
  return {
    direction: name,
    ...{ tree, assignment, ...contest(assignments) },
    launches: launchesOf({ ...question, ...(scale === undefined ? {} : { scale }), storage }),
    tempElements: Math.max(...leavesOf(tree).map(({ outputLength }) => elementsIn(outputLength))),
    chunks: 1,
  };
}

/** A tree, how its temp buffers are padded, and every valid assignment of buffers to it, best first. */
interface AssignedTree {
  readonly tree: BranchNode;
  readonly pads: readonly Pad[];
  readonly assignments: readonly [Assignment, ...Assignment[]];
}

/** The tree that the strategy of a problem prefers. @param problem without callbacks @param rows see `TreeWishes` */
function assigned(
  problem: Problem,
  direction: Direction,
  target: Target,
  { available: given, rows }: { readonly available: AvailableBuffers } & Pick<TreeWishes, 'rows'>,
  splits: Splits,
): AssignedTree {
  const treeOf = (sparing: boolean) =>
    withBlocks(planTree(problem, direction, target, splits, { sparing, rows }), problem, direction);
  const { padding } = target;
  const usual = treeOf(false);
  // Work has nothing to hold where launches stay in the memory of the bins.
  const { work, ...others } = given;
  const available = work && given.same && leavesOf(usual).some(({ stays }) => stays) ? others : given;
  if (problem.strategy === 'least-memory') {
    const [fast, sparing] = [usual, treeOf(true)].map(
      (tree): AssignedTree => ({ tree, pads: [], assignments: assignBuffers(tree, available) }),
    );
    return sparing!.assignments[0].temps < fast!.assignments[0].temps ? sparing! : fast!;
  }
  if (!padding || isR2r(problem) || !hasPackedTemps(usual, problem))
    return { tree: usual, pads: [], assignments: assignBuffers(usual, available) };
  const { tree, pads } = paddedTree(usual, packedOf(problem), 2 * realBytes(problem.storage), padding);
  return { tree, pads, assignments: assignBuffers(tree, { ...available, padded: pads.length > 0 }) };
}

/** Whether all data between launches are as long as the tensor, not longer. */
function hasPackedTemps(tree: BranchNode, problem: Problem): boolean {
  const elements = tensorElements(problem);
  const last = leavesOf(tree).length - 1;
  return leavesOf(tree).every(
    ({ outputLength }, n) => n === last || outputLength.reduce((a, b) => a * b, 1) === elements,
  );
}

/** Whether two sides lie in the same blocks, or both in none. */
function isSameSplit(input: SplitAxis | undefined, output: SplitAxis | undefined): boolean {
  return input === output || JSON.stringify(input) === JSON.stringify(output);
}

/** The buffers that a direction may use. */
function availableBuffersOf(whole: Problem, direction: Direction, throughWork: boolean): AvailableBuffers {
  const problem = withoutCallbacks(whole);
  const elements = tensorElements(problem);
  const inPlace = problem.placement === 'in-place';
  // Out of place, memory for one real per complex number is too small for data between launches.
  const halved = (side: Side) => !inPlace && keepsReals(whole, side);
  const [read, written] = [sideOfDirection(direction, 'read'), sideOfDirection(direction, 'written')];
  const bufferOf = (side: Side) => ({
    type: elementKind(problem, side) === 'real' ? ('real' as const) : problem.layout[side],
    elements: tensorShape(problem, side).reduce((a, b) => a * b, 1),
  });
  return {
    input: { ...bufferOf(read), writable: !problem.preserveInput && !halved(read) },
    output: { ...bufferOf(written), spared: sparesOutput(problem, direction) || halved(written) },
    same: inPlace,
    sameLayout: inPlace && isSameSplit(splitAxisOf(problem, 'input'), splitAxisOf(problem, 'output')),
    ...(inPlace && isReal(problem) ? { sameRows: sharesRows(problem) } : {}),
    ...(isR2r(problem) ? { reals: true } : {}),
    ...(throughWork ? { work: { type: isR2r(problem) ? 'real' : 'interleaved', elements } } : {}),
  };
}
