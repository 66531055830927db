/**
 * A leaf of the plan tree, fully resolved: one launch over everything. There are two kinds: `StockhamLeaf` transforms one
 * axis, `FusedLeaf` several dimensions of one tile: axes, or the digits of one.
 *
 * All complex-to-complex plans consist of these: passes in shared memory between a load view and a store view, with the
 * twiddles of a four-step decomposition and a scale factor on the way out.
 */
import type { ComplexLayout } from '../problem/problem.ts';
import type { StepTwiddle } from './node.ts';
import type { DeviceProfile } from './profile.ts';

/**
 * How an index walks through memory, in complex elements: so many for each step; or, where an intermediate result lies
 * in tiles, one for each step inside a run and so many from one run to the next.
 */
export type Stride = number | { readonly run: number; readonly next: number };

/** One side of a leaf in memory. */
export interface LeafSide {
  readonly layout: ComplexLayout;
  readonly axis: Stride;
  /** Stride of each batch dimension. */
  readonly batch: readonly Stride[];
  readonly offset: number;
}

export type LanesAlong = 'axis' | 'batch';

/** The memory that the threads of a group share. */
export interface SharedMemory {
  readonly format: DeviceProfile['sharedFormat'];
  /** Passes read one array and write the other, or read all of one before they write it. */
  readonly arrays: 1 | 2;
  /** 4-byte banks. */
  readonly banks: number;
  /** Complex numbers that each of the arrays may hold, padding included. (Passes in place, which need one of two, have both's.) */
  readonly room: number;
}

/** Which way a launch transforms, and by what it multiplies on the way out. */
export interface Way {
  readonly inverse: boolean;
  readonly scale: number;
}

export interface StockhamLeaf extends Way {
  readonly scheme: 'stockham';
  readonly precision: 'single' | 'double';
  readonly length: number;
  /** Radix of each pass; their product is the length. */
  readonly radices: readonly number[];
  /** Count of each batch dimension. The first one is tiled: `tile` neighbouring transforms share a group. */
  readonly batch: readonly number[];
  readonly tile: number;
  /** Whether the lanes are the elements of vectors or threads of a group. */
  readonly lockstep: 'vector' | 'threads';
  /**
   * Whether neighbouring lanes hold neighbouring butterflies of one transform or neighbouring transforms, in the pass
   * that reads the input and in the one that writes the output. Vectors can only turn from the batch to the axis, after
   * their first pass.
   */
  readonly lanesAlong: { readonly input: LanesAlong; readonly output: LanesAlong };
  /** Lanes in lockstep for this precision. */
  readonly lanes: number;
  readonly threads: number;
  /** Groups that are to run side by side on a multiprocessor; missing where that is left to the compiler. */
  readonly beside?: number;
  readonly shared: SharedMemory;
  readonly input: LeafSide;
  readonly output: LeafSide;
  /** Copy through shared memory, where the lanes of the first or last pass would not walk along memory. */
  readonly staged: { readonly input: boolean; readonly output: boolean };
  /** Twiddles of a four-step decomposition: b is the number of a transform in the batch dimension `along`, by default the first. */
  readonly twiddle?: StepTwiddle;
  /** Input and output may be the same memory. */
  readonly aliased: boolean;
}

/** One side of a fused leaf in memory. */
export interface FusedSide {
  readonly layout: ComplexLayout;
  /** Stride of each dimension of a tile. */
  readonly axes: readonly Stride[];
  readonly batch: readonly Stride[];
  readonly offset: number;
}

/** Transforms along one dimension of a tile, while each block of the cluster holds its share of another. */
export interface FusedStage {
  /** The dimension that is transformed. */
  readonly of: number;
  readonly radices: readonly number[];
  /** The dimension that is shared out among the blocks. */
  readonly split: number;
  /** The other dimensions in the order in which neighbouring threads walk through them, −1 for the tile's own. */
  readonly columns: readonly number[];
  /** Along what neighbouring threads walk in the first and the last pass: the transformed dimension, or the columns. */
  readonly lanesAlong: { readonly input: LanesAlong; readonly output: LanesAlong };
}

/**
 * Several transforms along different dimensions of one tile, in one launch: the axes of an image, one long axis cut into two
 * digits, or both. The tile lies in the shared memory of a cluster of blocks, which exchange their shares between the
 * stages: a cluster is a bigger upload.
 */
export interface FusedLeaf extends Way {
  readonly scheme: 'fused';
  readonly precision: 'single' | 'double';
  /** Lengths of the dimensions of a tile. */
  readonly lengths: readonly number[];
  readonly stages: readonly FusedStage[];
  /** The first two dimensions are the digits of one axis, and its stages are coupled by twiddles. */
  readonly coupled: boolean;
  /** Blocks of a cluster; 1: no cluster is needed. */
  readonly blocks: number;
  readonly batch: readonly number[];
  readonly tile: number;
  readonly lanes: number;
  readonly threads: number;
  /** Groups, or blocks of them, that are to run side by side on a multiprocessor; missing where that is left to the compiler. */
  readonly beside?: number;
  readonly shared: SharedMemory;
  readonly input: FusedSide;
  readonly output: FusedSide;
  readonly twiddle?: StepTwiddle;
  readonly aliased: boolean;
}

export type Leaf = StockhamLeaf | FusedLeaf;

/** What both kinds of leaf have in common: lengths of the dimensions they transform, radices of each, and strides. */
export function dimensionsOf(leaf: Leaf): {
  readonly lengths: readonly number[];
  readonly radices: readonly (readonly number[])[];
  readonly input: readonly Stride[];
  readonly output: readonly Stride[];
} {
  if (leaf.scheme === 'stockham') {
    return { lengths: [leaf.length], radices: [leaf.radices], input: [leaf.input.axis], output: [leaf.output.axis] };
  }
  // Stages may come in another order than the dimensions that they transform.
  const radices = leaf.lengths.map((_, d) => leaf.stages.find(({ of }) => of === d)?.radices ?? []);
  return { lengths: leaf.lengths, radices, input: leaf.input.axes, output: leaf.output.axes };
}
