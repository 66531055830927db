/**
 * What the kernels of non-uniform transforms have in common: the fine grid with its margins, the arrays that say where points lie, and the
 * properties of the device.
 *
 * A point at X (in grid points, 0 ≤ X < n) is spread over `width` grid points along each axis, from ⌈X − width/2⌉ on. Where that is
 * negative, n is added: so the points behind the end of an axis, its **margin**, stand for the points at its beginning, and no access wraps
 * around. What was spread into margins is added to the beginning before the transform (type 1); margins are copied from the beginning after
 * it (type 2).
 */
import type { ArrayRef, ElementType, Index, IndexLike, IntegerTable, Var } from '../../ir/index.ts';
import { add, lookup, scale } from '../../ir/index.ts';

/** Of the device. */
export interface NonuniformTarget {
  /** Items in lockstep are a vector, and groups run one after another on each thread. */
  readonly vectors: boolean;
  /** Reals in a vector; 2 where threads run in lockstep. */
  readonly lanes: number;
  readonly maxThreads: number;
}

/** The grid that transforms run over, complex numbers with axis 0 fastest. */
export interface FineGrid {
  /** Grid points of each axis. */
  readonly points: readonly number[];
  /** Points of the margin of each axis. */
  readonly margins: readonly number[];
  /** Distances of neighbours along each axis, in complex numbers. */
  readonly strides: readonly number[];
  /** Complex numbers in one grid, with margins. */
  readonly size: number;
}

/** How points are spread over a grid, or grids are interpolated at points. */
export interface NonuniformShape {
  readonly target: NonuniformTarget;
  readonly type: ElementType;
  readonly grid: FineGrid;
  /** Of the spreading kernel, in grid points. */
  readonly width: number;
  /** Transforms that run together: grids, and sets of strengths at the same points. */
  readonly transforms: number;
  /** The most points: kernels are made for powers of two. */
  readonly capacity: number;
  /** Strengths are multiplied by a complex factor for each point (type 3). */
  readonly hasFactors: boolean;
}

/** @param type what grids are stored in: their margin along axis 0 is made of whole vectors. */
export function fineGridOf(points: readonly number[], width: number, lanes: number): FineGrid {
  const margins = points.map((_, axis) => (axis === 0 ? reachOf(width, lanes) : width));
  const strides = [1];
  points.forEach((count, axis) => {
    strides.push(strides[axis]! * (count + margins[axis]!));
  });
  return { points, margins, strides: strides.slice(0, -1), size: strides.at(-1)! };
}

/** Grid points along axis 0 that a point is spread over: the width, rounded up to whole vectors of complex numbers. */
export function reachOf(width: number, lanes: number): number {
  return Math.ceil((2 * width) / lanes) * (lanes / 2);
}

/** Where the weights of a point lie: first the weights along axis 0, each twice, for real and imaginary parts; then the weights along the other axes. */
export interface WeightLayout {
  /** Reals for each point. */
  readonly stride: number;
  /** Of each axis. */
  readonly starts: readonly number[];
  readonly counts: readonly number[];
}

export function weightLayoutOf({ grid, width, target: { lanes } }: NonuniformShape): WeightLayout {
  const counts = grid.points.map((_, axis) =>
    axis === 0 ? 2 * reachOf(width, lanes) : Math.ceil(width / lanes) * lanes,
  );
  const starts = counts.map((_, axis) => counts.slice(0, axis).reduce((sum, count) => sum + count, 0));
  return { counts, starts, stride: counts.reduce((sum, count) => sum + count, 0) };
}

/** Points that a group computes weights of, or interpolates at. */
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

/** The table of points: for each the place of its first grid point, and its number among the caller's points. */
export function pointTable({ grid, capacity }: NonuniformShape): IntegerTable {
  return laterTable('points', 2 * capacity, Math.max(grid.size, capacity));
}

/** Where each transform's strengths begin; undefined where there is one transform. */
export function startTable({ transforms, capacity }: NonuniformShape): IntegerTable | undefined {
  return transforms === 1 ? undefined : laterTable('starts', transforms, transforms * capacity);
}

/** The chunks of points: how many points each has. */
export function chunkTable({ capacity }: NonuniformShape): IntegerTable {
  return laterTable('chunks', chunksOf(capacity), CHUNK + 1);
}

export function chunksOf(capacity: number): number {
  return Math.ceil(capacity / CHUNK);
}

/** A point of the point table. */
export function pointAt(points: IntegerTable, point: IndexLike): { readonly base: Index; readonly number: Index } {
  const at = scale(point, 2);
  return { base: lookup(points, at), number: lookup(points, add(at, 1)) };
}

/** The place of a strength in the caller's array, in complex numbers. */
export function strengthAt(number: Index, starts: IntegerTable | undefined, transform: Index): Index {
  return starts ? add(number, lookup(starts, transform)) : number;
}

/** Threads for so many items. */
export function threadsFor(items: number, { maxThreads }: NonuniformTarget): number {
  return Math.min(256, maxThreads, Math.max(32, 2 ** Math.ceil(Math.log2(items))));
}

/** The loop of a group over so many points. */
export interface PointLoop {
  readonly variable: Var;
  readonly limit: Index;
}
