/**
 * The sides of a leaf: what is there, where its elements lie in the tensor, and what is done to each where it is read and
 * written.
 */

import { arraysOf, dimensionsOf, type Side, type Sides } from '../../problem/index.ts';
import { storedAs } from '../device/capacity.ts';
import type { Span, SpanPlace } from '../group/tiling.ts';
import {
  type Beside,
  KERNEL,
  type Leaf,
  type LeafSide,
  type Mirrored,
  type Operand,
  type OutsideOf,
  type PowerOrder,
  type SideFactors,
  type Stride,
  type TensorPlace,
  type WrappedSide,
} from '../tree/leaf.ts';
import type { Place } from '../tree/node.ts';
import { isBeside, type PlacedLeaf } from './placed.ts';

/** What the sides of a leaf are made of beside what its place in the tree says. */
export interface SideShape {
  /** In the order of the leaf. */
  readonly batch: readonly Span[];
  /** Stride of each dimension of a tile, and where it lies in the tensor. */
  readonly axes: Sides<readonly Stride[]>;
  readonly places: Sides<readonly Place[]>;
  /** In which order points are read and written, where it is not the natural one. */
  readonly order?: Sides<PowerOrder>;
}

/** One side of a leaf. */
export function sideOf(placed: PlacedLeaf, { batch, axes, places, order }: SideShape, side: Side): LeafSide {
  const { layout, offset, precision, storage } = placed;
  const tile = places[side];
  return {
    layout: layout[side],
    ...(placed.alone?.[side] ? { alone: true } : {}),
    ...callbackOf(placed, tile, batch, side),
    ...(storage && storage[side] !== precision ? { storage: storage[side] } : {}),
    axes: axes[side],
    batch: batch.map((span) => span[side]),
    offset: offset[side],
    ...extrasOf(placed, tile, batch, side),
    ...(order ? { order: order[side] } : {}),
    ...partialOf(placed, tile, batch, side),
    ...facingOf(placed, tile, batch, side),
    ...besideOfSide(placed, tile, batch, side),
  };
}

/** What is done to each element of a side, and where that element is. */
function callbackOf(
  { callbacks, cropped, extended, real }: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  const built = callbacks?.[side];
  if (!built) return {};
  const all: readonly (SpanPlace | undefined)[] = [...tile, ...batch.map(({ places }) => places?.[side])];
  const places = [...dimensionsOf(built)].map((of): TensorPlace => {
    const terms = all.flatMap((place, dimension) => {
      if (place?.of !== of) return [];
      const { step, gap } = place;
      return [{ dimension, step, ...(gap ? { gap: { from: gap.from, to: gap.to } } : {}) }];
    });
    return { of, first: side === 'output' && cropped?.of === of ? -cropped.from : 0, terms };
  });
  const second = real?.beside;
  return {
    callback: {
      built,
      arrays: Object.fromEntries(arraysOf(built).map((name) => [name, operandName(name)])),
      places,
      ...(second ? { beside: { of: second.of, step: second.step } } : {}),
      ...(extended?.on === side ? { extended: extended.of } : {}),
    },
  };
}

/** The kernel of a leaf, and the arrays that its callbacks load from. */
export function operandsOf({ callbacks, arrays, product, precision }: PlacedLeaf): Pick<Leaf, 'operands'> {
  if (product && 'strides' in product) return { operands: [{ name: KERNEL, storage: precision }] };
  const names = new Set([callbacks?.input, callbacks?.output].flatMap((built) => (built ? arraysOf(built) : [])));
  if (names.size === 0) return {};
  const operands = [...names].map((name): Operand => {
    return { name: operandName(name), storage: storedAs(arrays![name]!.type), reals: true };
  });
  return { operands };
}

/** How runs name an array of the user's. */
export function operandName(array: string): string {
  return `arrays.${array}`;
}

/** A coordinate of the tensor, in terms of the dimensions of a leaf. */
export function termsAlong(of: number, tile: readonly Place[], batch: readonly Span[], side: Side): OutsideOf['terms'] {
  return [...tile, ...batch.map(({ places }) => places?.[side])].flatMap((place, dimension) =>
    place?.of === of ? [{ dimension, step: place.step }] : [],
  );
}

/** What of a side is not there, and the factors of what is. */
function extrasOf(placed: PlacedLeaf, tile: readonly Place[], batch: readonly Span[], side: Side): Partial<LeafSide> {
  const absent = placed.absent?.[side].map(
    ({ of, from, to }): OutsideOf => ({ from, to, terms: termsAlong(of, tile, batch, side) }),
  );
  const factors = (placed.factors?.[side] ?? []).map(
    ({ along, ...own }): SideFactors => ({ ...own, terms: termsAlong(along, tile, batch, side) }),
  );
  const { wrapped } = placed;
  const again = (): WrappedSide => {
    const { of, count, from, to, shift, stride } = wrapped!;
    return { count, from, to, back: shift * stride, terms: termsAlong(of, tile, batch, side) };
  };
  return {
    ...(wrapped && side === 'input' ? { wrapped: again() } : {}),
    ...(absent && absent.length > 0 ? { absent } : {}),
    ...(factors.length > 0 ? { factors } : {}),
  };
}

/** Which points or bins of a dimension there are on a side, where these are not all. */
function partialOf(
  { extended, cropped, mirrored, real }: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  const terms = (of: number) => termsAlong(of, tile, batch, side);
  if (mirrored?.side === side) {
    const { side: _, columns, ...own } = mirrored;
    return { mirrored: { ...own, ...twiceOf(columns, terms(1)), terms: terms(1) } };
  }
  if (extended?.on === side) {
    const { of, on: _, columns, ...own } = extended;
    const beside = real?.beside?.of === of ? { beside: real.beside.step } : {};
    return { extended: { ...own, ...beside, ...twiceOf(columns, terms(of)), terms: terms(of) } };
  }
  if (!cropped || side === 'input') return {};
  return { cropped: { from: cropped.from, to: cropped.from + cropped.count, terms: terms(cropped.of) } };
}

/** Rows of bins whose mirror images lie in other ones, of so many columns. */
function twiceOf(columns: number | undefined, terms: OutsideOf['terms']): Pick<Mirrored, 'twice'> {
  if (columns === undefined) return {};
  // The first bin of a row is counted along the other dimension.
  return { twice: { from: 1, to: Math.ceil(columns / 2), terms: terms.filter(({ step }) => step === 1) } };
}

/** Which reals of a side face one another. */
function facingOf(
  { facing }: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  const own = facing?.[side];
  if (!own) return {};
  const { within, ...places } = own;
  const terms = termsAlong(own.of, tile, batch, side);
  const counted = () => {
    const { from, to, rows } = within!;
    return { from, to, terms: rows ? terms.filter(({ step }) => step === 1) : terms };
  };
  return { facing: { ...places, terms, ...(within ? { within: counted() } : {}) } };
}

/** Where the second ones of two numbers are on a side. */
function besideOfSide(
  placed: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  const { real, absent } = placed;
  if (!real?.beside || !isBeside(placed, side)) return {};
  const { of, step, apart, last } = real.beside;
  const gone = (absent?.[side] ?? []).map((block): OutsideOf => {
    const back = block.of === of ? step : 0;
    return { from: block.from - back, to: block.to - back, terms: termsAlong(block.of, tile, batch, side) };
  });
  if (last !== undefined) gone.push({ from: last, to: last + 1, terms: termsAlong(of, tile, batch, side) });
  const beside: Beside = { apart: apart[side], ...(gone.length > 0 ? { absent: gone } : {}) };
  return { beside };
}
