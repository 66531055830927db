import type { Shim } from './shim.ts';

/** Reals are taken for the parts of complex numbers, and bins are paired, as a transform loads and stores. */
export const packing: Shim = {
  name: 'packing',
  saves: ({ real }) => Number(real?.by === 'halves' || real?.by === 'lines' || real?.side === 'both'),
  inPlace: true,
};
