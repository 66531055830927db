/** The memory of a leaf as builders of kernels see it. */

import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  type Expressions,
  type Format,
  type Index,
  type IndexLike,
  scale,
} from '../../ir/index.ts';
import type { DirectionScale, Terms } from '../../plan/tree/leaf.ts';

/** Maps a place in the tile to coordinates of the leaf: the dimensions of the tile, then the batch dimensions. */
export type Coordinates = (at: readonly IndexLike[]) => readonly IndexLike[];

/** Σ step · coordinate. */
export function termSum(terms: Terms, coordinates: readonly IndexLike[]): Index {
  return add(0, ...terms.map(({ dimension, step }) => scale(coordinates[dimension]!, step)));
}

export function conjugated(x: Expressions, { re, im }: Complex): Complex {
  return { re, im: x.neg(im) };
}

/** Both sides of a leaf at coordinates of a tile: [element along each dimension …, transform of the tile]. */
export interface Views {
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** The bins of the second line, on the side that has bins; missing if there is one line only. */
  readonly secondLine?: ComplexView;
}

/** The memory of a leaf, and its views for each direction. */
export interface LeafMemory {
  /** The arrays of both sides, then the operands. */
  readonly globals: readonly ArrayRef[];
  readonly views: (direction: DirectionScale) => Views;
  readonly coordinates: Coordinates;
  /** The kernel of a convolution. */
  readonly kernel: ArrayRef | undefined;
  /**
   * The output as the working array of passes, at coordinates [element, transform of the tile]. An interleaved output is used in the given
   * format. Only for outputs with contiguous elements.
   */
  readonly inOutput: (format: (array: ArrayRef) => Format) => ComplexView;
}
