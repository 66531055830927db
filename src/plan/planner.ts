/**
 * Problem + profile → a plan for one direction: tree, buffers, and every launch in full.
 */
import {
  type Direction,
  defaultStrides,
  type Problem,
  type Side,
  scaleFactors,
  tensorShape,
} from '../problem/index.ts';
import { type Assignment, assignBuffers, type BufferName } from './buffers/index.ts';
import { checkSplits, rankSplits } from './candidates.ts';
import { boosted, capacityOf, forBatches, kernelPrecision, roomy } from './capacity.ts';
import { type Chunking, chunksOf } from './chunks.ts';
import { oneAxis, type PlacedLeaf } from './configure.ts';
import { fuseAxes, fuseAxis } from './fuse.ts';
import { type Leaf, type Stored, type Stride, stepOf } from './leaf.ts';
import { type BranchNode, type Dimension, type Intermediate, type LeafNode, leavesOf, type Place } from './node.ts';
import type { DeviceProfile } from './profile.ts';
import type { Splits } from './splits.ts';
import { isContiguous, type Span } from './tiling.ts';
import { planTree } from './tree.ts';
import { sparesOutput, withBlocks } from './zero-padding.ts';

/** One launch: which leaf, from where to where, and the leaf in full. */
export interface Launch {
  readonly node: LeafNode;
  readonly from: BufferName;
  readonly to: BufferName;
  readonly leaf: Leaf;
}

export interface DirectionPlan extends Chunking {
  readonly direction: Direction;
  readonly tree: BranchNode;
  readonly assignment: Assignment;
  /** Valid assignments that were found; the first of them won. */
  readonly candidates: number;
  readonly launches: readonly Launch[];
  /** Complex numbers in each temp buffer. */
  readonly tempElements: number;
}

/** The side of the problem that a direction reads or writes. */
export function sideOf(direction: Direction, what: 'read' | 'written'): Side {
  return (direction === 'forward') === (what === 'read') ? 'input' : 'output';
}

/**
 * @param throughWork the caller brings `work`, VkFFT's main buffer, for what lies between the launches.
 * @param splits of the axes, where they are known already: they are looked at, not searched for.
 * @throws RangeError where nothing fits the profile, or the splits are none that a plan may have.
 */
export function planDirection(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
  splits?: Splits,
): DirectionPlan {
  if (splits) checkSplits(problem, profile, splits);
  const chosen = splits ?? rankSplits(problem, profile, 1)[0]!.value;
  const tree = withBlocks(planTree(problem, direction, profile, chosen), problem, direction);
  const read = sideOf(direction, 'read');
  const written = sideOf(direction, 'written');
  const elements = tensorShape(problem, 'input').reduce((a, b) => a * b, 1);
  const inPlace = problem.placement === 'in-place';
  const assignments = assignBuffers(tree, {
    input: { type: problem.layout[read], elements, writable: !problem.preserveInput },
    output: { type: problem.layout[written], elements, spared: sparesOutput(problem, direction) },
    same: inPlace,
    sameLayout: inPlace,
    ...(throughWork ? { work: { type: 'interleaved', elements } } : {}),
  });
  const assignment = assignments[0]!;
  const packed = defaultStrides(problem, written);
  const layoutOf = (name: BufferName): { strides: readonly number[]; offset: number } => {
    if (name !== 'input' && name !== 'output') return { strides: packed, offset: 0 };
    const side = name === 'input' ? read : written;
    return { strides: problem.strides[side], offset: problem.offsets[side] };
  };
  const storageOf = (name: BufferName) =>
    (name === 'input' || name === 'output' ? problem.edgeStorage : problem.storage) as Stored;
  const precision = kernelPrecision(problem.precision);
  const { run, complexBytes } = capacityOf(precision, profile);
  const batchBytes = (elements / problem.batches) * complexBytes;
  // How what the step before left in a temp buffer lies there.
  let tiles: Intermediate | undefined;
  const launches = assignment.steps.map(({ leaf: node, input, output, inPlace: aliased }, n): Launch => {
    const from = layoutOf(input.buffer);
    const to = layoutOf(output.buffer);
    const before = tiles;
    const reader = assignment.steps[n + 1];
    // A step in place leaves every element where it found it, so it can neither begin nor end such a layout. Threads
    // read whole runs anyway: tiles only spare a CPU's pages.
    const separate = !aliased && reader && !reader.inPlace;
    tiles =
      separate && profile.lockstep === 'vector' && mayTile(node, reader.leaf, output.buffer, packed, run)
        ? node.intermediate
        : undefined;
    const after = tiles;
    // Lines that are left out before all others move the first one.
    const skipped = { input: 0, output: 0 };
    const span = ({ count, input: source, output: target, gap }: Dimension): Span => {
      const strides = {
        input: strideOf(source, count, from.strides, before, run),
        output: strideOf(target, count, to.strides, after, run),
      };
      const places = { input: source, output: target };
      if (!gap) return { count, ...strides, places };
      for (const side of ['input', 'output'] as const)
        if (gap.from === 0) skipped[side] += stepOf(strides[side]) * gap.to;
      const past = (stride: Stride): Stride =>
        gap.from === 0 || gap.from === count
          ? stride
          : { step: stepOf(stride), count, before: gap.from, skip: gap.to - gap.from };
      return { count, input: past(strides.input), output: past(strides.output), places };
    };
    const batch = node.batch.map(span);
    const last = n === assignment.steps.length - 1;
    const split = isUpload(node, tree);
    const leaf = configureLeaf(
      {
        precision,
        axis: span(node.axis),
        ...(node.more ? { more: node.more.map(span) } : {}),
        ...(node.padded === undefined ? {} : { padded: node.padded }),
        batch,
        ...(node.absent ? { absent: node.absent } : {}),
        ...(node.twiddle ? { twiddle: node.twiddle } : {}),
        layout: { input: input.type, output: output.type },
        storage: { input: storageOf(input.buffer), output: storageOf(output.buffer) },
        offset: { input: from.offset + skipped.input, output: to.offset + skipped.output },
        inverse: direction === 'inverse',
        scale: last ? scaleFactors(problem, direction) : { input: 1, output: 1 },
        aliased,
        ...(node.axisOf === undefined ? {} : { axisOf: node.axisOf }),
        split,
      },
      // Uploads before the last one were chosen for the runs of the profile.
      split && (node.twiddle || !aliased) ? profile : forBatches(batchBytes, split ? 'uploads' : 'axes', profile),
    );
    return { node, from: input.buffer, to: output.buffer, leaf };
  });
  const apart = (name: BufferName) => layoutOf(name).strides.at(-1)!;
  const chunking = chunksOf(
    launches.map(({ leaf, from, to }) => ({ leaf, from, to, apart: { input: apart(from), output: apart(to) } })),
    problem.batches,
    batchBytes,
    profile,
  );
  return { direction, tree, assignment, candidates: assignments.length, launches, tempElements: elements, ...chunking };
}

export function configureLeaf(placed: PlacedLeaf, device: DeviceProfile): Leaf {
  const profile = boosted(device, placed.precision, placed.axis.count, placed.split ?? false);
  if (placed.more) return fuseAxes(placed, profile);
  if (placed.padded) return oneAxis(placed, profile);
  const { axis, split, precision } = placed;
  const along = !split && isContiguous(axis.input) && isContiguous(axis.output);
  return fuseAxis(placed, profile) ?? oneAxis(placed, along ? roomy(profile, precision, axis.count) : profile);
}

/** One of several uploads of an axis. */
function isUpload(node: LeafNode, tree: BranchNode): boolean {
  return tree.children.some((child) => child.scheme === 'four-step' && leavesOf(child).includes(node));
}

/** Intermediate results in memory of our own are laid out for the uploads on both sides of them. */
function mayTile(
  node: LeafNode,
  reader: LeafNode,
  buffer: BufferName,
  packed: readonly number[],
  run: number,
): boolean {
  const { intermediate } = node;
  if (!intermediate || buffer === 'input' || buffer === 'output') return false;
  const { of, columns } = intermediate;
  if (packed[of] !== 1 || columns % run !== 0) return false;
  // A later upload cuts the columns once more: no dimension may step from the middle of one run into another, or take
  // several steps inside a run and then go on to the next.
  const walks = [
    ...[node.axis, ...node.batch].map(({ count, output }) => ({ ...output, count })),
    ...[reader.axis, ...reader.batch].map(({ count, input }) => ({ ...input, count })),
  ];
  return walks.every(
    (walk) =>
      walk.of !== of ||
      walk.step >= columns ||
      walk.step % run === 0 ||
      walk.step === 1 ||
      (run % walk.step === 0 && walk.step * walk.count <= run),
  );
}

/**
 * The stride of a dimension in a buffer. Rows × columns in tiles: the upload before writes `run` columns at a time and
 * the one after reads whole rows, so all rows of `run` columns lie together. Both then walk through memory in long
 * pieces instead of touching a new page for every run.
 */
function strideOf(
  { of, step }: Place,
  count: number,
  strides: readonly number[],
  tiles: Intermediate | undefined,
  run: number,
): Stride {
  if (tiles?.of !== of) return strides[of]! * step;
  if (step >= tiles.columns) return (step / tiles.columns) * run;
  if (step >= run) return step * tiles.rows;
  if (step * count <= run) return step;
  return { run, next: run * tiles.rows };
}
