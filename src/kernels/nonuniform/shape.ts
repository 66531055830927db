/**
 * The shape of non-uniform transforms: the fine grid with its margins, the tables of points, and the properties of the device.
 *
 * A point at X (in grid points, 0 ≤ X < n) is spread over `width` grid points along each axis, beginning with ⌈X − width/2⌉, plus n if that
 * is negative. So the points behind the end of an axis, its **margin**, represent the points at its beginning, and no access wraps around.
 * Margins are added to the beginning before the transform (type 1), or copied from the beginning after it (type 2).
 */
import type { ArrayRef, ElementType, Index, IndexLike, IntegerTable, Var } from '../../ir/index.ts';
import { add, lookup, scale } from '../../ir/index.ts';

/** The properties of the device that the kernels depend on. */
export interface NonuniformTarget {
  /** Whether items in lockstep form a vector, and each thread runs groups one after another. */
  readonly vectors: boolean;
  /** Reals in a vector; 2 for threads. */
  readonly lanes: number;
  readonly maxThreads: number;
}

/** The oversampled grid of complex numbers, axis 0 fastest. */
export interface FineGrid {
  /** The number of grid points along each axis, without margins. */
  readonly points: readonly number[];
  /** The number of margin points along each axis. */
  readonly margins: readonly number[];
  /** The strides of the axes in complex numbers. */
  readonly strides: readonly number[];
  /** The number of complex numbers in one grid, margins included. */
  readonly size: number;
}

/** The shape of a spreading or an interpolation. */
export interface NonuniformShape {
  readonly target: NonuniformTarget;
  readonly type: ElementType;
  readonly grid: FineGrid;
  /** The width of the spreading kernel in grid points. */
  readonly width: number;
  /** The number of transforms that run together: each has a grid, and strengths at the same points. */
  readonly transforms: number;
  /** The most points that the kernels can handle; a power of two. */
  readonly capacity: number;
  /** Whether each point has a complex factor for its strengths (type 3). */
  readonly hasFactors: boolean;
}

/** The fine grid. @param lanes of a vector: the margin along axis 0 is made of whole vectors */
export function fineGridOf(points: readonly number[], width: number, lanes: number): FineGrid {
  const margins = points.map((_, axis) => (axis === 0 ? spreadPoints(width, lanes) : width));
  const strides = [1];
  points.forEach((count, axis) => {
    strides.push(strides[axis]! * (count + margins[axis]!));
  });
  return { points, margins, strides: strides.slice(0, -1), size: strides.at(-1)! };
}

/** The number of grid points along axis 0 that a point is spread over: the width, rounded up to whole vectors of complex numbers. */
export function spreadPoints(width: number, lanes: number): number {
  return Math.ceil((2 * width) / lanes) * (lanes / 2);
}

/**
 * The layout of a point's weights: first the weights along axis 0, each twice (for real and imaginary part), then the weights along the
 * other axes.
 */
export interface WeightLayout {
  /** Reals per point. */
  readonly stride: number;
  /** The first weight of each axis. */
  readonly starts: readonly number[];
  readonly counts: readonly number[];
}

export function weightLayoutOf({ grid, width, target: { lanes } }: NonuniformShape): WeightLayout {
  const counts = grid.points.map((_, axis) =>
    axis === 0 ? 2 * spreadPoints(width, lanes) : Math.ceil(width / lanes) * lanes,
  );
  const starts = counts.map((_, axis) => counts.slice(0, axis).reduce((sum, count) => sum + count, 0));
  return { counts, starts, stride: counts.reduce((sum, count) => sum + count, 0) };
}

/** The number of points that a group computes weights of, or interpolates at. */
export const CHUNK = 128;

/** An array that kernels only read. */
export function operand(name: string, type: ElementType): ArrayRef {
  return { name, space: 'global', type, operand: true };
}

/** A table of integers that is filled when points are set. */
export function laterTable(name: string, length: number, below: number): IntegerTable {
  const key = `set later:${name},${length},${below}`;
  return { name, space: 'table', type: 'u32', length, key, below, entries: [], filledLater: true, runs: () => [] };
}

/** The table of points. An entry holds the place of the point's first grid point, and the number that the caller gave the point. */
export function pointTable({ grid, capacity }: NonuniformShape): IntegerTable {
  return laterTable('points', 2 * capacity, Math.max(grid.size, capacity));
}

/** The table of the first strength of each transform; undefined if there is one transform. */
export function startTable({ transforms, capacity }: NonuniformShape): IntegerTable | undefined {
  return transforms === 1 ? undefined : laterTable('starts', transforms, transforms * capacity);
}

/** The table of chunks, which holds the number of points in each. */
export function chunkTable({ capacity }: NonuniformShape): IntegerTable {
  return laterTable('chunks', chunkCount(capacity), CHUNK + 1);
}

export function chunkCount(capacity: number): number {
  return Math.ceil(capacity / CHUNK);
}

/** An entry of the point table. */
export function pointAt(points: IntegerTable, point: IndexLike): { readonly base: Index; readonly number: Index } {
  const at = scale(point, 2);
  return { base: lookup(points, at), number: lookup(points, add(at, 1)) };
}

/** The place of a strength in the caller's array, in complex numbers. */
export function strengthAt(number: Index, starts: IntegerTable | undefined, transform: Index): Index {
  return starts ? add(number, lookup(starts, transform)) : number;
}

/** The number of threads for some items. */
export function threadCount(items: number, { maxThreads }: NonuniformTarget): number {
  return Math.min(256, maxThreads, Math.max(32, 2 ** Math.ceil(Math.log2(items))));
}

/** The loop of a group over its points. */
export interface PointLoop {
  readonly variable: Var;
  readonly limit: Index;
}
