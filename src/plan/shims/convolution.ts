import { anywhere, type Shim } from './shim.ts';

/**
 * A transform, a product and the way back between one load and one store: of an axis of large primes with what is done to its points
 * before and after, or of a convolution. `pricedConvolved` and `splitConvolution` weigh it against several launches.
 */
export const convolution: Shim = {
  name: 'convolution',
  joins: ({ convolved, product }) => {
    const round = ['transform', 'product', 'transform back'];
    if (convolved) return ['chirp and pad', ...round, 'chirp and crop'];
    return product ? round : [];
  },
  fits: anywhere,
};
