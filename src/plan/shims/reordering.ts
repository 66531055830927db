import { keepsPlaces } from '../node.ts';
import { elsewhere, type Shim } from './shim.ts';

/**
 * An upload and the transposition after it, which is how it stores: its elements go where others have yet to read. `reordersFirst`
 * weighs in which of two uploads, `planDirection` whether the first one of all is to do it for want of memory.
 */
export const reordering: Shim = {
  name: 'reordering',
  joins: (leaf) => (keepsPlaces(leaf) ? [] : ['upload', 'transposition']),
  fits: elsewhere,
};
