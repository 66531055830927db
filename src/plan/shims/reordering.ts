import { keepsPlaces } from '../node.ts';
import type { Shim } from './shim.ts';

/** A transposition is how an upload stores: its elements go elsewhere, so others must not have to be read from there. */
export const reordering: Shim = {
  name: 'reordering',
  saves: (leaf) => Number(!keepsPlaces(leaf)),
  inPlace: false,
};
