/**
 * A leaf whose buffers are known: its loops have strides in memory, but no decision about its kernel is made. Also what follows from the
 * strides alone, such as merging loops.
 */

import { scaleProduct } from '../../numeric/scale-factor.ts';
import {
  type BuiltCallback,
  type BuiltCallbacks,
  coordinatesUsed,
  type Direction,
  type Side,
  type Sides,
  type SplitAxis,
} from '../../problem/index.ts';
import type { Arithmetic } from '../device/capacity.ts';
import type { Span } from '../group/tiling.ts';
import type { DirectionScale, SideFormat, Stored } from '../tree/leaf.ts';
import type { DimensionStride, ElementFactors, LeafNode } from '../tree/node.ts';
import { kernelStep, viewedDimensions } from './kernel-layout.ts';

/** The layout of the tensor in the buffer of a side, in elements of that side. */
export interface TensorMemory {
  readonly lengths: readonly number[];
  readonly strides: readonly number[];
  /** The first element, after any lines that are left out at the beginning. */
  readonly offset: number;
  /** The dimension that is stored in blocks, if there is one. The strides above are then those of the first block. */
  readonly splitAxis?: SplitAxis;
}

/**
 * The dimensions of a side that strides alone do not describe: a dimension in blocks, or all dimensions if blocks differ in their strides.
 */
export function dimensionsInBlocks({ lengths, strides, splitAxis }: TensorMemory): readonly number[] {
  if (!splitAxis) return [];
  const alike = splitAxis.runs.every((run) => run.strides.every((stride, d) => stride === strides[d]));
  return alike ? [splitAxis.dimension] : [...lengths.keys()];
}

/** A leaf whose buffers are known. */
export interface PlacedLeaf extends DirectionScale {
  readonly node: LeafNode;
  readonly precision: Arithmetic;
  readonly axis: Span;
  /** Slower axes that are transformed in the same launch. */
  readonly more: readonly Span[];
  readonly coordinates: Span | undefined;
  readonly batch: readonly Span[];
  readonly tensor: Sides<TensorMemory>;
  readonly format: Sides<SideFormat>;
  /** The number type of each side in memory. */
  readonly storage: Sides<Stored>;
  /** The factors of the node, conjugated as the direction requires. */
  readonly factors: Sides<readonly ElementFactors[]>;
  readonly aliased: boolean;
  /** The launch is one of several uploads of an axis. */
  readonly split: boolean;
  readonly callbacks: Partial<Sides<BuiltCallback>>;
  /** The arrays that callbacks load from. */
  readonly arrays: BuiltCallbacks['arrays'];
  /** The sides on which memory holds only the reals of complex numbers, because a callback takes or gives reals. */
  readonly realsOnly: Partial<Sides<true>>;
  /** A group takes all lines along the first batch dimension, and other leaves of the launch have the same batch behind it. */
  readonly together?: true;
  /** Batch dimensions stay as they are, and the first one is tiled; `group`: lines of a tile. */
  readonly inOrder?: { readonly group?: number };
}

/** Whether the exponents of a launch depend on the direction of the plan; launches between reals and bins have a fixed sign. */
export function followsDirection({ exponents }: LeafNode): boolean {
  return exponents === 'direction' || exponents === 'opposite';
}

/** Whether the exponents of a launch have the sign of the inverse transform. */
export function isInverse(node: LeafNode, direction: Direction): boolean {
  if (!followsDirection(node)) return node.exponents === 'inverse';
  return (direction === 'inverse') !== (node.exponents === 'opposite');
}

/** The scale factors of a launch. A Hermitian split gives twice the bins, hence the factor 1/2. */
export function launchScale({ real, times }: LeafNode, scale: DirectionScale['scale']): DirectionScale['scale'] {
  const half = real?.side === 'input' && (real.by === 'halves' || real.by === 'lines') ? 1 / 2 : 1;
  return { ...scale, output: scaleProduct(scale.output, times, half) };
}

/** Whether two neighbours on a side are packed as the parts of one number or, for lines, belong to one number of either line. */
export function isPaired({ node: { real } }: PlacedLeaf, side: Side): boolean {
  return real?.pairs !== undefined && (real.pairs.on === side || real.pairs.on === 'both');
}

/** Whether the number of lines is odd, so that the last line is packed with none. */
export function isOdd({ node }: PlacedLeaf): boolean {
  const { real, axis, length, outputLength } = node;
  if (!real?.pairs || real.pairs.along === axis.input.dimension) return false;
  return (real.side === 'output' ? outputLength : length)[real.pairs.along]! % 2 === 1;
}

/** The distance between two packed elements, in elements of a side. */
export function pairStride({ node, tensor }: PlacedLeaf, side: Side): number {
  return tensor[side].strides[node.real!.pairs!.along]!;
}

/** The axis with packed reals counted as one number, for tests of contiguity. */
export function packedAxis(placed: PlacedLeaf): Span {
  const { axis, node } = placed;
  if (node.real?.by !== 'halves') return axis;
  const packed = (side: Side) => (isPaired(placed, side) && pairStride(placed, side) === 1 ? 1 : axis[side]);
  return { ...axis, input: packed('input'), output: packed('output') };
}

/** A loop over lines with two packed adjacent lines counted as one, for tests of contiguity. */
export function packedLines(placed: PlacedLeaf, span: Span): Span {
  const { real } = placed.node;
  if (real?.by !== 'lines' || !real.pairs) return span;
  const packed = (side: Side) => (pairStride(placed, side) === 1 && span[side] === 2 ? 1 : span[side]);
  return { ...span, input: packed('input'), output: packed('output') };
}

/** The directions of some loops in the tensor. */
export function tensorPlaces(spans: readonly Span[]): Sides<readonly DimensionStride[]> {
  const of = (side: Side) => spans.map(({ places }) => places?.[side] ?? { dimension: -1, stride: 1 });
  return { input: of('input'), output: of('output') };
}

/**
 * The batch in as few dimensions as possible. A dimension is not merged if a block of zeros, a factor, a line view or a callback counts
 * along it, or if it is stored in blocks.
 */
export function mergedBatch(placed: PlacedLeaf): Span[] {
  if (placed.together || placed.inOrder) return [...placed.batch];
  const { batch, factors, node, callbacks } = placed;
  const { twiddle, outerTwiddle, product, zeros, lines, real } = node;
  const kernel = product && 'strides' in product ? product : undefined;
  const along: number[] = [];
  for (const side of ['input', 'output'] as const) {
    for (const { dimension } of zeros[side]) along.push(dimension);
    for (const { dimension } of lines[side]) along.push(dimension);
    for (const own of factors[side]) along.push(own.along);
    along.push(...dimensionsInBlocks(placed.tensor[side]));
  }
  if (product && 'along' in product) along.push(product.along);
  if (isOdd(placed)) along.push(real!.pairs!.along);
  if (kernel) along.push(...viewedDimensions(kernel));
  const dimensions = (side: Side) => callbacks[side] && coordinatesUsed(callbacks[side]);
  const requested = { input: dimensions('input'), output: dimensions('output') };
  const isAlong = (places: NonNullable<Span['places']>, side: Side) =>
    along.includes(places[side].dimension) || (requested[side]?.has(places[side].dimension) ?? false);
  return mergeSpans(
    batch,
    twiddle !== undefined,
    (span) => {
      if (outerTwiddle && span === batch[outerTwiddle.along]) return true;
      const { places } = span;
      return places !== undefined && (isAlong(places, 'input') || isAlong(places, 'output'));
    },
    // The convolution kernel has strides of its own.
    (span, next) => !kernel || kernelStep(next, kernel) === span.count * kernelStep(span, kernel),
  );
}

/** Merges adjacent loops whose strides continue one another. The dimension that twiddles count along is kept separate. */
export function mergeSpans(
  spans: readonly Span[],
  keepFirst: boolean,
  isApart: (span: Span) => boolean = () => false,
  follows: (span: Span, next: Span) => boolean = () => true,
): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    const mayMerge = last && !(keepFirst && merged.length === 1) && !isApart(span) && !isApart(last);
    // A gap may leave a single line that is not the first one: it is kept, because its coordinate matters.
    const isLeft = span.places?.input.gap !== undefined && isApart(span);
    if (span.count === 1 && merged.length > 0 && !isLeft) continue;
    if (mayMerge && last.count === 1) merged[merged.length - 1] = span;
    else if (mayMerge && follows(last, span) && continues(last, span, 'input') && continues(last, span, 'output')) {
      merged[merged.length - 1] = { ...last, count: last.count * span.count };
    } else merged.push(span);
  }
  return merged.length > 0 ? merged : [{ count: 1, input: 0, output: 0 }];
}

/** Whether the stride of `next` is the extent of `span`. */
function continues(span: Span, next: Span, side: 'input' | 'output'): boolean {
  const stride = span[side];
  return typeof stride === 'number' && next[side] === stride * span.count;
}
