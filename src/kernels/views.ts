/** What builders see of the memory that a leaf touches. */

import type { ArrayRef, ComplexView, Format } from '../ir/index.ts';
import type { DirectionScale } from '../plan/tree/leaf.ts';
import type { Coordinates } from './places.ts';

/** Both sides of a leaf, seen at coordinates of a tile: [along …, transform of the tile]. */
export interface Views {
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** The bins of the second of two lines, on the side where there are bins; missing where there is no second one. */
  readonly beside?: ComplexView;
}

/** The memory that a leaf touches, and what it is for either way. */
export interface LeafMemory {
  /** Those of both sides, then the operands. */
  readonly globals: readonly ArrayRef[];
  readonly views: (way: DirectionScale) => Views;
  /** The coordinates of a place in a tile: those along the dimensions of the tile, then those of the batch. */
  readonly coordinates: Coordinates;
  /** The kernel of a convolution. */
  readonly kernel: ArrayRef | undefined;
  /**
   * The output while the passes of a transform work in it: [element, transform of the tile]. Where it is interleaved, in
   * the given format. For outputs whose elements lie side by side.
   */
  readonly inOutput: (format: (array: ArrayRef) => Format) => ComplexView;
}
