/**
 * The layout of a problem's two tensors: shapes, default strides, spans and element sizes, for complex and for real data. Rules:
 * docs/layouts.md, bbfft's descriptor document and the VkFFT guide, section 2.4.2.
 */

import { powerFactor, type ScaleFactor, scaleProduct } from '../../numeric/scale-factor.ts';
import type { NumberKind } from '../callbacks.ts';
import type { Direction } from '../directions.ts';
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
} from '../problem.ts';

import { type BlockRun, type SplitAxis, splitAxisOf } from './split-axis.ts';

/** The fields of a problem that say whether its output side holds a spectrum: a spectral layer, or bands, have a result there. */
type TensorKind = Partial<Pick<Problem, 'convolution' | 'bands'>>;

/** The facts that shapes and strides follow from; a `Problem` is one. */
export type TensorFacts = Pick<
  Problem,
  'size' | 'transform' | 'leftBatches' | 'coordinates' | 'batches' | 'placement'
> &
  Partial<Pick<Problem, 'callbacks' | 'convolution' | 'bands'>>;

/** The channels of a spectral layer, whose output side has a result of the signal's kind; null for other problems. */
export function channelsOf({ convolution }: Partial<Pick<Problem, 'convolution'>>): Convolution['channels'] {
  return convolution?.channels ?? null;
}

/** The number of coordinates on one side. */
export function coordinatesOf(problem: Pick<Problem, 'coordinates'> & TensorKind, side: Side): number {
  const channels = channelsOf(problem);
  return channels ? channels[side === 'input' ? 'in' : 'out'] : problem.coordinates;
}

/** The kind of the elements of one side: single reals or complex numbers. */
export type ElementKind = NumberKind;

/** The number of bins up to the half for a real transform of n points: ⌊n/2⌋ + 1. */
export function hermitianLength(n: number): number {
  return Math.floor(n / 2) + 1;
}

/** The number of reals between neighbouring rows of default real data along the first axis: in place, each row has room for its bins. */
export function realRowLength(n: number, placement: Placement): number {
  return placement === 'in-place' ? 2 * hermitianLength(n) : n;
}

/**
 * The kind of elements on one side of a transform: reals in the forward input of r2c, on both sides of a real-to-real transform, and where bands
 * are written.
 */
export function transformedKind(problem: Pick<Problem, 'transform'> & TensorKind, side: Side): ElementKind {
  const kind = problem.transform[0];
  if (problem.bands && side === 'output') return 'real';
  if (kind === 'r2c') return side === 'input' || channelsOf(problem) ? 'real' : 'complex';
  return isRealTransform(kind) ? 'real' : 'complex';
}

/** Whether callbacks leave only one real for each complex number on one side, or make complex numbers of reals there. */
export function keepsReals({ callbacks }: Partial<Pick<Problem, 'callbacks'>>, side: Side): boolean {
  if (!callbacks) return false;
  const [written, read] = side === 'output' ? (['forward', 'inverse'] as const) : (['inverse', 'forward'] as const);
  const { store } = callbacks[written];
  const { load } = callbacks[read];
  return (store?.takes === 'complex' && store.gives === 'real') || (load?.takes === 'real' && load.gives === 'complex');
}

/** The kind of the elements of one side in memory: the transform's, or the reals that a callback leaves. */
export function elementKind(
  problem: Pick<Problem, 'transform'> & Partial<Pick<Problem, 'callbacks' | 'convolution' | 'bands'>>,
  side: Side,
): ElementKind {
  return keepsReals(problem, side) ? 'real' : transformedKind(problem, side);
}

/**
 * The problem without its callbacks and bands, as the transform sees it: where callbacks leave reals, it has complex numbers. In place, each
 * real lies where the real part would. Bins that bands weigh are packed.
 */
export function withoutCallbacks(problem: Problem): Problem {
  if (problem.bands) {
    const plain: Problem = { ...problem, bands: null, callbacks: null };
    const { strides, offsets } = problem;
    return {
      ...plain,
      strides: { input: strides.input, output: defaultStrides(plain, 'output') },
      offsets: { input: offsets.input, output: 0 },
    };
  }
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
  if (problem.bands && side === 'output') axes[0] = problem.bands.length;
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

/** The strides of a packed tensor with these lengths. @param order the dimensions, fastest first. Default: by their numbers */
export function packedStrides(lengths: readonly number[], order: readonly number[] = [...lengths.keys()]): number[] {
  const strides: number[] = [];
  let next = 1;
  for (const dimension of order) {
    strides[dimension] = next;
    next *= lengths[dimension]!;
  }
  return strides;
}

/** The reach of a tensor's elements before and after the element with all indices 0. Negative strides put others in front of it. */
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
  // One buffer holds reals first and then complex numbers, or the other way around: it is as long as the longer of the two.
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

/** The bytes of one real number. A double-double is two doubles. */
export function realBytes(storage: Storage): number {
  return { half: 2, single: 4, double: 8, 'double-double': 16 }[storage];
}

/** The numbers of a host array for one real: a double-double takes two doubles, hi and lo. */
export function wordsOf(storage: Storage): 1 | 2 {
  return storage === 'double-double' ? 2 : 1;
}

/** The bytes of one element of a side in the user's memory; for a planar complex number, both parts together. */
export function elementBytes(
  problem: Pick<Problem, 'transform' | 'edgeStorage'> & Partial<Pick<Problem, 'callbacks' | 'convolution' | 'bands'>>,
  side: Side,
): number {
  return realBytes(storageOfSide(problem, side)) * (elementKind(problem, side) === 'complex' ? 2 : 1);
}

/** The factor on the data of a forward and an inverse transform over one axis (for real-to-real transforms, FFTW's logical size). */
export function logicalLength(kind: TransformKind, n: number): number {
  if (kind === 'c2c' || kind === 'r2c' || kind === 'dht') return n;
  if (kind === 'dct1') return 2 * (n - 1);
  if (kind === 'dst1') return 2 * (n + 1);
  return 2 * n;
}

/** The least normal number of each precision: smaller numbers lose digits or are flushed to zero. */
const LEAST_NORMAL = { single: 2 ** -126, double: 2 ** -1022 } as const;

/**
 * The factors of one direction, on input and output. Their product is its `scale`, divided by ∏ of the transformed axes where an inverse is
 * normalised. The first factor is 1, unless the product is not a normal number: then it is a power of two with half of the exponent. (The sums
 * of the transform stand between the two factors. Side by side, compilers that may reorder products would make one small constant of them
 * again.)
 */
export function scaleFactors(problem: Problem, direction: Direction): Sides<ScaleFactor> {
  const scale = problem.scale[direction];
  let points = 1;
  if (direction === 'inverse' && problem.normalize) {
    problem.size.forEach((n, axis) => {
      if (!problem.omit[axis]) points *= logicalLength(problem.transform[axis]!, n);
    });
  }
  const divided = (by: number) => scaleProduct(scale, powerFactor(by, -1), powerFactor(points, -1));
  const least = LEAST_NORMAL[problem.precision === 'single' ? 'single' : 'double'];
  const size = Math.abs(scale);
  if (scale === 0 || size / points >= least) return { input: 1, output: divided(1) };
  // Singles times a still smaller factor would all be zeros.
  const half = Math.round((Math.log2(size) - Math.log2(points)) / 2);
  const input = Math.max(2 ** half, least);
  return { input, output: divided(input) };
}

/** The block of zeros of each axis on one side of a problem, `null` where it has none. */
export function blocksOf({ zeroPadding }: Pick<Problem, 'zeroPadding'>, side: Side): readonly (Block | null)[] {
  return side === 'input' ? zeroPadding.space : zeroPadding.frequency;
}

/** A problem that has sides with another storage. */
export interface ProblemOfStorages {
  readonly sideStorage: Partial<Sides<Storage>>;
}

/** The storage of a side. */
export function storageOfSide(problem: Pick<Problem, 'edgeStorage'> & Partial<ProblemOfStorages>, side: Side): Storage {
  return problem.sideStorage?.[side] ?? problem.edgeStorage;
}

/** The same problem with halves on the sides that are true. */
export function withHalves<P extends Problem>(problem: P, { input, output }: Sides<boolean>): P {
  if (!input && !output) return problem;
  const sideStorage = { ...(input ? { input: 'half' } : {}), ...(output ? { output: 'half' } : {}) };
  return { ...problem, sideStorage };
}
