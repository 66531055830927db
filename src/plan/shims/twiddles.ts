import type { Shim } from './shim.ts';

/** The twiddles between two uploads are multiplied as one of them stores or loads. */
export const twiddles: Shim = {
  name: 'twiddles',
  saves: ({ twiddle }) => Number(twiddle !== undefined),
  inPlace: true,
};
