/**
 * The schedule of a transform: the steps of one rank in order, which are passes over its boxes and exchanges with other ranks. It is plain data,
 * which any fabric can run. The inverse direction runs the steps backwards, and reads where the forward direction writes.
 */

import type { Block as ZeroBlock } from '../../problem/index.ts';
import {
  type Box,
  bricksOfRank,
  type ExchangeWay,
  isEmptyBox,
  type SharedTensor,
  sendsHalves,
  type WorldProblem,
  withRange,
} from '../../problem/world/index.ts';
import { type Decomposition, type Stage, stageTensor } from './decompositions.ts';
import {
  type Block,
  type BoxInMemory,
  blockWithin,
  fillsItsMemory,
  type Memory,
  memories,
  packedPlace,
  partOfPlace,
  placeOfBlocks,
  placeOfBrick,
  spanOfBlock,
  spanOfPlace,
  stacked,
} from './places.ts';
import { chunksOfBox, isSameSharing, type Piece, piecesFrom, piecesTo, type Reshape, reshapeOf } from './reshapes.ts';

/** A part of a pass: a box that is transformed along some axes. */
export interface PassPart {
  readonly input: BoxInMemory;
  readonly output: BoxInMemory;
}

export interface PassStep {
  readonly kind: 'pass';
  readonly stage: number;
  readonly axes: readonly number[];
  /** Whether each side of the pass is messages in half precision, whatever precision the problem stores. */
  readonly halves: Readonly<Record<'input' | 'output', boolean>>;
  /** One part for each chunk of the exchange behind the pass, perhaps without points; empty where the rank has no points. */
  readonly parts: readonly PassPart[];
}

/** A box in memory that is sent to a rank, or received from one. */
export interface Transfer extends Block {
  readonly peer: number;
  readonly chunk: number;
  readonly memory: Memory;
}

/** A box that is moved within a rank, between the memory of bricks or passes and the memory of messages. */
export interface Copy {
  readonly from: Block & { readonly memory: Memory };
  readonly to: Block & { readonly memory: Memory };
}

/** The ways of an exchange that users can name, and `window`: passes write straight into memory that the receiving rank reads. */
export type ScheduledWay = Exclude<ExchangeWay, 'auto'> | 'window';

export interface ExchangeStep {
  readonly kind: 'exchange';
  /** The number of the exchange. */
  readonly reshape: number;
  readonly chunks: number;
  readonly elements: SharedTensor['elements'];
  readonly way: ScheduledWay;
  /** Whether passes write and read messages in half precision. */
  readonly halves: boolean;
  readonly sent: readonly Transfer[];
  readonly received: readonly Transfer[];
  readonly pack: readonly Copy[];
  readonly unpack: readonly Copy[];
}

export type Step = PassStep | ExchangeStep;

/** The schedule of the whole world for a problem. */
export interface WorldSchedule {
  readonly ranks: number;
  readonly input: SharedTensor;
  readonly output: SharedTensor;
  /** The transform; undefined where the tensor only changes hands. */
  readonly passes: { readonly problem: WorldProblem; readonly decomposition: Decomposition } | undefined;
  readonly reshapes: readonly Reshape[];
  /** Whether there is a reshape before the first stage. */
  readonly reshapesFirst: boolean;
  readonly way: ScheduledWay;
  /** The distance between two slots of the window in elements, where there is a window. */
  readonly slot: number;
}

export interface RankSchedule {
  readonly rank: number;
  readonly steps: readonly Step[];
  /** The number of reals in each memory. */
  readonly reals: Readonly<Record<Memory, number>>;
}

export interface ScheduleChoice {
  readonly decomposition: Decomposition;
  readonly chunks: number;
  readonly way: ScheduledWay;
  /** The unit of a slot's size in a window, in elements. */
  readonly slotUnit?: number | undefined;
}

/** The schedule of a transform. */
export function scheduleOf(
  problem: WorldProblem,
  { decomposition, chunks, way, slotUnit = 1 }: ScheduleChoice,
): WorldSchedule {
  const { input, ranks } = problem;
  const { stages } = decomposition;
  const end = (n: number, of: 'before' | 'after') => stageTensor(problem, stages[n]!, of);
  const last = end(stages.length - 1, 'after');
  const output = problem.output === 'any' ? last : problem.output;
  const reshapesFirst = !isSameSharing(input, end(0, 'before'), ranks);
  const between = stages.slice(1).map((_, n) => reshapeOf(end(n, 'after'), end(n + 1, 'before'), ranks, chunks));
  const reshapes = [
    ...(reshapesFirst ? [reshapeOf(input, end(0, 'before'), ranks)] : []),
    ...between,
    ...(isSameSharing(last, output, ranks) ? [] : [reshapeOf(last, output, ranks)]),
  ];
  const slot = way === 'window' ? Math.ceil(mostReceived(between, ranks) / slotUnit) * slotUnit : 0;
  return { ranks, input, output, passes: { problem, decomposition }, reshapes, reshapesFirst, way, slot };
}

/** The most elements that a rank receives in one of several reshapes. */
function mostReceived(reshapes: readonly Reshape[], ranks: number): number {
  const received = reshapes.flatMap((reshape) =>
    Array.from({ length: ranks }, (_, rank) => spanOfBlocks(messageBlocks(piecesTo(reshape, rank)))),
  );
  return Math.max(0, ...received);
}

function spanOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((most, block) => Math.max(most, spanOfBlock(block)), 0);
}

/** The schedule of a tensor that only changes hands. */
export function redistributionSchedule(
  input: SharedTensor,
  output: SharedTensor,
  ranks: number,
  way: Exclude<ExchangeWay, 'auto'>,
): WorldSchedule {
  const reshapes = [reshapeOf(input, output, ranks)];
  return { ranks, input, output, passes: undefined, reshapes, reshapesFirst: true, way, slot: 0 };
}

/** The steps of one rank. */
export function rankSchedule(world: WorldSchedule, rank: number): RankSchedule {
  return new RankScheduler(world, rank).schedule();
}

/**
 * Whether a rank sends and receives messages straight from and to memory: only passes, or the library that carries messages, pack them, set them
 * to zero or convert them to halves.
 */
export function movesAsItIs(world: WorldSchedule, rank: number): boolean {
  const problem = world.passes?.problem;
  const zeros = problem?.whole.zeroPadding;
  if (zeros && [...zeros.space, ...zeros.frequency].some((block) => block !== null)) return false;
  const halves = problem !== undefined && sendsHalves(problem);
  const { steps } = rankSchedule(world, rank);
  return steps.every(
    (step) => step.kind === 'pass' || (step.pack.length + step.unpack.length === 0 && step.halves === halves),
  );
}

/** The most elements of a rank that one side of an exchange by blocks or pairs counts. */
export function elementsCounted({ steps }: RankSchedule): number {
  const ends = steps.flatMap((step) =>
    step.kind === 'exchange' && step.way !== 'types' ? [...step.sent, ...step.received].map(spanOfBlock) : [],
  );
  return Math.max(0, ...ends);
}

/** An exchange, with the places that the pass before it writes and the pass after it reads. */
interface Ends {
  readonly step: ExchangeStep;
  /** One place for each chunk. */
  readonly written: readonly BoxInMemory[] | undefined;
  readonly read: BoxInMemory | undefined;
}

class RankScheduler {
  private readonly world: WorldSchedule;
  private readonly rank: number;

  constructor(world: WorldSchedule, rank: number) {
    this.world = world;
    this.rank = rank;
  }

  schedule(): RankSchedule {
    const { passes, reshapes, reshapesFirst } = this.world;
    const stages = passes?.decomposition.stages ?? [];
    const ends = reshapes.map((reshape, n) => this.exchange(reshape, n));
    const steps: Step[] = [];
    if (reshapesFirst) steps.push(ends[0]!.step);
    stages.forEach((stage, n) => {
      const at = n + Number(reshapesFirst);
      steps.push(this.pass(stage, n, ends[at - 1], ends[at]));
      if (ends[at]) steps.push(ends[at].step);
    });
    return { rank: this.rank, steps, reals: this.realsOf(steps) };
  }

  private pass(stage: Stage, n: number, before: Ends | undefined, after: Ends | undefined): PassStep {
    const { input, output, passes } = this.world;
    const halves = { input: before?.step.halves === true, output: after?.step.halves === true };
    const step = { kind: 'pass', stage: n, axes: stage.axes, halves } as const;
    const [own] = bricksOfRank(stageTensor(passes!.problem, stage, 'before'), this.rank);
    if (!own) return { ...step, parts: [] };
    const read = before ? before.read! : placeOfBrick('input', bricksOfRank(input, this.rank)[0]!);
    const written = after ? after.written! : [placeOfBrick('output', bricksOfRank(output, this.rank)[0]!)];
    const parts = written.map((output): PassPart => {
      // A line of reals has another length than its bins, and is never cut.
      const box = stage.axes.includes(0) ? withRange(output.box, 0, own.from[0]!, own.to[0]!) : output.box;
      return { input: partOfPlace(read, box), output };
    });
    return { ...step, parts };
  }

  private exchange(reshape: Reshape, n: number): Ends {
    const { rank, world } = this;
    const { passes, reshapesFirst } = world;
    const stageAfter = passes ? n + Number(!reshapesFirst) : 0;
    const fromPass = stageAfter > 0;
    const toPass = stageAfter < (passes?.decomposition.stages.length ?? 0);
    // Only a pass writes into a window, and only a pass reads it.
    const way = world.way === 'window' && !(fromPass && toPass) ? 'blocks' : world.way;
    // The pass may still read its input while chunks of the next exchange arrive, so exchanges take turns with two memories.
    const isOther = reshape.chunks > 1 && n % 2 === 1;
    const inWindow = way === 'window';
    const received: Memory = inWindow ? 'slot' : isOther ? 'received2' : 'received';
    const zeros = passes?.problem.whole.zeroPadding;
    const starts = inWindow ? this.startsInWindow(reshape) : undefined;
    const sent: Memory = inWindow ? 'window' : 'sent';
    const sending = new End(piecesFrom(reshape, rank), sent, way, fromPass ? undefined : zeros?.space, starts);
    const receiving = new End(piecesTo(reshape, rank), received, way, toPass ? undefined : zeros?.frequency);
    const { chunks, along } = reshape;
    const box = fromPass ? bricksOfRank(reshape.from, rank)[0] : undefined;
    const parts = box ? chunksOfBox(box, { chunks, along }) : undefined;
    const source = fromPass ? sending.besidePass('before', parts ?? []) : sending.besideBricks('input', 'source');
    const target = toPass
      ? receiving.besidePass(isOther ? 'after2' : 'after', bricksOfRank(reshape.to, rank).slice(0, 1))
      : receiving.besideBricks('output', 'target');
    const turned = target.copies.map(({ from, to }): Copy => ({ from: to, to: from }));
    return {
      step: {
        ...{ kind: 'exchange', reshape: n, chunks, elements: reshape.from.elements, way },
        halves: fromPass && toPass && sendsHalves(passes!.problem),
        ...{ sent: source.transfers, received: target.transfers, pack: source.copies, unpack: turned },
      },
      written: source.places,
      read: target.places?.[0],
    };
  }

  /** The starts of this rank's messages in the window, by peer; messages for one peer lie one behind another. */
  private startsInWindow(reshape: Reshape): Map<number, number[]> {
    const { slot } = this.world;
    const starts = new Map<number, number[]>();
    for (const { peer } of piecesFrom(reshape, this.rank)) {
      if (starts.has(peer)) continue;
      const pieces = piecesTo(reshape, peer);
      const blocks = messageBlocks(pieces);
      const own = blocks.filter((_, n) => pieces[n]!.peer === this.rank);
      starts.set(
        peer,
        own.map(({ offset }) => peer * slot + offset),
      );
    }
    return starts;
  }

  private realsOf(steps: readonly Step[]): Record<Memory, number> {
    const reals = Object.fromEntries(memories.map((memory) => [memory, 0])) as Record<Memory, number>;
    const note = (memory: Memory, elements: number, per: number) => {
      reals[memory] = Math.max(reals[memory], elements * per);
    };
    for (const step of steps) {
      if (step.kind === 'pass') {
        const per = this.realsPerElement(step);
        for (const { input, output } of step.parts) {
          note(input.memory, spanOfPlace(input), per);
          note(output.memory, spanOfPlace(output), 2);
        }
      } else {
        const per = step.elements === 'real' ? 1 : 2;
        for (const transfer of [...step.sent, ...step.received]) note(transfer.memory, spanOfBlock(transfer), per);
        for (const { from, to } of [...step.pack, ...step.unpack]) {
          note(from.memory, spanOfBlock(from), per);
          note(to.memory, spanOfBlock(to), per);
        }
      }
    }
    return reals;
  }

  private realsPerElement({ axes }: PassStep): 1 | 2 {
    return this.world.passes!.problem.whole.transform[0] === 'r2c' && axes.includes(0) ? 1 : 2;
  }
}

/** One end of an exchange on a rank: the messages that it sends, or the messages that it receives. */
class End {
  private readonly pieces: readonly Piece[];
  private readonly memory: Memory;
  private readonly types: boolean;
  private readonly zeros: ZeroBlocks | undefined;
  /** The pieces as messages, one behind another. */
  private readonly messages: readonly Transfer[];

  /**
   * @param zeros blocks of the caller's memory that are neither read nor written
   * @param starts the starts of the messages to each rank, in their order; default: one behind another
   */
  constructor(
    pieces: readonly Piece[],
    memory: Memory,
    way: ScheduledWay,
    zeros: ZeroBlocks | undefined,
    starts?: Map<number, number[]>,
  ) {
    this.pieces = pieces;
    this.memory = memory;
    this.zeros = zeros?.some((block) => block !== null) ? zeros : undefined;
    this.types = way === 'types' && oncePerPeer(pieces);
    const blocks = starts ? [] : messageBlocks(pieces);
    this.messages = pieces.map(({ peer, chunk, box }, n) => {
      const block = starts ? messageAt(box, starts.get(peer)!.shift()!) : blocks[n]!;
      return { ...block, peer, chunk, memory };
    });
  }

  /** The transfers, copies and places for an end at a pass. @param boxes that the pass reads or writes at once */
  besidePass(whole: 'before' | 'after' | 'after2', boxes: readonly Box[]) {
    const { pieces, messages } = this;
    if (!this.types) {
      const places = boxes.map((box, n) => {
        const own = messages.filter((_, at) => boxes.length === 1 || pieces[at]!.chunk === n);
        return isEmptyBox(box) ? packedPlace(whole, box) : placeOfBlocks(this.memory, box, own);
      });
      if (places.every((place): place is BoxInMemory => place !== undefined))
        return { transfers: messages, copies: [], places };
    }
    const stackedBoxes = stacked(boxes);
    const places = stackedBoxes.map((block): BoxInMemory => {
      return { memory: whole, box: block, blocks: [block], dimension: undefined };
    });
    const inBox = pieces.map(({ box, chunk }) => blockWithin(stackedBoxes[boxes.length === 1 ? 0 : chunk]!, box));
    return { ...this.between(whole, inBox), places };
  }

  /** The transfers and copies for an end at the caller's bricks. */
  besideBricks(memory: 'input' | 'output', end: 'source' | 'target') {
    const places = undefined;
    return {
      ...this.between(
        memory,
        this.pieces.map((piece) => blockWithin(piece[end], piece.box)),
      ),
      places,
    };
  }

  /**
   * The transfers between memory and messages. They are direct where types describe the pieces, or each piece is one stretch; else all pieces
   * are packed.
   */
  private between(memory: Memory, blocks: readonly Block[]): { transfers: readonly Transfer[]; copies: Copy[] } {
    const { pieces, messages, zeros } = this;
    if (!zeros && (this.types || (oncePerPeer(pieces) && blocks.every(fillsItsMemory)))) {
      const direct = blocks.map((block, n) => ({ ...block, peer: pieces[n]!.peer, chunk: pieces[n]!.chunk, memory }));
      return { transfers: direct, copies: [] };
    }
    const copies = blocks.flatMap((block, n) => {
      const message = messages[n]!;
      return outsideBlocks(block, zeros).map(
        (box): Copy => ({
          from: { ...blockWithin(block, box), memory },
          to: { ...blockWithin(message, box), memory: message.memory },
        }),
      );
    });
    return { transfers: messages, copies };
  }
}

/** The messages in memory, one behind another, sorted by the rank at their other end: all chunks for one rank are one stretch. */
function messageBlocks(pieces: readonly Piece[]): Block[] {
  const order = [...pieces.keys()].sort((a, b) => pieces[a]!.peer - pieces[b]!.peer || a - b);
  const blocks = stacked(order.map((n) => pieces[n]!.box));
  const placed = new Array<Block>(pieces.length);
  order.forEach((n, at) => {
    placed[n] = blocks[at]!;
  });
  return placed;
}

function messageAt(box: Box, offset: number): Block {
  return stacked([box], offset)[0]!;
}

function oncePerPeer(pieces: readonly Piece[]): boolean {
  return new Set(pieces.map(({ peer, chunk }) => `${peer} ${chunk}`)).size === pieces.length;
}

/** The blocks of zeros, one entry for each axis. */
export type ZeroBlocks = readonly (ZeroBlock | null)[];

/** The parts of a box outside all blocks of zeros. */
export function outsideBlocks(box: Box, zeros: ZeroBlocks | undefined): Box[] {
  let parts: Box[] = [box];
  zeros?.forEach((zero, axis) => {
    if (!zero) return;
    parts = parts.flatMap((part) => [
      withRange(part, axis, part.from[axis]!, Math.min(part.to[axis]!, zero.from)),
      withRange(part, axis, Math.max(part.from[axis]!, zero.to), part.to[axis]!),
    ]);
    parts = parts.filter((part) => !isEmptyBox(part));
  });
  return parts;
}

/** The blocks of zeros inside a box, counted from its first point; `all` where they cover the box. */
export function zerosWithin(box: Box, zeros: ZeroBlocks): ZeroBlocks | 'all' {
  const within = zeros.map((zero, axis): ZeroBlock | null => {
    if (!zero) return null;
    const [first, last] = [box.from[axis]!, box.to[axis]!];
    const [from, to] = [Math.max(zero.from, first), Math.min(zero.to, last)];
    return from < to ? { from: from - first, to: to - first } : null;
  });
  const isAll = within.some((zero, axis) => zero && zero.from === 0 && zero.to === box.to[axis]! - box.from[axis]!);
  return isAll ? 'all' : within;
}
