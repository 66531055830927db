import { takesLines } from '../node.ts';
import { elsewhere, type Shim } from './shim.ts';

/**
 * One of several uploads of a real axis and what leads from reals, or to those bins that memory has: all points are there between
 * launches, part of them at the ends, which lie otherwise. `waysOfReals` weighs it.
 */
export const halving: Shim = {
  name: 'halving',
  joins: (leaf) => {
    const { real, mirrored } = leaf;
    const reals = (real?.by === 'zeros' || real?.by === 'parts') && real.side !== 'both';
    return !takesLines(leaf) && (reals || mirrored !== undefined) ? ['upload', 'half of the points'] : [];
  },
  fits: elsewhere,
};
