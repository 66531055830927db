/** Machines: guessed by the device, or measured together. */

import { openProfile, type ProfileName } from '../engine/index.ts';
import { type Machine, usualMachine } from '../plan/world/index.ts';

/** Ranks of which no more is known than what device each has. */
export async function namedMachine(profile: ProfileName = 'wasm-cpu'): Promise<Machine> {
  const device = await openProfile(profile);
  try {
    return usualMachine(device.profile);
  } finally {
    device.close();
  }
}
