/**
 * The layout of a leaf over the lanes of a device: the loop that neighbouring lanes walk along, the number of transforms in a group, copies
 * through shared memory, and the radices.
 */
import type { Side } from '../../problem/index.ts';
import type { Target } from '../device/target.ts';
import type { LanesAlong, PassesStep } from '../tree/leaf.ts';
import type { Dimension, DimensionStride } from '../tree/node.ts';
import { chooseRadices } from './radix.ts';

/**
 * The stride of a loop in elements of memory. A number is an ordinary stride. `run` and `next`: an intermediate result in tiles, where
 * steps within a run have stride 1 and runs are `next` apart. `step`, `count`, `before` and `skip`: `count` steps of stride `step` with a
 * gap of `skip` further steps before step number `before`.
 */
export type Stride =
  | number
  | { readonly run: number; readonly next: number }
  | { readonly step: number; readonly count: number; readonly before: number; readonly skip: number };

/** The stride from an element to its neighbour. */
export function neighbourStride(stride: Stride): number {
  return typeof stride === 'number' ? stride : 'step' in stride ? stride.step : 1;
}

/** The distance of neighbours, which is never negative. */
export function distanceOf(stride: Stride): number {
  return Math.abs(neighbourStride(stride));
}

/** One loop in memory. */
export interface Span {
  readonly count: number;
  readonly input: Stride;
  readonly output: Stride;
  /** The direction of the loop in the tensor. */
  readonly places?: { readonly input: SpanPlace; readonly output: SpanPlace };
}

/** A direction in the tensor with the gap that the loop leaves out. */
export interface SpanPlace extends DimensionStride {
  readonly gap?: Dimension['gap'];
}

export interface TilingQuestion {
  readonly axis: Span;
  readonly batch: readonly Span[];
  /** The first batch dimension is the one that twiddles count along: vector lanes take neighbours in it. */
  readonly twiddled: boolean;
  /** The number of transforms in a group that the user asked for. */
  readonly group?: number;
  /** The axis is transformed forward and back, so a transposed tile would be transposed twice. */
  readonly convolved?: boolean;
  /** The longest transform that is a single butterfly. */
  readonly longestButterfly: Readonly<Record<LanesAlong, number>>;
}

/**
 * The longest transforms that vectors compute as a single butterfly, by the direction of the lanes and by the 32-bit words of a real.
 *
 * Along the axis, a vector holds one complex number: there are no products between passes, and half as many registers are needed. Of real
 * lines, half of the sums are known to be zero. Along the batch, each lane reads and writes a line of its own, so nothing is transposed in
 * shared memory. Longer transforms spill registers.
 *
 * DCTs and DSTs are butterflies of their reals (`sums`), of their symmetric extension (`continued`), half of whose points repeat the
 * others, or of numbers packed from two reals (`facing`). These may be longer, because the alternative to a butterfly is a Hermitian split
 * with copies, or a transform of twice as many points.
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
  /** The number of neighbouring transforms that share a group. */
  readonly tile: number;
  /** Whether the tile is copied through shared memory, because the lanes of the first or last pass would not walk along memory. */
  readonly staged: { readonly input: boolean; readonly output: boolean };
  /** The batch dimensions; the first one is that whose neighbours share a group. */
  readonly order: readonly number[];
}

/** The tiling for vectors: the lanes of all passes walk along the same loop, unless the first pass transposes the tile. */
export function vectorTiling(
  { axis, batch, twiddled, group, convolved = false, longestButterfly }: TilingQuestion,
  target: Target,
): Tiling {
  const { lanes, run, room } = target.capacity;
  const length = axis.count;
  const along = chooseLanes(axis, batch, twiddled, lanes, longestButterfly.batch, target);
  const order = withFirst(batch, along === 'axis' ? 0 : along);
  const columns = batch[order[0]!]!;
  const lanesAlong = along === 'axis' ? 'axis' : 'batch';
  const tile =
    lanesAlong === 'axis' ? 1 : chooseTile(length, columns.count, { grain: lanes, run, room, group }, target);
  if (length > 1 && length <= longestButterfly[lanesAlong]) {
    const walks = { input: lanesAlong, output: lanesAlong } as const;
    return { order, lanesAlong: walks, tile, radices: [length], staged: { input: false, output: false } };
  }
  // If memory is contiguous along the axis but lanes walk along columns, whole runs are copied and transposed on the way.
  const stage = (side: Side) =>
    lanesAlong === 'batch' && !hasUnitStep(columns[side]) && hasUnitStep(axis[side]) && length >= lanes;
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
 * Whether the first pass of vectors can transpose a tile of columns in registers, so that no copy is needed: each vector of neighbouring
 * columns computes as many neighbouring points, which form squares. Only if all squares are whole.
 */
export function transposesTile(length: number, target: Target): boolean {
  const { lanes } = target.capacity;
  const [first, ...rest] = chooseRadices({ length, lanesAlong: 'axis', lanes }, target).radices;
  return first! % lanes === 0 && rest.length > 0 && rest.every((radix) => (length / radix) % lanes === 0);
}

/** The direction in which memory is closer to contiguous on one side: along the axis or along its columns. */
export function walksAlong(axis: Span, columns: Span, side: Side): LanesAlong {
  return columns.count > 1 && distanceOf(columns[side]) < distanceOf(axis[side]) ? 'batch' : 'axis';
}

/** Whether neighbours are adjacent in memory. */
export function hasUnitStep(stride: Stride): boolean {
  return neighbourStride(stride) === 1;
}

/** The loop that the lanes walk along: `axis`, or the number of a batch dimension. */
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
  const contiguous = (span: Span) => Number(hasUnitStep(span.input)) + Number(hasUnitStep(span.output));
  const best = candidates
    .filter((d) => batch[d]!.count >= lanes)
    .sort((a, b) => contiguous(batch[b]!) - contiguous(batch[a]!) || batch[b]!.count - batch[a]!.count)[0];
  if (best === undefined) return 'axis';
  if (axis.count <= longestButterfly) return best;
  const whole = hasUnitStep(axis.input) && hasUnitStep(axis.output);
  // A long axis without twiddles that is contiguous on both sides needs no columns.
  if (whole && axis.count >= shortAxis) return 'axis';
  // If neither memory nor a short axis favours columns, a long axis keeps its lanes.
  if (contiguous(batch[best]!) + contiguous(axis) === 0 && axis.count >= shortAxis) {
    return 'axis';
  }
  return best;
}

/** The numbers of the batch dimensions with dimension `d` first. */
export function withFirst(batch: readonly Span[], d: number): number[] {
  return [d, ...batch.keys()].filter((other, place) => place === 0 || other !== d);
}

interface TileSize {
  readonly grain: number;
  readonly run: number;
  readonly room: number;
  readonly group: number | undefined;
}

/**
 * The number of transforms in a group: whole runs of memory and enough points to be worth a group, but at most half of shared memory if
 * half a run fits there, because tables and the caller's data need cache, too.
 */
export function chooseTile(
  length: number,
  count: number,
  { grain, run, room, group }: TileSize,
  { groupPoints }: Pick<Target, 'groupPoints'>,
): number {
  const fits = (elements: number) => Math.floor(elements / length / grain) * grain;
  if (group) return Math.max(grain, Math.min(fits(room), Math.ceil(Math.min(group, count) / grain) * grain));
  const most = Math.max(grain, Math.min(fits(room), Math.max(fits(room / 2), run / 2)));
  const wanted = Math.max(run, Math.floor(groupPoints / length / run) * run);
  const tile = Math.min(wanted, most, Math.ceil(count / grain) * grain);
  return dividingTile(tile, most, count, grain) ?? tile;
}

/**
 * A tile that divides the batch, which avoids a partial last tile: the given size, or one that is not much longer or shorter. Among sizes
 * that are no whole runs, an odd number of vectors is the fastest, for an unknown reason.
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
