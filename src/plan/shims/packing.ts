import { takesLines } from '../node.ts';
import { anywhere, type Shim } from './shim.ts';

/**
 * A transform of complex numbers and the step that makes of its bins those of the reals that were their parts, or that leaves out
 * half of them where the imaginary parts were zeros, or the way back; each line is read whole before it is written. `waysOfReals` weighs it.
 */
export const packing: Shim = {
  name: 'packing',
  joins: (leaf) => (takesLines(leaf) || leaf.real?.side === 'both' ? ['transform', 'pairs of bins'] : []),
  fits: anywhere,
};
