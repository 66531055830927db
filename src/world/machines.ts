/** Machines: guessed by the device, or measured together. */

import { openProfile } from '../engine/index.ts';
import { type Machine, usualMachine } from '../plan/world/index.ts';

/** Processors of which nothing is known. */
export async function namedMachine(): Promise<Machine> {
  const device = await openProfile('wasm-cpu');
  try {
    return usualMachine(device.profile);
  } finally {
    device.close();
  }
}
