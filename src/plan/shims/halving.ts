import type { Shim } from './shim.ts';

/** All points are there between launches, part of them in memory: one of several launches reads or writes reals or bins. */
export const halving: Shim = {
  name: 'halving',
  saves: ({ real, mirrored }) =>
    Number(
      (real?.by === 'zeros' && real.side !== 'both') ||
        (real?.by === 'parts' && real.side !== 'both') ||
        mirrored !== undefined,
    ),
  inPlace: false,
};
