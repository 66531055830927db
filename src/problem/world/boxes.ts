/**
 * Boxes of a tensor that several ranks share: a range of points along each dimension. The dimensions are the axes, fastest first, and
 * then the batches.
 */

/** Points from `from` up to `to`, not included, in each dimension. */
export interface Box {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** A cut of one dimension into some number of parts. */
export interface Cut {
  readonly dimension: number;
  readonly parts: number;
}

/**
 * A cut of a tensor into one box for each rank. The digits of a rank's number select its part of each cut; the digit of the first cut is the
 * lowest. Ranks beyond the last box have none.
 */
export type Grid = readonly Cut[];

/** The box of a whole tensor. */
export function wholeBox(shape: readonly number[]): Box {
  return { from: shape.map(() => 0), to: [...shape] };
}

export function lengthsOf({ from, to }: Box): number[] {
  return from.map((first, d) => to[d]! - first);
}

/** The number of elements of a box. */
export function volumeOf({ from, to }: Box): number {
  return from.reduce((volume, first, d) => volume * Math.max(0, to[d]! - first), 1);
}

export function isEmptyBox(box: Box): boolean {
  return box.from.some((first, d) => box.to[d]! <= first);
}

/** The intersection of two boxes; undefined where it is empty. */
export function intersectionOf(a: Box, b: Box): Box | undefined {
  const from = a.from.map((first, d) => Math.max(first, b.from[d]!));
  const to = a.to.map((last, d) => Math.min(last, b.to[d]!));
  return from.some((first, d) => to[d]! <= first) ? undefined : { from, to };
}

/** The number of elements that two boxes share. */
export function sharedVolume(a: Box, b: Box): number {
  let volume = 1;
  for (let d = 0; d < a.from.length && volume > 0; d++)
    volume *= Math.max(0, Math.min(a.to[d]!, b.to[d]!) - Math.max(a.from[d]!, b.from[d]!));
  return volume;
}

export function isSameBox(a: Box, b: Box): boolean {
  return a.from.every((first, d) => first === b.from[d] && a.to[d] === b.to[d]);
}

/** The same box with another range along one dimension. */
export function withRange(box: Box, dimension: number, from: number, to: number): Box {
  const along = (list: readonly number[], value: number) => list.map((old, d) => (d === dimension ? value : old));
  return { from: along(box.from, from), to: along(box.to, to) };
}

/** The start of a part, where points are cut into parts that are equal but for one more point in the first ones. */
export function startOfPart(points: number, parts: number, part: number): number {
  return part * Math.floor(points / parts) + Math.min(part, points % parts);
}

/** The part that a point lies in. */
export function partOfPoint(points: number, parts: number, point: number): number {
  const [length, longer] = [Math.floor(points / parts), points % parts];
  const inLonger = longer * (length + 1);
  return point < inLonger ? Math.floor(point / (length + 1)) : longer + Math.floor((point - inLonger) / length);
}

/** The number of ranks that a grid has boxes for. */
export function ranksOf(grid: Grid): number {
  return grid.reduce((ranks, { parts }) => ranks * parts, 1);
}

/** The box of a rank; it is empty where the grid has none for the rank, or has more parts than points. */
export function boxOfRank(shape: readonly number[], grid: Grid, rank: number): Box {
  const box = wholeBox(shape) as { from: number[]; to: number[] };
  let digits = rank;
  for (const { dimension, parts } of grid) {
    const part = digits % parts;
    digits = Math.floor(digits / parts);
    box.from[dimension] = startOfPart(shape[dimension]!, parts, part);
    box.to[dimension] = startOfPart(shape[dimension]!, parts, part + 1);
  }
  return digits === 0 ? box : { from: shape.map(() => 0), to: shape.map(() => 0) };
}
