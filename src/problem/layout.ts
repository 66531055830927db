/**
 * Where the elements of a problem's two tensors lie: shapes, default strides, spans and element sizes, for complex and
 * for real data. Rules: docs/layouts.md, bbfft's descriptor document and the VkFFT guide, section 2.4.2.
 */

import { power, product, type ScaleFactor } from '../numeric/scale-factor.ts';
import type { NumberKind } from './callbacks.ts';
import type { Direction } from './directions.ts';
import {
  type Block,
  type Convolution,
  type Placement,
  type Problem,
  realTransforms,
  type Side,
  type Sides,
  type Storage,
  type TransformKind,
} from './problem.ts';
import { storageOfSide } from './side-storage.ts';
import { type BlockRun, type SplitAxis, splitAxisOf } from './split-axis.ts';

/** What a spectral layer says of its sides. */
type TensorKind = Partial<Pick<Problem, 'convolution'>>;

/** The facts that shapes and strides follow from; a `Problem` is one. */
export type TensorFacts = Pick<
  Problem,
  'size' | 'transform' | 'leftBatches' | 'coordinates' | 'batches' | 'placement'
> &
  Partial<Pick<Problem, 'callbacks' | 'convolution'>>;

/** Channels of a spectral layer, whose output side has a result of the kind of the signal, where a problem is one. */
export function channelsOf({ convolution }: Partial<Pick<Problem, 'convolution'>>): Convolution['channels'] {
  return convolution?.channels ?? null;
}

/** Coordinates on one side. */
export function coordinatesOf(problem: Pick<Problem, 'coordinates'> & TensorKind, side: Side): number {
  const channels = channelsOf(problem);
  return channels ? channels[side === 'input' ? 'in' : 'out'] : problem.coordinates;
}

/** Whether the elements of one side are single reals or complex numbers. */
export type ElementKind = NumberKind;

/** Length of the complex half of a real transform of n points: ⌊n/2⌋ + 1. */
export function hermitianLength(n: number): number {
  return Math.floor(n / 2) + 1;
}

/** Reals between neighbouring rows of default real data along the first axis: in place each row has room for its result. */
export function realRowLength(n: number, placement: Placement): number {
  return placement === 'in-place' ? 2 * hermitianLength(n) : n;
}

/** The kind of elements on one side of a transform: reals in the forward input of r2c and on both sides of a real-to-real transform. */
export function transformedKind(problem: Pick<Problem, 'transform'> & TensorKind, side: Side): ElementKind {
  const kind = problem.transform[0];
  if (kind === 'r2c') return side === 'input' || channelsOf(problem) ? 'real' : 'complex';
  return isRealTransform(kind) ? 'real' : 'complex';
}

/** Whether a callback leaves a real of every complex number on one side, or makes complex numbers of the reals there. */
export function keepsReals({ callbacks }: Partial<Pick<Problem, 'callbacks'>>, side: Side): boolean {
  if (!callbacks) return false;
  const [written, read] = side === 'output' ? (['forward', 'inverse'] as const) : (['inverse', 'forward'] as const);
  const { store } = callbacks[written];
  const { load } = callbacks[read];
  return (store?.takes === 'complex' && store.gives === 'real') || (load?.takes === 'real' && load.gives === 'complex');
}

/** Type of the elements of one side in memory: what the transform has there, or the reals that a callback leaves of it. */
export function elementKind(
  problem: Pick<Problem, 'transform'> & Partial<Pick<Problem, 'callbacks' | 'convolution'>>,
  side: Side,
): ElementKind {
  return keepsReals(problem, side) ? 'real' : transformedKind(problem, side);
}

/**
 * The problem without its callbacks, as the transform sees it: what they leave reals of are complex numbers. In place, each real lies
 * where its number's real part would.
 */
export function withoutCallbacks(problem: Problem): Problem {
  if (!problem.callbacks) return problem;
  const inPlace = problem.placement === 'in-place';
  const halved = (side: Side) => inPlace && keepsReals(problem, side);
  const { strides, offsets } = problem;
  const stridesOf = (side: Side) => (halved(side) ? strides[side].map((stride) => stride / 2) : strides[side]);
  const offsetOf = (side: Side) => (halved(side) ? offsets[side] / 2 : offsets[side]);
  return {
    ...problem,
    callbacks: null,
    strides: { input: stridesOf('input'), output: stridesOf('output') },
    offsets: { input: offsetOf('input'), output: offsetOf('output') },
  };
}

/** Whether a transform maps reals to as many reals. */
export function isRealTransform(kind: TransformKind | undefined): boolean {
  return (realTransforms as readonly (TransformKind | undefined)[]).includes(kind);
}

/** Number of elements along `[left, axis 0, …, axis D−1, coordinate, batch]` on one side. */
export function tensorShape(problem: TensorFacts, side: Side): number[] {
  const axes = [...problem.size];
  if (problem.transform[0] === 'r2c' && transformedKind(problem, side) === 'complex')
    axes[0] = hermitianLength(axes[0]!);
  return [problem.leftBatches, ...axes, coordinatesOf(problem, side), problem.batches];
}

/** Elements that each dimension occupies in a packed tensor: its shape, with room for the result in real rows in place. */
export function packedExtents(problem: TensorFacts, side: Side): number[] {
  const extents = tensorShape(problem, side);
  if (problem.transform[0] === 'r2c' && side === 'input' && !channelsOf(problem))
    extents[1] = realRowLength(extents[1]!, problem.placement);
  return extents;
}

/**
 * Packed strides `[left, axis 0, …, axis D−1, coordinate, batch]` of one side, in its elements. Each is the product of
 * all faster extents; an r2c problem in place pads the rows of its real side to 2(⌊N/2⌋ + 1). Reals that a callback leaves in
 * place of complex numbers lie where their real parts would.
 */
export function defaultStrides(problem: TensorFacts, side: Side): number[] {
  const strides: number[] = [];
  let next = problem.placement === 'in-place' && keepsReals(problem, side) ? 2 : 1;
  for (const extent of packedExtents(problem, side)) {
    strides.push(next);
    next *= extent;
  }
  return strides;
}

/** How far the elements of a tensor reach from the one with all indices 0, which negative strides have others in front of. */
export function stridedExtent(
  shape: readonly number[],
  strides: readonly number[],
): { before: number; behind: number } {
  let [before, behind] = [0, 0];
  for (let d = 0; d < shape.length; d++) {
    const reach = (shape[d]! - 1) * strides[d]!;
    if (reach < 0) before -= reach;
    else behind += reach;
  }
  return { before, behind };
}

/** Elements that a buffer for one side needs at least: its offset plus the span of its tensor (of each array if planar). */
export function tensorSpan(problem: Problem, side: Side): number {
  const changes = elementKind(problem, 'input') !== elementKind(problem, 'output') || keepsReals(problem, 'output');
  if (problem.placement !== 'in-place' || !changes) return sideSpan(problem, side);
  // One buffer holds reals first and then complex numbers, or the other way around: as long as the longer ones need.
  const complex = (of: Side) =>
    elementKind(problem, of) === 'real' ? Math.ceil(sideSpan(problem, of) / 2) : sideSpan(problem, of);
  const most = Math.max(complex('input'), complex('output'));
  return elementKind(problem, side) === 'real' ? 2 * most : most;
}

function sideSpan(problem: Problem, side: Side): number {
  const split = splitAxisOf(problem, side);
  if (split) {
    const shape = tensorShape(problem, side);
    return problem.offsets[side] + split.runs.reduce((most, run) => Math.max(most, runSpan(run, split, shape)), 0);
  }
  return problem.offsets[side] + stridedExtent(tensorShape(problem, side), problem.strides[side]).behind + 1;
}

/** Elements from the first one of a side to the last one of some blocks. */
function runSpan(
  { blocks, length, offset, apart, strides }: BlockRun,
  { dimension }: SplitAxis,
  shape: readonly number[],
) {
  const counts = [blocks, ...shape.map((count, d) => (d === dimension ? length : count))];
  return offset + stridedExtent(counts, [apart, ...strides]).behind + 1;
}

/** Bytes of one real number. A double-double is two doubles. */
export function realBytes(storage: Storage): number {
  return { half: 2, single: 4, double: 8, 'double-double': 16 }[storage];
}

/** Numbers of a host array that make up one real: a double-double takes two doubles, hi and lo. */
export function wordsOf(storage: Storage): 1 | 2 {
  return storage === 'double-double' ? 2 : 1;
}

/** Bytes of one element of one side as the user stores it; of a planar complex number, both its parts together. */
export function elementBytes(
  problem: Pick<Problem, 'transform' | 'edgeStorage'> & Partial<Pick<Problem, 'callbacks' | 'convolution'>>,
  side: Side,
): number {
  return realBytes(storageOfSide(problem, side)) * (elementKind(problem, side) === 'complex' ? 2 : 1);
}

/** The number of points by which a round trip over one axis multiplies (FFTW's logical size for real-to-real). */
export function logicalLength(kind: TransformKind, n: number): number {
  if (kind === 'c2c' || kind === 'r2c' || kind === 'dht') return n;
  if (kind === 'dct1') return 2 * (n - 1);
  if (kind === 'dst1') return 2 * (n + 1);
  return 2 * n;
}

/** The least normal number of each precision. Smaller numbers lose digits or are flushed to zero. */
const LEAST_NORMAL = { single: 2 ** -126, double: 2 ** -1022 } as const;

/**
 * The factors of one direction, on what is read and on what is written. Their product is its `scale`, divided by ∏ of the
 * transformed axes where an inverse is normalised. The first one is 1, unless the product is no normal number: then it is
 * a power of two, and either takes half of the exponent. (The sums of the transform stand between the two. Side by side
 * they would be one small constant again for compilers that may reorder products.)
 */
export function scaleFactors(problem: Problem, direction: Direction): Sides<ScaleFactor> {
  const scale = problem.scale[direction];
  let points = 1;
  if (direction === 'inverse' && problem.normalize) {
    problem.size.forEach((n, axis) => {
      if (!problem.omit[axis]) points *= logicalLength(problem.transform[axis]!, n);
    });
  }
  const divided = (by: number) => product(scale, power(by, -1), power(points, -1));
  const least = LEAST_NORMAL[problem.precision === 'single' ? 'single' : 'double'];
  const size = Math.abs(scale);
  if (scale === 0 || size / points >= least) return { input: 1, output: divided(1) };
  // A single that is smaller still makes nothing but zeros of singles.
  const half = Math.round((Math.log2(size) - Math.log2(points)) / 2);
  const input = Math.max(2 ** half, least);
  return { input, output: divided(input) };
}

/** The block of zeros of each axis on one side of a problem, `null` where it has none. */
export function blocksOf({ zeroPadding }: Pick<Problem, 'zeroPadding'>, side: Side): readonly (Block | null)[] {
  return side === 'input' ? zeroPadding.space : zeroPadding.frequency;
}
