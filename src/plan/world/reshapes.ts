/**
 * A reshape: the change of a tensor from one sharing among ranks to another. A rank sends to each other rank the intersections of its old boxes
 * with the other's new boxes.
 */
import {
  type Box,
  type Brick,
  boxOfRank,
  bricksOfRank,
  bricksThatMeet,
  type Grid,
  intersectionOf,
  isEmptyBox,
  lengthsOf,
  partOfPoint,
  ranksOf,
  type SharedTensor,
  sharedVolume,
  startOfPart,
  volumeOf,
  withRange,
} from '../../problem/world/index.ts';

export interface Reshape {
  readonly from: SharedTensor;
  readonly to: SharedTensor;
  readonly ranks: number;
  /** The number of parts that the tensor is cut into along `along`, which are sent one after another. */
  readonly chunks: number;
  /** The dimension that ranks hold in parts before the reshape, and whole after it; undefined where there is none or several. */
  readonly along: number | undefined;
}

/** A box that goes from one rank to another, or stays on one, in one chunk. */
export interface Piece {
  readonly peer: number;
  readonly chunk: number;
  readonly box: Box;
  /** The bricks on both sides that contain it. */
  readonly source: Brick;
  readonly target: Brick;
}

/** The reshape from one sharing to another. @param chunks the number that the caller wants; there is one if no dimension can be cut */
export function reshapeOf(from: SharedTensor, to: SharedTensor, ranks: number, chunks = 1): Reshape {
  const along = gatheredDimension(from, to);
  return { from, to, ranks, along, chunks: along === undefined ? 1 : chunks };
}

function gatheredDimension({ sharing: before }: SharedTensor, { sharing: after }: SharedTensor): number | undefined {
  if (before.by !== 'grid' || after.by !== 'grid') return undefined;
  const gathered = before.grid.filter(({ dimension }) => !after.grid.some((cut) => cut.dimension === dimension));
  return gathered.length === 1 ? gathered[0]!.dimension : undefined;
}

/** The parts of a rank's box, in the order in which they are sent. */
export function chunksOfBox(box: Box, { along, chunks }: Pick<Reshape, 'along' | 'chunks'>): Box[] {
  if (along === undefined || chunks === 1) return [box];
  const first = box.from[along]!;
  const points = box.to[along]! - first;
  const start = (part: number) => first + startOfPart(points, chunks, part);
  return Array.from({ length: chunks }, (_, part) => withRange(box, along, start(part), start(part + 1)));
}

/** The pieces that a rank sends, chunk by chunk, ordered by receiving rank. */
export function piecesFrom(reshape: Reshape, rank: number): Piece[] {
  const pieces: Piece[] = [];
  for (const source of bricksOfRank(reshape.from, rank)) {
    chunksOfBox(source, reshape).forEach((part, chunk) => {
      if (isEmptyBox(part)) return;
      for (const target of bricksThatMeet(reshape.to, part)) {
        pieces.push({ peer: target.rank, chunk, box: intersectionOf(part, target)!, source, target });
      }
    });
  }
  return pieces.sort((a, b) => a.chunk - b.chunk || a.peer - b.peer);
}

/** The pieces that a rank receives, chunk by chunk, ordered by sending rank. Between two ranks the order is that of `piecesFrom`. */
export function piecesTo(reshape: Reshape, rank: number): Piece[] {
  const pieces: Piece[] = [];
  const targets = bricksOfRank(reshape.to, rank);
  const sources = new Set<Brick>();
  const seen = new Set<string>();
  for (const target of targets) {
    for (const source of bricksThatMeet(reshape.from, target)) {
      const key = `${source.rank} ${source.offset} ${source.from}`;
      if (!seen.has(key)) sources.add(source);
      seen.add(key);
    }
  }
  for (const source of sources) {
    chunksOfBox(source, reshape).forEach((part, chunk) => {
      for (const target of targets) {
        const box = intersectionOf(part, target);
        if (box) pieces.push({ peer: source.rank, chunk, box, source, target });
      }
    });
  }
  return pieces.sort((a, b) => a.chunk - b.chunk || a.peer - b.peer || a.source.offset - b.source.offset);
}

/** Whether every rank holds the same box before and after. */
export function isSameSharing(a: SharedTensor, b: SharedTensor, ranks: number): boolean {
  if (a.sharing.by === 'grid' && b.sharing.by === 'grid') {
    const cuts = (sharing: { grid: readonly object[] }) => JSON.stringify(sharing.grid);
    if (cuts(a.sharing) === cuts(b.sharing)) return true;
  }
  for (let rank = 0; rank < ranks; rank++) {
    const [own, other] = [bricksOfRank(a, rank), bricksOfRank(b, rank)];
    if (own.length !== other.length || own.length > 1) return false;
    if (
      own.length === 1 &&
      JSON.stringify([own[0]!.from, own[0]!.to]) !== JSON.stringify([other[0]!.from, other[0]!.to])
    )
      return false;
  }
  return true;
}

/** The traffic of a reshape, in elements. Elements that stay on their rank are not counted. */
export interface Traffic {
  /** Elements that all ranks send. */
  readonly elements: number;
  readonly messages: number;
  /** Elements that are sent between ranks of different nodes. */
  readonly leaving: number;
  /** Elements that the rank with the most of them sends. */
  readonly worst: number;
  /** The most elements that one rank sends to other nodes. */
  readonly worstLeaving: number;
  /** Messages of the rank that sends the most of them. */
  readonly worstMessages: number;
}

/**
 * The traffic of a reshape.
 * @param perNode the number of ranks of a node, which have neighbouring numbers
 * @param counted the number of ranks that are counted, from the first on: if not all, sums are estimates. The first ranks of grids have the
 * largest boxes.
 */
export function trafficOf(reshape: Reshape, perNode: number, counted = reshape.ranks): Traffic {
  const { from, to } = reshape;
  return to.sharing.by === 'grid' && hasOneBoxEach(from)
    ? gridTraffic(reshape, perNode, Math.min(counted, reshape.ranks))
    : countedTraffic(reshape, perNode, Math.min(counted, reshape.ranks));
}

/** Whether no rank holds more than one box. */
function hasOneBoxEach({ sharing }: SharedTensor): boolean {
  return sharing.by === 'grid' || new Set(sharing.bricks.map(({ rank }) => rank)).size === sharing.bricks.length;
}

function countedTraffic(reshape: Reshape, perNode: number, counted: number): Traffic {
  const total = { elements: 0, messages: 0, leaving: 0, worst: 0, worstLeaving: 0, worstMessages: 0 };
  for (let rank = 0; rank < counted; rank++) {
    const own = { elements: 0, leaving: 0, messages: new Set<string>() };
    for (const { peer, chunk, box } of piecesFrom(reshape, rank)) {
      if (peer === rank) continue;
      own.elements += volumeOf(box);
      own.messages.add(`${peer} ${chunk}`);
      if (Math.floor(peer / perNode) !== Math.floor(rank / perNode)) own.leaving += volumeOf(box);
    }
    addRank(total, { elements: own.elements, leaving: own.leaving, messages: own.messages.size });
  }
  return scaledTraffic(total, reshape.ranks / counted);
}

/** Estimates of the sums over all ranks, from the ranks that were counted. */
function scaledTraffic(total: Traffic, times: number): Traffic {
  const { elements, leaving, messages } = total;
  return { ...total, elements: elements * times, leaving: leaving * times, messages: messages * times };
}

interface Sent {
  readonly elements: number;
  readonly leaving: number;
  readonly messages: number;
}

function addRank(total: { -readonly [K in keyof Traffic]: number }, { elements, leaving, messages }: Sent): void {
  total.elements += elements;
  total.leaving += leaving;
  total.messages += messages;
  total.worst = Math.max(total.worst, elements);
  total.worstLeaving = Math.max(total.worstLeaving, leaving);
  total.worstMessages = Math.max(total.worstMessages, messages);
}

/** The traffic from one box per rank to a grid. The number of ranks that a box meets is a product over the dimensions, so messages are not listed. */
function gridTraffic(reshape: Reshape, perNode: number, counted: number): Traffic {
  const { from, to, ranks } = reshape;
  const total = { elements: 0, messages: 0, leaving: 0, worst: 0, worstLeaving: 0, worstMessages: 0 };
  const [grid, shape] = [to.sharing.by === 'grid' ? to.sharing.grid : [], to.shape];
  for (let rank = 0; rank < counted; rank++) {
    const { shape: all, sharing } = from;
    const box = sharing.by === 'grid' ? boxOfRank(all, sharing.grid, rank) : bricksOfRank(from, rank)[0];
    if (!box || isEmptyBox(box)) continue;
    const parts = chunksOfBox(box, reshape).filter((part) => !isEmptyBox(part));
    const met = (box: Box) =>
      grid.reduce((count, { dimension, parts }) => {
        const at = (point: number) => partOfPoint(shape[dimension]!, parts, point);
        return count * (at(box.to[dimension]! - 1) - at(box.from[dimension]!) + 1);
      }, 1);
    const target = boxOfRank(shape, grid, rank);
    const node = Math.floor(rank / perNode) * perNode;
    const inside = heldByRanks(box, shape, grid, node, Math.min(node + perNode, ranksOf(grid)));
    const messages = parts.reduce((sum, part) => sum + met(part) - Number(sharedVolume(part, target) > 0), 0);
    const volume = volumeOf(box);
    addRank(total, { elements: volume - sharedVolume(box, target), leaving: volume - inside, messages });
  }
  const holders = from.sharing.by === 'grid' ? Math.min(ranks, ranksOf(from.sharing.grid)) : ranks;
  return counted < ranks ? scaledTraffic(total, holders / counted) : total;
}

/**
 * Elements of a box that the ranks from `first` up to `end`, not included, hold. Ranks with all digits of the cuts below one digit of the
 * highest cut share a range of that dimension, so ranks are not listed.
 */
function heldByRanks(box: Box, shape: readonly number[], grid: Grid, first: number, end: number): number {
  if (first >= end || isEmptyBox(box)) return 0;
  const cut = grid.at(-1);
  if (!cut) return volumeOf(box);
  const { dimension, parts } = cut;
  const lower = grid.slice(0, -1);
  const ranks = ranksOf(lower);
  const within = (part: number, next: number) => {
    const start = (part: number) => startOfPart(shape[dimension]!, parts, part);
    const [from, to] = [Math.max(box.from[dimension]!, start(part)), Math.min(box.to[dimension]!, start(next))];
    return withRange(box, dimension, from, to);
  };
  const some = (part: number, from: number, to: number) => heldByRanks(within(part, part + 1), shape, lower, from, to);
  const [head, tail] = [Math.ceil(first / ranks), Math.floor(end / ranks)];
  if (head > tail) return some(tail, first - tail * ranks, end - tail * ranks);
  const before = head * ranks > first ? some(head - 1, first - (head - 1) * ranks, ranks) : 0;
  return before + volumeOf(within(head, tail)) + some(tail, 0, end - tail * ranks);
}

/** Elements of the largest box of a tensor. */
export function largestBox(tensor: SharedTensor, ranks: number): number[] {
  let largest: Box | undefined;
  for (let rank = 0; rank < (tensor.sharing.by === 'grid' ? 1 : ranks); rank++) {
    for (const brick of bricksOfRank(tensor, rank))
      if (!largest || volumeOf(brick) > volumeOf(largest)) largest = brick;
  }
  return largest ? lengthsOf(largest) : tensor.shape.map(() => 0);
}
