/** Boxes of a tensor in the memory of a rank. */
import {
  type Box,
  type Brick,
  boxStrides,
  intersectionOf,
  isEmptyBox,
  lengthsOf,
  volumeOf,
} from '../../problem/world/index.ts';

/**
 * The memories of a rank. `input` and `output` are the caller's. `sent` and `received` hold messages, side by side. `before` and `after` hold
 * whole boxes, where a pass cannot read or write messages directly. `window` is memory that every rank sees; it has a slot for the messages that
 * each rank receives, and `slot` is the rank's own.
 */
export const memories = [
  ...(['input', 'output', 'sent', 'received', 'received2', 'before', 'after', 'after2'] as const),
  ...(['window', 'slot'] as const),
] as const;
export type Memory = (typeof memories)[number];

/** A box in memory; offset and strides are counted in elements. */
export interface Block extends Box {
  readonly offset: number;
  readonly strides: readonly number[];
}

/** A box in blocks that lie side by side along one dimension, in its order. */
export interface BoxInMemory {
  readonly memory: Memory;
  readonly box: Box;
  readonly blocks: readonly Block[];
  /** The dimension along which there are several blocks. */
  readonly dimension: number | undefined;
}

/** Whether a rank has a memory to itself; ranks that reach one another's memory share windows. */
export function isOwn(memory: Memory): boolean {
  return memory !== 'input' && memory !== 'output' && memory !== 'window' && memory !== 'slot';
}

/** A box that lies in one block. */
export function placeOfBrick(memory: Memory, { from, to, offset, strides }: Brick): BoxInMemory {
  return { memory, box: { from, to }, blocks: [{ from, to, offset, strides }], dimension: undefined };
}

export function packedPlace(memory: Memory, box: Box): BoxInMemory {
  const block = { ...box, offset: 0, strides: boxStrides(box) };
  return { memory, box, blocks: [block], dimension: undefined };
}

/** The place of a smaller box: the parts of it that lie in the blocks of a place. */
export function partOfPlace(place: BoxInMemory, box: Box): BoxInMemory {
  const blocks = place.blocks.flatMap((block) => {
    const shared = intersectionOf(block, box);
    return shared ? [blockWithin(block, shared)] : [];
  });
  return { ...place, box, blocks };
}

/** The block of a smaller box inside a block. */
export function blockWithin(block: Block, box: Box): Block {
  const skipped = box.from.reduce((sum, first, d) => sum + (first - block.from[d]!) * block.strides[d]!, 0);
  return { from: box.from, to: box.to, offset: block.offset + skipped, strides: block.strides };
}

/** The blocks that make up a box, as a place; undefined where they do not lie side by side along one dimension. */
export function placeOfBlocks(memory: Memory, box: Box, blocks: readonly Block[]): BoxInMemory | undefined {
  const differing = box.from
    .map((_, d) => d)
    .filter((d) => blocks.some(({ from, to }) => from[d] !== box.from[d] || to[d] !== box.to[d]));
  if (differing.length > 1) return undefined;
  const [dimension] = differing;
  if (dimension === undefined) return blocks.length === 1 ? { memory, box, blocks, dimension } : undefined;
  const ordered = [...blocks].sort((a, b) => a.from[dimension]! - b.from[dimension]!);
  return { memory, box, blocks: ordered, dimension };
}

/** Whether the elements of a block fill one stretch of memory, in their own order. */
export function fillsItsMemory(block: Block): boolean {
  const packed = boxStrides(block);
  return lengthsOf(block).every((length, d) => length === 1 || block.strides[d] === packed[d]);
}

/** The number of elements of memory up to the last one of a place. */
export function spanOfPlace({ blocks }: BoxInMemory): number {
  return blocks.reduce((most, block) => Math.max(most, spanOfBlock(block)), 0);
}

export function spanOfBlock(block: Block): number {
  if (isEmptyBox(block)) return 0;
  return lengthsOf(block).reduce((span, length, d) => span + (length - 1) * block.strides[d]!, block.offset + 1);
}

/** Blocks for boxes that lie in memory one behind another. */
export function stacked(boxes: readonly Box[], from = 0): Block[] {
  let offset = from;
  return boxes.map((box) => {
    const block = { ...box, offset, strides: boxStrides(box) };
    offset += volumeOf(box);
    return block;
  });
}
