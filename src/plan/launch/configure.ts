/**
 * A leaf with strides → everything that a kernel builder needs: the loop that lanes walk along, the number of transforms in a group, copies
 * through shared memory, and the radices. All of it follows from the profile.
 */

import { isOverNumbers } from '../../layout/index.ts';
import { divisors } from '../../numeric/primes.ts';
import type { Side, Sides } from '../../problem/index.ts';
import { hasArithmetic, wordsPerReal } from '../device/capacity.ts';
import { coordinatesTarget, type Target } from '../device/target.ts';
import { convolvedPrimes, LARGEST_LISTED_RADIX } from '../group/butterflies.ts';
import { raderRadix } from '../group/radix.ts';
import { threadTiling } from '../group/thread-tiling.ts';
import { residentGroups, threadsFor } from '../group/threads.ts';
import {
  hasUnitStep,
  LONGEST_BUTTERFLY,
  type Span,
  type Tiling,
  type TilingQuestion,
  vectorTiling,
} from '../group/tiling.ts';
import { chirped, chirpedReals } from '../schemes/bluestein.ts';
import { type ConvolveSteps, convolveSteps } from '../schemes/convolve-steps.ts';
import { permuted, powerOrders } from '../schemes/rader.ts';
import {
  type HermitianSplit,
  type Leaf,
  type LeafStep,
  type PassesStep,
  passesOf,
  type RaderRadix,
  type SharedMemory,
  type StepTwiddle,
} from '../tree/leaf.ts';
import type { DimensionStride, LeafNode } from '../tree/node.ts';
import { kernelFactors } from './kernel-layout.ts';
import { leafOperands, leafSide, type SideShape, termsAlong } from './leaf-sides.ts';
import { mergedBatch, type PlacedLeaf, packedAxis, packedLines, tensorPlaces } from './placed.ts';

/** The shape of a launch: everything that its place in the tree does not determine. */
export interface LaunchShape extends SideShape {
  readonly lengths: readonly number[];
  readonly tile: number;
  readonly blocks: number;
  readonly coupled: boolean;
  readonly steps: readonly LeafStep[];
  /** The twiddles of `placed`, counted along the batch in the order given here. */
  readonly twiddle?: StepTwiddle | undefined;
  readonly outerTwiddle?: StepTwiddle | undefined;
}

/** Completes a leaf: the number of threads and the kind of shared memory follow from its shape. */
export function assembled(placed: PlacedLeaf, shape: LaunchShape, target: Target): Leaf {
  const { precision } = placed;
  const { batch, lengths, tile, blocks, coupled, steps, twiddle, outerTwiddle } = shape;
  const points = lengths.reduce((product, length) => product * length, tile) / blocks;
  const radices = passesOf(shape).flatMap((passes) => passes.radices);
  const threads = threadsFor(points, radices, placed, target, blocks > 1);
  const resident = residentGroups(points, radices, threads, target, blocks > 1);
  return {
    precision,
    lengths,
    steps,
    coupled,
    blocks,
    batch: batch.map(({ count }) => count),
    tile,
    lockstep: target.lockstep,
    lanes: target.capacity.lanes,
    threads,
    ...(resident > 1 ? { residentGroups: resident } : {}),
    shared: sharedMemoryOf(target),
    input: leafSide(placed, shape, 'input'),
    output: leafSide(placed, shape, 'output'),
    inverse: placed.inverse,
    ...leafOperands(placed),
    ...(twiddle ? { twiddle } : {}),
    ...(outerTwiddle ? { outerTwiddle } : {}),
    scale: placed.scale,
    aliased: placed.aliased,
  };
}

/** A leaf that transforms one axis, which one block of threads holds. */
export function oneAxis(placed: PlacedLeaf, target: Target): Leaf {
  const { axis, coordinates } = placed;
  const { real, convolved } = placed.node;
  const points = convolved?.length ?? axis.count;
  const batch = mergedBatch(placed);
  const paired = hermitianSplitOf(placed);
  const symmetric = real?.by === 'symmetric';
  const toReals = isFromBins(placed);
  const longest = longestButterfly(placed, target);
  const { order, lanesAlong, tile, radices, staged } = tilingOf(placed, { points, batch, longest }, target);
  const shared = coordinates && target.lockstep === 'threads' ? largestFullTile(tile, batch[order[0]!]!.count) : tile;
  // A launch without sums between its two factors: going through shared memory keeps compilers from combining the factors into one.
  const onlyScales = axis.count === 1 && placed.scale.input !== 1;
  const copy = (wanted: boolean): LeafStep[] => (wanted ? [{ do: 'copy' }] : []);
  const columns = coordinates ? [-1, 1] : [-1];
  const ofReals = symmetric || real?.by === 'zeros' || real?.points === 'sums' || real?.points === 'continued';
  const isOneButterfly = ofReals && points <= longest[lanesAlong.input];
  // Passes over reals, and a single butterfly, cannot take several steps.
  const butterflies = radicesAndPrimes(radices, target, {
    multiplied: isOneButterfly,
    only: symmetric || isOneButterfly,
  });
  const passes: PassesStep = { do: 'passes', dimension: 0, ...butterflies, columns, lanesAlong };
  const steps = transformSteps(placed, passes, order, paired);
  const dimensions = coordinates ? [axis, coordinates] : [axis];
  // A Hermitian split already reads or writes memory in the order of memory.
  const copies = { input: staged.input && !(paired && toReals), output: staged.output && !(paired && !toReals) };
  return assembled(
    placed,
    {
      batch: order.map((d) => batch[d]!),
      lengths: coordinates ? [points, coordinates.count] : [points],
      tile: shared,
      blocks: 1,
      coupled: false,
      steps: [...copy(copies.input || onlyScales), ...steps, ...copy(copies.output)],
      counts: elementCounts(
        dimensions.map(({ count }) => count),
        0,
        paired && (toReals ? 'input' : 'output'),
      ),
      axes: { input: dimensions.map(({ input }) => input), output: dimensions.map(({ output }) => output) },
      ...(convolved?.by === 'rader' ? { order: powerOrders(axis.count) } : {}),
      places: tensorPlaces(dimensions),
      ...twiddlesOf(placed, batch, order),
    },
    target,
  );
}

/** The tiling of an axis. @param points in its passes @param longest the longest transform that is a single butterfly */
function tilingOf(
  placed: PlacedLeaf,
  {
    points,
    batch,
    longest,
  }: { readonly points: number; readonly batch: readonly Span[]; readonly longest: TilingQuestion['longestButterfly'] },
  target: Target,
): Tiling {
  const { coordinates, node, together, inOrder } = placed;
  const { convolved, product, twiddle, real } = node;
  const tiled = together || inOrder ? batch.slice(0, 1) : batch;
  const { order, ...tiling } = (target.lockstep === 'vector' ? vectorTiling : threadTiling)(
    {
      axis: points === placed.axis.count ? packedAxis(placed) : { ...packedAxis(placed), count: points },
      batch: tiled.map((span) => packedLines(placed, span)),
      twiddled: twiddle !== undefined,
      // Tiles that a group takes one after another do not go through their own passes slice by slice.
      convolved:
        [convolved, product, hermitianSplitOf(placed), together].some((one) => one !== undefined) ||
        real?.by === 'symmetric',
      longestButterfly: longest,
      ...groupSize(placed, target),
    },
    coordinatesTarget(coordinates?.count ?? 1, target),
  );
  return { ...tiling, order: [...order, ...batch.slice(tiled.length).map((_, n) => tiled.length + n)] };
}

/**
 * The number of elements along each dimension of a tile, on both sides.
 * @param bins the side of the bins of a Hermitian split along dimension `axis`: it has one more element, bin N
 */
export function elementCounts(
  counts: readonly number[],
  axis: number,
  bins: Side | undefined,
): Sides<readonly number[]> {
  const of = (side: Side) => (side === bins ? counts.map((count, d) => (d === axis ? count + 1 : count)) : counts);
  return { input: of('input'), output: of('output') };
}

/** The Hermitian split of an axis whose complex numbers were packed from pairs of reals. */
function hermitianSplitOf({ axis, node: { product, real } }: PlacedLeaf): HermitianSplit | undefined {
  if (product || (real?.by !== 'halves' && real?.by !== 'lines')) return undefined;
  return { do: 'hermitian-split', length: axis.count, by: real.by, ...(real.rows ? { merged: true } : {}) };
}

/** Whether a launch transforms bins to reals. */
function isFromBins({ node: { real } }: PlacedLeaf): boolean {
  return real?.toReals ?? real?.side === 'output';
}

/**
 * The passes of an axis (forward and back if it is convolved) and its Hermitian split. The split follows passes from reals and precedes
 * passes to reals, whose exponents have the opposite sign.
 */
function transformSteps(
  placed: PlacedLeaf,
  passes: PassesStep,
  order: readonly number[],
  paired: HermitianSplit | undefined,
): LeafStep[] {
  const { real } = placed.node;
  const symmetric = real?.by === 'symmetric';
  const toReals = isFromBins(placed);
  const inverse = (paired !== undefined || symmetric) && toReals;
  const convolution = convolveStepsOf(placed, order, inverse);
  const sign: Pick<PassesStep, 'symmetry' | 'inverse'> = symmetric
    ? { symmetry: inverse ? 'real-output' : 'real-input' }
    : inverse
      ? { inverse }
      : {};
  const steps = convolution ? convolveSteps(passes, convolution, inverse) : [{ ...passes, ...sign }];
  if (!paired) return steps;
  return toReals ? [{ ...paired, toReals }, ...steps] : [...steps, paired];
}

/** The longest transform that is a single butterfly, by the direction of the lanes. */
function longestButterfly(placed: PlacedLeaf, target: Target): TilingQuestion['longestButterfly'] {
  const { axis, precision, format, node, factors } = placed;
  const { product, real, twiddle, convolved } = node;
  if (convolved || product || twiddle) return { axis: 0, batch: 0 };
  const { complex, reals, ...between } = LONGEST_BUTTERFLY;
  const words = wordsPerReal(precision);
  if (real?.by === 'parts' && real.side === 'both' && !real.pairs && real.points) {
    const longest = between[real.points];
    return { axis: longest.axis[words], batch: longest.batch[words] };
  }
  // Passes over reals have an even radix only if a single butterfly takes all points.
  if (real?.by === 'symmetric' && axis.count % 2 === 0) return { axis: axis.count, batch: axis.count };
  if (real?.by === 'zeros' || real?.by === 'symmetric') {
    return { axis: isMultiplied(factors) ? 0 : reals.axis[words], batch: reals.batch[words] };
  }
  const { input, output } = packedAxis(placed);
  const planar = [format.input, format.output].includes('planar');
  const lines = hasUnitStep(input) && hasUnitStep(output) && !real && !planar;
  return {
    axis: sharesVectors(placed, target) ? complex.axis[words] : 0,
    batch: lines ? complex.batch[words] : 0,
  };
}

/** Whether real and imaginary parts share vectors: they are in one array, and the passes load and store them unchanged. */
function sharesVectors(placed: PlacedLeaf, target: Target): boolean {
  const { format, storage, callbacks, factors, node } = placed;
  const sides = ['input', 'output'] as const;
  const isStored = (side: Side) => !hasArithmetic(storage[side]);
  const separate = sides.some((side) => format[side] === 'planar' || isStored(side) || callbacks[side]);
  // A line that is not packed with another one has imaginary parts of zero.
  const unpacked = node.real !== undefined && !node.real.pairs;
  return !separate && !unpacked && !isMultiplied(factors) && target.capacity.lanes === 2;
}

function isMultiplied({ input, output }: PlacedLeaf['factors']): boolean {
  return input.length + output.length > 0;
}

/** The largest tile up to a given size that leaves no partial last tile: threads number transforms and coordinates together. */
function largestFullTile(tile: number, count: number): number {
  return Math.max(...divisors(count).filter((n) => n <= tile));
}

/** The pointwise operations around the two transforms of a convolution. @param conjugated the steps are conjugated, for the inverse */
function convolveStepsOf(placed: PlacedLeaf, order: readonly number[], conjugated: boolean): ConvolveSteps | undefined {
  const { axis, coordinates } = placed;
  const { convolved, product, real } = placed.node;
  if (convolved?.by === 'bluestein') {
    return real?.by === 'symmetric' ? chirpedReals(axis.count, conjugated) : chirped(axis.count, conjugated);
  }
  if (convolved?.by === 'rader') return permuted(axis.count);
  if (!product) return undefined;
  const batch = mergedBatch(placed);
  const tile = [{ ...axis, count: convolved?.length ?? axis.count }, ...(coordinates ? [coordinates] : [])];
  const own = order.map((d) => batch[d]!);
  const convolution = { product: productStep(placed, product, tileOfBins(tile), own) };
  const end = { count: axis.count };
  return convolved && convolved.length > axis.count ? { ...convolution, ends: { read: end, write: end } } : convolution;
}

/** The dimensions of a tile of bins: their counts, and their directions in the tensor. */
function tileOfBins(spans: readonly Span[]): TileBins[] {
  const places = tensorPlaces(spans).output;
  return spans.map(({ count }, d) => ({ ...places[d]!, count }));
}

/** A dimension of a tile of bins. */
export type TileBins = DimensionStride & Pick<Span, 'count'>;

/** The step that multiplies bins: by known factors or by the convolution kernel. */
export function productStep(
  { axis, more, node: { real } }: PlacedLeaf,
  product: NonNullable<LeafNode['product']>,
  tile: readonly TileBins[],
  batch: readonly Span[],
): ConvolveSteps['product'] {
  if (!('strides' in product)) {
    const { along, ...factors } = product;
    return { factors: { ...factors, terms: termsAlong(along, tile, batch, 'output') } };
  }
  const paired = real?.by === 'halves';
  // A Hermitian split handles pairs of bins, up to the middle bin.
  const bins = tile.map((own, d) => ({ ...own, count: own.count + (paired && d === tile.length - 1 ? 1 : 0) }));
  const factors = kernelFactors(product, bins, batch);
  if (paired)
    return {
      ...{ do: 'hermitian-split', length: axis.count, by: 'halves', kernel: factors },
      ...(more.length > 0 ? { everyAxis: true } : {}),
    };
  return factors.matrix > 1 ? { do: 'multiply', kernel: factors } : { kernel: factors };
}

/** The twiddles of a leaf, with the batch dimension that they count along once the merged `batch` has been reordered. */
export function twiddlesOf(
  { node, batch: spans }: PlacedLeaf,
  batch: readonly Span[],
  order: readonly number[],
): Pick<LaunchShape, 'twiddle' | 'outerTwiddle'> {
  const { twiddle, outerTwiddle } = node;
  const counting = (own: StepTwiddle, dimension: number): StepTwiddle => {
    const { along: _, ...others } = own;
    const along = order.indexOf(dimension);
    return along > 0 ? { ...others, along } : others;
  };
  return {
    twiddle: twiddle && counting(twiddle, 0),
    outerTwiddle: outerTwiddle && counting(outerTwiddle, batch.indexOf(spans[outerTwiddle.along]!)),
  };
}

/**
 * The radices of passes, with the algorithms for their large primes.
 * @param kinds `multiplied`: butterflies of primes use multiplication unless the user asked for convolution. `only`: every radix is a
 * butterfly.
 */
export function radicesAndPrimes(
  radices: readonly number[],
  target: Target,
  { multiplied = false, only = false }: { readonly multiplied?: boolean; readonly only?: boolean } = {},
): Pick<PassesStep, 'radices' | 'convolved' | 'rader'> {
  if (radices.every((radix) => radix <= LARGEST_LISTED_RADIX && !raderRadix(radix, target))) return { radices };
  const rader = only ? [] : [...new Set(radices)].flatMap((radix) => raderRadix(radix, target) ?? []);
  const stepped = rader.flatMap((one) => (one.by === 'convolution' ? one.radices : []));
  const convolved = convolvedPrimes(
    [...radices.filter((radix) => !isStepped(radix, rader)), ...stepped],
    target,
    multiplied,
  );
  return { radices, ...(convolved.length > 0 ? { convolved } : {}), ...(rader.length > 0 ? { rader } : {}) };
}

function isStepped(radix: number, rader: readonly RaderRadix[]): boolean {
  return rader.some(({ prime }) => prime === radix);
}

function sharedMemoryOf(target: Target): SharedMemory {
  return {
    format: target.sharedFormat,
    ...(target.parts === 4 ? { quarters: true } : {}),
    arrays: target.doubleBuffered ? 2 : 1,
    banks: target.banks,
    room: target.capacity.room,
  };
}

/** Transforms of a group, where somebody asks for a number or runs of mirror images want one. */
function groupSize(placed: PlacedLeaf, target: Target): { group?: number } {
  // Threads have all lines in one tile.
  if (placed.together) return target.lockstep === 'threads' ? { group: placed.batch[0]!.count } : {};
  if (placed.inOrder?.group) return { group: placed.inOrder.group };
  const { axisOf } = placed.node;
  const group = axisOf === undefined ? 0 : (target.tuning?.groupedBatch?.[axisOf] ?? 0);
  if (group > 0) return { group };
  const rows = rowsOfMirrors(placed, target);
  return rows ? { group: rows } : {};
}

/**
 * Rows for a group that writes bins and the mirror images of bins, where two such groups fit on a multiprocessor: these runs of memory begin
 * and end inside of sectors, each of which has to be read before a part of it can be written. So runs are about twice as long, and rows divide into groups evenly.
 */
function rowsOfMirrors({ node, axis }: PlacedLeaf, { lockstep, capacity }: Target): number | undefined {
  const mirrors = node.lines.output.some(({ line }) => isOverNumbers(line));
  if (lockstep === 'vector' || !mirrors || !node.twiddle) return undefined;
  const { count } = node.batch[0]!;
  const rows = Math.ceil(count / Math.max(1, Math.round(count / (2 * capacity.run))));
  return 2 * rows * axis.count <= capacity.room ? rows : undefined;
}
