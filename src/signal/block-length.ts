/** How long the blocks of a signal should be that is convolved block by block. */
import { nextFastLength } from '../engine/fast-length.ts';

/**
 * Samples of a block, for a signal and a kernel of these lengths. A transform of L points takes about L · log₂ L steps, and
 * brings L − kernel + 1 samples further: of all powers of two, and one block for everything, that which takes the fewest
 * steps for the whole signal.
 */
export function blockLength(signal: number, kernel: number): number {
  const costOf = (points: number) => points * Math.log2(2 * points);
  let best = signal;
  let least = costOf(nextFastLength(signal + kernel - 1));
  for (let points = 2; points < 2 * (signal + kernel); points *= 2) {
    const step = points - kernel + 1;
    if (step < 1 || step >= signal) continue;
    const cost = Math.ceil(signal / step) * costOf(points);
    if (cost < least) [best, least] = [step, cost];
  }
  return best;
}
