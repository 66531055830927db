/** How much of the work of a launch is not hidden behind what other groups do. */
import type { Target } from '../device/target.ts';

/**
 * By what the passes of a convolution in one launch multiply those of a transform as long: they are too many for the trips to
 * memory of other groups to hide, the fewer of these there are.
 */
export function exposure(padded: number, target: Target): number {
  if (target.lockstep === 'vector') return 1;
  const { fewBelow, few, several } = target.calibration.exposure;
  const { sharedBytes } = target.capacity;
  return padded * sharedBytes * fewBelow > (target.residentBytes ?? target.sharedBytes) ? few : several;
}
