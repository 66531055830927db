import { anywhere, type Shim } from './shim.ts';

/** An upload and the product with the twiddles between it and its neighbour, as it stores or loads: never dearer than two launches. */
export const twiddles: Shim = {
  name: 'twiddles',
  joins: ({ twiddle }) => (twiddle ? ['upload', 'twiddles'] : []),
  fits: anywhere,
};
