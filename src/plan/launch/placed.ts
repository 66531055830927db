/**
 * A leaf whose buffers are known: loops with the strides of memory, before anything is decided of its kernel; and what
 * follows from these alone, such as which loops are one.
 */

import { type BuiltCallback, type BuiltCallbacks, dimensionsOf, type Side, type Sides } from '../../problem/index.ts';
import type { Arithmetic } from '../device/capacity.ts';
import type { Span } from '../group/tiling.ts';
import type { DirectionScale, SideLayout, StepTwiddle, Stored } from '../tree/leaf.ts';
import type {
  Cropped,
  Extended,
  Facing,
  KernelProduct,
  LeafNode,
  MirroredBins,
  Place,
  RealParts,
  Wrapped,
} from '../tree/node.ts';

/** Reals that are taken for parts of complex numbers, where they lie. */
export interface PlacedReals extends Pick<RealParts, 'side' | 'by' | 'back'> {
  readonly beside?: Place & {
    /** From the first of two to the second, in elements of each side. */
    readonly apart: Sides<number>;
    /** The last place along the dimension in which they lie side by side, where nothing comes after it. */
    readonly last?: number;
  };
}

/** A leaf whose buffers are known. */
export interface PlacedLeaf {
  readonly precision: Arithmetic;
  readonly axis: Span;
  /** Slower axes that are transformed in the same launch. */
  readonly more?: readonly Span[];
  readonly convolved?: LeafNode['convolved'];
  readonly batch: readonly Span[];
  readonly twiddle?: StepTwiddle;
  readonly layout: Sides<SideLayout>;
  /** What numbers are in memory. */
  readonly storage?: Sides<Stored>;
  readonly offset: { readonly input: number; readonly output: number };
  readonly inverse: boolean;
  readonly scale: DirectionScale['scale'];
  readonly aliased: boolean;
  /** The axis of the problem that is transformed, where it is one. */
  readonly axisOf?: number;
  /** One of several uploads of that axis. */
  readonly split?: boolean;
  readonly absent?: LeafNode['absent'];
  readonly factors?: LeafNode['factors'];
  readonly product?: LeafNode['product'];
  readonly coordinates?: Span;
  readonly wrapped?: Wrapped & { readonly stride: number };
  readonly real?: PlacedReals;
  /** Bins over the half of `of`, `stride` elements apart, are conjugates of others. */
  readonly mirrored?: MirroredBins & { readonly stride: number };
  readonly extended?: Extended & { readonly stride: number };
  readonly cropped?: Cropped;
  readonly facing?: Partial<Sides<Facing & { readonly stride: number }>>;
  readonly callbacks?: Partial<Sides<BuiltCallback>>;
  /** That they load from. */
  readonly arrays?: BuiltCallbacks['arrays'];
  /** Where memory has the reals that callbacks leave of complex numbers. */
  readonly alone?: Partial<Sides<true>>;
}

/**
 * On which side two reals apart are the parts of numbers, or two lines those of one; not where reals face one another, or where bins
 * of halves are kept that are reals by themselves.
 */
export function isBeside({ real, facing, cropped }: PlacedLeaf, on: Side): boolean {
  const { by, side } = real!;
  if (by === 'lines') return true;
  if (by === 'halves' && cropped && on === 'output') return false;
  return (side === on || side === 'both') && !facing?.[on];
}

/** The axis as it lies for those who ask whether its neighbours do: two reals side by side are one number. */
export function packedAxis(placed: PlacedLeaf): Span {
  const { axis, real } = placed;
  if (real?.by !== 'halves') return axis;
  const { apart } = real.beside!;
  const packed = (side: Side) => (isBeside(placed, side) && apart[side] === 1 ? 1 : axis[side]);
  return { ...axis, input: packed('input'), output: packed('output') };
}

/** The same of lines: two side by side are one, whose neighbour is next to them. */
export function packedLines({ real }: PlacedLeaf, span: Span): Span {
  if (real?.by !== 'lines' || !real.beside) return span;
  const { apart } = real.beside;
  const packed = (side: Side) => (apart[side] === 1 && span[side] === 2 ? 1 : span[side]);
  return { ...span, input: packed('input'), output: packed('output') };
}

/** Where dimensions lie in the tensor. */
export function placesOf(spans: readonly Span[]): Sides<readonly Place[]> {
  const of = (side: Side) => spans.map(({ places }) => places?.[side] ?? { of: -1, step: 1 });
  return { input: of('input'), output: of('output') };
}

/** The batch in as few dimensions as it has. Those that blocks lie along stay themselves, and those that callbacks ask for. */
export function mergedBatch(placed: PlacedLeaf): Span[] {
  const { batch, twiddle, absent, factors, product, wrapped, real, extended, cropped, facing, callbacks } = placed;
  const along = new Set([...(absent?.input ?? []), ...(absent?.output ?? [])].map(({ of }) => of));
  const known = product && 'along' in product ? [product] : [];
  for (const each of [...(factors?.input ?? []), ...(factors?.output ?? []), ...known]) along.add(each.along);
  if (wrapped) along.add(wrapped.of);
  for (const part of [extended, cropped, facing?.input, facing?.output]) if (part) along.add(part.of);
  const dimensions = (side: Side) => callbacks?.[side] && dimensionsOf(callbacks[side]);
  const asked = { input: dimensions('input'), output: dimensions('output') };
  // The last of an odd number of lines has no other one beside it.
  if (real?.beside?.last !== undefined) along.add(real.beside.of);
  const isAlong = (places: NonNullable<Span['places']>, side: Side) =>
    along.has(places[side].of) || (asked[side]?.has(places[side].of) ?? false);
  const kernel = product && 'strides' in product ? product : undefined;
  return mergeSpans(
    batch,
    twiddle !== undefined,
    ({ places }) => places !== undefined && (isAlong(places, 'input') || isAlong(places, 'output')),
    // The kernel has strides of its own.
    (span, next) => !kernel || kernelStep(next, kernel) === span.count * kernelStep(span, kernel),
  );
}

/** From one bin's number of a kernel to the next one's, or from one kernel to the next: a dimension of these reads the same again. */
export function kernelStep({ places }: Span, { strides, kernel }: KernelProduct): number {
  if (!places) return 0;
  const { input, output } = places;
  return input.step === 0 ? kernel : strides[output.of]! * output.step;
}

/** Adjacent loops that step through memory as one become one. The dimension that twiddles count along stays itself. */
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
    // One line that a gap has left is not the first one, which whoever asks for its place has to know.
    const isLeft = span.places?.input.gap !== undefined && isApart(span);
    if (span.count === 1 && merged.length > 0 && !isLeft) continue;
    if (mayMerge && last.count === 1) merged[merged.length - 1] = span;
    else if (mayMerge && follows(last, span) && continues(last, span, 'input') && continues(last, span, 'output')) {
      merged[merged.length - 1] = { ...last, count: last.count * span.count };
    } else merged.push(span);
  }
  return merged.length > 0 ? merged : [{ count: 1, input: 0, output: 0 }];
}

/** One step of `next` is a whole walk of `span`. */
function continues(span: Span, next: Span, side: 'input' | 'output'): boolean {
  const stride = span[side];
  return typeof stride === 'number' && next[side] === stride * span.count;
}
