/** What a cluster can do, in numbers: what `world.measure()` finds, and what exchanges and passes are priced by. */

import { bytesOnWire, sharedShape, type WorldProblem } from '../../problem/world/index.ts';
import type { DeviceProfile } from '../device/profile.ts';
import type { Decomposition } from './decompositions.ts';

/**
 * How numbers get from rank to rank: `messages` of a library; `stores` of the pass before, straight into the memory of peers; or `copies`
 * between the memories of GPUs, which take their bandwidth from passes beside them.
 */
export type Sending = 'messages' | 'stores' | 'copies';

/** Shortest run, in bytes, in which kernels store into a peer's memory: with shorter ones, copies by the driver are faster. */
const LEAST_RUN_BYTES = 64;

/** How GPUs that reach one another's memory exchange best. */
export function sendingOfPeers(problem: WorldProblem, { stages }: Decomposition): 'stores' | 'copies' {
  const shortest = stages.slice(1).map(({ grid }) => {
    const parts = grid.find(({ dimension }) => dimension === 0)?.parts ?? 1;
    return Math.floor(sharedShape(problem.whole, 'output')[0]! / parts) * bytesOnWire(problem);
  });
  return Math.min(...shortest) < LEAST_RUN_BYTES ? 'copies' : 'stores';
}

/** Inside of a node, and between nodes. */
export interface Links {
  readonly inside: number;
  readonly between: number;
}

export interface Machine {
  /** Seconds from the start of a message to its arrival. */
  readonly latency: Links;
  /** Bytes a second that a rank sends while it receives as many. */
  readonly bandwidth: Links;
  /** Bytes a second that a rank copies in its own memory. */
  readonly memory: number;
  /** Seconds that a point takes for one unit of the planner's price. */
  readonly unit: number;
  /** The device of every rank: passes are priced by its profile. */
  readonly profile: DeviceProfile;
}

type Rates = Omit<Machine, 'profile'>;

/** Processes of a node that copy through shared memory, and a network of 100 Gbit/s. */
const PROCESSORS: Rates = {
  latency: { inside: 2e-6, between: 5e-6 },
  bandwidth: { inside: 4e9, between: 10e9 },
  memory: 6e9,
  unit: 1.2e-9,
};

/** GPUs with links of 400 GB/s between them, and a network of 400 Gbit/s for each. */
const GPUS: Rates = {
  latency: { inside: 8e-6, between: 15e-6 },
  bandwidth: { inside: 370e9, between: 45e9 },
  memory: 1.9e12,
  unit: 4e-12,
};

/** A guess for a machine that nobody has measured. */
export function usualMachine(profile: DeviceProfile): Machine {
  return { ...(profile.lockstep === 'vector' ? PROCESSORS : GPUS), profile };
}
