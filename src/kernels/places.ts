/** Where an element of a leaf is along dimensions of the tensor. */
import { add, type Guard, type Index, type IndexLike, scale } from '../ir/index.ts';
import type { LeafSide, OutsideOf } from '../plan/tree/leaf.ts';
import { type PlaceOf, tensorIndex } from './callbacks.ts';

/** Coordinates of a leaf, of a place in its tile: those along the dimensions of the tile, then those of the batch. */
export type Coordinates = (at: readonly IndexLike[]) => readonly IndexLike[];

/** Σ step · coordinate. */
export function placeOf(terms: OutsideOf['terms'], coordinates: readonly IndexLike[]): Index {
  return add(0, ...terms.map(({ dimension, step }) => scale(coordinates[dimension]!, step)));
}

/** To a place along a dimension, or so many steps along it. */
export type Move = { readonly of: number } & ({ readonly to: Index } | { readonly by: number });

/** Where an element is along the dimensions of the tensor that a callback asks for. */
export function placesOf(
  { callback }: LeafSide,
  coordinates: readonly IndexLike[],
  ...moves: readonly (Move | undefined)[]
): PlaceOf {
  return (dimension) => {
    const move = moves.find((one) => one?.of === dimension);
    if (move && 'to' in move) return move.to;
    const place = tensorIndex(callback!.places.find(({ of }) => of === dimension)!, coordinates);
    return move ? add(place, move.by) : place;
  };
}

export type Elements = (at: readonly IndexLike[]) => Index;

/** A guard that also keeps out of blocks. */
export function outside(absent: readonly OutsideOf[], coordinates: readonly IndexLike[], guard: Guard = []): Guard {
  return [
    ...guard,
    ...absent.map(({ from, to, terms }) => ({ index: placeOf(terms, coordinates), from, to, outside: true as const })),
  ];
}
