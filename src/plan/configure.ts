/**
 * A leaf with its strides → everything a kernel builder needs: what the lanes run along, how many transforms share a
 * group, which copies go through shared memory, and the radices. Decided from the profile alone.
 */

import { divisors } from '../numeric/primes.ts';
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
import { type Arithmetic, capacityOf, coordinatesProfile } from './capacity.ts';
import {
  type Beside,
  KERNEL,
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
  type WrappedSide,
} from './leaf.ts';
import type {
  Cropped,
  Extended,
  Facing,
  LeafNode,
  MirroredBins,
  Place,
  RealParts,
  StepTwiddle,
  Wrapped,
} from './node.ts';
import type { DeviceProfile } from './profile.ts';
import { permuted, powerOrders } from './rader.ts';
import { type RoundTrip, roundTrip } from './round-trip.ts';
import { threadTiling } from './thread-tiling.ts';
import { besideOf, threadsFor } from './threads.ts';
import { type Span, type SpanPlace, vectorTiling } from './tiling.ts';

/** Reals that are taken for parts of complex numbers, where they lie. */
export interface PlacedReals extends Pick<RealParts, 'side' | 'by' | 'back'> {
  readonly beside?: Place & {
    /** From the first of two to the second, in elements of each side. */
    readonly apart: Sides<number>;
    /** The last place along the dimension in which they lie side by side: nothing comes after it. */
    readonly last: number;
  };
}

/** A leaf whose buffers are known. */
export interface PlacedLeaf {
  readonly precision: Arithmetic;
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
    ...facingOf(placed, places[name], batch, name),
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

/** The kernel of a leaf, and the arrays that its callbacks load from. */
function operandsOf({ callbacks, arrays, product, precision }: PlacedLeaf): Pick<Leaf, 'operands'> {
  if (product && 'strides' in product) return { operands: [{ name: KERNEL, storage: precision }] };
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
    const all = terms(1);
    // The first bin of a row is counted along the other dimension.
    const first = all.filter(({ step }) => step === 1);
    const twice = columns ? { twice: { from: 1, to: Math.ceil(columns / 2), terms: first } } : {};
    return { mirrored: { ...own, ...twice, terms: all } };
  }
  if (extended?.on === side) {
    const { of, on: _, ...own } = extended;
    const beside = real?.beside?.of === of ? { beside: real.beside.step } : {};
    return { extended: { ...own, ...beside, terms: terms(of) } };
  }
  if (!cropped || side === 'input') return {};
  return { cropped: { from: cropped.from, to: cropped.from + cropped.count, terms: terms(cropped.of) } };
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

/**
 * On which side two reals apart are the parts of numbers, or two lines those of one; not where reals face one another, or where bins
 * of halves are kept that are reals by themselves.
 */
function isBeside({ real, facing, cropped }: PlacedLeaf, on: Side): boolean {
  const { by, side } = real!;
  if (by === 'lines') return true;
  if (by === 'halves' && cropped && on === 'output') return false;
  return (side === on || side === 'both') && !facing?.[on];
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
  if (real.by !== 'halves') gone.push({ from: last, to: last + 1, terms: termsAlong(of, tile, batch, side) });
  const beside: Beside = { apart: apart[side], ...(gone.length > 0 ? { absent: gone } : {}) };
  return { beside };
}

/** A leaf that transforms one axis, which one block of threads holds. */
export function oneAxis(placed: PlacedLeaf, profile: DeviceProfile): Leaf {
  const { axis, precision, real, coordinates, padded = placed.axis.count } = placed;
  const batch = mergedBatch(placed);
  const paired =
    !placed.product && (real?.by === 'halves' || real?.by === 'lines')
      ? { do: 'pair' as const, length: axis.count, by: real.by }
      : undefined;
  const back = real?.back ?? real?.side === 'output';
  const { order, lanesAlong, tile, radices, staged } = (profile.lockstep === 'vector' ? vectorTiling : threadTiling)(
    {
      axis: { ...packedAxis(placed), count: padded },
      batch: batch.map((span) => packedLines(placed, span)),
      precision,
      twiddled: placed.twiddle !== undefined,
      convolved: padded !== axis.count || placed.product !== undefined || paired !== undefined,
      ...wishedGroup(placed, profile),
    },
    coordinatesProfile(coordinates?.count ?? 1, profile),
  );
  const shared = coordinates && profile.lockstep === 'threads' ? dividing(tile, batch[order[0]!]!.count) : tile;
  // Where there are no sums between two factors, shared memory keeps compilers from making one of them.
  const alone = axis.count === 1 && placed.scale.input !== 1;
  const copy = (wanted: boolean): LeafStep[] => (wanted ? [{ do: 'copy' }] : []);
  const columns = coordinates ? [-1, 1] : [-1];
  const passes: PassesStep = { do: 'passes', of: 0, ...butterfliesOf(radices, profile), columns, lanesAlong };
  const inverse = paired && back;
  const rader = padded < axis.count;
  const trip = roundTripOf(placed, order, inverse ?? false);
  const whole = inverse ? { ...passes, inverse: true as const } : passes;
  const steps: LeafStep[] = trip ? roundTrip(passes, trip, inverse) : [whole];
  const dimensions = coordinates ? [axis, coordinates] : [axis];
  if (paired && back) steps.unshift({ ...paired, back: true });
  else if (paired) steps.push(paired);
  // The step that pairs bins reads or writes memory in its order already.
  const copies = { input: staged.input && !(paired && back), output: staged.output && !(paired && !back) };
  return assembled(
    placed,
    {
      batch: order.map((d) => batch[d]!),
      lengths: coordinates ? [padded, coordinates.count] : [padded],
      tile: shared,
      blocks: 1,
      coupled: false,
      steps: [...copy(copies.input || alone), ...steps, ...copy(copies.output)],
      axes: { input: dimensions.map(({ input }) => input), output: dimensions.map(({ output }) => output) },
      ...(rader ? { order: powerOrders(axis.count) } : {}),
      places: placesOf(dimensions),
      twiddle: placed.twiddle && twiddleOf(placed.twiddle, order),
    },
    profile,
  );
}

/** The most transforms up to a number of them that leave no last tile with fewer: threads count them together with coordinates. */
function dividing(tile: number, count: number): number {
  return Math.max(...divisors(count).filter((n) => n <= tile));
}

/** What is done on the way there and back, where an axis is convolved. @param conjugated all of it is: there it is the inverse. */
function roundTripOf(placed: PlacedLeaf, order: readonly number[], conjugated: boolean): RoundTrip | undefined {
  const { axis, padded = axis.count, product, coordinates } = placed;
  if (!product && padded > axis.count) return chirped(axis.count, conjugated);
  if (!product && padded < axis.count) return permuted(axis.count);
  if (!product) return undefined;
  const batch = mergedBatch(placed);
  const places = placesOf(coordinates ? [axis, coordinates] : [axis]).output;
  const trip = productOf(
    product,
    places,
    order.map((d) => batch[d]!),
  );
  const { product: multiplied } = trip;
  if (placed.real?.by === 'halves' && 'kernel' in multiplied && multiplied.kernel)
    return { product: { do: 'pair', length: axis.count, by: 'halves', kernel: multiplied.kernel } };
  return padded > axis.count ? { ...trip, ends: { count: axis.count } } : trip;
}

/**
 * What bins are multiplied by on the way: factors that are known, or the kernel of a convolution.
 * @param tile where its dimensions lie once they are bins.
 */
export function productOf(
  product: NonNullable<LeafNode['product']>,
  tile: readonly Place[],
  batch: readonly Span[],
): RoundTrip {
  if (!('strides' in product)) {
    const { along, ...factors } = product;
    return { product: { factors: { ...factors, terms: termsAlong(along, tile, batch, 'output') } } };
  }
  const { strides, kernel, ...own } = product;
  const places = [...tile, ...batch.map(({ places }) => places?.output)];
  // The dimension that counts kernels reads the same signal for each.
  const repeats = [...tile.map(() => false), ...batch.map(({ places }) => places?.input.step === 0)];
  const terms = places.flatMap((place, dimension) => {
    const step = repeats[dimension] ? kernel : place ? strides[place.of]! * place.step : 0;
    return step === 0 ? [] : [{ dimension, step }];
  });
  const factors = { ...own, terms };
  return { product: own.matrix > 1 ? { do: 'multiply', kernel: factors } : { kernel: factors } };
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
  const { batch, twiddle, absent, factors, product, wrapped, real, extended, cropped, facing, callbacks } = placed;
  const along = new Set([...(absent?.input ?? []), ...(absent?.output ?? [])].map(({ of }) => of));
  const known = product && 'along' in product ? [product] : [];
  for (const each of [...(factors?.input ?? []), ...(factors?.output ?? []), ...known]) along.add(each.along);
  if (wrapped) along.add(wrapped.of);
  // The kernel has strides of its own.
  const apart = product !== undefined && 'strides' in product;
  for (const part of [extended, cropped, facing?.input, facing?.output]) if (part) along.add(part.of);
  const dimensions = (side: Side) => callbacks?.[side] && dimensionsOf(callbacks[side]);
  const asked = { input: dimensions('input'), output: dimensions('output') };
  // The last of an odd number of lines has no other one beside it.
  if (real?.beside && real.by !== 'halves' && real.beside.last % 2 === 0) along.add(real.beside.of);
  const isAlong = (places: NonNullable<Span['places']>, side: Side) =>
    along.has(places[side].of) || (asked[side]?.has(places[side].of) ?? false);
  return mergeSpans(
    batch,
    twiddle !== undefined,
    ({ places }) => places !== undefined && (apart || isAlong(places, 'input') || isAlong(places, 'output')),
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
    // One line that a gap has left is not the first one, which whoever asks for its place has to know.
    const isLeft = span.places?.input.gap !== undefined && isApart(span);
    if (span.count === 1 && merged.length > 0 && !isLeft) continue;
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
