/** The directions of a plan: forward, inverse or both. */

export const directionChoices = ['both', 'forward', 'inverse'] as const;

/** The directions a plan is made for. */
export type Directions = (typeof directionChoices)[number];

/** One direction: forward has the exponent sign −1, inverse +1. */
export type Direction = Exclude<Directions, 'both'>;
