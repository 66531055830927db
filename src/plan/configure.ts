/**
 * A leaf with its strides → everything a kernel builder needs: what the lanes run along, how many transforms share a
 * group, which copies go through shared memory, and the radices. Decided from the profile alone.
 */

import {
  arraysOf,
  type BuiltCallback,
  type BuiltCallbacks,
  dimensionsOf,
  type Side,
  type Sides,
} from '../problem/index.ts';
import { chirped } from './bluestein.ts';
import { convolvedPrimes } from './butterflies.ts';
import { capacityOf } from './capacity.ts';
import {
  type Beside,
  type Leaf,
  type LeafSide,
  type LeafStep,
  type Operand,
  type OutsideOf,
  type PassesStep,
  type PowerOrder,
  passesOf,
  type SharedMemory,
  type SideFactors,
  type SideLayout,
  type Stored,
  type Stride,
  type TensorPlace,
  type Way,
} from './leaf.ts';
import type {
  Cropped,
  ElementFactors,
  Extended,
  LeafNode,
  MirroredBins,
  Place,
  RealParts,
  StepTwiddle,
} from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { permuted, powerOrders } from './rader.ts';
import { type RoundTrip, roundTrip } from './round-trip.ts';
import { besideOf, threadsFor } from './threads.ts';
import { type Span, type SpanPlace, threadTiling, vectorTiling } from './tiling.ts';

/** Reals that are taken for parts of complex numbers, where they lie. */
export interface PlacedReals extends Pick<RealParts, 'side' | 'by' | 'sines' | 'back'> {
  readonly beside?: Place & {
    /** From the first of two to the second, in elements of each side. */
    readonly apart: Sides<number>;
    /** The last place along the dimension in which they lie side by side: nothing comes after it. */
    readonly last: number;
  };
}

/** A leaf whose buffers are known. */
export interface PlacedLeaf {
  readonly precision: 'single' | 'double';
  readonly axis: Span;
  /** Slower axes that are transformed in the same launch. */
  readonly more?: readonly Span[];
  /** The axis is transformed as a cyclic convolution of this length. */
  readonly padded?: number;
  readonly batch: readonly Span[];
  readonly twiddle?: StepTwiddle;
  readonly layout: Sides<SideLayout>;
  /** What numbers are in memory. */
  readonly storage?: Sides<Stored>;
  readonly offset: { readonly input: number; readonly output: number };
  readonly inverse: boolean;
  readonly scale: Way['scale'];
  readonly aliased: boolean;
  /** The axis of the problem that is transformed, where it is one. */
  readonly axisOf?: number;
  /** One of several uploads of that axis. */
  readonly split?: boolean;
  readonly absent?: LeafNode['absent'];
  readonly factors?: LeafNode['factors'];
  readonly product?: LeafNode['product'];
  readonly real?: PlacedReals;
  /** Bins over the half of `of`, `stride` elements apart, are conjugates of others. */
  readonly mirrored?: MirroredBins & { readonly stride: number };
  readonly extended?: Extended & { readonly stride: number };
  readonly cropped?: Cropped;
  readonly callbacks?: Partial<Sides<BuiltCallback>>;
  /** That they load from. */
  readonly arrays?: BuiltCallbacks['arrays'];
  /** Where memory has the reals that callbacks leave of complex numbers. */
  readonly alone?: Partial<Sides<true>>;
}

/** What a launch is made of beside what its place in the tree says. */
export interface LaunchShape {
  /** In the order of the leaf. */
  readonly batch: readonly Span[];
  readonly lengths: readonly number[];
  readonly tile: number;
  readonly blocks: number;
  readonly coupled: boolean;
  readonly steps: readonly LeafStep[];
  /** Stride of each dimension of a tile, and where it lies in the tensor. */
  readonly axes: Sides<readonly Stride[]>;
  readonly places: Sides<readonly Place[]>;
  /** In which order points are read and written, where it is not the natural one. */
  readonly order?: Sides<PowerOrder>;
  /** The twiddles of `placed`, along the batch as it is ordered here. */
  readonly twiddle?: StepTwiddle | undefined;
}

/** A leaf of its parts: how many threads it has, and which memory they share, follows from them. */
export function assembled(placed: PlacedLeaf, shape: LaunchShape, profile: DeviceProfile): Leaf {
  const { precision, layout, offset } = placed;
  const { batch, lengths, tile, blocks, coupled, steps, axes, places, twiddle } = shape;
  const points = lengths.reduce((product, length) => product * length, tile) / blocks;
  const radices = passesOf(shape).flatMap((passes) => passes.radices);
  const threads = threadsFor(points, radices, placed, profile, blocks > 1);
  const beside = besideOf(points, radices, threads, precision, profile, blocks > 1);
  const side = (name: 'input' | 'output'): LeafSide => ({
    layout: layout[name],
    ...(placed.alone?.[name] ? { alone: true } : {}),
    ...callbackOf(placed, places[name], batch, name),
    ...(placed.storage && placed.storage[name] !== precision ? { storage: placed.storage[name] } : {}),
    axes: axes[name],
    batch: batch.map((span) => span[name]),
    offset: offset[name],
    ...extrasOf(placed, places[name], batch, name),
    ...(shape.order ? { order: shape.order[name] } : {}),
    ...partialOf(placed, places[name], batch, name),
    ...besideOfSide(placed, places[name], batch, name),
  });
  return {
    precision,
    lengths,
    steps,
    coupled,
    blocks,
    batch: batch.map(({ count }) => count),
    tile,
    lockstep: profile.lockstep,
    lanes: capacityOf(precision, profile).lanes,
    threads,
    ...(beside > 1 ? { beside } : {}),
    shared: sharedOf(precision, profile),
    input: side('input'),
    output: side('output'),
    inverse: placed.inverse,
    ...operandsOf(placed),
    ...(twiddle ? { twiddle } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
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

/** The arrays that the callbacks of a leaf load from. */
function operandsOf({ callbacks, arrays }: PlacedLeaf): Pick<Leaf, 'operands'> {
  const names = new Set([callbacks?.input, callbacks?.output].flatMap((built) => (built ? arraysOf(built) : [])));
  if (names.size === 0) return {};
  const operands = [...names].map((name): Operand => {
    const storage = arrays![name]!.type === 'f32' ? 'single' : 'double';
    return { name: operandName(name), storage, reals: true };
  });
  return { operands };
}

/** How runs name an array of the user's. */
export function operandName(array: string): string {
  return `arrays.${array}`;
}

/** A coordinate of the tensor, in terms of the dimensions of a leaf. */
function termsAlong(of: number, tile: readonly Place[], batch: readonly Span[], side: Side): OutsideOf['terms'] {
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
  return {
    ...(absent && absent.length > 0 ? { absent } : {}),
    ...(factors.length > 0 ? { factors } : {}),
  };
}

/** Which points or bins of a dimension there are on a side, where these are not all. */
function partialOf(
  { extended, cropped, mirrored }: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  const terms = (of: number) => termsAlong(of, tile, batch, side);
  if (mirrored?.side === side) {
    const { side: _, columns, ...own } = mirrored;
    const all = terms(1);
    // The first bin of a row is counted along the other dimension.
    const first = all.filter(({ step }) => step === 1);
    const twice = columns ? { twice: { from: 1, to: Math.ceil(columns / 2), terms: first } } : {};
    return { mirrored: { ...own, ...twice, terms: all } };
  }
  if (extended?.on === side) {
    const { of, on: _, ...own } = extended;
    return { extended: { ...own, terms: terms(of) } };
  }
  if (!cropped || side === 'input') return {};
  return { cropped: { from: cropped.from, to: cropped.from + cropped.count, terms: terms(cropped.of) } };
}

/** Where the second ones of two numbers are on a side. */
function besideOfSide(
  { real, absent }: PlacedLeaf,
  tile: readonly Place[],
  batch: readonly Span[],
  side: Side,
): Partial<LeafSide> {
  if (!real?.beside || (real.by !== 'lines' && real.side !== side && real.side !== 'both')) return {};
  const { of, step, apart, last } = real.beside;
  const gone = (absent?.[side] ?? []).map((block): OutsideOf => {
    const back = block.of === of ? step : 0;
    return { from: block.from - back, to: block.to - back, terms: termsAlong(block.of, tile, batch, side) };
  });
  if (real.by !== 'halves') gone.push({ from: last, to: last + 1, terms: termsAlong(of, tile, batch, side) });
  const beside: Beside = { apart: apart[side], ...(gone.length > 0 ? { absent: gone } : {}) };
  return { beside };
}

/** A leaf that transforms one axis, which one block of threads holds. */
export function oneAxis(placed: PlacedLeaf, profile: DeviceProfile): Leaf {
  const { axis, precision, real, padded = placed.axis.count } = placed;
  const batch = mergedBatch(placed);
  const paired =
    real?.by === 'halves' || real?.by === 'lines' || real?.by === 'cosines'
      ? { do: 'pair' as const, length: axis.count, by: real.by, ...(real.sines ? { sines: true as const } : {}) }
      : undefined;
  const back = real?.back ?? real?.side === 'output';
  // Sums of cosines are those of the transform forwards, whichever comes first.
  const backward = back && real?.by !== 'cosines';
  const { order, lanesAlong, tile, radices, staged } = (profile.lockstep === 'vector' ? vectorTiling : threadTiling)(
    {
      axis: { ...packedAxis(placed), count: padded },
      batch: batch.map((span) => packedLines(placed, span)),
      precision,
      twiddled: placed.twiddle !== undefined,
      convolved: padded !== axis.count || placed.product !== undefined || paired !== undefined,
      ...wishedGroup(placed, profile),
    },
    profile,
  );
  // Where there are no sums between two factors, shared memory keeps compilers from making one of them.
  const alone = axis.count === 1 && placed.scale.input !== 1;
  const copy = (wanted: boolean): LeafStep[] => (wanted ? [{ do: 'copy' }] : []);
  const passes: PassesStep = { do: 'passes', of: 0, ...butterfliesOf(radices, profile), columns: [-1], lanesAlong };
  const inverse = paired && backward;
  const rader = padded < axis.count;
  const trip = roundTripOf(placed, order, inverse ?? false);
  const whole = inverse ? { ...passes, inverse: true as const } : passes;
  const steps: LeafStep[] = trip ? roundTrip(passes, trip, inverse) : [whole];
  if (paired && back) steps.unshift({ ...paired, back: true });
  else if (paired) steps.push(paired);
  // The step that pairs bins reads or writes memory in its order already.
  const copies = { input: staged.input && !(paired && back), output: staged.output && !(paired && !back) };
  return assembled(
    placed,
    {
      batch: order.map((d) => batch[d]!),
      lengths: [padded],
      tile,
      blocks: 1,
      coupled: false,
      steps: [...copy(copies.input || alone), ...steps, ...copy(copies.output)],
      axes: { input: [axis.input], output: [axis.output] },
      ...(rader ? { order: powerOrders(axis.count) } : {}),
      places: placesOf([axis]),
      twiddle: placed.twiddle && twiddleOf(placed.twiddle, order),
    },
    profile,
  );
}

/** What is done on the way there and back, where an axis is convolved. @param conjugated all of it is: there it is the inverse. */
function roundTripOf(placed: PlacedLeaf, order: readonly number[], conjugated: boolean): RoundTrip | undefined {
  const { axis, padded = axis.count, product } = placed;
  if (padded > axis.count) return chirped(axis.count, conjugated);
  if (padded < axis.count) return permuted(axis.count);
  if (!product) return undefined;
  const batch = mergedBatch(placed);
  return productOf(
    product,
    placesOf([axis]).output,
    order.map((d) => batch[d]!),
  );
}

/** A product with factors that are counted along the tensor. @param tile where its dimensions lie once they are bins. */
export function productOf(
  { along, ...factors }: ElementFactors,
  tile: readonly Place[],
  batch: readonly Span[],
): RoundTrip {
  return { product: { factors: { ...factors, terms: termsAlong(along, tile, batch, 'output') } } };
}

/** The axis as it lies for those who ask whether its neighbours do: two reals side by side are one number. */
function packedAxis({ axis, real }: PlacedLeaf): Span {
  if (real?.by !== 'halves' || real.side === 'both' || real.beside!.apart[real.side] !== 1) return axis;
  return { ...axis, [real.side]: 1 };
}

/** The same of lines: two side by side are one, whose neighbour is next to them. */
function packedLines({ real }: PlacedLeaf, span: Span): Span {
  if (real?.by !== 'lines' || !real.beside) return span;
  const { apart } = real.beside;
  const packed = (side: Side) => (apart[side] === 1 && span[side] === 2 ? 1 : span[side]);
  return { ...span, input: packed('input'), output: packed('output') };
}

/** The batch dimensions have been reordered; the one that twiddles count along was the first. */
export function twiddleOf(twiddle: StepTwiddle, order: readonly number[]): StepTwiddle {
  const along = order.indexOf(0);
  return along > 0 ? { ...twiddle, along } : twiddle;
}

/** The radices of passes, and how the butterflies of large ones go. */
export function butterfliesOf(
  radices: readonly number[],
  profile: DeviceProfile,
): Pick<PassesStep, 'radices' | 'convolved'> {
  const convolved = convolvedPrimes(radices, profile);
  return { radices, ...(convolved.length > 0 ? { convolved } : {}) };
}

function sharedOf(precision: PlacedLeaf['precision'], profile: DeviceProfile): SharedMemory {
  return {
    format: profile.sharedFormat,
    arrays: profile.doubleBuffered ? 2 : 1,
    banks: profile.banks,
    room: capacityOf(precision, profile).room,
  };
}

function wishedGroup({ axisOf }: PlacedLeaf, { tuning }: DeviceProfile): { group?: number } {
  const group = axisOf === undefined ? 0 : (tuning?.groupedBatch?.[axisOf] ?? 0);
  return group > 0 ? { group } : {};
}

/** Where dimensions lie in the tensor. */
export function placesOf(spans: readonly Span[]): Sides<readonly Place[]> {
  const of = (side: Side) => spans.map(({ places }) => places?.[side] ?? { of: -1, step: 1 });
  return { input: of('input'), output: of('output') };
}

/** The batch in as few dimensions as it has. Those that blocks lie along stay themselves, and those that callbacks ask for. */
export function mergedBatch(placed: PlacedLeaf): Span[] {
  const { batch, twiddle, absent, factors, product, real, extended, cropped, callbacks } = placed;
  const along = new Set([...(absent?.input ?? []), ...(absent?.output ?? [])].map(({ of }) => of));
  for (const each of [...(factors?.input ?? []), ...(factors?.output ?? []), ...(product ? [product] : [])]) {
    along.add(each.along);
  }
  for (const part of [extended, cropped]) if (part) along.add(part.of);
  const dimensions = (side: Side) => callbacks?.[side] && dimensionsOf(callbacks[side]);
  const asked = { input: dimensions('input'), output: dimensions('output') };
  // The last of an odd number of lines has no other one beside it.
  if (real?.beside && real.by !== 'halves' && real.beside.last % 2 === 0) along.add(real.beside.of);
  const isAlong = (places: NonNullable<Span['places']>, side: Side) =>
    along.has(places[side].of) || (asked[side]?.has(places[side].of) ?? false);
  return mergeSpans(
    batch,
    twiddle !== undefined,
    ({ places }) => places !== undefined && (isAlong(places, 'input') || isAlong(places, 'output')),
  );
}

/** Adjacent loops that step through memory as one become one. The dimension that twiddles count along stays itself. */
export function mergeSpans(
  spans: readonly Span[],
  keepFirst: boolean,
  isApart: (span: Span) => boolean = () => false,
): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    const mayMerge = last && !(keepFirst && merged.length === 1) && !isApart(span) && !isApart(last);
    if (span.count === 1 && merged.length > 0) continue;
    if (mayMerge && last.count === 1) merged[merged.length - 1] = span;
    else if (mayMerge && continues(last, span, 'input') && continues(last, span, 'output')) {
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
