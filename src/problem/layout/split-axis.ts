/**
 * An axis in blocks. If a tensor is shared out among ranks, a rank's part of an axis may come from several other ranks, and each block lies
 * where it arrived. Plans of one device read and write such tensors directly, so that no launch has to pack or unpack them. Users cannot ask for
 * it: it is for transforms over several ranks.
 */
import type { Problem, Side, Sides } from '../problem.ts';

/** Equal blocks of an axis, at equal distances. */
export interface BlockRun {
  readonly blocks: number;
  /** Points of the axis in each block. */
  readonly length: number;
  /** The distance from the first element of the side to the first element of these blocks, in elements of the side. */
  readonly offset: number;
  /** The distance from one block to the next. */
  readonly apart: number;
  /** The strides of every dimension inside a block: blocks of another length may be packed by other strides. */
  readonly strides: readonly number[];
}

export interface SplitAxis {
  /** The dimension of the tensor, counted as its strides are. */
  readonly dimension: number;
  /** The runs in the order of the axis; their points add up to its length. */
  readonly runs: readonly BlockRun[];
  /** Whether blocks lie in the memory of other devices: only the last launch of a plan writes them. */
  readonly far?: boolean;
}

/** A problem with sides that have an axis in blocks; `strides` are then the strides inside the first blocks. */
export interface ProblemInBlocks extends Problem {
  readonly splitAxis: Partial<Sides<SplitAxis>>;
}

/** The axis of a side that lies in blocks, if there is one. */
export function splitAxisOf(problem: Problem, side: Side): SplitAxis | undefined {
  return 'splitAxis' in problem ? (problem as ProblemInBlocks).splitAxis[side] : undefined;
}

/** The same problem with other blocks, or with none. */
export function withSplitAxes<P extends Problem>(problem: P, splitAxis: Partial<Sides<SplitAxis | undefined>>): P {
  const { splitAxis: _, ...whole } = problem as P & Partial<ProblemInBlocks>;
  const sides = Object.fromEntries(Object.entries(splitAxis).filter(([, split]) => split));
  return (Object.keys(sides).length > 0 ? { ...whole, splitAxis: sides } : whole) as P;
}

/** The place of an element in the memory of its side. */
export function memoryPlace(problem: Problem, side: Side, coordinates: readonly number[]): number {
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
