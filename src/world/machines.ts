/** Descriptions of machines: guessed from the device, or measured by all ranks together. */

import { openProfile, type ProfileName } from '../engine/index.ts';
import { type Machine, usualMachine } from '../plan/world/index.ts';

/** A machine that is known only by the kind of each rank's device. */
export async function namedMachine(profile: ProfileName = 'wasm-cpu'): Promise<Machine> {
  const device = await openProfile(profile);
  try {
    return usualMachine(device.profile);
  } finally {
    device.close();
  }
}
