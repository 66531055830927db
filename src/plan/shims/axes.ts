import type { Shim } from './shim.ts';

/** Several axes are transformed while their tile is in shared memory. */
export const axes: Shim = {
  name: 'axes',
  saves: ({ more = [] }) => more.length,
  inPlace: true,
};
