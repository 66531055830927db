/** Where an element of a leaf is along dimensions of the tensor. */
import { add, type Index, type IndexLike, scale } from '../ir/index.ts';
import type { OutsideOf } from '../plan/leaf.ts';

/** Coordinates of a leaf, of a place in its tile: those along the dimensions of the tile, then those of the batch. */
export type Coordinates = (at: readonly IndexLike[]) => readonly IndexLike[];

/** Σ step · coordinate. */
export function placeOf(terms: OutsideOf['terms'], coordinates: readonly IndexLike[]): Index {
  return add(0, ...terms.map(({ dimension, step }) => scale(coordinates[dimension]!, step)));
}
