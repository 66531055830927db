/** What builders see of the memory that a leaf touches. */

import { type ArrayRef, add, type ComplexView, type Format, type Index, type IndexLike, scale } from '../ir/index.ts';
import type { DirectionScale, Terms } from '../plan/tree/leaf.ts';

/** Coordinates of a leaf, of a place in its tile: those along the dimensions of the tile, then those of the batch. */
export type Coordinates = (at: readonly IndexLike[]) => readonly IndexLike[];

/** Σ step · coordinate. */
export function termSum(terms: Terms, coordinates: readonly IndexLike[]): Index {
  return add(0, ...terms.map(({ dimension, step }) => scale(coordinates[dimension]!, step)));
}

/** Both sides of a leaf, seen at coordinates of a tile: [along …, transform of the tile]. */
export interface Views {
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** The bins of the second of two lines, on the side where there are bins; missing where there is no second one. */
  readonly secondLine?: ComplexView;
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
