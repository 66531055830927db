import { anywhere, type Shim } from './shim.ts';

/** Transforms along several axes, one after another, while their tile is in shared memory. `waysTogether` weighs it. */
export const axes: Shim = {
  name: 'axes',
  joins: ({ more = [] }) => (more.length > 0 ? ['axis', ...more.map(() => 'axis')] : []),
  fits: anywhere,
};
