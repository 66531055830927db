/**
 * The sharing of a tensor's elements among ranks: this file reads it as a user writes it, checks that bricks cover the tensor once, and tells
 * which rank holds which elements.
 */
import { show } from '../errors.ts';
import type { FieldReader } from '../input/fields.ts';
import { isRecord, type RawRecord } from '../input/snapshot.ts';
import { packedStrides } from '../layout/layout.ts';
import {
  type Box,
  boxOfRank,
  type Grid,
  intersectionOf,
  isEmptyBox,
  lengthsOf,
  partOfPoint,
  ranksOf,
  volumeOf,
  wholeBox,
} from './boxes.ts';
import type { Brick, SharedTensor, Sharing } from './problem.ts';

/** Strides of a box that lies packed in memory. */
export function boxStrides(box: Box): number[] {
  return packedStrides(lengthsOf(box));
}

/** The number of elements from the first one of a rank's memory to the last one of a brick. */
export function brickSpan(brick: Brick): number {
  if (isEmptyBox(brick)) return brick.offset;
  return lengthsOf(brick).reduce((span, length, d) => span + (length - 1) * brick.strides[d]!, brick.offset + 1);
}

/** Bricks by their ranks, for lists that have been looked up. */
const byRank = new WeakMap<readonly Brick[], Map<number, Brick[]>>();
const NONE: readonly Brick[] = [];

function sorted(bricks: readonly Brick[]): Map<number, Brick[]> {
  let known = byRank.get(bricks);
  if (known) return known;
  byRank.set(bricks, (known = new Map()));
  for (const brick of bricks) {
    const own = known.get(brick.rank);
    if (own) own.push(brick);
    else known.set(brick.rank, [brick]);
  }
  return known;
}

/** The bricks of a rank; bricks without elements are left out. */
export function bricksOfRank({ shape, sharing }: SharedTensor, rank: number): readonly Brick[] {
  if (sharing.by === 'bricks') return sorted(sharing.bricks).get(rank) ?? NONE;
  const box = boxOfRank(shape, sharing.grid, rank);
  return isEmptyBox(box) ? [] : [{ ...box, rank, offset: 0, strides: boxStrides(box) }];
}

/** The bricks that share elements with a box, in the order of their ranks and, within a rank, of its memory. */
export function bricksThatMeet({ shape, sharing }: SharedTensor, box: Box): Brick[] {
  if (sharing.by === 'bricks') return sharing.bricks.filter((brick) => intersectionOf(brick, box));
  let ranks = [0];
  let weight = 1;
  for (const { dimension, parts } of sharing.grid) {
    const points = shape[dimension]!;
    const first = partOfPoint(points, parts, box.from[dimension]!);
    const last = partOfPoint(points, parts, box.to[dimension]! - 1);
    const digits = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * weight);
    ranks = digits.flatMap((digit) => ranks.map((rank) => rank + digit));
    weight *= parts;
  }
  return ranks.flatMap((rank) => bricksOfRank({ shape, sharing, elements: 'complex' }, rank));
}

/** The number of elements of a rank's memory for its bricks. */
export function spanOfRank(tensor: SharedTensor, rank: number): number {
  return bricksOfRank(tensor, rank).reduce((span, brick) => Math.max(span, brickSpan(brick)), 0);
}

/** The reader of a side, and the tensor of the side. */
export interface SideReading {
  readonly reader: FieldReader;
  readonly path: string;
  /** Points along each axis, and batches. */
  readonly shape: readonly number[];
  readonly ranks: number;
}

/** The sharing of a side. @param value `{ split }` or `{ bricks }`; faults are reported to the reader */
export function readSharing(value: unknown, reading: SideReading): Sharing {
  const { reader, path } = reading;
  const record: RawRecord = value === undefined ? {} : reader.record(value, path, ['split', 'bricks']);
  if (record.bricks === undefined) return { by: 'grid', grid: readSplit(record.split, reading) };
  if (record.split !== undefined) {
    reader.report('invalid-field', path, `${path} has both split and bricks; one of them says how it is shared out.`);
  }
  return { by: 'bricks', bricks: readBricks(record.bricks, reading) };
}

function readSplit(value: unknown, { reader, path, shape, ranks }: SideReading): Grid {
  const axes = shape.length - 1;
  if (value === undefined || value === 'slab') return ranks === 1 ? [] : [{ dimension: axes - 1, parts: ranks }];
  if (!Array.isArray(value) || (value.length !== axes && value.length !== axes + 1)) {
    const accepted = `'slab', or a list that says for each of the ${axes} axes (and then, perhaps, for the batches) into how many parts it is cut`;
    reader.report('invalid-field', `${path}.split`, `${path}.split is ${show(value)}, but must be ${accepted}.`);
    return [];
  }
  const parts = value.map((entry, axis) =>
    reader.integer(entry, `${path}.split[${axis}]`, 'invalid-field', 'a number of parts', 1),
  );
  const grid = parts.flatMap((count, dimension) => (count > 1 ? [{ dimension, parts: count }] : []));
  if (ranksOf(grid) > ranks) {
    const message = `${path}.split makes ${ranksOf(grid)} boxes, but there are ${ranks} ranks.`;
    reader.report('invalid-field', `${path}.split`, message);
    return [];
  }
  return grid;
}

function readBricks(value: unknown, reading: SideReading): Brick[] {
  const { reader, path, shape } = reading;
  if (!Array.isArray(value)) {
    reader.report('invalid-field', `${path}.bricks`, `${path}.bricks is ${show(value)}, but must be a list of bricks.`);
    return [];
  }
  const before = reader.problems.length;
  const used = new Map<number, number>();
  const bricks = value.map((entry, n) => {
    const brick = readBrick(entry, n, used, reading);
    used.set(brick.rank, Math.max(used.get(brick.rank) ?? 0, brickSpan(brick)));
    return brick;
  });
  if (reader.problems.length > before) return [];
  const held = bricks.filter((brick) => !isEmptyBox(brick)).sort((a, b) => a.rank - b.rank || a.offset - b.offset);
  checkCover(held, wholeBox(shape), reading);
  return held;
}

/** @param used the elements of each rank's memory that earlier bricks take */
function readBrick(
  value: unknown,
  n: number,
  used: ReadonlyMap<number, number>,
  { reader, path, shape, ranks }: SideReading,
): Brick {
  const at = `${path}.bricks[${n}]`;
  const record: RawRecord = isRecord(value) ? value : {};
  reader.record(value ?? null, at, ['from', 'to', 'rank', 'strides']);
  const given = record.rank ?? n;
  const rank = reader.integer(given, `${at}.rank`, 'invalid-field', 'a rank', 0);
  if (rank >= ranks) {
    const message = `${at} belongs to rank ${rank}, but there are ${ranks} ranks, counted from 0: say its \`rank\`.`;
    reader.report('invalid-field', at, message);
  }
  const ends = (name: 'from' | 'to') => readEnds(record[name], `${at}.${name}`, name, { reader, path, shape, ranks });
  const box = { from: ends('from'), to: ends('to') };
  box.from.forEach((first, d) => {
    if (first <= box.to[d]! && box.to[d]! <= shape[d]!) return;
    const message = `${at} is from ${first} to ${box.to[d]} along dimension ${d}, which has the points 0 to ${shape[d]! - 1}.`;
    reader.report('invalid-field', at, message);
  });
  const strides = readBoxStrides(record.strides, `${at}.strides`, box, reader);
  return { ...box, rank, offset: used.get(rank) ?? 0, strides };
}

function readEnds(value: unknown, path: string, end: 'from' | 'to', { reader, shape }: SideReading): number[] {
  const axes = shape.length - 1;
  if (!Array.isArray(value) || (value.length !== axes && value.length !== axes + 1)) {
    reader.report('invalid-field', path, `${path} is ${show(value)}, but must list a point for each of ${axes} axes.`);
    return shape.map(() => 0);
  }
  const points = value.map((entry, d) => reader.integer(entry, `${path}[${d}]`, 'invalid-field', 'a point', 0));
  return points.length === shape.length ? points : [...points, end === 'from' ? 0 : shape.at(-1)!];
}

/** The strides of the axes and of batches; where batches have none, they follow the longest of the others. */
function readBoxStrides(value: unknown, path: string, box: Box, reader: FieldReader): number[] {
  const dimensions = box.from.length;
  if (value === undefined) return boxStrides(box);
  if (!Array.isArray(value) || (value.length !== dimensions - 1 && value.length !== dimensions)) {
    const message = `${path} is ${show(value)}, but must have an entry for each of ${dimensions - 1} axes.`;
    reader.report('invalid-strides', path, message);
    return boxStrides(box);
  }
  const strides = value.map((entry, d) => reader.integer(entry, `${path}[${d}]`, 'invalid-strides', 'a stride', 1));
  const lengths = lengthsOf(box);
  if (strides.length < dimensions)
    strides.push(strides.reduce((most, stride, d) => Math.max(most, stride * lengths[d]!), 1));
  let reach = 0;
  const order = [...lengths.keys()].filter((d) => lengths[d]! > 1).sort((a, b) => strides[a]! - strides[b]!);
  for (const d of order) {
    if (strides[d]! <= reach) {
      const message = `${path} puts different elements at the same place: stride ${strides[d]} is within ${reach + 1} elements of faster axes.`;
      reader.report('overlapping-strides', path, message);
      break;
    }
    reach += (lengths[d]! - 1) * strides[d]!;
  }
  return strides;
}

/** Reports elements that are in two bricks, or in none. */
function checkCover(bricks: readonly Brick[], whole: Box, { reader, path }: SideReading): void {
  const sweep = [...bricks].sort((a, b) => a.from.at(-2)! - b.from.at(-2)!);
  let open: Brick[] = [];
  for (const brick of sweep) {
    open = open.filter(({ to }) => to.at(-2)! > brick.from.at(-2)!);
    const other = open.find((earlier) => intersectionOf(earlier, brick));
    if (other) {
      const message = `Two bricks of ${path} share elements: ${boxText(other)} of rank ${other.rank} and ${boxText(brick)} of rank ${brick.rank}. Every element must be in one.`;
      reader.report('overlapping-bricks', `${path}.bricks`, message);
      return;
    }
    open.push(brick);
  }
  const held = bricks.reduce((sum, brick) => sum + volumeOf(brick), 0);
  if (held < volumeOf(whole)) {
    const message = `The bricks of ${path} hold ${held} of ${volumeOf(whole)} elements: every element must be in a brick of some rank.`;
    reader.report('incomplete-bricks', `${path}.bricks`, message);
  }
}

/** A box as messages show it: `[0…3, 0…7]`, the points of each dimension. */
export function boxText({ from, to }: Box): string {
  return `[${from.map((first, d) => (first + 1 === to[d] ? `${first}` : `${first}…${to[d]! - 1}`)).join(', ')}]`;
}
