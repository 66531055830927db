/**
 * How a leaf is laid out over the lanes of a device: along which loops neighbouring lanes walk, how many transforms share
 * a group, what is copied through shared memory, and the radices.
 */
import type { Side } from '../../problem/index.ts';
import type { Target } from '../device/target.ts';
import type { LanesAlong, PassesStep } from '../tree/leaf.ts';
import type { Dimension, Place } from '../tree/node.ts';
import { chooseRadices } from './radix.ts';

/**
 * From one step of a loop to the next, in elements of memory; or, where an intermediate result lies in tiles, one for each step inside a
 * run and so many from one run to the next; or, where elements are left out in the middle, `step` for each of `count` steps and, from step
 * number `before` on, `skip` steps more.
 */
export type Stride =
  | number
  | { readonly run: number; readonly next: number }
  | { readonly step: number; readonly count: number; readonly before: number; readonly skip: number };

/** From one of two neighbours to the other. */
export function stepOf(stride: Stride): number {
  return typeof stride === 'number' ? stride : 'step' in stride ? stride.step : 1;
}

/** How far apart neighbours lie, in whichever direction. */
export function distanceOf(stride: Stride): number {
  return Math.abs(stepOf(stride));
}

/** One loop in memory. */
export interface Span {
  readonly count: number;
  readonly input: Stride;
  readonly output: Stride;
  /** Where it lies in the tensor. */
  readonly places?: { readonly input: SpanPlace; readonly output: SpanPlace };
}

/** A place that steps over a gap. */
export interface SpanPlace extends Place {
  readonly gap?: Dimension['gap'];
}

export interface TilingQuestion {
  readonly axis: Span;
  readonly batch: readonly Span[];
  /** The first batch dimension is the one that twiddles count along: lanes of a vector take neighbours in it. */
  readonly twiddled: boolean;
  /** Transforms per group, where somebody asks for so many. */
  readonly group?: number;
  /** It is transformed and back: a tile would have to be transposed for both. */
  readonly convolved?: boolean;
  /** Up to here it is one butterfly. */
  readonly longestButterfly: Readonly<Record<LanesAlong, number>>;
}

/**
 * The longest transforms that are one butterfly of vectors, by what the lanes run along and by the 32-bit words of a real.
 *
 * Along the axis: of complex numbers, one in each vector, nothing is multiplied between passes, and half as many registers are needed.
 * Of a line of reals, half of the sums are known to be zero. Along the batch each lane reads and writes a line of its own where that is:
 * nothing is transposed in shared memory. Longer ones spill.
 *
 * Sums of cosines and sines are butterflies of their reals (`sums`), of the points that continue them (`continued`), half of which are
 * the others again, or of numbers whose parts are two reals (`facing`). Without one, bins are paired and copied on their way, or twice
 * as many points transformed: they may be longer.
 */
export const LONGEST_BUTTERFLY = {
  complex: {
    axis: { 1: 0, 2: 30, 4: 15 },
    batch: { 1: 24, 2: 24, 4: 15 },
  },
  reals: {
    axis: { 1: 22, 2: 22, 4: 13 },
    batch: { 1: 24, 2: 24, 4: 24 },
  },
  sums: {
    axis: { 1: 22, 2: 24, 4: 10 },
    batch: { 1: 44, 2: 44, 4: 20 },
  },
  continued: {
    axis: { 1: 44, 2: 46, 4: 20 },
    batch: { 1: 66, 2: 66, 4: 44 },
  },
  facing: {
    axis: { 1: 0, 2: 0, 4: 0 },
    batch: { 1: 15, 2: 15, 4: 0 },
  },
} as const;

export interface Tiling extends Pick<PassesStep, 'lanesAlong' | 'radices'> {
  /** Neighbouring transforms that share a group. */
  readonly tile: number;
  /** Copy through shared memory, where the lanes of the first or last pass would not walk along memory. */
  readonly staged: { readonly input: boolean; readonly output: boolean };
  /** The batch dimensions, the one whose neighbours share a group first. */
  readonly order: readonly number[];
}

/** For the elements of a vector, which walk along one loop: all passes along the same one. */
export function vectorTiling(
  { axis, batch, twiddled, group, convolved = false, longestButterfly }: TilingQuestion,
  target: Target,
): Tiling {
  const { lanes, run, room } = target.capacity;
  const length = axis.count;
  const along = chooseLanes(axis, batch, twiddled, lanes, longestButterfly.batch, target);
  const order = forward(batch, along === 'axis' ? 0 : along);
  const columns = batch[order[0]!]!;
  const lanesAlong = along === 'axis' ? 'axis' : 'batch';
  const tile =
    lanesAlong === 'axis' ? 1 : chooseTile(length, columns.count, { grain: lanes, run, room, group }, target);
  if (length > 1 && length <= longestButterfly[lanesAlong]) {
    const walks = { input: lanesAlong, output: lanesAlong } as const;
    return { order, lanesAlong: walks, tile, radices: [length], staged: { input: false, output: false } };
  }
  // Where memory runs along the axis but the lanes do not, whole runs are copied and transposed on the way.
  const stage = (side: Side) =>
    lanesAlong === 'batch' && !isContiguous(columns[side]) && isContiguous(axis[side]) && length >= lanes;
  if (stage('output') && !stage('input') && !convolved && transposesTile(length, target)) {
    const { radices } = chooseRadices({ length, lanesAlong: 'axis', lanes }, target);
    const walks = { input: 'batch', output: 'axis' } as const;
    return { order, lanesAlong: walks, tile, radices, staged: { input: false, output: false } };
  }
  return {
    order,
    lanesAlong: { input: lanesAlong, output: lanesAlong },
    tile,
    radices: chooseRadices({ length, lanesAlong, lanes }, target).radices,
    staged: { input: stage('input'), output: stage('output') },
  };
}

/**
 * Whether a vector's first pass can transpose a tile of columns, so that nothing has to be copied: each vector of neighbouring
 * columns computes as many neighbouring points, and squares of these are transposed in registers. Only where whole squares
 * come of it.
 */
export function transposesTile(length: number, target: Target): boolean {
  const { lanes } = target.capacity;
  const [first, ...rest] = chooseRadices({ length, lanesAlong: 'axis', lanes }, target).radices;
  return first! % lanes === 0 && rest.length > 0 && rest.every((radix) => (length / radix) % lanes === 0);
}

/** Whether memory runs along the axis or along its neighbours, on one side. */
export function walksAlong(axis: Span, columns: Span, side: Side): LanesAlong {
  return columns.count > 1 && distanceOf(columns[side]) < distanceOf(axis[side]) ? 'batch' : 'axis';
}

/** Neighbours lie side by side. */
export function isContiguous(stride: Stride): boolean {
  return stepOf(stride) === 1;
}

/** `axis`, or the number of the batch dimension that the lanes run along. */
function chooseLanes(
  axis: Span,
  batch: readonly Span[],
  twiddled: boolean,
  lanes: number,
  longestButterfly: number,
  target: Target,
): 'axis' | number {
  const { shortAxis } = target.calibration.columns;
  const candidates = twiddled ? [0] : batch.map((_, d) => d);
  const contiguous = (span: Span) => Number(isContiguous(span.input)) + Number(isContiguous(span.output));
  const best = candidates
    .filter((d) => batch[d]!.count >= lanes)
    .sort((a, b) => contiguous(batch[b]!) - contiguous(batch[a]!) || batch[b]!.count - batch[a]!.count)[0];
  if (best === undefined) return 'axis';
  if (axis.count <= longestButterfly) return best;
  const whole = isContiguous(axis.input) && isContiguous(axis.output);
  // Without twiddles in the way, a long axis that memory runs along needs no neighbours.
  if (whole && axis.count >= shortAxis) return 'axis';
  // Neither memory nor short transforms ask for columns: a long axis keeps its lanes.
  if (contiguous(batch[best]!) + contiguous(axis) === 0 && axis.count >= shortAxis) {
    return 'axis';
  }
  return best;
}

/** The dimensions with one of them first. */
export function forward(batch: readonly Span[], d: number): number[] {
  return [d, ...batch.keys()].filter((other, place) => place === 0 || other !== d);
}

interface TileSize {
  readonly grain: number;
  readonly run: number;
  readonly room: number;
  readonly group: number | undefined;
}

/**
 * Transforms per group: whole runs of memory, enough points to be worth it, no more than half of shared memory where that
 * leaves half a run: tables and the caller's data want their place too.
 */
export function chooseTile(
  length: number,
  count: number,
  { grain, run, room, group }: TileSize,
  { groupPoints }: Target,
): number {
  const fits = (elements: number) => Math.floor(elements / length / grain) * grain;
  if (group) return Math.max(grain, Math.min(fits(room), Math.ceil(Math.min(group, count) / grain) * grain));
  const most = Math.max(grain, Math.min(fits(room), Math.max(fits(room / 2), run / 2)));
  const wanted = Math.max(run, Math.floor(groupPoints / length / run) * run);
  const tile = Math.min(wanted, most, Math.ceil(count / grain) * grain);
  return dividingTile(tile, most, count, grain) ?? tile;
}

/**
 * A tile that divides the batch spares the tail: the one asked for, or one that is not much longer or shorter. Of those
 * that are not whole runs, an odd number of vectors is the best, for no reason that is known.
 */
export function dividingTile(tile: number, most: number, count: number, grain: number): number | undefined {
  if (count % tile === 0) return tile;
  const divides = (candidate: number) => count % candidate === 0;
  const sizes: number[] = [];
  const longest = Math.floor(Math.min(most, 1.5 * tile) / grain) * grain;
  for (let size = longest; size >= Math.max(grain, tile / 2); size -= grain) sizes.push(size);
  const odd = grain > 1 ? sizes.find((size) => divides(size) && (size / grain) % 2 === 1) : undefined;
  return odd ?? sizes.find((size) => size < tile && divides(size));
}
