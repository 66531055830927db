/**
 * An axis in blocks: where a tensor is shared out among ranks, what one of them holds of an axis came from several others, and the block of
 * each lies where it arrived. Plans of one device read and write such tensors as they are, so that no launch only packs or unpacks.
 * Users cannot ask for it: it is for transforms over several ranks.
 */
import type { Problem, Side, Sides } from './problem.ts';

/** Equal blocks of an axis, at equal distances. */
export interface BlockRun {
  readonly blocks: number;
  /** Points of the axis in each block. */
  readonly length: number;
  /** From the first element of the side to the first one of these blocks, in elements of the side. */
  readonly offset: number;
  /** From one block to the next. */
  readonly apart: number;
  /** Of every dimension inside a block: blocks of another length may be packed by other strides. */
  readonly strides: readonly number[];
}

export interface SplitAxis {
  /** Which dimension of the tensor, counted as its strides are. */
  readonly dimension: number;
  /** In the order of the axis; all their points together are its length. */
  readonly runs: readonly BlockRun[];
  /** Blocks lie in the memory of other devices: only the last launch of a plan writes them. */
  readonly far?: boolean;
}

/** A problem with sides of which an axis lies in blocks; `strides` are then those inside the first blocks. */
export interface ProblemInBlocks extends Problem {
  readonly splitAxis: Partial<Sides<SplitAxis>>;
}

/** The axis of a side that lies in blocks, where one does. */
export function splitAxisOf(problem: Problem, side: Side): SplitAxis | undefined {
  return 'splitAxis' in problem ? (problem as ProblemInBlocks).splitAxis[side] : undefined;
}

/** The same problem with other blocks, or with none. */
export function withSplitAxes<P extends Problem>(problem: P, splitAxis: Partial<Sides<SplitAxis | undefined>>): P {
  const { splitAxis: _, ...whole } = problem as P & Partial<ProblemInBlocks>;
  const sides = Object.fromEntries(Object.entries(splitAxis).filter(([, split]) => split));
  return (Object.keys(sides).length > 0 ? { ...whole, splitAxis: sides } : whole) as P;
}

/** Where an element lies in the memory of its side. */
export function placeOf(problem: Problem, side: Side, coordinates: readonly number[]): number {
  const split = splitAxisOf(problem, side);
  const along = (strides: readonly number[], at: readonly number[]) =>
    at.reduce((sum, index, d) => sum + index * strides[d]!, problem.offsets[side]);
  if (!split) return along(problem.strides[side], coordinates);
  let left = coordinates[split.dimension]!;
  for (const { blocks, length, offset, apart, strides } of split.runs) {
    if (left < blocks * length) {
      const inside = coordinates.map((index, d) => (d === split.dimension ? left % length : index));
      return along(strides, inside) + offset + Math.floor(left / length) * apart;
    }
    left -= blocks * length;
  }
  throw new RangeError(`The blocks of dimension ${split.dimension} have fewer points than the axis.`);
}
