/** Prices of passes, taken from the planner of one device. */

import { openProfile, type ProfileName } from '../../engine/index.ts';
import { rankSplits } from '../../plan/candidates.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { targetOf } from '../../plan/device/target.ts';
import { type Machine, type PriceOfPass, usualMachine } from '../../plan/world/index.ts';
import { normalizeProblem, type Problem } from '../../problem/index.ts';

/** The price function of passes. @param whole the transform as one device would do it */
export function pricesOf(whole: Problem, profile: DeviceProfile): PriceOfPass {
  const known = new Map<string, number>();
  return (lengths, axes) => {
    const key = `${lengths} ${axes}`;
    let price = known.get(key);
    if (price === undefined) known.set(key, (price = priceOfPass(whole, profile, lengths, axes)));
    return price;
  };
}

function priceOfPass(
  whole: Problem,
  profile: DeviceProfile,
  lengths: readonly number[],
  axes: readonly number[],
): number {
  const { precision, storage } = whole;
  const isReal = whole.transform[0] === 'r2c' && axes.includes(0);
  const problem = normalizeProblem({
    ...{ size: lengths.slice(0, -1), batches: lengths.at(-1)!, precision, storage },
    transform: isReal ? 'r2c' : 'c2c',
    omit: whole.size.map((_, axis) => !axes.includes(axis)),
  });
  try {
    return rankSplits(problem, targetOf(profile, precision), 1)[0]?.price ?? 0;
  } catch (error) {
    // No plan fits the device: planning the pass reports the reason.
    if (error instanceof RangeError) return Number.MAX_VALUE;
    throw error;
  }
}

/** A machine that is known only by the kind of each rank's device. */
export async function namedMachine(profile: ProfileName = 'wasm-cpu'): Promise<Machine> {
  const device = await openProfile(profile);
  try {
    return usualMachine(device.profile);
  } finally {
    device.close();
  }
}
