import type { Shim } from './shim.ts';

/** A convolution between one load and one store: chirp and padding, or another order; product; the way back; and out as it came in. */
export const convolution: Shim = {
  name: 'convolution',
  saves: ({ padded, product }) =>
    padded === undefined ? (product ? ROUND_TRIP_LAUNCHES - 1 : 0) : CONVOLUTION_LAUNCHES - 1,
  inPlace: true,
};

/** Apart they are: multiply by the chirp and pad, transform, multiply by its spectrum, transform back, multiply and crop. */
const CONVOLUTION_LAUNCHES = 5;
/** Of a round trip: transform, multiply, transform back. */
const ROUND_TRIP_LAUNCHES = 3;
