/** A tree with its buffers → launches: the strides of each node's loops in memory, and the leaf that follows from them. */
import type { ScaleFactor } from '../../numeric/scale-factor.ts';
import {
  arraysOf,
  type Direction,
  defaultStrides,
  keepsReals,
  type Problem,
  packedStrides,
  type Side,
  type Sides,
  type SplitAxis,
  scaleFactors,
  splitAxisOf,
  storageOfSide,
  tensorShape,
} from '../../problem/index.ts';
import type { Assignment, BufferName } from '../buffers/index.ts';
import { boosted, forBatches, mayFuse, roomy, type Target } from '../device/target.ts';
import { hasUnitStep, neighbourStride, type Span, type Stride } from '../group/tiling.ts';
import type { Leaf, Stored } from '../tree/leaf.ts';
import {
  type BranchNode,
  type Dimension,
  type DimensionStride,
  type ElementFactors,
  type Intermediate,
  type LeafNode,
  leavesOf,
  type RealParts,
} from '../tree/node.ts';
import { type Pad, paddedStep } from '../tree/padding.ts';
import { bandsLeaf } from './bands.ts';
import { oneAxis } from './configure.ts';
import { fuseAxes, fuseAxis } from './fuse.ts';
import { layerLeaf } from './layer.ts';
import { mixLeaf } from './mix.ts';
import { followsDirection, isInverse, launchScale, type PlacedLeaf, type TensorMemory } from './placed.ts';

/** One launch: a node, the buffers that it reads and writes, and its leaf. */
export interface Launch {
  readonly node: LeafNode;
  readonly from: BufferName;
  readonly to: BufferName;
  readonly leaf: Leaf;
}

/** The side of the problem that a direction reads or writes. */
export function sideOfDirection(direction: Direction, what: 'read' | 'written'): Side {
  return (direction === 'forward') === (what === 'read') ? 'input' : 'output';
}

/** The number of complex numbers in the tensor; of a real problem, the number of bins. */
export function tensorElements(problem: Problem): number {
  return tensorShape(problem, 'output').reduce((a, b) => a * b, 1);
}

/** The bytes of one batch. */
export function batchBytesOf(problem: Problem, target: Target): number {
  const { complexBytes } = target.capacity;
  return (tensorElements(problem) / problem.batches) * complexBytes;
}

/** The layout of the tensor in a buffer: the problem's own in the user's input and output, packed in others, padded in temp buffers. */
interface BufferLayout {
  readonly strides: readonly number[];
  readonly offset: number;
  readonly pads: readonly Pad[];
  readonly splitAxis?: SplitAxis | undefined;
}

/**
 * @param tensor lengths of its dimensions, if an axis is longer between launches than in the problem
 * @param order its dimensions in temp buffers, see `packedStrides`
 */
export function bufferLayoutOf(
  name: BufferName,
  problem: Problem,
  direction: Direction,
  pads: readonly Pad[],
  tensor: readonly number[] = tensorShape(problem, 'output'),
  order?: readonly number[],
): BufferLayout {
  if (name === 'work') return { strides: packedStrides(tensor), offset: 0, pads: [] };
  if (name !== 'input' && name !== 'output') return { strides: packedStrides(tensor, order), offset: 0, pads };
  const side = sideOfDirection(direction, name === 'input' ? 'read' : 'written');
  const splitAxis = splitAxisOf(problem, side);
  return { strides: problem.strides[side], offset: problem.offsets[side], pads: [], splitAxis };
}

/** The strides of the packed tensor. */
export function packedOf(problem: Problem): number[] {
  return defaultStrides(problem, 'output');
}

function storageOf(name: BufferName, { problem, direction, storage }: LaunchQuestion): Stored {
  if (name !== 'input' && name !== 'output') return problem.storage as Stored;
  const side = sideOfDirection(direction, name === 'input' ? 'read' : 'written');
  return storage?.[name] ?? (storageOfSide(problem, side) as Stored);
}

interface LaunchQuestion {
  readonly problem: Problem;
  /** The problem without callbacks. */
  readonly seen: Problem;
  readonly direction: Direction;
  readonly target: Target;
  readonly tree: BranchNode;
  readonly assignment: Assignment;
  /** The padding of temp buffers. */
  readonly pads: readonly Pad[];
  /** The scale factor of the last launch, if it is not the problem's. */
  readonly scale?: ScaleFactor;
  /** The number types of the user's buffers, if they are not the problem's. */
  readonly storage?: Sides<Stored>;
  /** The dimensions of the tensor in temp buffers, fastest first, if not as they are numbered. */
  readonly order?: readonly number[] | undefined;
}

export function launchesOf(question: LaunchQuestion): Launch[] {
  const { problem, seen, direction, target, tree, assignment, pads, order } = question;
  const precision = problem.precision;
  const { run } = target.capacity;
  const batchBytes = batchBytesOf(problem, target);
  const tiles = tilesOf(question);
  const ends = question.scale === undefined ? scaleFactors(problem, direction) : { input: 1, output: question.scale };
  // A launch that leaves some lines unchanged, or has sums of what is made of bins, cannot scale.
  const scaled = assignment.steps.findLastIndex(({ leaf }) => !leaf.stays && (!leaf.bands || leaf.bands.there));
  return assignment.steps.map(({ leaf: node, input, output, inPlace: aliased }, n): Launch => {
    const last = n === assignment.steps.length - 1;
    const from = bufferLayoutOf(input.buffer, n === 0 ? problem : seen, direction, pads, node.length, order);
    const to = bufferLayoutOf(output.buffer, last ? problem : seen, direction, pads, node.outputLength, order);
    const { loops, skipped } = loopsOf(
      node,
      { input: from, output: to },
      { input: tiles[n - 1], output: tiles[n] },
      run,
    );
    const called = callbacksOfLaunch(problem, direction, n === 0, last);
    const withReals = movesReals(called);
    const split = isUpload(node, tree);
    const placed: PlacedLeaf = {
      node,
      precision,
      axis: loops.axis,
      more: loops.more,
      coordinates: loops.coordinates,
      batch: loops.batch,
      aliased,
      split,
      callbacks: called.callbacks,
      arrays: called.arrays,
      realsOnly: called.realsOnly,
      factors: conjugatedIf(followsDirection(node) && direction === 'inverse', node.factors),
      tensor: {
        input: tensorMemoryOf(from, node.length, skipped.input),
        output: tensorMemoryOf(to, node.outputLength, skipped.output),
      },
      format: {
        input: called.realsOnly.input ? 'real' : input.type,
        output: called.realsOnly.output ? 'real' : output.type,
      },
      storage: { input: storageOf(input.buffer, question), output: storageOf(output.buffer, question) },
      inverse: isInverse(node, direction),
      scale: launchScale(node, n === scaled ? ends : NO_SCALE),
    };
    const leaf = configureLeaf(
      placed,
      // Uploads before the last one, and axes that share a tile, were chosen for the run length of the profile.
      node.more.length > 0 || (split && (node.twiddle || !(aliased || withReals)))
        ? target
        : forBatches(batchBytes, split ? 'uploads' : 'axes', target, withReals),
    );
    return { node, from: input.buffer, to: output.buffer, leaf };
  });
}

/** @param skipped elements that omitted lines occupy before all others */
function tensorMemoryOf(
  { strides, offset, splitAxis }: BufferLayout,
  lengths: readonly number[],
  skipped: number,
): TensorMemory {
  const own = { lengths, strides, offset: offset + skipped };
  return splitAxis ? { ...own, splitAxis } : own;
}

/**
 * The loops of a launch with their strides on both sides.
 * @param tiles tiled layouts of the intermediate results on both sides
 * @returns also the elements by which omitted lines at the beginning move the first element of each side
 */
function loopsOf(
  node: LeafNode,
  layouts: Sides<BufferLayout>,
  tiles: Sides<Intermediate | undefined>,
  run: number,
): { loops: Pick<PlacedLeaf, 'axis' | 'more' | 'coordinates' | 'batch'>; skipped: Sides<number> } {
  const skipped = { input: 0, output: 0 };
  const span = (dimension: Dimension): Span => {
    const { count, input, output, gap } = dimension;
    const strides = {
      input: strideInBuffer(input, count, layouts.input, tiles.input, run),
      output: strideInBuffer(output, count, layouts.output, tiles.output, run),
    };
    if (!gap) return { count, input: strides.input, output: strides.output, places: { input, output } };
    const places = { input: { ...input, gap }, output: { ...output, gap } };
    for (const side of ['input', 'output'] as const)
      if (gap.from === 0) skipped[side] += neighbourStride(strides[side]) * gap.to;
    return {
      count,
      input: strideOverGap(strides.input, dimension),
      output: strideOverGap(strides.output, dimension),
      places,
    };
  };
  const loops = {
    axis: span(node.axis),
    more: node.more.map(span),
    coordinates: node.coordinates && span(node.coordinates),
    batch: node.batch.map(span),
  };
  return { loops, skipped };
}

const NO_CALLBACKS = { arrays: {}, callbacks: {}, realsOnly: {} } as const;

/** The callbacks of a launch: the first launch applies the load callback, the last launch the store callback. */
function callbacksOfLaunch(
  problem: Problem,
  direction: Direction,
  first: boolean,
  last: boolean,
): Pick<PlacedLeaf, 'callbacks' | 'arrays' | 'realsOnly'> {
  if (!problem.callbacks) return NO_CALLBACKS;
  const { load, store } = problem.callbacks[direction] ?? {};
  const realsOnly = (what: 'read' | 'written') => keepsReals(problem, sideOfDirection(direction, what));
  return {
    arrays: problem.callbacks.arrays,
    callbacks: { ...(first && load ? { input: load } : {}), ...(last && store ? { output: store } : {}) },
    realsOnly: {
      ...(first && realsOnly('read') ? { input: true } : {}),
      ...(last && realsOnly('written') ? { output: true } : {}),
    },
  };
}

/** Whether callbacks make a launch move reals beside complex numbers: the reals of a side or of an array. */
function movesReals({ callbacks, realsOnly }: ReturnType<typeof callbacksOfLaunch>): boolean {
  if (!callbacks.input && !callbacks.output && !realsOnly.input && !realsOnly.output) return false;
  const loads = [callbacks.input, callbacks.output].some((built) => built && arraysOf(built).length > 0);
  return loads || realsOnly.input === true || realsOnly.output === true;
}

const NO_SCALE = { input: 1, output: 1 } as const;

/** Whether a launch reads and writes whole lines of reals or of their bins. */
function ownsLines({ by }: Pick<RealParts, 'by'>): boolean {
  return by === 'halves' || by === 'lines' || by === 'symmetric';
}

/** The factors of a launch, or their conjugates. */
function conjugatedIf(conjugated: boolean, { input, output }: LeafNode['factors']): LeafNode['factors'] {
  if (!conjugated) return { input, output };
  const own = (all: readonly ElementFactors[]) => all.map((factors) => ({ ...factors, conjugated: true as const }));
  return { input: own(input), output: own(output) };
}

/** The stride of a dimension that leaves out a gap. */
function strideOverGap(stride: Stride, { count, gap }: Dimension): Stride {
  if (!gap || gap.from === 0 || gap.from === count) return stride;
  return { step: neighbourStride(stride), count, before: gap.from, skip: gap.to - gap.from };
}

/** The tiled layout of each step's result; undefined if the result has the layout of the tensor. */
function tilesOf({
  seen: problem,
  target,
  assignment: { steps },
  order,
}: LaunchQuestion): (Intermediate | undefined)[] {
  // Threads read whole runs anyway: tiles only reduce the page misses of a CPU.
  if (target.lockstep !== 'vector' || steps.length === 1 || order) return [];
  const { run } = target.capacity;
  const packed = packedOf(problem);
  return steps.map(({ leaf, output, inPlace }, n) => {
    const reader = steps[n + 1];
    // A step in place leaves every element where it is, so it can neither write nor read such a layout.
    if (inPlace || !reader || reader.inPlace) return undefined;
    return mayTile(leaf, reader.leaf, output.buffer, packed, run) ? leaf.intermediate : undefined;
  });
}

function configureLeaf(placed: PlacedLeaf, device: Target): Leaf {
  const target = boosted(device, placed.axis.count, placed.split);
  const { node, axis, split } = placed;
  if (node.mix) return mixLeaf(placed, node.mix, target);
  if (node.layer) return layerLeaf(placed, node.layer, target);
  if (node.bands) return bandsLeaf(placed, node.bands, target);
  if (placed.more.length > 0) return fuseAxes(placed, target);
  if (node.convolved || placed.coordinates || (node.real && ownsLines(node.real))) return oneAxis(placed, target);
  const fused = mayFuse(target) ? fuseAxis(placed, target) : undefined;
  if (fused) return fused;
  const line = boosted(device, axis.count, split, true);
  const along = !split && hasUnitStep(axis.input) && hasUnitStep(axis.output);
  return oneAxis(placed, along ? roomy(line, axis.count) : line);
}

/** Whether a node is one of several uploads of an axis. */
function isUpload(node: LeafNode, tree: BranchNode): boolean {
  return !tree.children.includes(node) && leavesOf(tree).includes(node);
}

/** Whether an intermediate result in a temp buffer may be tiled for the uploads before and after it. */
function mayTile(
  node: LeafNode,
  reader: LeafNode,
  buffer: BufferName,
  packed: readonly number[],
  run: number,
): boolean {
  const { intermediate } = node;
  if (!intermediate || buffer === 'input' || buffer === 'output') return false;
  const { dimension, columns } = intermediate;
  if (packed[dimension] !== 1 || columns % run !== 0) return false;
  // A later upload may cut the columns again: no dimension may step from the middle of one run into another, or take several steps inside a
  // run and then go on to the next.
  const walks = [
    ...[node.axis, ...node.batch].map(({ count, output }) => ({ ...output, count })),
    ...[reader.axis, ...reader.batch].map(({ count, input }) => ({ ...input, count })),
  ];
  return walks.every(
    (walk) =>
      walk.dimension !== dimension ||
      walk.stride >= columns ||
      walk.stride % run === 0 ||
      walk.stride === 1 ||
      (run % walk.stride === 0 && walk.stride * walk.count <= run),
  );
}

/**
 * The stride of a dimension in a buffer. In a tiled intermediate result, all rows of `run` columns are contiguous, because the upload
 * before writes `run` columns at a time and the upload after reads whole rows. Both then access memory in long pieces instead of touching a
 * new page for every run.
 */
function strideInBuffer(
  { dimension, stride: step }: DimensionStride,
  count: number,
  { strides, pads }: BufferLayout,
  tiles: Intermediate | undefined,
  run: number,
): Stride {
  if (tiles?.dimension !== dimension) return paddedStep(strides[dimension]! * step, pads);
  if (step >= tiles.columns) return (step / tiles.columns) * run;
  if (step >= run) return step * tiles.rows;
  if (step * count <= run) return step;
  return { run, next: run * tiles.rows };
}
